import { encode } from '../../platform/db/column-types.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { transactions } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import type { FindingRow } from './findings.ts'

/** A part of a finding: its records alone. */
export type FoundPart = Pick<FindingRow, 'part' | 'day' | 'evidence'>

/** The parts that are read at once. */
const PARTS = 20

const READ_PARTS = compileStatement(`
  select part, day, evidence from fraud_findings
  where account = :account and case_id = :case_id and part >= :part order by part limit ${PARTS}`)

/** Yields the parts of the findings of a case from one on, in the order in which they were added. */
export async function* partsFrom(
  db: Connection,
  account: string,
  case_id: string,
  first: number,
): AsyncGenerator<FoundPart> {
  for (let part = first; ; part += PARTS) {
    const parts = await all<FoundPart>(db, READ_PARTS, { account, case_id, part })
    yield* parts
    if (parts.length < PARTS) return
  }
}

/** The records to read, by resource: the keys of each. */
export interface RecordKeys {
  readonly customers: readonly string[]
  readonly transactions: readonly string[]
  /** Day, customer, instrument and currency. */
  readonly 'trading-activity': readonly (readonly [number, string, string, string])[]
  readonly activities: readonly string[]
  readonly statements: readonly string[]
}

const SELECTS = {
  customers: compileStatement(`
    select i.key, t.delivery, t.signup_date, t.country_code, t.affiliate_id, t.tracking_data
    from ${JSON_EACH}(:keys) i
    cross join customers t on t.account = :account and t.customer_id = i.value`),
  transactions: compileStatement(`
    select i.key, t.delivery, t.transaction_type, t.amount_currency, t.currency, t.status, t.transaction_date
    from ${JSON_EACH}(:keys) i
    cross join transactions t on t.account = :account and t.transaction_id = i.value`),
  'trading-activity': compileStatement(`
    select i.key, t.delivery, t.instrument, t.lots_traded, t.pnl, t.currency, t.drawdown, t.max_drawdown,
      t.volume_usd, t.spread_cost, t.commission
    from ${JSON_EACH}(:keys) i
    cross join activity t on t.account = :account and t.date = i.value ->> 0
      and t.customer_id = i.value ->> 1 and t.instrument = i.value ->> 2
      and t.currency = i.value ->> 3`),
  activities: compileStatement(`
    select i.key, t.delivery, t.eventname, t.amount, t.currency, t.createtime
    from ${JSON_EACH}(:keys) i
    cross join events t on t.account = :account and t.id = i.value`),
  statements: compileStatement(`
    select i.key, t.plan, t.period, t.status, t.statement ->> 'currency' as currency,
      t.statement ->> 'total' as total
    from ${JSON_EACH}(:keys) i
    cross join statements t on t.account = :account and t.id = i.value`),
} as const

/** The main values of a record, and its position among the keys of its resource. */
export type RecordValues = Readonly<Record<string, string | number | null>> & {
  readonly key: number
}

const RESOURCES = Object.keys(SELECTS) as (keyof RecordKeys)[]

/** Returns the main values of records by resource; records that are gone or archived are left out. */
export async function readMainValues(
  db: Connection,
  account: string,
  keys: RecordKeys,
): Promise<Record<keyof RecordKeys, RecordValues[]>> {
  const wanted = RESOURCES.filter((resource) => keys[resource].length > 0)
  const values: Record<keyof RecordKeys, RecordValues[]> = {
    ...{ customers: [], transactions: [], 'trading-activity': [], activities: [], statements: [] },
  }
  if (wanted.length === 0) return values
  const lists = await readBatch<RecordValues[][]>(
    db,
    wanted.map((resource) =>
      bindStatement(db, SELECTS[resource], { account, keys: JSON.stringify(keys[resource]) }),
    ),
  )
  for (const [i, resource] of wanted.entries()) values[resource] = lists[i] ?? []
  return values
}

/** Returns the id of a record or customer as it is stored. */
export const storedKey = (id: string): string => String(encode(transactions.transaction_id, id))
