import { ApiError, type ErrorCode } from '../../../src/errors.ts'
import type { Explanation } from '../explained/explanation.ts'
import { OUTCOME } from '../explained/outcomes.ts'
import { PROBLEM } from '../explained/problems.ts'
import { RULE } from '../explained/rules.ts'
import { WARNING } from '../explained/warnings.ts'
import { EVENT_DOCUMENTATION } from '../webhook-events.ts'
import { type Html, html, raw } from './html.ts'
import { inline, WIDE } from './markdown.ts'

/** A table that the guide takes from the code. Cells are Markdown, and each row has an anchor. */
export interface Table {
  columns: readonly string[]
  rows: readonly { anchor: string; cells: readonly string[] }[]
}

/** Builds a table of codes, each with its cause and what to do about it. */
const explained = (noun: string, all: Record<string, Explanation>): Table => ({
  columns: ['code', 'cause', 'what to do'],
  rows: Object.entries(all).map(([code, { cause, fix }]) => ({
    anchor: `${noun}-${code}`,
    cells: [`\`${code}\``, cause, fix],
  })),
})

/** The error codes, ordered by status. */
export const CODES = (Object.keys(PROBLEM) as ErrorCode[])
  .map((code) => new ApiError(code))
  .sort((a, b) => a.status - b.status)

/** The tables of the guide, by the name in the placeholder. */
export const TABLES: Record<string, Table> = {
  outcomes: {
    columns: ['outcome', 'meaning, and what to do'],
    rows: Object.entries(OUTCOME).map(([name, meaning]) => ({
      anchor: `outcome-${name}`,
      cells: [`\`${name}\``, meaning],
    })),
  },
  events: {
    columns: ['type', 'sent', 'example of `data`'],
    rows: Object.entries(EVENT_DOCUMENTATION).map(([type, { description, example }]) => ({
      anchor: `event-${type.replace('.', '-')}`,
      cells: [`\`${type}\``, description, `\`${JSON.stringify(example)}\``],
    })),
  },
  warnings: {
    columns: ['code', 'records', 'cause', 'what to do'],
    rows: Object.entries(WARNING).map(([code, { on, cause, fix }]) => ({
      anchor: `warning-${code}`,
      cells: [`\`${code}\``, on.join(', '), cause, fix],
    })),
  },
  rules: explained('rule', RULE),
  problems: {
    columns: ['code', 'status', 'cause', 'what to do'],
    rows: CODES.map(({ code, status }) => ({
      anchor: `problem-${code}`,
      cells: [
        `[\`${code}\`](/problems/${code})`,
        String(status),
        PROBLEM[code].cause,
        PROBLEM[code].fix,
      ],
    })),
  },
}

const line = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** Renders a table as Markdown. */
export const tableAsMarkdown = ({ columns, rows }: Table) =>
  [line(columns), line(columns.map(() => '---')), ...rows.map(({ cells }) => line(cells))].join(
    '\n',
  )

/** Renders a table as markup. On narrow screens each row becomes a block of labelled cells. */
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
