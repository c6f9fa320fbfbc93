import { ApiError, type ErrorCode } from '../../../src/errors.ts'
import type { Explanation } from '../explained/explanation.ts'
import { OUTCOME } from '../explained/outcomes.ts'
import { PROBLEM } from '../explained/problems.ts'
import { RULE } from '../explained/rules.ts'
import { WARNING } from '../explained/warnings.ts'
import { type Html, html, raw } from './html.ts'
import { inline, WIDE } from './markdown.ts'

/** A table that the guide has from the code: cells are Markdown, and each row has an anchor. */
export interface Table {
  columns: readonly string[]
  rows: readonly { anchor: string; cells: readonly string[] }[]
}

/** Codes, each with its cause and its cure. */
const explained = (noun: string, all: Record<string, Explanation>): Table => ({
  columns: ['code', 'cause', 'cure'],
  rows: Object.entries(all).map(([code, { cause, cure }]) => ({
    anchor: `${noun}-${code}`,
    cells: [`\`${code}\``, cause, cure],
  })),
})

/** The codes of failures, in the order of their status. */
export const CODES = (Object.keys(PROBLEM) as ErrorCode[])
  .map((code) => new ApiError(code))
  .sort((a, b) => a.status - b.status)

/** The tables of the guide, by the name in their placeholder. */
export const TABLES: Record<string, Table> = {
  outcomes: {
    columns: ['outcome', 'what it means, and what to do'],
    rows: Object.entries(OUTCOME).map(([name, says]) => ({
      anchor: `outcome-${name}`,
      cells: [`\`${name}\``, says],
    })),
  },
  warnings: explained('warning', WARNING),
  rules: explained('rule', RULE),
  problems: {
    columns: ['code', 'status', 'cause', 'cure'],
    rows: CODES.map(({ code, status }) => ({
      anchor: `problem-${code}`,
      cells: [
        `[\`${code}\`](/problems/${code})`,
        String(status),
        PROBLEM[code].cause,
        PROBLEM[code].cure,
      ],
    })),
  },
}

const line = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** A table as Markdown. */
export const tableAsMarkdown = ({ columns, rows }: Table) =>
  [line(columns), line(columns.map(() => '---')), ...rows.map(({ cells }) => line(cells))].join(
    '\n',
  )

/** A table as markup; on a phone each row is a block, its cells below one another. */
export const tableAsHtml = ({ columns, rows }: Table): Html =>
  html`${raw(WIDE)}<table class="codes">
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ({ anchor, cells: [first = '', ...others] }) =>
    html`<tr id="${anchor}"><th scope="row">${inline(first)}</th>${others.map(
      (cell, i) => html`<td data-of="${columns[i + 1]}">${inline(cell)}</td>`,
    )}</tr>
`,
)}</tbody></table></div>
`
