import type { Child } from 'hono/jsx'
import { capital, figure } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import type { Money } from '../../platform/money/sums.ts'
import { useVisit, withQuery } from '../base/page.ts'
import { visible } from './visible.ts'

// `visible` is only for places that take no elements, such as the label of an option. `Data` renders a text of
// data elsewhere.
export { visible }

// The parts of pages that show data.

/** Writes days and periods as sentences have them: `5 Oct 2026`, `October 2026`, `Week 41 of 2026`. */
export const { day: dayWords, period: periodWords } = ENGLISH

/**
 * Returns a text of data for a place that takes no elements and has other text. The isolates around it keep a
 * text that is written from right to left apart from what is beside it, as `bdi` does in HTML. ASCII needs none.
 */
export const isolated = (text: string): string =>
  /^[ -~]*$/.test(text) ? text : `\u2068${visible(text)}\u2069`

/** A word so long that it would push the columns beside it away. */
const LONG_WORD = /\S{40}/

/** Renders a text of data, such as an id. Its invisible characters are shown by their names. */
export const Data = ({ text }: { text: string | number }) => {
  const shown = visible(String(text))
  // A masked number is one word, although a line may break after an ellipsis.
  const masked = /^\w*…\w+$/.test(shown) && 'id'
  return <bdi class={LONG_WORD.test(shown) ? 'long' : masked || undefined}>{shown}</bdi>
}

/** Renders a text that a person takes elsewhere. A script adds a button that copies it. */
export const CopiedText = ({ text }: { text: string }) => (
  <code class="secret" data-copy="Copy" data-copied="Copied">
    {text}
  </code>
)

/** Returns the title of a field: `Affiliate` for `affiliate_id`. Brands choose the names of some fields. */
export function titleOf(name: string): string {
  return capital(visible(name.replace(/_(?:id|at)$/, '').replaceAll('_', ' ')))
}

/** Stands where there is nothing. Cards on a phone leave such a field out. */
export const NOTHING = <span class="quiet none">–</span>

/** How a list of the administration API describes its page. */
export interface PageMeta {
  readonly total: number
  readonly total_is_limited?: true
  readonly page: number
  readonly per_page: number
  readonly next_cursor: string | null
}

/** A list of the administration API. */
export interface List<Row> {
  readonly data: readonly Row[]
  readonly meta: PageMeta
}

/** Renders links between the pages of a list. The page's query must support `cursor`. */
export function Pager({ meta }: { meta: PageMeta }, visit = useVisit()) {
  const { total, total_is_limited, page, per_page, next_cursor } = meta
  const to = (cursor: string | undefined) => withQuery(visit.path, { ...visit.query, cursor })
  const last = Math.ceil(total / per_page)
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span>
        {total_is_limited ? 'More than ' : ''}
        {total.toLocaleString('en')} in total, page {page}
        {last > 0 && !total_is_limited ? ` of ${last}` : ''}
      </span>
      {visit.query.cursor && <a href={to(undefined)}>First page</a>}
      {next_cursor && (
        <a href={to(next_cursor)} rel="next">
          Next page
        </a>
      )}
    </nav>
  )
}

/** Returns a sentence with the characters that the administration API has escaped, such as `\u202e`. */
const unescaped = (sentence: string): string =>
  sentence.replace(/\\u([\da-f]{4})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** Renders a sentence of the administration API, which may quote data. Backticks enclose names and values. */
export const Sentence = ({ text }: { text: string }) => (
  <>
    {visible(unescaped(text))
      .split('`')
      .map((part, i) => (i % 2 === 0 ? part : <code>{part}</code>))}
  </>
)

/** Returns a number with groups of three digits. */
export const count = (value: number): string => value.toLocaleString('en')

/** Renders an emphasized word. */
export const Badge = ({
  tone,
  children,
}: {
  tone: 'good' | 'warn' | 'bad' | 'quiet'
  children?: Child
}) => <span class={`badge ${tone}`}>{children}</span>

/** Writes an exact decimal with groups of three digits, and its currency: `1,234.50 EUR`. */
export const amountText = (value: string, currency?: string): string =>
  currency ? `${figure(value)} ${currency}` : figure(value)

/** Renders an exact decimal with groups of three digits, and its currency. */
export const Amount = ({ value, currency }: { value: string; currency?: string }) => (
  <data value={value} class={value.startsWith('-') ? 'amount negative' : 'amount'}>
    {amountText(value, currency)}
  </data>
)

/** Renders amounts one below the other: currencies are never added. */
export const Amounts = ({ amounts }: { amounts: readonly Money[] }) => (
  <>
    {amounts.map(({ amount, currency }) => (
      <div>
        <Amount value={amount} currency={currency} />
      </div>
    ))}
  </>
)

const DAY_MONTH_YEAR = { day: 'numeric', month: 'short', year: 'numeric' } as const

/** Renders a day (`YYYY-MM-DD`) in words; null as a dash. */
export const Day = ({ day }: { day: string | null }) =>
  day === null ? NOTHING : <time datetime={day}>{dayWords(day)}</time>

/** Returns an instant (ISO 8601) as a time of day in UTC, such as `26 Nov 2026, 08:30`. */
export function timeWords(at: string, toSecond?: boolean): string {
  const time = { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' } as const
  const second = toSecond ? '2-digit' : undefined
  return new Intl.DateTimeFormat('en-GB', { ...DAY_MONTH_YEAR, ...time, second }).format(
    new Date(at),
  )
}

/** Renders an instant (ISO 8601) in UTC; null as “never”. */
export const Time = ({ at, toSecond }: { at: string | null; toSecond?: true }) =>
  at === null ? (
    <span class="quiet">never</span>
  ) : (
    <time datetime={at}>
      {timeWords(at, toSecond)} <small>UTC</small>
    </time>
  )

/** Renders what to do where a list is empty. */
export const EmptyState = ({ title, children }: { title: Child; children?: Child }) => (
  <div class="empty-state">
    <p>
      <strong>{title}</strong>
    </p>
    {children}
  </div>
)

/** Renders a section that a script loads again every `seconds`, and no longer once it is null. */
export const Live = (props: { id: string; seconds: number | null; children?: Child }) => (
  <div id={props.id} data-live={props.seconds}>
    {props.children}
  </div>
)
