import { readFileSync } from 'node:fs'
import { PROBLEMS } from '../../src/platform/errors.ts'
import { ISSUE_CODES } from '../../src/platform/validation/issue.ts'
import { MESSAGES } from '../../src/platform/validation/warnings.ts'
import { EVENT_TYPES, TEST_EVENT } from '../../src/webhooks/events.ts'

/** The codes that a page of the guide explains, by the first column of its table. */
const CODES = {
  problem: { page: 'errors', codes: Object.keys(PROBLEMS) },
  rule: { page: 'errors', codes: ISSUE_CODES },
  warning: { page: 'warnings', codes: [...Object.keys(MESSAGES), 'unknown_affiliate'] },
  outcome: {
    page: 'outcomes',
    codes: ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'],
  },
  event: { page: 'webhooks', codes: [...EVENT_TYPES, TEST_EVENT] },
}

/** What is explained: the name of the first column of a table. */
export type Noun = keyof typeof CODES

/** Returns whether the column of a table names what the table explains. */
export const isNoun = (column = ''): column is Noun => column in CODES

/** Returns the anchor of the row that explains a code. */
export const anchorOfCode = (noun: Noun, code: string) => `${noun}-${code.replace('.', '-')}`

/** Returns the address at which the guide explains a code. */
export const addressOfCode = (noun: Noun, code: string) =>
  `/docs/${CODES[noun].page}#${anchorOfCode(noun, code)}`

/** Returns the cells beside each code. Throws if the guide lacks a code, or has another. */
function explain(noun: Noun): Record<string, readonly string[]> {
  const { page, codes } = CODES[noun]
  const markdown = readFileSync(`docs/guide/${page}.md`, 'utf8')
  const [, table = ''] = markdown.split(new RegExp(`^\\| ${noun} \\|.*\\n.*\\n`, 'm'))
  const rows = (/^(?:\|.*\n)*/.exec(table)?.[0] ?? '').split('\n').slice(0, -1)
  const found = Object.fromEntries(
    rows.map((row) => {
      const [code = '', ...cells] = row.slice(2, -2).split(' | ')
      return [code.replaceAll('`', ''), cells.map((cell) => cell.replaceAll('\\|', '|'))]
    }),
  )
  const [lacking] = [...new Set(codes).symmetricDifference(new Set(Object.keys(found)))]
  if (lacking) throw new Error(`docs/guide/${page}.md must have a row for each ${noun}: ${lacking}`)
  return found
}

/** The cells of the guide's tables beside each code, in Markdown. */
export const EXPLAINED: Readonly<Record<Noun, Record<string, readonly string[]>>> = {
  problem: explain('problem'),
  rule: explain('rule'),
  warning: explain('warning'),
  outcome: explain('outcome'),
  event: explain('event'),
}
