import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Instrumenter, type InstrumenterOptions } from '@stryker-mutator/instrumenter'
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

/** Stryker's mutants of the targets, and the source by path, in which each has its switch. */
export async function mutantsOf(targets: readonly Target[]) {
  const files = targets.map(({ file, part }) => {
    const content = readFileSync(file, 'utf8')
    return { name: resolve(file), content, mutate: part ? [rangeOf(content, part)] : true }
  })
  const { files: made, mutants } = await new Instrumenter(silent).instrument(files, OPTIONS)
  const source = new Map(made.map(({ name, content }) => [name, content]))
  return {
    source,
    mutants: mutants.map(({ id, fileName, location: { start, end }, replacement }): Mutant => {
      const at = files.findIndex(({ name }) => name === fileName)
      const lines = files[at]!.content.split('\n').slice(start.line, end.line + 1)
      const head = lines[0]!.slice(0, start.column)
      const tail = lines.at(-1)!.slice(end.column)
      return {
        id,
        target: targets[at]!.name,
        file: targets[at]!.file,
        line: start.line + 1,
        was: lines.join('\n').trim(),
        is: (head + replacement + tail).trim(),
      }
    }),
  }
}

/** Where the part is, in lines and columns from 0. */
function rangeOf(content: string, part: RegExp) {
  const found = part.exec(content)
  if (!found) throw new Error(`There is no ${part}`)
  const position = (index: number) => {
    const before = content.slice(0, index).split('\n')
    return { line: before.length - 1, column: before.at(-1)!.length }
  }
  return { start: position(found.index), end: position(found.index + found[0].length) }
}
