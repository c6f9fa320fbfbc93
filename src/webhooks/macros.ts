import { urlProblem } from './check-url.ts'
import { WEBHOOK_LIMITS } from './limits.ts'

// The macros of postbacks: `{sub1}` in a URL stands for a value of the event. Tools encode braces, and trackers
// write names in other letters: what has been read is written in one way, and what is left of it is refused.

/** The names of macros. Every event has a value for each, which can be empty. */
export const MACROS = [
  'event',
  'id',
  'link_id',
  'sub1',
  'sub2',
  'sub3',
  'sub4',
  'sub5',
  'customer',
  'country',
  'amount',
  'currency',
  'period',
  'affiliate_id',
  'time',
] as const

/** The name of a macro. */
export type Macro = (typeof MACROS)[number]

/** The values of macros. One that is absent is empty. */
export type MacroValues = Readonly<Partial<Record<Macro, string>>>

const NAMES = MACROS.join('|')

const MACRO = new RegExp(`\\{(${NAMES})\\}`, 'g')

/** A macro in any letters, with white space or encoded braces: `%7BSub1%7D`. */
const SPELLED = new RegExp(
  `(?:\\{|%(?:25)*7B)(?:\\s|%20)*(${NAMES})(?:\\s|%20)*(?:\\}|%(?:25)*7D)`,
  'gi',
)

/** What looks like a macro of another program: a brace that is left, `$x`, or a value such as `[sub1]`. */
const FOREIGN = new RegExp(
  `[{}]|%(?:25)*7[BD]|[$#%]x|=(?:[[(<$#%:_]|%(?:5B|28|3C|24|23|25))+(?:${NAMES})(?![a-z\\d])`,
  'i',
)

/** Returns a URL with its macros in our spelling. */
export const readMacros = (text: string): string =>
  text.replace(SPELLED, (_, name: string) => `{${name.toLowerCase()}}`)

/** What stands before the path of a URL. A macro in it would let a visitor choose the host. */
const BEFORE_PATH = /^[^/?#\\]*[/\\]*[^/?#\\]*/

/**
 * Returns what a URL with macros should be instead; null if events may be sent to it. Besides macros, the
 * rules are those of `urlProblem`.
 */
export function macroProblem(text: string, env: Env): string | null {
  if (text.length > WEBHOOK_LIMITS.urlLength) {
    return `a URL of at most ${WEBHOOK_LIMITS.urlLength} characters`
  }
  const [beforePath = ''] = BEFORE_PATH.exec(text) ?? []
  if (/[{}]/.test(beforePath)) return 'a URL with macros behind its host only'
  const filled = text.replace(MACRO, 'x')
  if (FOREIGN.test(filled)) {
    return `a URL with no other macros than ${MACROS.map((name) => `{${name}}`).join(', ')}`
  }
  return urlProblem(filled, env)
}

/** The most characters of a URL once its macros have values: a value can be long, and is encoded. */
const FILLED_LENGTH = 16_000

/**
 * Returns a URL with the percent-encoded values in place of its macros. Null if a value would change the path:
 * a visitor chooses `sub1` to `sub5`, and `..` as a part of a path means the part above.
 */
export function fillMacros(template: string, values: MacroValues): string | null {
  const fill = (textOf: (name: Macro) => string) =>
    template.replace(MACRO, (_, name: Macro) => encodeURIComponent(textOf(name)))
  const filled = fill((name) => (values[name] ?? '').toWellFormed())
  if (filled.length > FILLED_LENGTH || !URL.canParse(filled)) return null
  const depth = (url: string) => new URL(url).pathname.split('/').length
  return depth(filled) === depth(fill(() => 'x')) ? filled : null
}
