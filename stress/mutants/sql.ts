import { type Node, parse, replaceSpans, type Span } from './syntax.ts'

// Stryker does not change SQL, where many decisions are made. Here each word of SQL gets a switch,
// which hunt.ts turns on as it does those of Stryker.

/** Stands for an expression within a text. */
const EXPRESSION = '§'

/** Patterns of SQL and their replacements, which are valid SQL. The first match counts. */
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
  // Comparisons, not the assignments of SET: they have an alias, or compare with a parameter.
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

/** One change to the text from `start` to `end` of a file. */
export interface SqlMutant extends Span {
  id: string
  replacement: string
}

/** A literal. A literal of Drizzle's `sql` is tagged: its expressions become parameters. */
type Text = Node & { isTagged?: boolean }

/** Whether a source file is searched for SQL. */
export const isSqlFile = (file: string) => /^src\/db\/(?:directory|records)\/|paginate/.test(file)

/** The template literals and string literals of a syntax tree. Their spans include the quotes. */
function textsOf(node: unknown, found: Text[] = []): Text[] {
  if (typeof node !== 'object' || node === null) return found
  const { type, value, tag, quasi } = node as Node
  if (type === 'TaggedTemplateExpression' && quasi) {
    found.push({ ...quasi, isTagged: tag?.name === 'sql' })
    return textsOf(quasi.expressions, found)
  }
  if (type === 'ImportDeclaration') return found
  if (type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string')) {
    found.push(node as Text)
  }
  for (const child of Object.values(node)) textsOf(child, found)
  return found
}

/** Returns the text of a literal at its place in the file, with all else masked. */
function masked(source: string, { start, end, expressions = [] }: Node): string {
  // A line break in place of the quote: a pattern with a space must not match the quote.
  let text = `${' '.repeat(start)}\n${source.slice(start + 1, end - 1)}`
  for (const expression of expressions) {
    const from = source.lastIndexOf('${', expression.start)
    const to = source.indexOf('}', expression.end) + 1
    text = text.slice(0, from) + EXPRESSION.repeat(to - from) + text.slice(to)
  }
  return text
}

/**
 * Returns where the words stand that end a recursive query, `where` and `is not`. If a mutant drops the
 * condition, the query never ends and hangs the runtime before a test can fail.
 */
function endsOfRecursion(text: string): Set<number> {
  const ends = new Set<number>()
  if (!text.includes('with recursive')) return ends
  for (const [, name] of text.matchAll(/(\w+)\([^)]*\) as \(/g)) {
    // A recursive query reads itself before any other query reads it.
    const end = new RegExp(
      `\\bfrom ${name}\\b[^()]*?\\b(where)\\b(?: [\\w.]+ (is not)\\b)?`,
      'd',
    ).exec(text)
    for (const span of end?.indices?.slice(1) ?? []) if (span) ends.add(span[0])
  }
  return ends
}

const DROPS_CONDITION = ['where true or ', 'is']

/** The words of a text that have mutants, and what each of them becomes. */
function wordsOf(text: string) {
  const ends = endsOfRecursion(text)
  const words: (Span & { changes: string[] })[] = []
  for (const [pattern, ...changes] of CHANGES) {
    for (const { index: start, 0: word } of text.matchAll(pattern)) {
      const end = start + word.length
      if (words.every((other) => end <= other.start || other.end <= start)) {
        const isKept = (change: string) => !ends.has(start) || !DROPS_CONDITION.includes(change)
        words.push({ start, end, changes: changes.filter(isKept) })
      }
    }
  }
  return words
}

/** The name of the function that returns a word of SQL, or the active mutant of it. */
export const SWITCH_NAME = 'sqlWord'

const SWITCH = `
function ${SWITCH_NAME}(word, mutants) {
  const space = (globalThis.__stryker__ ??= {})
  const { static: always, perTest } = (space.mutantCoverage ??= { static: {}, perTest: {} })
  const hits = space.currentTestId ? (perTest[space.currentTestId] ??= {}) : always
  for (const id in mutants) hits[id] = (hits[id] ?? 0) + 1
  return mutants[space.activeMutant] ?? word
}`

const SWITCHED =
  /\$\{(?:sql\.raw\()?sqlWord\(("(?:[^"\\]|\\.)*"), \{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}\)\)?\}/g

/** Returns a text with each switch replaced by the word that it is for. */
export const withoutSwitches = (text: string) =>
  text.replace(SWITCHED, (_, word: string) => JSON.parse(word))

/** The mutants of a file's SQL, and its source, in which each mutant has its switch. */
export function sqlMutantsOf(file: string, source: string) {
  const mutants: SqlMutant[] = []
  const edits: (Span & { text: string })[] = []
  for (const text of textsOf(parse(source))) {
    const words = wordsOf(masked(source, text))
    for (const { start, end, changes } of words) {
      const made = changes.map((replacement) => {
        const id = `${file}:${mutants.length}`
        mutants.push({ id, start, end, replacement })
        return [id, replacement]
      })
      const args = [source.slice(start, end), Object.fromEntries(made)]
      const list = args.map((each) => JSON.stringify(each)).join(', ')
      const call = `${SWITCH_NAME}(${list})`
      edits.push({ start, end, text: `\${${text.isTagged ? `sql.raw(${call})` : call}}` })
    }
    if (text.type === 'Literal' && words.length > 0) {
      for (const at of [text.start, text.end - 1]) edits.push({ start: at, end: at + 1, text: '`' })
    }
  }
  return { mutants, content: replaceSpans(source, edits) + SWITCH }
}
