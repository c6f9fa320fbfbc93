import type { Child } from 'hono/jsx'
import { isObject } from '../../platform/validation/record-validator.ts'
import { accountPath, useVisit, type Visit, withQuery } from '../base/page.ts'
import { Amount, Badge, Data, Day, NOTHING, periodWords, Time, titleOf } from './data.tsx'
import { AffiliateLink, PlanLink } from './names.tsx'

// Fields of the administration API, shown in the same way on every page.

/** Renders a link to a page of the same account. `at` has the parts of its path below the account. */
export const AccountLink = (
  props: { at: readonly string[]; query?: Visit['query']; children?: Child },
  { account, mayOpen } = useVisit(),
) => {
  const path = accountPath(account, ...props.at)
  if (!mayOpen(path)) return <>{props.children}</>
  return <a href={withQuery(path, props.query ?? {})}>{props.children}</a>
}

/** The pages to which the values of fields lead. */
const PAGES: Readonly<Record<string, string>> = {
  customer_id: 'customers',
  delivery_id: 'deliveries',
  statement: 'statements',
  case: 'cases',
}

/** The fields with the id of an affiliate. */
const AFFILIATES = new Set(['affiliate_id', 'parent'])

type Tone = 'good' | 'warn' | 'bad' | 'quiet'

const TONES: ReadonlyMap<string, Tone> = new Map([
  ['draft', 'warn'],
  ['running', 'warn'],
  ['approved', 'quiet'],
  ['withdrawn', 'quiet'],
  ['paid', 'good'],
  ['done', 'good'],
  ['in force', 'good'],
  ['failed', 'bad'],
])

/** The fields with decimals and counts. */
const NUMBERS =
  /^(?:amount|balance|base|capped|carried_out|causes|closing|count|credit|current|customers|debit|difference|due|earned|opening|paid|payable|rate|records|returned|simulated|statements|sum|total|units|vat|version|with_holds)$/

/** Whether a field is right-aligned in a table. */
export const isNumber = (name: string): boolean => NUMBERS.test(name)

const IS_DAY = /^\d{4}-\d\d-\d\d$/

/** Renders the value of a field: as a link if it names something that has a page. */
export function Value(props: { name: string; value: unknown; row?: unknown }) {
  const { name, value, row } = props
  const text = typeof value === 'number' ? value.toLocaleString('en') : String(value ?? '')
  const page = PAGES[name]
  const id = <Data text={text} />
  const tone = name === 'status' ? TONES.get(text) : undefined
  if (text === '') return NOTHING
  if (name === 'plan') return <PlanLink id={text} />
  if (AFFILIATES.has(name) && text !== '*') return <AffiliateLink id={text} />
  if (page && text !== '*') return <AccountLink at={[page, text]} children={id} />
  if (tone) return <Badge tone={tone}>{text}</Badge>
  if (INSTANT.test(text)) return <Time at={text} />
  if (IS_DAY.test(text)) return <Day day={text} />
  if (/^(?:period|month)$/.test(name) && IS_PERIOD.test(text)) return <>{periodWords(text)}</>
  if (NUMBERS.test(name) && typeof value === 'string')
    return <Amount value={text} currency={Object(row).currency} />
  // The codes of reasons are words with underscores. Members write the others.
  return name === 'reason' && IS_CODE.test(text) ? text.replaceAll('_', ' ') : id
}

/** A title and a value. */
export type Pair = readonly [title: string, value: Child]

/** Renders pairs of a title and a value. Those without a value are left out. */
export const Pairs = ({ pairs }: { pairs: readonly Pair[] }) => (
  <dl class="facts">
    {pairs.map(
      ([title, value]) =>
        value !== null && (
          <div>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

/** Renders fields of one row as pairs of a title and a value, and then other pairs. */
export const Facts = <Row extends object>(props: {
  row: Row
  names: readonly (keyof Row & string)[]
  more?: readonly Pair[]
}) => (
  <Pairs
    pairs={[
      ...props.names.map((name): Pair => {
        const value = <Value name={name} value={props.row[name]} />
        return [titleOf(name), value]
      }),
      ...(props.more ?? []),
    ]}
  />
)

/** A month or a week. */
const IS_PERIOD = /^\d{4}-(?:W\d\d|(?:0[1-9]|1[0-2]))$/

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** The codes of the API, which are words with underscores. */
const IS_CODE = /^[a-z]+(?:_[a-z]+)+$/

/** The most items of a list that are shown. */
const MOST_ITEMS = 5

/** Renders a field of any JSON: the first items of a list, and the members of an object. */
export function Json({ name, value }: { name: string; value: unknown }): Child {
  if (Array.isArray(value)) {
    const rest = value.length - MOST_ITEMS
    return (
      <>
        {value.slice(0, MOST_ITEMS).map((item, i) => (
          <span class={isObject(item) ? 'item' : undefined}>
            {i > 0 && !isObject(item) && ', '}
            <Json name={name} value={item} />
          </span>
        ))}
        {rest > 0 && ` and ${rest.toLocaleString('en')} more`}
      </>
    )
  }
  if (isObject(value)) return <Members object={value} />
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = String(value ?? '')
  if (IS_CODE.test(text) && name !== 'eventname') return text.replaceAll('_', ' ')
  return <Value name={name} value={value} />
}

/** Renders the members of an object that are not null. */
export const Members = ({ object }: { object: object }) => (
  <>
    {Object.entries(object).map(
      ([name, value]): Child =>
        value !== null && (
          <span class="figure">
            {titleOf(name)} <Json name={name} value={value} />
          </span>
        ),
    )}
  </>
)
