import { html } from 'hono/html'
import type { Part, Presented } from './read.ts'
import {
  ADJUSTMENTS,
  HOLDS,
  type Html,
  LINES,
  MANUAL,
  RECEIVED,
  TABLE_END,
  type TableOf,
  tableStart,
} from './tables.ts'

const STATUSES: Readonly<Record<string, string>> = {
  draft: 'Draft: may still change',
  approved: 'Approved',
  paid: 'Paid',
}

const fact = (name: string, value: string | null | undefined): Html | '' =>
  value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>\n` : ''

const paymentText = ({ paid }: Presented): string =>
  paid ? [paid.reference, paid.paid_on].filter(Boolean).join(', ') : ''

const returnText = ({ returned }: Presented): string =>
  returned ? [returned.payment, returned.returned_on, returned.reason].join(', ') : ''

const sumRow = (name: string, amount: string): Html =>
  html`<tr><th scope="row">${name}</th><td class="number">${amount}</td></tr>\n`

/** Returns rows of what a statement adds up to; what is usually 0 only if it is not. */
function sumRows(statement: Presented): Html[] {
  const { transferred, ...sums } = statement
  const isSome = (amount: string): boolean => Number(amount) !== 0
  return [
    sumRow('Opening', sums.opening),
    sumRow('Lines', sums.lines_sum),
    sumRow('Adjustments', sums.adjustments_sum),
    sumRow('Manual entries', sums.manual_sum),
    sumRow('Total of lines, adjustments and manual entries', sums.total),
    ...(isSome(sums.dropped) ? [sumRow('Dropped', sums.dropped)] : []),
    ...(transferred
      ? [sumRow(`Transferred to ${transferred.to}, ${transferred.period}`, transferred.amount)]
      : []),
    sumRow('Closing', sums.closing),
    sumRow('Payable', sums.payable),
  ]
}

/** Returns the beginning of a statement: everything above its lines. */
const articleStart = (statement: Presented): string =>
  String(html`<article>
<h2>Statement of <bdi>${statement.affiliate_id}</bdi> for ${statement.period}</h2>
<dl>
${fact('Affiliate', statement.affiliate_id)}${fact('Plan', statement.plan)}${fact('Period', statement.period)}${fact('Status', STATUSES[statement.status] ?? statement.status)}${fact('Approved at', statement.approved_at)}${fact('Payable on', statement.payable_on)}${fact('Paid', paymentText(statement))}${fact('Payment returned', returnText(statement))}</dl>
<table class="sums">
<caption>Amounts in ${statement.currency}</caption>
<tbody>
${sumRows(statement)}</tbody>
</table>
`)

/** Returns the end of a statement: what identifies it. */
const articleEnd = ({ id, hash, computed_at }: Presented): string =>
  String(html`<dl class="identity">
${fact('Statement', id)}${fact('Computed at', computed_at)}${fact('Hash', hash)}</dl>
</article>
`)

/** The rows that become one piece of text. */
const ROWS = 100

/** Yields a table; nothing if there are no rows. */
function* table<Row>(of: TableOf<Row>, statement: string, rows: readonly Row[]) {
  if (rows.length === 0) return
  yield String(tableStart(of, statement))
  yield* rowsOf(of, rows)
  yield TABLE_END
}

function* rowsOf<Row>({ row }: TableOf<Row>, rows: readonly Row[]) {
  for (let at = 0; at < rows.length; at += ROWS)
    yield rows
      .slice(at, at + ROWS)
      .map(row)
      .join('')
}

/** Yields the lines of all parts as one table, and the adjustments, which come last, as another. */
async function* items(statement: string, parts: AsyncIterable<Part>) {
  let open: TableOf<never> | null = null
  const begin = (of: TableOf<never>): string => {
    if (open === of) return ''
    const end = open ? TABLE_END : ''
    open = of
    return end + String(tableStart(of, statement))
  }
  let last: Part | null = null
  for await (const part of parts) {
    const { lines, adjustments } = part
    if (last === null && part.part > 1) yield beginsLater(part)
    if (lines.length > 0) yield begin(LINES)
    yield* rowsOf(LINES, lines)
    if (adjustments.length > 0) yield begin(ADJUSTMENTS)
    yield* rowsOf(ADJUSTMENTS, adjustments)
    last = part
  }
  if (open) yield TABLE_END
  if (last && last.part < last.parts) yield endsEarly(last)
}

const beginsLater = ({ part, parts }: Part): string =>
  String(html`<p class="notice">The lines begin with part ${part} of ${parts}.</p>\n`)

const endsEarly = ({ part, parts }: Part): string =>
  String(
    html`<p class="notice">Parts ${part + 1} to ${parts} of the lines are not on this page: request the statement with <code>part=${part + 1}</code>, or as CSV.</p>\n`,
  )

/** Yields a statement as HTML, a piece at a time. */
export async function* articlePieces(
  statement: Presented,
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void> {
  const { id, received, manual, holds } = statement
  yield articleStart(statement)
  yield* table(RECEIVED, id, received)
  yield* items(id, parts)
  yield* table(MANUAL, id, manual)
  yield* table(HOLDS, id, holds)
  yield articleEnd(statement)
}
