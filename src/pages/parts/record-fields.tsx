import type { Child } from 'hono/jsx'
import { transactionWord } from '../../commission/plans/plan-words.ts'
import { capital, counted, figure } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { Amount, Data, Day, NOTHING, Time, titleOf } from './data.tsx'
import { type Pair, Pairs } from './fields.tsx'
import type { StoredRecord } from './record-lookup.ts'

// The fields of a stored record, as a manager reads them.

/** What fields are called whose names do not say it. The KPIs of brands keep the names that the brand chose. */
const LABELS: Readonly<Record<string, string>> = {
  customerid: 'Customer',
  customerId: 'Customer',
  amount_currency: 'Amount',
  amount_usd: 'Amount in USD',
  pnl: 'Profit and loss',
  commission: 'Trading commission',
  regtime: 'Signup',
  createtime: 'Time',
  eventname: 'Event',
  eventid: 'Event id',
  Value: 'Amount',
  url: 'URL',
  iban: 'IBAN',
  bic: 'BIC',
  kyc_status_id: 'KYC status',
  vat_id: 'VAT number',
}

/** Returns what a field of a record is called. */
export const labelOf = (name: string): string =>
  Object.hasOwn(LABELS, name) ? (LABELS[name] ?? '') : titleOf(spaced(name))

/** Separates the words of a name such as `firstName`. */
const spaced = (name: string): string =>
  /^[a-z]+(?:[A-Z][a-z]+)+$/.test(name)
    ? name.replace(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`)
    : name

/** The fields whose amounts are in the currency of their record. */
const IN_CURRENCY = /^(?:amount|amount_currency|spread_cost|commission|pnl|earned|Value)$/
const IN_PERCENT = /^(?:drawdown|max_drawdown)$/
const IN_USD = /^(?:amount_usd|volume_usd|account_size)$/

/** The fields that others show: a currency stands behind its amount. */
const HIDDEN = /^(?:currency|Currency)$/

const DECIMAL = /^-?\d+(?:\.\d+)?$/
const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?$/
const DAY = /^\d{4}-\d\d-\d\d$/

const textOf = (value: unknown): string => String(value ?? '')

/** Returns the currency of a record; undefined if it has none. */
const currencyOf = (record: StoredRecord): string | undefined =>
  textOf(record.currency ?? record.Currency) || undefined

/** The field with the amount of transactions and of events, which needs no label beside its currency. */
const MAIN_AMOUNT = /^(?:amount_currency|Value)$/

/** Renders the amounts of a record, or sums of several, each with its label unless it is the main one. */
export const Amounts = (props: {
  amounts: Readonly<Record<string, string>>
  currency: string | null
}) => {
  const record = { ...props.amounts, currency: props.currency ?? '' }
  return (
    <>
      {Object.keys(props.amounts).map((name) => (
        <span class="figure">
          {!MAIN_AMOUNT.test(name) && `${labelOf(name)} `}
          <FieldValue name={name} record={record} />
        </span>
      ))}
    </>
  )
}

/** Whether a field is an amount, which tables align to the right. */
export const isAmount = (name: string): boolean =>
  [IN_CURRENCY, IN_USD, IN_PERCENT].some((names) => names.test(name)) || name === 'lots_traded'

/** Renders the value of a field of a record. */
export function FieldValue({ name, record }: { name: string; record: StoredRecord }): Child {
  const value = record[name]
  const text = textOf(value)
  if (text === '') return NOTHING
  const isNumber = DECIMAL.test(text)
  if (isNumber && IN_CURRENCY.test(name)) {
    const currency = currencyOf(record)
    return <Amount value={withCents(text)} {...(currency && { currency })} />
  }
  if (isNumber && IN_USD.test(name)) return <Amount value={withCents(text)} currency="USD" />
  if (isNumber && IN_PERCENT.test(name)) return <Data text={`${figure(text)} %`} />
  const [day = '', time = ''] = text.split(/[T ]/)
  if (INSTANT.test(text))
    return /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? (
      <Time at={text} toSecond />
    ) : (
      <>
        <Day day={day} />, {time.slice(0, 8)}
      </>
    )
  if (DAY.test(text)) return <Day day={text} />
  if (/^country(?:_code)?$/.test(name)) return <Data text={ENGLISH.country(text)} />
  if (name === 'transaction_type') return <Data text={transactionWord(text)} />
  if (name === 'status') return <Data text={text.replaceAll('_', ' ')} />
  if (isNumber && !/id$/i.test(name)) return <Amount value={text} />
  return typeof value === 'object' ? <Data text={JSON.stringify(value)} /> : <Data text={text} />
}

/** Writes an amount with at least two places: `150` as `150.00`. */
const withCents = (text: string): string => {
  const [whole = '', fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}

/** Returns the names of the fields that are shown of a record, without some. */
export const shownNames = (record: StoredRecord, except: readonly string[] = []): string[] =>
  Object.keys(record).filter(
    (name) =>
      !except.includes(name) &&
      !(HIDDEN.test(name) && hasAmount(record)) &&
      textOf(record[name]) !== '',
  )

const hasAmount = (record: StoredRecord): boolean =>
  Object.keys(record).some((name) => IN_CURRENCY.test(name) && textOf(record[name]) !== '')

/** Renders the fields of a record with their labels; `first` stands before them. */
export const RecordFields = (props: {
  record: StoredRecord
  except?: readonly string[]
  first?: readonly Pair[]
}) => (
  <Pairs
    pairs={[
      ...(props.first ?? []),
      ...shownNames(props.record, props.except).map(
        (name): Pair => [labelOf(name), <FieldValue name={name} record={props.record} />],
      ),
    ]}
  />
)

/** What a record of a resource is called. */
const NOUNS: Readonly<Record<string, string>> = {
  customers: 'Customer',
  transactions: 'Transaction',
  'trading-activity': 'Trading activity',
  activities: 'Event',
}

/** Returns what a record is called: `Deposit`, `Trading activity`, `Event Login`. */
export function nounOf(resource: string, record: StoredRecord): string {
  const { transaction_type, eventname } = record
  if (transaction_type) return capital(transactionWord(String(transaction_type)))
  return eventname ? `Event ${eventname}` : (NOUNS[resource] ?? 'Record')
}

/** Names a number of records by their type: `1 deposit`, `12 withdrawals`, `3 Login events`. */
export function countedRecords(
  count: number,
  of: {
    readonly resource: string
    readonly transaction_type: string | null
    readonly eventname: string | null
  },
): string {
  if (of.resource === 'customers') return counted(count, 'signup')
  if (of.resource === 'trading-activity') return `${counted(count, 'row')} of trading activity`
  if (of.eventname !== null) return counted(count, `${of.eventname} event`)
  return counted(count, transactionWord(of.transaction_type ?? 'transaction'))
}
