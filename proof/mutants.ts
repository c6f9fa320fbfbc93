import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Instrumenter, type InstrumenterOptions } from '@stryker-mutator/instrumenter'
import { sqlMutantsOf } from './sql.ts'
import type { Target } from './targets.ts'

/** A change to one place of the source, which a test should notice. */
export interface Mutant {
  id: string
  target: string
  file: string
  /** From 1. */
  line: number
  /** The lines that it changes, before and after, without what is around them. */
  was: string
  is: string
}

const nothing = () => {}
const silent = {
  ...{ trace: nothing, debug: nothing, info: nothing },
  ...{ warn: console.warn, error: console.error, fatal: console.error },
  ...{ isTraceEnabled: () => false, isDebugEnabled: () => false, isInfoEnabled: () => false },
  ...{ isWarnEnabled: () => true, isErrorEnabled: () => true, isFatalEnabled: () => true },
}
const OPTIONS: InstrumenterOptions = { plugins: null, excludedMutations: [], ignorers: [] }

/** The texts of SQL are kept: while we hunt they are written anew, so that each test meets its own. */
const KEEPER = resolve('src/db/records/upsert-sql.ts')
const KEPT = 'found?.said === said.join()'

/** The mutants of the targets, and the source by path, in which each has its switch. */
export async function mutantsOf(targets: readonly Target[]) {
  const files = targets.map((target) => ({
    target,
    name: resolve(target.file),
    content: readFileSync(target.file, 'utf8'),
  }))
  const source = new Map<string, string>()
  const mutants: Mutant[] = []
  for (const { target, name, content } of files.filter((each) => each.target.sql)) {
    const made = sqlMutantsOf(target.file, content)
    source.set(name, made.content)
    for (const { id, start, end, replacement } of made.mutants) {
      const [from, to] = [positionIn(content, start), positionIn(content, end)]
      mutants.push(mutantOf(target, content, id, from, to, replacement))
    }
  }
  const rest = files.filter(({ target }) => !target.sql)
  const asked = rest.map(({ target: { part }, name, content }) => ({
    ...{ name, content },
    mutate: part ? [rangeOf(content, part)] : true,
  }))
  const stryker = await new Instrumenter(silent).instrument(asked, OPTIONS)
  for (const { name, content } of stryker.files) source.set(name, content)
  for (const { id, fileName, location, replacement } of stryker.mutants) {
    const { target, content } = rest.find(({ name }) => name === fileName)!
    mutants.push(mutantOf(target, content, id, location.start, location.end, replacement))
  }
  const keeper = source.get(KEEPER) ?? readFileSync(KEEPER, 'utf8')
  if (!keeper.includes(KEPT)) throw new Error(`${KEEPER} does not say ${KEPT}`)
  return { source: source.set(KEEPER, keeper.replace(KEPT, 'false')), mutants }
}

/** From 0. */
interface Position {
  line: number
  column: number
}

function mutantOf(
  { name: target, file }: Target,
  content: string,
  id: string,
  start: Position,
  end: Position,
  replacement: string | undefined,
): Mutant {
  const lines = content.split('\n').slice(start.line, end.line + 1)
  const head = lines[0]!.slice(0, start.column)
  const tail = lines.at(-1)!.slice(end.column)
  const was = lines.join('\n').trim()
  return { id, target, file, line: start.line + 1, was, is: (head + replacement + tail).trim() }
}

function positionIn(content: string, index: number): Position {
  const before = content.slice(0, index).split('\n')
  return { line: before.length - 1, column: before.at(-1)!.length }
}

/** Where the part is. */
function rangeOf(content: string, part: RegExp) {
  const found = part.exec(content)
  if (!found) throw new Error(`There is no ${part}`)
  const { index, 0: text } = found
  return { start: positionIn(content, index), end: positionIn(content, index + text.length) }
}
