import { encode } from '../column-types.ts'
import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { transactions } from '../schema.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'
import type { StoredFinding, SubjectOfRule } from './findings.ts'

/** A place among the parts of findings. */
export interface PartKey {
  readonly day: number
  readonly part: number
}

/** A part of a finding: its records alone. */
export type FoundPart = PartKey & Pick<StoredFinding, 'evidence'>

/** The parts that are read at once. */
const PARTS = 20

const READ_PARTS = compileStatement(`
  select day, part, evidence from fraud_findings
  where account = :account and affiliate_id = :affiliate_id and rule = :rule
    and subject = :subject and (day, part) >= (:day, :part)
  order by day, part limit ${PARTS}`)

/** Yields the parts of the findings of a subject from one on, in order of day. */
export async function* partsFrom(
  db: Connection,
  account: string,
  { affiliate_id, rule, subject }: SubjectOfRule,
  first: PartKey,
): AsyncGenerator<FoundPart> {
  for (let next = first; ; ) {
    const values = { account, affiliate_id, rule, subject, ...next }
    const parts = await all<FoundPart>(db, READ_PARTS, values)
    yield* parts
    const last = parts.at(-1)
    if (!last || parts.length < PARTS) return
    next = { day: last.day, part: last.part + 1 }
  }
}

/** The decided cases of a subject up to a position, and the positions of their decisions. */
const DECIDED = `decided as materialized (
    select c.account, c.id, c.position, (select max(l.position) from fraud_decisions l
      where l.account = c.account and l.case_id = c.id and l.decision = c.status) as last
    from fraud_cases c indexed by fraud_cases_position
    where c.account = :account and c.affiliate_id = :affiliate_id and c.rule = :rule
      and c.subject = :subject and c.position <= :position
      and c.status in ('confirmed', 'dismissed'))`

const READ_SEEN = compileStatement(`
  with ${DECIDED}
  select n.position, d.seen from decided n
  cross join fraud_decisions d on d.account = n.account and d.case_id = n.id and d.position = n.last
  union all
  select n.position, p.seen from decided n
  cross join fraud_seen_parts p on p.account = n.account and p.case_id = n.id
    and p.position = n.last`)

/** Returns what persons saw who decided the cases of a subject up to a position, in parts that are JSON arrays. */
export const readSeen = (
  db: Connection,
  account: string,
  { affiliate_id, rule, subject }: SubjectOfRule,
  position: number,
): Promise<{ position: number; seen: string }[]> =>
  all(db, READ_SEEN, { account, affiliate_id, rule, subject, position })

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
    select i.key, t.signup_date, t.country_code, t.affiliate_id, t.tracking_data
    from ${JSON_EACH}(:keys) i
    cross join customers t on t.account = :account and t.customer_id = i.value`),
  transactions: compileStatement(`
    select i.key, t.transaction_type, t.amount_currency, t.currency, t.status, t.transaction_date
    from ${JSON_EACH}(:keys) i
    cross join transactions t on t.account = :account and t.transaction_id = i.value`),
  'trading-activity': compileStatement(`
    select i.key, t.instrument, t.lots_traded, t.pnl, t.currency, t.drawdown, t.max_drawdown,
      t.volume_usd, t.spread_cost, t.commission
    from ${JSON_EACH}(:keys) i
    cross join activity t on t.account = :account and t.date = i.value ->> 0
      and t.customer_id = i.value ->> 1 and t.instrument = i.value ->> 2
      and t.currency = i.value ->> 3`),
  activities: compileStatement(`
    select i.key, t.eventname, t.amount, t.currency, t.createtime
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
