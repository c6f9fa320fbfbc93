import { readFileSync } from 'node:fs'
import type { Mutant } from './catalog.ts'
import { declarationsOf } from './syntax.ts'

/** Lines of a source file, both ends included, counted from 1. */
export interface LineRange {
  file: string
  from: number
  to: number
}

interface IndexedDeclaration extends LineRange {
  name: string
  text: string
}

/** Where declarations are, and which of them use others. */
export interface SourceIndex {
  /**
   * Returns the places that a test of a mutant may run, the closest first: its own lines, its
   * declaration, the declarations that use that one, directly or not, and those of its file.
   */
  rangesFor: (mutant: Mutant) => readonly (readonly LineRange[])[]
}

/** How many steps away a declaration may be that uses another one. */
const MAX_STEPS = 4

/** Indexes the declarations of all source files. */
export function indexSource(files: readonly string[]): SourceIndex {
  const declarations = files.flatMap((file): IndexedDeclaration[] => {
    const content = readFileSync(file, 'utf8')
    const lineOf = (index: number) => content.slice(0, index).split('\n').length
    return declarationsOf(content).map(({ name, start, end }) => ({
      file,
      name,
      text: content.slice(start, end),
      from: lineOf(start),
      to: lineOf(end),
    }))
  })
  const usersOf = (names: readonly string[]) => {
    const pattern = new RegExp(`\\b(?:${names.join('|')})\\b`)
    return declarations.filter(({ name, text }) => !names.includes(name) && pattern.test(text))
  }
  const namesOf = (list: readonly IndexedDeclaration[]) => [
    ...new Set(list.map(({ name }) => name.split('.')[0]!).filter(Boolean)),
  ]
  return {
    rangesFor({ file, line, lastLine, declaration }) {
      const own = declarations.filter((one) => one.file === file && one.name === declaration)
      const ranges: LineRange[][] = [[{ file, from: line, to: lastLine }], own]
      let names = namesOf(own)
      for (let step = 0; step < MAX_STEPS && names.length > 0; step++) {
        const users = usersOf(names)
        ranges.push(users)
        names = namesOf(users)
      }
      ranges.push(declarations.filter((one) => one.file === file))
      return ranges
    },
  }
}
