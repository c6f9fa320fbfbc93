import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { Instrumenter, type InstrumenterOptions } from '@stryker-mutator/instrumenter'
import { folderOf, sourceFiles } from './source-files.ts'
import { isSqlFile, SWITCH_NAME, sqlMutantsOf, withoutSwitches } from './sql.ts'
import { countIterations, declarationsOf, registerCaches, type Span } from './syntax.ts'

/** A change to one place of the source that a test should notice. */
export interface Mutant {
  id: string
  kind: 'code' | 'sql'
  /** The path from the root of the repository, such as `src/auth/rate.ts`. */
  file: string
  /** The folder of the file within `src`; `src` for a file that is in none. */
  folder: string
  /** The top-level declaration that it changes, or the method, as `Class.method`. */
  declaration: string
  /** The lines that it changes, counted from 1. */
  line: number
  lastLine: number
  /** The source that it replaces, and what replaces it. */
  was: string
  is: string
}

/** A text of so many words is a sentence. Tests hold codes and values, not wording. */
const SENTENCE_WORDS = 4

const ignore = () => {}
const silentLogger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: console.warn,
  error: console.error,
  fatal: console.error,
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => true,
  isErrorEnabled: () => true,
  isFatalEnabled: () => true,
}

/** A node of Stryker's syntax tree, as far as it is read here. */
interface SyntaxPath {
  node: { callee?: { name?: string }; id?: { name?: string } }
  parent?: { callee?: { name?: string } }
  listKey?: string
}

/** The function whose arguments are the texts and examples of openapi.json and schemas/. */
const DESCRIBES = 'documentation'

/** Leaves the switches of SQL mutants as they are, and the texts and examples of the description. */
const ignorer = {
  shouldIgnore(path: object) {
    const { node, parent, listKey } = path as SyntaxPath
    const isSwitch = node.callee?.name === SWITCH_NAME || node.id?.name === SWITCH_NAME
    if (isSwitch) return 'the switch of an SQL mutant'
    // No request reads them. They are in openapi.json and schemas/, which `npm run check` compares
    // with the source.
    const isDescription = parent?.callee?.name === DESCRIBES && listKey === 'arguments'
    return isDescription ? 'a description' : undefined
  },
}

const OPTIONS: InstrumenterOptions = { plugins: null, excludedMutations: [], ignorers: [ignorer] }

/**
 * All mutants, and the instrumented source by whole path, in which each mutant has its switch.
 *
 * @throws Error if no source file declares `DESCRIBES`: descriptions would then count as code.
 */
export async function catalogMutants() {
  const mutants: Mutant[] = []
  const contents = new Map<string, string>()
  for (const file of sourceFiles()) {
    const content = readFileSync(file, 'utf8')
    const describe = describer(file, content)
    const sql = isSqlFile(file) ? sqlMutantsOf(file, content) : null
    for (const { id, replacement, ...span } of sql?.mutants ?? []) {
      mutants.push(describe(id, 'sql', span, replacement))
    }
    contents.set(file, sql?.content ?? content)
  }
  if (![...contents.values()].some((content) => content.includes(`function ${DESCRIBES}`))) {
    throw new Error(`No source file declares the function ${DESCRIBES}`)
  }
  const inputs = [...contents].map(([file, content]) => ({
    name: resolve(file),
    content,
    mutate: true,
  }))
  const made = await new Instrumenter(silentLogger).instrument(inputs, OPTIONS)
  const source = new Map(
    made.files.map(({ name, content }) => [name, countIterations(registerCaches(content))]),
  )
  for (const { id, fileName, location, replacement = '', status, mutatorName } of made.mutants) {
    const file = relative('.', fileName)
    const content = contents.get(file)!
    const start = offsetOf(content, location.start)
    const end = offsetOf(content, location.end)
    const words = content.slice(start, end).split(/\s+/).length
    const isSentence = mutatorName === 'StringLiteral' && words >= SENTENCE_WORDS
    if (status === 'Ignored' || isSentence) continue
    mutants.push(describer(file, content)(id, 'code', { start, end }, replacement))
  }
  return { source, mutants }
}

/** Returns a function that makes the mutants of one file. */
function describer(file: string, content: string) {
  const declarations = declarationsOf(content)
  const lineOf = (index: number) => content.slice(0, index).split('\n').length
  const folder = folderOf(file)
  return (id: string, kind: Mutant['kind'], { start, end }: Span, replacement: string): Mutant => {
    const around = declarations.filter((one) => one.start <= start && end <= one.end)
    return {
      id,
      kind,
      file,
      folder,
      declaration: around.at(-1)?.name ?? '',
      line: lineOf(start),
      lastLine: lineOf(end),
      ...shown(content, { start, end }, replacement, kind),
    }
  }
}

/** How many words are shown on each side of the word of SQL that a mutant changes. */
const CONTEXT_WORDS = 3

/** Returns the replaced source and its replacement; a word of SQL with the text around it. */
function shown(content: string, { start, end }: Span, replacement: string, kind: Mutant['kind']) {
  const squeeze = (text: string) => withoutSwitches(text).replace(/\s+/g, ' ').trim()
  if (kind === 'code') {
    return { was: squeeze(content.slice(start, end)), is: squeeze(replacement) }
  }
  const before = content.slice(0, start).split(/(?<=\s)(?=\S)/)
  const after = content.slice(end).split(/(?<=\s)(?=\S)/)
  const around = (text: string) =>
    squeeze(before.slice(-CONTEXT_WORDS).join('') + text + after.slice(0, CONTEXT_WORDS).join(''))
  return { was: around(content.slice(start, end)), is: around(replacement) }
}

/** Returns the place of a position that counts lines and columns from 0, in characters. */
function offsetOf(content: string, { line, column }: { line: number; column: number }): number {
  let start = 0
  for (let i = 0; i < line; i++) start = content.indexOf('\n', start) + 1
  return start + column
}
