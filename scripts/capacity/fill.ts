import { firstIdAt } from '../../src/ingest/delivery-id.ts'
import type { Database } from './databases.ts'

/** What a D1 database holds at most, on Workers Paid. */
export const LIMIT_BYTES = 10e9

/** From this share on somebody should know, from that one on somebody should act. */
export const WARN = 0.7
export const ACT = 0.9

const DAY_MS = 86_400_000
/** Growth is that of so many days: a weekend is one of them. */
const DAYS = 7

/** How full one database is, and with what. */
export interface Fill {
  binding: string
  name: string
  bytes: number
  share: number
  records: number
  /** Those with the most records first. */
  accounts: { account: string; records: number }[]
  writtenToday: number | null
  /** Bytes that new records add a day, and the days until it is full; null: nothing is known. */
  growth: number | null
  daysLeft: number | null
}

/** The records of each account, from the totals of its lists: nothing is counted for it. */
const RECORDS = `
  select account, sum(total) as records from totals group by account
  having records > 0 order by records desc, account`

/** By how many records the lists grew since then, along the key of the log. */
const grownSince = (id: string) => `
  select sum(d.listed) as listed, min(d.received_at) as since
  from (select distinct account from totals) a
  cross join deliveries d on d.account = a.account and d.id >= '${id}' and d.dry_run = 0`

/** Looks how full a database is. Growth supposes that records stay as large as they are. */
export async function fillOf({ ask, ...told }: Database, now: number): Promise<Fill> {
  const accounts = await ask<Fill['accounts'][number]>(RECORDS)
  const records = accounts.reduce((all, one) => all + one.records, 0)
  const [grown] = await ask<{ listed: number | null; since: number | null }>(
    grownSince(firstIdAt(now - DAYS * DAY_MS)),
  )
  const days = Math.max(1, (now - (grown?.since ?? now)) / DAY_MS)
  const growth = grown?.listed && records ? (told.bytes / records) * (grown.listed / days) : null
  return {
    ...told,
    share: told.bytes / LIMIT_BYTES,
    records,
    accounts,
    growth,
    daysLeft: growth && growth > 0 ? Math.max(0, LIMIT_BYTES - told.bytes) / growth : null,
  }
}
