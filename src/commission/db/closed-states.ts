import { ATTRIBUTION, CUSTOMER_CHANGES } from '../../ingest/db/changed.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import {
  bindStatement,
  compileStatement,
  type Statement,
  writeBatch,
} from '../../platform/db/statement.ts'

/** What a closed period leaves of an affiliate and plan. */
export interface ClosedState {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  /** The digest of the settings and plans by which it was computed; empty if the lines differ from what is booked. */
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

const MARKS = compileStatement(`
  with ends as materialized (
    select value ->> 0 as period, value ->> 1 as last_day from ${JSON_EACH}(:ends)
  ),
  marks as materialized (
    select day, max(seq) as seq from changed
    where account = :account and resource in ('${CUSTOMER_CHANGES}', '${ATTRIBUTION}')
      and day <= (select max(last_day) from ends)
    group by 1
  )
  select period, last_day as last, ifnull((select max(seq) from marks where day <= last_day), 0) as seq
  from ends`)

/** The end of a closed period. */
export interface MarkedEnd {
  readonly period: string
  readonly last: number
  /** The number of the account when something beside the records last changed of the days up to it. */
  readonly seq: number
}

/** Reads when something beside the records last changed up to the ends of some periods. */
export const readMarks = (
  db: Connection,
  account: string,
  ends: readonly PeriodEnd[],
): Promise<MarkedEnd[]> =>
  all(db, MARKS, { account, ends: JSON.stringify(ends.map(({ id, last }) => [id, last])) })

const HOLDING = compileStatement(`
  select s.affiliate_id, s.plan, s.period, s.form, s.state, s.position
  from ${JSON_EACH}(:affiliates) a
  cross join closed_states s on s.account = :account and s.affiliate_id = a.value
  join ${JSON_EACH}(:ends) e on e.value ->> 'period' = s.period
  where s.position >= e.value ->> 'seq'`)

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
  ends: readonly MarkedEnd[],
): Promise<StoredState[]> =>
  all(db, HOLDING, {
    account,
    affiliates: JSON.stringify(affiliates),
    ends: JSON.stringify(ends),
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
  select customer_id, day, max(seq) as seq
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
  select :account, value ->> 'affiliate_id', value ->> 'plan', value ->> 'period', :position, value ->> 'form',
    value ->> 'state'
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
  await putRows(db, PUT, { account, position }, states)
}

async function putRows(
  db: Connection,
  statement: Statement,
  values: { readonly account: string; readonly position: number },
  rows: readonly unknown[],
): Promise<void> {
  for (const chunk of toJsonChunks(rows)) {
    await writeBatch(db, [bindStatement(db, statement, { ...values, rows: chunk })])
  }
}

const KEPT_FACTS = compileStatement(`
  select k.customer_id, k.last_day, k.position, k.form, k.facts
  from ${JSON_EACH}(:ids) i
  cross join once_facts k on k.account = :account and k.customer_id = i.value
  where not exists (
    select 1 from late_changes l indexed by late_changes_customer
    where l.account = :account and l.customer_id = k.customer_id and l.seq > k.position
      and l.day <= k.last_day)`)

/** The facts of a customer that `once` rules still need, up to a day. */
export interface KeptFacts {
  /** As stored. */
  readonly customer_id: string
  readonly last_day: number
  readonly form: string
  /** A JSON array. */
  readonly facts: string
}

/** Reads what is kept of customers up to one of some ends; `ids` are stored ids. Nothing of them has changed since. */
export async function readKeptFacts(
  db: Connection,
  account: string,
  ids: readonly string[],
  ends: readonly MarkedEnd[],
): Promise<KeptFacts[]> {
  type Row = KeptFacts & { position: number }
  const rows = await all<Row>(db, KEPT_FACTS, { account, ids: JSON.stringify(ids) })
  return rows.filter(({ last_day, position }) =>
    ends.some(({ last, seq }) => last === last_day && position >= seq),
  )
}

const KEEP_FACTS = compileStatement(`
  insert into once_facts (account, customer_id, last_day, position, form, facts)
  select :account, value ->> 'customer_id', value ->> 'last_day', :position, value ->> 'form', value ->> 'facts'
  from ${JSON_EACH}(:rows) where true
  on conflict (account, customer_id) do update set last_day = excluded.last_day,
    position = excluded.position, form = excluded.form, facts = excluded.facts
  where once_facts.position < excluded.position`)

/** Stores facts of customers, as a computation found them that read marks of changes from a position. */
export async function keepFacts(
  db: Connection,
  account: string,
  kept: readonly KeptFacts[],
  position: number,
): Promise<void> {
  await putRows(db, KEEP_FACTS, { account, position }, kept)
}
