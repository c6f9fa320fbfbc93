import { ACTIVITY_FIELDS } from './fact-tables.ts'

/** The columns of a transaction. */
export const TRANSACTION_NAMES = [
  'customer_id',
  'day',
  'transaction_id',
  'transaction_date',
  'transaction_type',
  'status',
  'transaction_subtype',
  'currency',
  'amount_currency',
  'amount_usd',
  'delivery',
]

/** The columns of a transaction, as SQL. */
export const TRANSACTION_COLUMNS = TRANSACTION_NAMES.map((name) => `t.${name}`).join(', ')

/** The columns of a trading activity. */
export const ACTIVITY_NAMES = [
  'customer_id',
  'day',
  'instrument',
  'currency',
  ...ACTIVITY_FIELDS,
  'delivery',
]

/** Returns columns of a trading activity, as SQL. */
export const activityColumns = (names: readonly string[]): string =>
  names.map((name) => (name === 'day' ? 't.date as day' : `t.${name}`)).join(', ')

/** The columns of a trading activity, as SQL. */
export const ACTIVITY_COLUMNS = activityColumns(ACTIVITY_NAMES)

/** The columns of an event. */
export const EVENT_NAMES = [
  'customer_id',
  'day',
  'id',
  'eventname',
  'createtime',
  'currency',
  'product',
  'amount',
  'kpis',
  'time_length',
  'delivery',
]
/** The columns of an event, as SQL. */
export const EVENT_COLUMNS = EVENT_NAMES.map((name) =>
  name === 'time_length' ? `length(t.record ->> 'createtime') as time_length` : `t.${name}`,
).join(', ')
