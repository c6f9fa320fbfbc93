import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'
import { exitWithUsageError, readOptions, wholeNumber } from '../scripts/command-line.ts'
import { EQUIVALENTS } from './equivalents.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { CAUGHT, type Catch, type Plan } from './plan.ts'
import { TARGETS } from './targets.ts'

// Stryker's own runner for Vitest runs tests in Node, ours need workerd: so Stryker makes the
// mutants (`sql.ts` those of SQL), each behind a switch, and `hunt.ts` turns them on one by one
// inside workerd.

/** The least share of mutants that tests must catch, in per cent. */
const LEAST = 90

const values = readOptions<{ only?: string; sample?: number }>(
  'npm run mutate',
  'Changes the code in many small ways and checks that tests notice each change.',
  (command) =>
    command
      .option('--only <names>', `targets: ${TARGETS.map(({ name }) => name).join(', ')}`)
      .option('--sample <count>', 'mutants per target instead of all', wholeNumber(1, 100_000)),
)
const only = values.only?.split(',') ?? TARGETS.map(({ name }) => name)
for (const name of only) {
  if (TARGETS.some((target) => target.name === name)) continue
  exitWithUsageError(`Unknown target ${name}. Use ${TARGETS.map((one) => one.name).join(', ')}.`)
}
const targets = TARGETS.filter(({ name }) => only.includes(name))
const sample = values.sample ?? null

const { source, mutants } = await mutantsOf(targets)
const isEquivalent = ({ file, was, is }: Mutant) =>
  EQUIVALENTS.some((known) => known.file === file && known.was === was && known.is.includes(is))

/** So many of a target's mutants, spread over it; all of them, unless a sample is asked for. */
function sampled(all: Mutant[]): Mutant[] {
  const count = Math.min(sample ?? all.length, all.length)
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!)
}

const hunted = targets.flatMap(({ name }) =>
  sampled(mutants.filter((mutant) => mutant.target === name && !isEquivalent(mutant))),
)
const caught = new Map<string, Catch>()
const isAlive = ({ id }: Mutant) => !caught.get(id)?.by

/** Hears what `hunt.ts` says. */
function hear({ content }: { content: string }): void {
  for (const line of content.split('\n').filter((each) => each.startsWith(CAUGHT))) {
    const found: Catch = JSON.parse(line.slice(CAUGHT.length))
    if (!caught.get(found.mutant)?.by) caught.set(found.mutant, found)
  }
}

const vitest = await createVitest(
  'test',
  {
    watch: false,
    setupFiles: ['./proof/hunt.ts'],
    testTimeout: 20_000,
    maxWorkers: 2,
    isolate: true,
    reporters: [{ onUserConsoleLog: hear }],
  },
  {
    plugins: [
      { name: 'mutants', enforce: 'pre', transform: (_, id) => source.get(id.split('?')[0]!) },
    ],
  },
)
const project = vitest.getRootProject()

/** Lets the tests of these files hunt. */
async function run(plan: Plan): Promise<void> {
  vitest.provide('plan', plan)
  const specs = Object.keys(plan.files).map((file) => project.createSpecification(file))
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specs)
  for (const module of testModules) {
    if (module.ok()) continue
    const failed = [...module.children.allTests('failed')].map(({ fullName }) => fullName)
    console.error(...module.errors(), ...unhandledErrors)
    throw new Error(`${module.moduleId} fails before anything is changed: ${failed.join('; ')}`)
  }
}

/** Says what was caught and what was not, and ends. */
function report(): never {
  let isBelow = false
  for (const { name } of targets) {
    const mine = hunted.filter((mutant) => mutant.target === name)
    const survivors = mine.filter(isAlive)
    for (const { file, line, was, is, id } of survivors) {
      console.log(`\n${file}:${line}${caught.has(id) ? '' : ' (no test came here)'}`)
      console.log([`- ${was}`, `+ ${is}`].map((text) => text.replace(/\n/g, '\n  ')).join('\n'))
    }
    const timedOut = mine.filter(({ id }) => caught.get(id)?.timedOut).length
    const killed = mine.length - survivors.length - timedOut
    const score = (100 * (killed + timedOut)) / mine.length
    isBelow ||= score < LEAST
    const counts = `${killed} killed, ${timedOut} timed out, ${survivors.length} survived`
    console.log(`${name}: ${counts}: ${score.toFixed(1)} %`)
  }
  // What is listed and no longer made would hide what takes its place.
  const made = new Set(mutants.map(({ file, was, is }) => JSON.stringify([file, was, is])))
  const stale = EQUIVALENTS.filter(({ file }) => targets.some((target) => target.file === file))
    .flatMap(({ file, was, is }) => is.map((each) => [file, was, each]))
    .filter((each) => !made.has(JSON.stringify(each)))
  for (const [file, was, is] of stale) console.log(`No such mutant in ${file}: ${was} → ${is}`)
  process.exit(isBelow || stale.length > 0 ? 1 : 0)
}
process.on('SIGINT', report)

const began = Date.now()
const tell = () => {
  const left = hunted.filter(isAlive).length
  console.log(
    `${Math.round((Date.now() - began) / 1000)} s: ${caught.size} of ${hunted.length} hunted, ${left} alive`,
  )
}
const clock = setInterval(tell, 30_000)
const turns = Math.max(...targets.map(({ tests }) => tests.length))
for (let turn = 0; turn < turns; turn++) {
  const files: Plan['files'] = {}
  for (const { name, tests } of targets) {
    const alive = hunted.filter((mutant) => mutant.target === name && isAlive(mutant))
    if (!tests[turn] || alive.length === 0) continue
    const file = resolve(`test/${tests[turn]}.test.ts`)
    files[file] = [...(files[file] ?? []), ...alive.map(({ id }) => id)]
  }
  if (Object.keys(files).length > 0) await run({ files })
}
clearInterval(clock)
tell()
await vitest.close()
report()
