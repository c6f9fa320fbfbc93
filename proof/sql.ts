import { parseAst } from 'vitest/node'

// Stryker knows no SQL, and much that decides stands there: here it is changed a word at a time,
// each word behind a switch that `hunt.ts` turns as it does Stryker's.

/** What stands in for a value that is put into a text. */
const VALUE = '§'

/** What of SQL is changed, and into what: all of it stays SQL. Where two meet, the first counts. */
const CHANGES: readonly [RegExp, ...string[]][] = [
  [/\bis not\b/g, 'is'],
  [/\bis\b/g, 'is not'],
  [/\bnot (?!materialized)(?=[\w§(])/g, ''],
  [/\bexists \(/g, 'not exists ('],
  [/ in \(/g, ' not in ('],
  [/\band\b/g, 'or'],
  [/\bor\b/g, 'and'],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
  // Not those of SET: only what has an alias, or is compared with what is given.
  [/(?<=\b[a-z]\.[\w§]+) = /g, ' <> '],
  [/(?<!set \w+) = (?=\?|0|'')/g, ' <> '],
  [/(?<=\s)\+ /g, '- '],
  [/(?<=\s)- |-(?=\()/g, '+ '],
  [/\bdistinct /g, ''],
  [/\bcoalesce\(/g, 'iif(true, ', 'iif(false, '],
  [/\biif\(/g, 'iif(true or ', 'iif(false and '],
  [/\bwhere (?!true)/g, 'where true or ', 'where false and '],
  [/\bon (?!conflict)/g, 'on true or ', 'on false and '],
  [/\bleft join\b/g, 'join'],
  [/\border by /g, 'order by -'],
  [/\bsum\(/g, 'max('],
  [/\blimit (?=§)/g, 'limit 1 + '],
  [/\bdo nothing\b/g, 'do update set attempt = excluded.attempt'],
  [/'[a-z]+'/g, "'x'"],
]

/** One change: of what stands from `start` to `end` in the file. */
export interface SqlMutant {
  id: string
  start: number
  end: number
  replacement: string
}

interface Span {
  start: number
  end: number
}
interface Node extends Span {
  type: string
  value?: unknown
  expressions?: Node[]
}

/** The texts within the source, templates and plain ones, from quote to quote. */
function textsOf(node: unknown, found: Node[] = []): Node[] {
  if (typeof node !== 'object' || node === null) return found
  const { type, value } = node as Node
  if (type === 'ImportDeclaration') return found
  if (type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string'))
    found.push(node as Node)
  for (const child of Object.values(node)) textsOf(child, found)
  return found
}

/** What a text says, in its place: all else, and what is put into it, is blank. */
function masked(source: string, { start, end, expressions = [] }: Node): string {
  let text = ' '.repeat(start + 1) + source.slice(start + 1, end - 1)
  for (const each of expressions) {
    const from = source.lastIndexOf('${', each.start)
    const to = source.indexOf('}', each.end) + 1
    text = text.slice(0, from) + VALUE.repeat(to - from) + text.slice(to)
  }
  return text
}

/** The words of a text that are changed, each with what it becomes. */
function wordsOf(text: string) {
  const words: (Span & { changes: string[] })[] = []
  for (const [pattern, ...changes] of CHANGES) {
    for (const { index: start, 0: word } of text.matchAll(pattern)) {
      const end = start + word.length
      if (words.every((other) => end <= other.start || other.end <= start))
        words.push({ start, end, changes })
    }
  }
  return words
}

/** Says a word of SQL, or the mutant that is active, and notes which test came here. */
const SWITCH = `
function sqlWord(word, mutants) {
  const space = (globalThis.__stryker__ ??= {})
  const { static: always, perTest } = (space.mutantCoverage ??= { static: {}, perTest: {} })
  const met = space.currentTestId ? (perTest[space.currentTestId] ??= {}) : always
  for (const id in mutants) met[id] = (met[id] ?? 0) + 1
  return mutants[space.activeMutant] ?? word
}`

/** The mutants of a file's SQL, and its source, in which each has its switch. */
export function sqlMutantsOf(file: string, source: string) {
  const mutants: SqlMutant[] = []
  const edits: (Span & { text: string })[] = []
  for (const text of textsOf(parseAst(source, { lang: 'ts' }))) {
    const words = wordsOf(masked(source, text))
    for (const { start, end, changes } of words) {
      const made = changes.map((replacement) => {
        const id = `${file}:${mutants.length}`
        mutants.push({ id, start, end, replacement })
        return [id, replacement]
      })
      const told = [source.slice(start, end), Object.fromEntries(made)]
      const args = told.map((each) => JSON.stringify(each)).join(', ')
      edits.push({ start, end, text: `\${sqlWord(${args})}` })
    }
    if (text.type === 'Literal' && words.length > 0) {
      for (const at of [text.start, text.end - 1]) edits.push({ start: at, end: at + 1, text: '`' })
    }
  }
  edits.sort((a, b) => b.start - a.start)
  const made = edits.reduce(
    (content, { start, end, text }) => content.slice(0, start) + text + content.slice(end),
    source,
  )
  return { mutants, content: made + SWITCH }
}
