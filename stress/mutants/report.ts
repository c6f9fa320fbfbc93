import type { Mutant } from './catalog.ts'
import { isCritical } from './critical.ts'
import { isOfEngine } from './engine/hunt.ts'
import type { HuntResult } from './plan.ts'

/** The least share of mutants that tests must kill, in percent, and that in critical source. */
const LEAST = 85
const LEAST_CRITICAL = 90

/** The least share in the commission engine, whose mutants are hunted by random worlds, too. */
const LEAST_ENGINE = 95

/** A score of fewer mutants than this says little, so it is printed but cannot fail the run. */
const MEANINGFUL = 30

/** What became of a number of mutants. */
interface Score {
  killed: number
  timedOut: number
  survived: number
}

const percentOf = ({ killed, timedOut, survived }: Score) =>
  (100 * (killed + timedOut)) / (killed + timedOut + survived)

function scoreOf(mutants: readonly Mutant[], results: ReadonlyMap<string, HuntResult>): Score {
  const found = mutants.map(({ id }) => results.get(id))
  const timedOut = found.filter((one) => one?.killedBy && one.timedOut).length
  const survived = found.filter((one) => !one?.killedBy).length
  return { killed: found.length - timedOut - survived, timedOut, survived }
}

/** Prints what survived and the score of each folder. Returns whether a score is too low. */
export function report(
  mutants: readonly Mutant[],
  results: ReadonlyMap<string, HuntResult>,
  print: (line: string) => void,
): boolean {
  for (const { id, file, line, declaration, was, is } of mutants) {
    if (results.get(id)?.killedBy) continue
    const note = results.has(id) ? '' : ' (not covered by a test)'
    print(`\n${file}:${line} in ${declaration}${note}\n- ${was}\n+ ${is}`)
  }
  print('')
  const show = (name: string, score: Score) => {
    const counts = `${score.killed} killed, ${score.timedOut} timed out, ${score.survived} survived`
    print(`${name}: ${counts}: ${percentOf(score).toFixed(1)} %`)
  }
  const folders = Map.groupBy(mutants, ({ folder }) => folder)
  for (const [folder, list] of [...folders].sort(([a], [b]) => (a < b ? -1 : 1))) {
    show(folder, scoreOf(list, results))
  }
  const all = scoreOf(mutants, results)
  show('All of src', all)
  let isTooLow = percentOf(all) < LEAST
  const hold = (name: string, part: readonly Mutant[], least: number) => {
    if (part.length === 0) return
    const score = scoreOf(part, results)
    show(name, score)
    isTooLow ||= part.length >= MEANINGFUL && percentOf(score) < least
  }
  hold('Where money is decided', mutants.filter(isCritical), LEAST_CRITICAL)
  hold('The commission engine', mutants.filter(isOfEngine), LEAST_ENGINE)
  return isTooLow
}
