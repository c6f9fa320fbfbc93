import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect } from 'vitest'
import { FIELDS } from '../src/ingest/db/record-table.ts'

// Each change of a record is noted by triggers that only tests have. Its day must have a mark that is not older.

const BRAND_COLUMNS =
  'day, customer_id, eventname, createtime, amount, currency, product, kpis, held'

/** The tables of records: their resource, the column of the day, and the columns on which totals and facts depend. */
const TABLES = {
  customers: ['customers', 'day', 'day'],
  transactions: [
    'transactions',
    'day',
    'day, customer_id, transaction_type, amount_currency, currency, status, amount_usd, transaction_subtype, held',
  ],
  activity: [
    'trading-activity',
    'date',
    'date, customer_id, lots_traded, pnl, volume_usd, spread_cost, commission, held',
  ],
  events: ['activities', 'day', BRAND_COLUMNS],
} as const

/** The columns of customers that count from the signup on, and those whose first value counts from the beginning. */
const OF_SIGNUP = [
  ...['day', 'signup_date', 'first_seen_at', 'first_seen_day', 'email', 'first_name', 'last_name'],
  ...['country_code', 'tracking_data', 'verdict'],
]
const FIRST = [...FIELDS, 'affiliate_id']

const databases = () => [env.DB, env.DB_2]

/** Records that are copied with their marks are as they were. */
const isChange = (row: 'old' | 'new') => `
  not exists (select 1 from doors where account = ${row}.account and state <> 'open')`

const note = (row: 'old' | 'new', resource: string, day: string) => `
  insert into noted select ${row}.account, '${resource}', ${day}, ifnull((
    select seq from changed where account = ${row}.account and resource = '' and day = 0), 0),
    ${row}.customer_id;`

const triggers = Object.entries(TABLES).flatMap(([table, [resource, day, columns]]) => [
  `create trigger note_${table}_insert after insert on ${table} when ${isChange('new')}
    begin ${note('new', resource, `new.${day}`)} end`,
  `create trigger note_${table}_update after update of ${columns} on ${table}
    begin ${note('old', resource, `old.${day}`)} ${note('new', resource, `new.${day}`)} end`,
  `create trigger note_${table}_delete after delete on ${table} when ${isChange('old')}
    begin ${note('old', resource, `old.${day}`)} end`,
])

const judged = (day: string) => note('new', 'review', day)

/** The day of the signup of the customer, from which what holds from an earlier day is judged again. */
const SIGNUP = `(select min(c.day, ifnull(c.first_seen_day, c.day)) from customers c
  where c.account = new.account and c.customer_id = new.customer_id)`

/** What the fraud review must judge again: from the day of the signup, or from that of another value. */
const ofCustomers = [
  `create trigger note_signups after update on customers
    when (${OF_SIGNUP.map((name) => `old.${name}`)}) is not (${OF_SIGNUP.map((name) => `new.${name}`)})
    begin ${judged(`min(old.day, new.day, ifnull(old.first_seen_day, old.day),
      ifnull(new.first_seen_day, new.day))`)} end`,
  `create trigger note_first_values after update on customers
    when ${FIRST.map((name) => `(old.${name} is null and new.${name} is not null)`).join(' or ')}
    begin ${judged(SIGNUP)} end`,
  ...['insert', 'update'].flatMap((event) => [
    `create trigger note_fields_${event} after ${event} on customer_fields
      begin ${judged('new.day')} end`,
    `create trigger note_affiliations_${event} after ${event} on customer_affiliations
      begin ${judged(`max(new.day, ${SIGNUP})`)} end`,
  ]),
]

/** Raises the number of an account, so that each step must mark its days anew: not even an earlier mark of a day counts. */
const raises = ['insert on deliveries', 'insert on totals', 'update on totals'].map(
  (event) => `create trigger note_${event.replaceAll(' ', '_')} after ${event} begin
    insert into changed values (new.account, '', 0, 1)
    on conflict (account, resource, day) do update set seq = seq + 1; end`,
)

/** Forgets the changes so far: the test has written to the tables itself. */
export const forgetChanges = () =>
  Promise.all(databases().map((db) => db.prepare('delete from noted').run()))

/** A note has a mark of its day. What a customer changes may be marked with another resource, or an earlier day. */
const UNMARKED = `
  select distinct n.account, n.resource, n.day from noted n where not exists (
    select 1 from changed c where c.account = n.account and c.seq >= n.seq and c.resource <> ''
      and (c.resource = n.resource and c.day = n.day or n.resource = 'review' and c.resource <> 'attribution' and c.day <= n.day))`

const namesOf = (list: readonly string[]) => list.map((sql) => /note_\w+/.exec(sql)?.[0])

/**
 * Has each test of the file fail that has changed a record without marking its day.
 *
 * @param isAnew Whether each step of a test must mark its days anew.
 */
export function watchMarks(isAnew = true): void {
  const all = [...triggers, ...ofCustomers, ...(isAnew ? raises : [])]
  beforeEach(async () => {
    for (const db of databases()) {
      const table = 'create table noted (account, resource, day, seq, customer_id)'
      await db.batch([table, ...all].map((sql) => db.prepare(sql)))
    }
  })
  afterEach(async () => {
    const unmarked: unknown[] = []
    for (const db of databases()) {
      unmarked.push(...(await db.prepare(UNMARKED).all()).results)
      const drops = [...namesOf(all).map((name) => `trigger ${name}`), 'table noted']
      await db.batch(drops.map((one) => db.prepare(`drop ${one}`)))
    }
    expect(unmarked, 'days that have changed without a mark').toEqual([])
  })
}
