import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect } from 'vitest'

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

const databases = () => [env.DB, env.DB_2]

/** Records that are copied with their marks, leave for an archive or come back are as they were. */
const isChange = (row: 'old' | 'new', resource: string, day: string) => `
  not exists (select 1 from doors where account = ${row}.account and state <> 'open')
  and not exists (select 1 from archived_months where account = ${row}.account
    and resource = '${resource}' and state <> 'archived' and ${row}.${day} between first_day and last_day)`

const note = (row: 'old' | 'new', resource: string, day: string) => `
  insert into noted select ${row}.account, '${resource}', ${row}.${day}, ifnull((
    select seq from changed where account = ${row}.account and resource = '' and day = 0), 0);`

const triggers = Object.entries(TABLES).flatMap(([table, [resource, day, columns]]) => [
  `create trigger note_${table}_insert after insert on ${table} when ${isChange('new', resource, day)}
    begin ${note('new', resource, day)} end`,
  `create trigger note_${table}_update after update of ${columns} on ${table}
    begin ${note('old', resource, day)} ${note('new', resource, day)} end`,
  `create trigger note_${table}_delete after delete on ${table} when ${isChange('old', resource, day)}
    begin ${note('old', resource, day)} end`,
])

/** Forgets the changes so far: the test has written to the tables itself. */
export const forgetChanges = () =>
  Promise.all(databases().map((db) => db.prepare('delete from noted').run()))

/** Has each test of the file fail that has changed a record without marking its day. */
export function watchMarks(): void {
  beforeEach(async () => {
    for (const db of databases()) {
      const list = ['create table noted (account, resource, day, seq)', ...triggers]
      await db.batch(list.map((sql) => db.prepare(sql)))
    }
  })
  afterEach(async () => {
    for (const db of databases()) {
      const { results } = await db
        .prepare(
          `select distinct n.* from noted n where not exists (select 1 from changed c
            where c.account = n.account and c.resource = n.resource and c.day = n.day and c.seq >= n.seq)`,
        )
        .all()
      const names = triggers.map((sql) => /note_\w+/.exec(sql)?.[0])
      await db.batch(
        [...names.map((name) => `drop trigger ${name}`), 'drop table noted'].map((sql) =>
          db.prepare(sql),
        ),
      )
      expect(results, 'days that have changed without a mark').toEqual([])
    }
  })
}
