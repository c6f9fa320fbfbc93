import type { Connection } from '../database.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { all, only } from '../query.ts'
import { ATTRIBUTION, CUSTOMER_CHANGES } from '../records/changed.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** What a closed period leaves of an affiliate and plan. */
export interface ClosedState {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  /** The digest of the settings and plans by which it was computed. */
  readonly form: string
  /** What the next period starts from, as JSON. */
  readonly state: string
}

/** The end of a period. */
export interface PeriodEnd {
  readonly id: string
  /** The last day, in days since 1970. */
  readonly last: number
}

const ARCHIVED_TO = `(select max(last_day) from archived_months where account = :account)`
const READ_ARCHIVED_TO = compileStatement(`select ${ARCHIVED_TO} as last`)

/** Returns the last archived day of an account, in days since 1970; null if there is none. */
export const readArchivedTo = async (db: Connection, account: string): Promise<number | null> =>
  (await only<{ last: number | null }>(db, READ_ARCHIVED_TO, { account })).last

// What changes in or before an archived month has its effect behind it: all else is refused.
const DAY = `max(day, ifnull(${ARCHIVED_TO} + 1, day))`

const HOLDING = compileStatement(`
  with ends as materialized (
    select value ->> 0 as period, value ->> 1 as last_day from ${JSON_EACH}(:ends)
  ),
  marks as materialized (
    select ${DAY} as day, max(seq) as seq from changed
    where account = :account and resource in ('${CUSTOMER_CHANGES}', '${ATTRIBUTION}')
      and day <= (select max(last_day) from ends)
    group by 1
  ),
  changes as materialized (
    select period, ifnull((select max(seq) from marks where day <= last_day), 0) as seq from ends
  )
  select s.affiliate_id, s.plan, s.period, s.form, s.state, s.position
  from ${JSON_EACH}(:affiliates) a
  cross join closed_states s on s.account = :account and s.affiliate_id = a.value
  join changes c on c.period = s.period
  where s.position >= c.seq`)

/** What a closed period leaves, and from where its computation read marks of changed days. */
export interface StoredState extends ClosedState {
  readonly position: number
}

/**
 * Reads the states of affiliates at the end of some periods. They hold unless a record of a customer on whom they depend
 * has changed since: nothing else up to the end has.
 */
export const readHolding = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
  ends: readonly PeriodEnd[],
): Promise<StoredState[]> =>
  all(db, HOLDING, {
    account,
    affiliates: JSON.stringify(affiliates),
    ends: JSON.stringify(ends.map(({ id, last }) => [id, last])),
  })

/** A customer of whom a record changed late. */
export interface ChangedCustomer {
  /** As stored. */
  readonly customer_id: string
  /** The first day on which it has an effect, in days since 1970. */
  readonly day: number
  /** The number of the account when it changed. */
  readonly seq: number
}

const CHANGED = compileStatement(`
  select customer_id, ${DAY} as day, max(seq) as seq
  from late_changes indexed by late_changes_seq
  where account = :account and seq > :position and day <= :last
  group by 1, 2 limit :most`)

/** Reads the customers, and the days up to a last one, of whom records have changed behind a position. */
export const readChanged = (
  db: Connection,
  values: { account: string; position: number; last: number; most: number },
): Promise<ChangedCustomer[]> => all(db, CHANGED, values)

const PUT = compileStatement(`
  insert into closed_states (account, affiliate_id, plan, period, position, form, state)
  select :account, value ->> 0, value ->> 1, value ->> 2, :position, value ->> 3, value ->> 4
  from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, plan, period) do update set
    position = excluded.position, form = excluded.form, state = excluded.state
  where closed_states.position < excluded.position`)

/** Stores what closed periods leave, as a computation found it that read marks of changes from a position. */
export async function putClosedStates(
  db: Connection,
  account: string,
  states: readonly ClosedState[],
  position: number,
): Promise<void> {
  const rows = states.map((one) => [one.affiliate_id, one.plan, one.period, one.form, one.state])
  for (const chunk of toJsonChunks(rows)) {
    await withD1Retry(() => bindStatement(db, PUT, { account, position, rows: chunk }).run())
  }
}
