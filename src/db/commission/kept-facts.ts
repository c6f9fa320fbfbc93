import type { Connection } from '../database.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { RowKind } from './fact-queries.ts'
import type { KeptDays } from './kept-days.ts'
import type { FactRow } from './packed-facts.ts'

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
