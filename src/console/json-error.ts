// Where a text stops being JSON. The messages of JSON.parse name no place for most errors.

/** An error of a text that should be JSON. */
interface JsonError {
  /** The place, from 1. Tabs count as one column. */
  readonly line: number
  readonly column: number
  /** What is wrong there, and what to write instead. */
  readonly message: string
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy
const OTHER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y

/** What may come next: a value, the name of a member, the colon after it, or what follows a value. */
type Next = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'after value'

const EXPECTED: Readonly<Record<Exclude<Next, 'after value'>, string>> = {
  value: 'a value',
  'value or end': 'a value or “]”',
  name: 'a name in double quotes',
  'name or end': 'a name in double quotes or “}”',
  colon: '“:” after the name',
}

type Open = '{' | '['

const CLOSING: Readonly<Record<Open, string>> = { '{': '}', '[': ']' }

const AFTER_COMMA: Readonly<Record<Open, Next>> = { '{': 'name', '[': 'value' }

/** Returns what is expected at a place. `open` is the innermost object or list. */
function expectedAt(next: Next, open: Open | undefined): string {
  if (next !== 'after value') return EXPECTED[next]
  return open ? `“,” or “${CLOSING[open]}”` : 'nothing more'
}

/** Returns advice for mistakes that people make often. */
function adviceFor(found: string, next: Next, afterComma: boolean): string {
  if (afterComma && /^[}\]]/.test(found)) return ' Delete the comma before it.'
  if (/^['‘’“”]/.test(found)) return ' Write straight double quotes: ".'
  if (/^\/[/*]/.test(found)) return ' JSON has no comments.'
  if (found.startsWith('"') && /^(?:value|name)/.test(next)) {
    return ' End the text with a double quote on the same line, and write a backslash as two.'
  }
  return ''
}

/** How far a text was read as JSON. */
interface Reader {
  readonly text: string
  /** The objects and lists that are not closed. */
  readonly open: Open[]
  next: Next
  afterComma: boolean
  at: number
}

/** Moves behind what a sticky pattern finds, and returns it. */
function readNext(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at
  const [found = ''] = pattern.exec(reader.text) ?? []
  reader.at += found.length
  return found
}

/** Moves behind a bracket, a comma or a colon, which is one character. */
function pass(reader: Reader, next: Next, afterComma = false): true {
  reader.at += 1
  reader.next = next
  reader.afterComma = afterComma
  return true
}

/** Moves behind what may stand at the place; returns false if it may not. */
function step(reader: Reader): boolean {
  const { text, open, next, at } = reader
  const char = text[at] ?? ''
  const inner = open.at(-1)
  if (inner && char === CLOSING[inner] && (next === 'after value' || next.endsWith('or end'))) {
    open.pop()
    return pass(reader, 'after value')
  }
  if (next === 'colon') return char === ':' && pass(reader, 'value')
  if (next === 'after value') {
    return char === ',' && inner !== undefined && pass(reader, AFTER_COMMA[inner], true)
  }
  if (next.startsWith('value') && (char === '{' || char === '[')) {
    open.push(char)
    return pass(reader, char === '{' ? 'name or end' : 'value or end')
  }
  const isName = next.startsWith('name')
  const found = readNext(reader, STRING) || (isName ? '' : readNext(reader, OTHER))
  if (found === '') return false
  reader.next = isName ? 'colon' : 'after value'
  reader.afterComma = false
  return true
}

/** Returns where a text stops being JSON, and what it should have there; null if it is JSON. */
export function findJsonError(text: string): JsonError | null {
  const reader: Reader = { text, open: [], next: 'value', afterComma: false, at: 0 }
  for (;;) {
    readNext(reader, SPACE)
    const isEnd = reader.at === text.length
    if (isEnd && reader.next === 'after value' && reader.open.length === 0) return null
    if (isEnd || !step(reader)) return errorAt(reader)
  }
}

/** The most characters of the text that a message repeats. */
const SHOWN = 12

function errorAt({ text, at, next, open, afterComma }: Reader): JsonError {
  const lines = text.slice(0, at).split(/\r\n|\n|\r/)
  const rest = text.slice(at)
  const [word = ''] = /^[\w.+-]+|^./u.exec(rest) ?? []
  const shown = word.length > SHOWN ? `${word.slice(0, SHOWN)}…` : word
  const found = rest === '' ? 'the text ends' : `it has “${shown}”`
  const expected = expectedAt(next, open.at(-1))
  const advice = rest === '' ? '' : adviceFor(rest, next, afterComma)
  return {
    line: lines.length,
    column: (lines.at(-1) ?? '').length + 1,
    message: `${expected.charAt(0).toUpperCase()}${expected.slice(1)} is expected, but ${found}.${advice}`,
  }
}

/** Says where a text is not JSON, and what to write there. */
export function jsonErrorWords(text: string): string {
  const error = findJsonError(text)
  if (!error) return 'The text is not valid JSON.'
  return `Line ${error.line}, column ${error.column}: ${error.message}`
}
