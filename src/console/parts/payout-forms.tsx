import type { Child } from 'hono/jsx'
import { isAtLeast } from '../../auth/roles.ts'
import { add, type Decimal, decimal, fixedText, ZERO } from '../../commission/engine/decimal.ts'
import { listed } from '../../commission/engine/reasons.ts'
import { minorDigits } from '../../commission/minor-digits.ts'
import type { FieldError, RefusedForm, Visit } from '../page.ts'
import { type PaymentRow, tickName, tickValue } from '../payment-rows.ts'
import { Amount, type Column, Data } from './data.tsx'
import { FormSentence } from './forms.tsx'

// The parts of the forms that record payments.

/** A row with a tick box. */
interface Ticked extends PaymentRow {
  /** Whether it can be ticked. */
  readonly canTick: boolean
}

/** Returns the sums of amounts by currency, such as `901.20 EUR and 40.00 USD`; `0` without rows. */
export function sumsText(rows: readonly Pick<PaymentRow, 'amount' | 'currency'>[]): string {
  const sums = new Map<string, Decimal>()
  for (const { amount, currency } of rows) {
    sums.set(currency, add(sums.get(currency) ?? ZERO, decimal(amount)))
  }
  const texts = [...sums].map(([currency, sum]) => moneyWords(sum, currency))
  return texts.length === 0 ? '0' : listed(texts)
}

/** Writes an amount with groups of three digits and its currency. */
export function moneyWords(amount: Decimal, currency: string): string {
  const [whole = '', fraction] = fixedText(amount, minorDigits(currency)).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`} ${currency}`
}

interface TickTableProps<Row extends Ticked> {
  readonly caption: string
  readonly rows: readonly Row[]
  /** The columns after the tick box; the first names the row. */
  readonly columns: readonly Column<Row>[]
  readonly isTicked: (row: Row) => boolean
  /** What ticking does, such as `Pay`. */
  readonly verb: string
}

/** Renders a table with a tick box in each row. A script adds one in the header that ticks all. */
export const TickTable = <Row extends Ticked>(props: TickTableProps<Row>) => {
  const { caption, rows, columns, isTicked, verb } = props
  const classOf = ({ isNumeric }: Column<Row>) => (isNumeric ? 'number' : undefined)
  return (
    <section class="wide" aria-label={caption} tabindex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td class="tick" />
            {columns.map((column) => (
              <th scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr>
              <td class="tick">
                {row.canTick && (
                  <input
                    type="checkbox"
                    name={tickName(i)}
                    value={tickValue(row)}
                    checked={isTicked(row)}
                    data-amount={row.amount}
                    data-currency={row.currency}
                    aria-label={`${verb} ${row.affiliate_id}, ${row.amount} ${row.currency}`}
                  />
                )}
              </td>
              {columns.map((column, at) =>
                at === 0 ? (
                  <th scope="row" class={classOf(column)}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td class={classOf(column)}>{column.cell(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface PostFormProps {
  readonly visit: Visit
  readonly id: string
  readonly hasFile?: boolean
  readonly children?: Child
}

/** Renders a form with several buttons, each of which names its change, or with a file. */
export const PostForm = ({ visit, id, hasFile, children }: PostFormProps) => (
  <form
    method="post"
    class="change payments"
    id={id}
    enctype={hasFile ? 'multipart/form-data' : undefined}
    data-ticks
  >
    <input type="hidden" name="csrf" value={visit.csrf} />
    {children}
  </form>
)

/** Returns whether the member may record payments. */
export const canPay = ({ member }: Visit): boolean => isAtLeast(member.role, 'approver')

/** Renders why payments were refused: each error with the payment that it is about. */
export function PaymentRefusal({
  refused: { detail, errors },
  rows,
}: {
  refused: RefusedForm
  /** The payments that were sent, in their order. */
  rows: readonly Partial<PaymentRow>[]
}) {
  return (
    <div class="notice bad" role="alert" tabindex={-1} autofocus>
      <p>
        <FormSentence text={detail} />
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map((error) => (
            <li>
              <PaymentName rows={rows} error={error} /> <FormSentence text={error.message} />{' '}
              {error.hint && <FormSentence text={error.hint} />}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Renders which payment an error is about: its row, affiliate and amount. */
function PaymentName({
  rows,
  error: { pointer = '' },
}: {
  rows: readonly Partial<PaymentRow>[]
  error: FieldError
}) {
  const position = /^\/(\d+)/.exec(pointer)?.[1]
  if (position === undefined) return null
  const { affiliate_id, amount, currency } = rows[Number(position)] ?? {}
  return (
    <strong>
      Row {Number(position) + 1}
      {affiliate_id && (
        <>
          , <Data text={affiliate_id} />
        </>
      )}
      {amount && /^\d+(?:\.\d+)?$/.test(amount) && (
        <>
          , <Amount value={amount} {...(currency && { currency })} />
        </>
      )}
      :
    </strong>
  )
}
