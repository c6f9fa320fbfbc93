import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { type Evidence, payeeOf } from '../kind.ts'
import type { EvidenceRow } from './findings.ts'

// The records behind a case.

const OF_CASE = 'fraud_evidence where account = :account and case_id = :case_id'

/** Reads one page of the records of a case, in the order in which findings named them. */
export const pageRecords = (
  db: D1DatabaseSession,
  account: string,
  case_id: string,
  page: Page,
): Promise<FoundPage<EvidenceRow>> =>
  paginate(
    db,
    {
      columns: ['position', 'resource', 'id', 'day', 'customer_id', 'delivery_id'],
      from: OF_CASE,
      key: ['position'],
      total: `select evidence_count as total from fraud_cases
        where account = :account and id = :case_id`,
      values: { account, case_id },
    },
    page,
  )

/** A resource: the key of its records, and the SQL of their main values. A key begins with its place in a list. */
interface Source {
  readonly keyOf: (one: Evidence) => readonly (string | number)[]
  readonly select: ReturnType<typeof compileStatement>
}

const sourceOf = (
  table: string,
  on: string,
  columns: string,
  keyOf: Source['keyOf'] = ({ id }) => [id],
): Source => ({
  keyOf,
  select: compileStatement(`
    select i.value ->> 0 as place, ${columns} from ${JSON_EACH}(:keys) i
    cross join ${table} t on t.account = :account and ${on}`),
})

const SOURCES: Readonly<Record<Evidence['resource'], Source>> = {
  customers: sourceOf(
    'customers',
    't.customer_id = i.value ->> 1',
    't.delivery, t.signup_date, t.country_code, t.affiliate_id, t.tracking_data',
  ),
  transactions: sourceOf(
    'transactions',
    't.transaction_id = i.value ->> 1',
    't.delivery, t.transaction_type, t.amount_currency, t.currency, t.status, t.transaction_date',
  ),
  'trading-activity': sourceOf(
    'activity',
    `t.date = i.value ->> 1 and t.customer_id = i.value ->> 2
      and t.instrument || '|' || t.currency = i.value ->> 3`,
    `t.delivery, t.instrument, t.lots_traded, t.pnl, t.currency, t.drawdown, t.max_drawdown, t.volume_usd,
      t.spread_cost, t.commission`,
    // Its id has day, customer, instrument and currency.
    ({ id, day, customer_id }) => [
      day,
      customer_id ?? '',
      id.slice(`YYYY-MM-DD|${customer_id}|`.length),
    ],
  ),
  activities: sourceOf(
    'events',
    't.id = i.value ->> 1',
    't.delivery, t.eventname, t.amount, t.currency, t.createtime',
  ),
  statements: sourceOf(
    'statements',
    't.id = i.value ->> 1',
    `t.plan, t.period, t.status, t.statement ->> 'currency' as currency, t.statement ->> 'earned' as earned`,
  ),
  payees: sourceOf(
    'payees',
    "t.party = 'payee' and t.id = i.value ->> 1 and t.version = cast(i.value ->> 2 as integer)",
    't.state, t.method',
    ({ id }) => [payeeOf(id), id.slice(payeeOf(id).length + 1)],
  ),
}

/** The main values of a record. */
export type RecordValues = Readonly<Record<string, string | number | null>>

/** Returns the main values of records, by their places in the list; records that are gone are left out. */
export async function readMainValues(
  db: Connection,
  account: string,
  evidence: readonly Evidence[],
): Promise<ReadonlyMap<number, RecordValues>> {
  const lists = await readBatch<(RecordValues & { place: number })[][]>(
    db,
    Object.entries(SOURCES).map(([resource, { keyOf, select }]) => {
      const keys = evidence.flatMap((one, place) =>
        one.resource === resource ? [[place, ...keyOf(one)]] : [],
      )
      return bindStatement(db, select, { account, keys: JSON.stringify(keys) })
    }),
  )
  return new Map(lists.flat().map(({ place, ...values }) => [place, values]))
}
