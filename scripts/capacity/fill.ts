import { ALARM_SHARE, MAX_DATABASE_BYTES } from '../../src/db/records/storage-limits.ts'
import { usageSql } from '../../src/db/records/storage-sql.ts'
import { DAY_MS } from '../../src/durations.ts'
import { firstIdAt } from '../../src/ingest/delivery-id.ts'
import type { Database } from './databases.ts'

/** The size limit of a D1 database on Workers Paid. */
export const LIMIT_BYTES = MAX_DATABASE_BYTES

/** The share of the limit from which `npm run capacity` warns. */
export const WARN = ALARM_SHARE

/** The share of the limit from which `npm run capacity` exits with 1. */
export const ACT = 0.9

/** Growth is measured over a week, so that every weekday counts once. */
const DAYS = 7

/** The size of a database, its accounts and its growth. */
export interface Fill {
  binding: string
  name: string
  bytes: number
  share: number
  records: number
  /** The account with the most records first. */
  accounts: { account: string; records: number; bytes: number }[]
  writtenToday: number | null
  /** Bytes added per day and days until the database is full, or null if unknown. */
  growth: number | null
  daysLeft: number | null
}

/** Reads the records of each account from its totals, without counting rows, and their bytes. */
const RECORDS = `
  select account, sum(total) as records, ${usageSql('totals.account')} as bytes
  from totals group by account
  having records > 0 order by records desc, account`

/** The quota of an account, in bytes, and the binding of its database. */
export interface Quota {
  account: string
  binding: string
  quota: number
}

/** Reads the quotas of all accounts from the database that has the accounts. */
export async function readQuotas(databases: readonly Database[]): Promise<Quota[]> {
  const directory = databases.find(({ binding }) => binding === 'DB')
  return (
    (await directory?.query<Quota>(
      'select id as account, binding, storage_quota as quota from accounts',
    )) ?? []
  )
}

/** Sums the records added since a delivery id, along the primary key of the delivery log. */
const addedSince = (id: string) => `
  select sum(d.listed) as listed, min(d.received_at) as since
  from (select distinct account from totals) a
  cross join deliveries d on d.account = a.account and d.id >= '${id}' and d.dry_run = 0`

/** Measures a database. The growth assumes that the mean size of a record stays the same. */
export async function measureFill({ query, ...database }: Database, now: number): Promise<Fill> {
  const accounts = await query<Fill['accounts'][number]>(RECORDS)
  const records = accounts.reduce((all, one) => all + one.records, 0)
  const [grown] = await query<{ listed: number | null; since: number | null }>(
    addedSince(firstIdAt(now - DAYS * DAY_MS)),
  )
  const days = Math.max(1, (now - (grown?.since ?? now)) / DAY_MS)
  const growth =
    grown?.listed && records ? (database.bytes / records) * (grown.listed / days) : null
  return {
    ...database,
    share: database.bytes / LIMIT_BYTES,
    records,
    accounts,
    growth,
    daysLeft: growth && growth > 0 ? Math.max(0, LIMIT_BYTES - database.bytes) / growth : null,
  }
}
