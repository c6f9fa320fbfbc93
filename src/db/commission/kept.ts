import type { Connection } from '../database.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { POSITION, RAISE_NUMBER } from '../records/changed.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { usageSql } from '../records/storage-sql.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { FACT_TABLES } from './fact-tables.ts'
import type { FactRow, RowKind } from './facts.ts'

/**
 * Days of which an account keeps the facts: a calendar year, or its part up to a day. Days are
 * since 1970.
 */
export interface KeptDays {
  readonly first_day: number
  readonly last_day: number
  /** The id of the run that began to keep them. */
  readonly generation: string
  /** The digest of what is kept for each record: rows with equal digests are comparable. */
  readonly form: string
  /** The first day of which sums are kept. */
  readonly summed_from: number
  /** When that run began, in milliseconds. */
  readonly begun_at: number
  /** 1 once the run has ended: computations may use the rows. */
  readonly ready: number
  /** The mean number of facts of a customer. */
  readonly mean: number
  /** The days of which a record has changed since, as a JSON array. */
  readonly changed: string
}

/** The marks of the days of `k` of which a record has changed since, as `c`. */
export const CHANGED_SINCE = `changed c where c.account = k.account
        and c.resource in (${Object.values(FACT_TABLES).map(({ resource }) => `'${resource}'`)})
        and c.day between k.first_day and k.last_day and c.seq > k.position`

const READ_KEPT_DAYS = compileStatement(`
  select k.first_day, k.last_day, k.generation, k.form, k.summed_from, k.begun_at, k.ready, k.mean,
    (select json_group_array(distinct c.day) from ${CHANGED_SINCE}) as changed
  from kept_days k where k.account = :account order by k.first_day`)

/** Returns the statement that reads which days an account keeps. */
export const selectKeptDays = (db: Connection, account: string): D1PreparedStatement =>
  bindStatement(db, READ_KEPT_DAYS, { account })

/** Reads which days an account keeps. */
export async function readKeptDays(db: Connection, account: string): Promise<KeptDays[]> {
  const { results } = await withD1Retry(() => selectKeptDays(db, account).all<KeptDays>())
  return results
}

/** The days that a run begins to keep. */
export type NewDays = Pick<KeptDays, 'first_day' | 'last_day' | 'summed_from'>

const BEGIN_KEEPING = compileStatement(`
  insert into kept_days (account, first_day, last_day, generation, form, summed_from, position, begun_at,
    ready)
  select :account, value ->> 0, value ->> 1, :generation, :form, value ->> 2, ${POSITION}, :begun_at, 0
  from ${JSON_EACH}(:days)
  where ${usageSql(':account')} <= :most_bytes
  on conflict (account, first_day) do update set last_day = excluded.last_day,
    generation = excluded.generation, form = excluded.form, summed_from = excluded.summed_from,
    position = excluded.position, begun_at = excluded.begun_at, ready = 0, mean = 0
  where kept_days.generation <> excluded.generation`)

/**
 * Begins to keep the facts of some days, before they are read, and replaces what was kept for them. Does nothing if the account
 * stores more than `maxBytes`.
 */
export async function beginKeeping(
  db: Connection,
  account: string,
  keeping: Pick<KeptDays, 'generation' | 'form' | 'begun_at'>,
  days: readonly NewDays[],
  maxBytes: number,
): Promise<void> {
  const rows = days.map((one) => [one.first_day, one.last_day, one.summed_from])
  const values = { account, ...keeping, days: JSON.stringify(rows), most_bytes: maxBytes }
  await withD1Retry(() =>
    db.batch([RAISE_NUMBER, BEGIN_KEEPING].map((one) => bindStatement(db, one, values))),
  )
}

/** The maximum number of customers by which the mean number of facts is computed. */
const COUNTED = 10_000

const END_KEEPING = compileStatement(`
  update kept_days set ready = 1, mean = coalesce((
    select avg(facts) from (
      select f.facts from kept_facts f
      where f.account = :account and f.first_day = kept_days.first_day
        and f.generation = :generation limit ${COUNTED})), 0)
  where account = :account and generation = :generation and ready = 0`)

/** The maximum number of rows of earlier generations that the end of a run deletes. */
const DELETED = 10_000

/**
 * Customers whose affiliates no longer have a plan are not read again, so nothing replaces their
 * rows.
 */
const DELETE_OTHERS = compileStatement(`
  delete from kept_facts where (account, customer_id, first_day) in (
    select f.account, f.customer_id, f.first_day from kept_facts f
    where f.account = :account and not exists (
      select 1 from kept_days k
      where k.account = :account and k.first_day = f.first_day and k.generation = f.generation)
    limit ${DELETED})`)

/** Lets computations use what a run has kept, and deletes rows that computations no longer read. */
export async function endKeeping(
  db: Connection,
  account: string,
  generation: string,
): Promise<void> {
  const { meta } = await withD1Retry(() =>
    bindStatement(db, END_KEEPING, { account, generation }).run(),
  )
  if (meta.changes > 0) {
    await withD1Retry(() => bindStatement(db, DELETE_OTHERS, { account }).run())
  }
}

const STOP_KEEPING = compileStatement('delete from kept_days where account = :account')

/** Stops keeping facts: computations no longer use what the account keeps. */
export const stopKeeping = (db: Connection, account: string) =>
  withD1Retry(() => bindStatement(db, STOP_KEEPING, { account }).run())

/** The limits of kept facts. */
export const KEPT_LIMITS = {
  /** The facts that one statement reads. */
  facts: 10_000,
  /**
   * The characters of a customer's kept rows of a year. A customer with more is read from the
   * records.
   */
  characters: 500_000,
}

/** The kept rows of a customer by kind. A row is the array of its values without the customer's id. */
export type KeptRows = Partial<Record<RowKind, readonly (readonly FactRow[string][])[]>>

/** What is kept for a customer for some days. */
export interface KeptCustomer {
  /** The stored id. */
  readonly customer_id: string
  readonly first_day: number
  readonly rows: KeptRows
}

/** The first row has the number of facts. It is the only row if there are more than `:most`. */
const SELECT_KEPT = compileStatement(`
  with wanted as materialized (
    select k.customer_id, k.first_day, k.facts
    from ${JSON_EACH}(:ids) i cross join ${JSON_EACH}(:days) d
    cross join kept_facts k on k.account = :account and k.customer_id = i.value
      and k.first_day = d.value ->> 0 and k.generation = d.value ->> 1
  ),
  size as materialized (select coalesce(sum(facts), 0) as facts from wanted)
  select facts, null as customer_id, null as first_day, null as rows from size
  union all
  select null, k.customer_id, k.first_day, k.rows
  from size s cross join wanted w cross join kept_facts k on k.account = :account
    and k.customer_id = w.customer_id and k.first_day = w.first_day
  where s.facts <= :most`)

/** Returns the statement that reads what is kept for some customers; `ids` are stored ids. */
export const selectKept = (
  db: Connection,
  account: string,
  ids: readonly string[],
  days: readonly KeptDays[],
): D1PreparedStatement =>
  bindStatement(db, SELECT_KEPT, {
    account,
    ids: JSON.stringify(ids),
    days: JSON.stringify(days.map(({ first_day, generation }) => [first_day, generation])),
    most: KEPT_LIMITS.facts,
  })

/** Returns what the statement of `selectKept` has read; null if there are too many facts for it. */
export function toKept(results: readonly Record<string, unknown>[]): KeptCustomer[] | null {
  const [size, ...found] = results
  if (Number(size?.facts) > KEPT_LIMITS.facts) return null
  return found.map(({ customer_id, first_day, rows }) => ({
    customer_id: String(customer_id),
    first_day: Number(first_day),
    rows: JSON.parse(String(rows)),
  }))
}

// Writes nothing for a run that another run has replaced.
const PUT_KEPT = compileStatement(`
  insert into kept_facts (account, customer_id, first_day, generation, facts, rows)
  select :account, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
  from ${JSON_EACH}(:rows)
  where exists (select 1 from kept_days k where k.account = :account
    and k.first_day = value ->> 1 and k.generation = value ->> 2)
  on conflict (account, customer_id, first_day) do update set
    generation = excluded.generation, facts = excluded.facts, rows = excluded.rows
  where kept_facts.generation <> excluded.generation or kept_facts.rows <> excluded.rows`)

/** Rows to keep of a customer for some days. */
export interface NewlyKept extends KeptCustomer {
  readonly generation: string
}

/** Stores kept rows. Leaves out customers with more than `KEPT_LIMITS`. */
export async function putKept(
  db: Connection,
  account: string,
  kept: readonly NewlyKept[],
): Promise<void> {
  const rows = kept.flatMap(({ customer_id, first_day, generation, rows: own }) => {
    const text = JSON.stringify(own)
    const facts = Object.values(own).reduce((sum, list) => sum + list.length, 0)
    const fits = text.length <= KEPT_LIMITS.characters && facts <= KEPT_LIMITS.facts
    return fits ? [[customer_id, first_day, generation, facts, text]] : []
  })
  for (const chunk of toJsonChunks(rows)) {
    await withD1Retry(() => bindStatement(db, PUT_KEPT, { account, rows: chunk }).run())
  }
}
