import { DATE_LENGTH } from '../../ingest/db/record-table.ts'
import { isOutflow } from '../../platform/amount-signs.ts'
import { unitsOf } from '../../platform/db/exact-sums.ts'
import { factAmount } from '../../platform/money/decimal.ts'
import {
  ACTIVITY_FIELDS,
  type DayRange,
  type FactSelection,
  type StatusMembers,
} from '../db/fact-tables.ts'
import type { FactRow, RowKind } from '../db/facts.ts'
import type { Amounts, Fact, FactState } from '../engine/facts.ts'
import { type ReadSettings, stateOf } from './select-facts.ts'

/** The settings of an account by which rows become facts. */
export interface FactSettings extends ReadSettings {
  /** The members with the status of events. */
  readonly statusMembers: StatusMembers
  /** The days on which records can be; those of others are implausible. */
  readonly plausible: DayRange
  /** The currencies of events whose records name no currency, by event name. */
  readonly eventCurrencies: ReadonlyMap<string, string>
  /** The selection by which rows were summed. */
  readonly summed: Pick<FactSelection, 'activity' | 'events'>
  /** Returns the instant at which a day starts in the account's zone. */
  readonly dayStart: (day: number) => number
  /** Returns `YYYY-MM-DD` of a day. */
  readonly dayText: (day: number) => string
}

const text = (value: FactRow[string] | undefined): string | null =>
  (value ?? null) === null ? null : String(value)

type Shared = Pick<Fact, 'subtype' | 'instrument' | 'product' | 'count'>

const ONE_RECORD: Shared = { subtype: null, instrument: null, product: null, count: 1 }

/** Returns the fact of a row. `customer_id` is the id as the account sent it, not as stored. */
export function toFact(
  kind: RowKind,
  row: FactRow,
  customer_id: string,
  settings: FactSettings,
): Fact {
  switch (kind) {
    case 'transactions':
      return transaction(row, settings)
    case 'summed_transactions':
      return summedTransaction(row, settings)
    case 'activity':
      return activity(row, customer_id, settings)
    case 'summed_activity':
      return summedActivity(row, settings)
    case 'events':
      return event(row, settings)
    default:
      return summedEvents(row, settings)
  }
}

const TRANSACTION_FIELDS = ['amount_currency', 'amount_usd']

// Most rows are single transactions and trading activity, so these functions create one object each.

/** Returns the state of a fact of a day, which decides before its status. */
const stateOn = ({ plausible }: FactSettings, day: number, state: FactState): FactState =>
  day < plausible.first || day > plausible.last ? 'implausible_time' : state

/** Returns the state of the signup of a day. */
export const signupState = (settings: FactSettings, day: number): FactState =>
  stateOn(settings, day, 'approved')

function transaction(row: FactRow, settings: FactSettings): Fact {
  const { statusMap, signed } = settings
  const day = Number(row.day)
  const kind = String(row.transaction_type)
  const isNegative = signed && isOutflow(kind)
  const fact: Fact = {
    resource: 'transactions',
    id: String(row.transaction_id),
    at: Number(row.transaction_date),
    wholeDay: false,
    day,
    state: stateOn(settings, day, stateOf(statusMap, String(row.status))),
    kind,
    subtype: text(row.transaction_subtype),
    currency: text(row.currency),
    instrument: null,
    product: null,
    amounts: new (isNegative ? SentMagnitudes : SentAmounts)(row, TRANSACTION_FIELDS),
    count: 1,
  }
  return withDelivery(fact, row)
}

const withDelivery = (fact: Fact, { delivery }: FactRow): Fact =>
  typeof delivery === 'string' ? { ...fact, delivery_id: delivery } : fact

/** A sum of records has the time at which its day starts: no rule looks at its time. */
const summedShared = (row: FactRow, { dayStart }: FactSettings) => ({
  id: '',
  at: dayStart(Number(row.day)),
  wholeDay: true,
  count: Number(row.records),
})

function summedTransaction(row: FactRow, settings: FactSettings): Fact {
  const amounts = new Map([['amount_currency', unitsOf(row.amount_currency)]])
  if (typeof row.amount_usd === 'number') amounts.set('amount_usd', factAmount(row.amount_usd))
  return { ...transaction(row, settings), ...summedShared(row, settings), amounts }
}

function activity(row: FactRow, customer_id: string, settings: FactSettings): Fact {
  const { dayStart, dayText } = settings
  const day = Number(row.day)
  const fact: Fact = {
    resource: 'trading-activity',
    id: `${dayText(day)}|${customer_id}|${row.instrument}|${row.currency}`,
    at: dayStart(day),
    wholeDay: true,
    day,
    state: stateOn(settings, day, 'approved'),
    kind: '',
    subtype: null,
    currency: text(row.currency),
    instrument: text(row.instrument),
    product: null,
    amounts: new SentAmounts(row, ACTIVITY_FIELDS),
    count: 1,
  }
  return withDelivery(fact, row)
}

const summedActivity = (row: FactRow, settings: FactSettings): Fact => ({
  ...ONE_RECORD,
  resource: 'trading-activity',
  ...summedShared(row, settings),
  day: Number(row.day),
  state: stateOn(settings, Number(row.day), 'approved'),
  kind: '',
  currency: text(row.currency),
  instrument: text(row.instrument),
  amounts: sumsOf(row, settings.summed.activity.summed, (name) => name),
})

/** Returns the sums of the columns that the records of a row have. */
function sumsOf(
  row: FactRow,
  columns: readonly string[],
  nameOf: (column: string, i: number) => string,
): ReadonlyMap<string, bigint> {
  const present = Number(row.present)
  const sums = new Map<string, bigint>()
  for (const [i, column] of columns.entries()) {
    if (Math.floor(present / 2 ** i) % 2 === 1) sums.set(nameOf(column, i), unitsOf(row[column]))
  }
  return sums
}

/** Returns the state of an event. Rows have a `status` if the account's definitions name a member. */
function eventState({ statusMap }: FactSettings, { status = null }: FactRow): FactState {
  return status === null ? 'approved' : stateOf(statusMap, String(status))
}

const eventShared = (row: FactRow, settings: FactSettings) => ({
  ...ONE_RECORD,
  resource: 'activities' as const,
  day: Number(row.day),
  state: stateOn(settings, Number(row.day), eventState(settings, row)),
  kind: String(row.eventname),
  currency: text(row.currency) ?? settings.eventCurrencies.get(String(row.eventname)) ?? null,
  product: text(row.product),
})

function event(row: FactRow, settings: FactSettings): Fact {
  const id = String(row.id)
  const isDay = row.createtime === null || row.time_length === DATE_LENGTH || id.startsWith('d ')
  const kpis: Record<string, unknown> = row.kpis === null ? {} : JSON.parse(String(row.kpis))
  const own = new SentAmounts(kpis, Object.keys(kpis))
  const isNegative = settings.outflows.has(String(row.eventname))
  const fact: Fact = {
    ...eventShared(row, settings),
    id,
    at: isDay ? settings.dayStart(Number(row.day)) : Number(row.createtime),
    wholeDay: isDay,
    amounts:
      typeof row.amount === 'number'
        ? new Map([['Value', factAmount(isNegative ? Math.abs(row.amount) : row.amount)], ...own])
        : own,
  }
  return withDelivery(fact, row)
}

function summedEvents(row: FactRow, settings: FactSettings): Fact {
  const { kpis } = settings.summed.events
  const columns = ['amount', ...kpis.map((_, i) => `kpi_${i}`)]
  return {
    ...eventShared(row, settings),
    ...summedShared(row, settings),
    amounts: sumsOf(row, columns, (_, i) => (i === 0 ? 'Value' : (kpis[i - 1] ?? ''))),
  }
}

/**
 * The amounts of a record, read from its row or its object of KPIs. An amount is converted to an exact
 * number when it is read, since plans read only one or two amounts of most facts. This is a class because
 * the closures of a function would take more memory than the amounts, for each of a million facts.
 */
class SentAmounts implements Amounts {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #fields: readonly string[]

  constructor(values: Readonly<Record<string, unknown>>, fields: readonly string[]) {
    this.#values = values
    this.#fields = fields
  }

  has(field: string): boolean {
    return typeof this.#values[field] === 'number'
  }

  get(field: string): bigint | undefined {
    const value = this.#values[field]
    return typeof value === 'number' ? this.unitsOf(value) : undefined
  }

  /** Returns a value as an exact number. */
  protected unitsOf(value: number): bigint {
    return factAmount(value)
  }

  *[Symbol.iterator](): Generator<readonly [string, bigint]> {
    for (const field of this.#fields) {
      const units = this.get(field)
      if (units !== undefined) yield [field, units]
    }
  }
}

/** The amounts of an outflow that was sent negative: their magnitudes (§16.26). */
class SentMagnitudes extends SentAmounts {
  protected override unitsOf(value: number): bigint {
    return factAmount(Math.abs(value))
  }
}
