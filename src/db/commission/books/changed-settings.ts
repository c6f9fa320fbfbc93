import type { Connection } from '../../database.ts'
import { all, only } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { compileStatement } from '../../statement.ts'
import { KNOWN_CURRENCIES } from '../load-rates.ts'
import { RATE_SOURCE } from '../rates.ts'

/** An entry of the audit log. */
export interface SettingChange {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly details: Readonly<Record<string, unknown>>
}

/** The maximum number of entries of the audit log that are read. */
export const MAX_ENTRIES = 1000

/** Reads the entries of some actions from the id `:since` on. */
export const READ_CHANGES = compileStatement(`
  select id, at, action, details from audit_log indexed by audit_log_account
  where account = :account and id >= :since
    and action in (select value from ${JSON_EACH}(:actions))
  order by id limit ${MAX_ENTRIES}`)

/** Returns the entries of an audit log of some actions from the id `since` on, at most `MAX_ENTRIES`. */
export async function readSettingChanges(
  db: Connection,
  account: string,
  since: string,
  actions: readonly string[],
): Promise<SettingChange[]> {
  const values = { account, since, actions: JSON.stringify(actions) }
  type Row = Omit<SettingChange, 'details'> & { details: string }
  const results = await all<Row>(db, READ_CHANGES, values)
  return results.map((row) => ({ ...row, details: JSON.parse(row.details) }))
}

const HAS_CHANGED_SETTINGS = compileStatement(`
  select exists (
    select 1 from audit_log indexed by audit_log_account
    where account = :account and id >= :since
      and action in (select value from ${JSON_EACH}(:actions))) as changed`)

/** Returns whether an audit log has an entry of some actions from the id `since` on. */
export async function hasChangedSettings(
  db: Connection,
  account: string,
  since: string,
  actions: readonly string[],
): Promise<boolean> {
  const values = { account, since, actions: JSON.stringify(actions) }
  return (await only<{ changed: 0 | 1 }>(db, HAS_CHANGED_SETTINGS, values)).changed === 1
}

/** A rate that became known, or replaced another one, since a time. */
export interface RateChange {
  readonly currency: string
  readonly day: number
  /** In milliseconds. */
  readonly known_from: number
  /** When the first rate of its currency and day became known, in milliseconds. */
  readonly first_known: number
}

/** Reads the rates of some days that became known, or were corrected, since a time. */
export const READ_NEW_RATES = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}
  select f.currency, f.day, f.known_from, (
      select min(e.known_from) from fx_rates e where e.source = f.source
        and e.currency = f.currency and e.day = f.day) as first_known
  from known cross join fx_rates f on f.source = :source and f.currency = known.currency
    and f.day between :first and :last and f.known_from >= :since
  where known.currency is not null
  order by f.currency, f.day, f.known_from`)

/** Returns the rates of some days that became known, or were corrected, since a time. */
export async function readNewRates(
  directory: D1Database,
  range: { readonly first: number; readonly last: number; readonly since: number },
): Promise<RateChange[]> {
  const values = { source: RATE_SOURCE, ...range }
  return all<RateChange>(directory, READ_NEW_RATES, values)
}
