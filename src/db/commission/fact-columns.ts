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
/** The status of an event: the member of its record that `:status_members` names, or null. */
export const EVENT_STATUS = `(
  select e.value from json_each(:status_members) m cross join json_each(t.record) e
  where m.key = t.eventname and e.key = m.value)`

/** Returns columns of an event, as SQL. */
export const eventColumns = (names: readonly string[]): string =>
  names
    .map((name) => {
      if (name === 'status') return `${EVENT_STATUS} as status`
      return name === 'time_length'
        ? `length(t.record ->> 'createtime') as time_length`
        : `t.${name}`
    })
    .join(', ')

/** The columns of an event, as SQL. */
export const EVENT_COLUMNS = eventColumns(EVENT_NAMES)
