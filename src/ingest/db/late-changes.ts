import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { NUMBER } from './changed.ts'
import type { RecordTable } from './record-table.ts'

// What has changed in closed periods. Whoever writes, moves or releases a record of a day up to the last closed one notes
// it in the same batch: a correction of a statement looks up there what caused it. A record that moves is noted at both of
// its places. Settings are noted in the audit log, rates with the time at which they became known.

const PLANS = '(select distinct plan from plan_versions where account = :account) p'

/** The last day of the period `period`, a month or an ISO week, in days since 1970. */
const LAST_DAY = `iif(period like '%-W%',
      unixepoch(substr(period, 1, 4) || '-01-04') / 86400
        - (strftime('%w', substr(period, 1, 4) || '-01-04') + 6) % 7 + 7 * substr(period, 7) - 1,
      unixepoch(period || '-01', '+1 month') / 86400 - 1)`

/** The last day of the closed periods of an account, in days since 1970; null if none is closed. */
export const CLOSED_THROUGH = `(
    select max(${LAST_DAY}) from (
      select (select max(c.period) from closed_periods c
        where c.account = :account and c.plan = p.plan) as period from ${PLANS}
      union all
      select (select max(s.period) from statements s indexed by statements_closed
        where s.account = :account and s.plan = p.plan and s.status <> 'draft') from ${PLANS}))`

const CLOSED_FOR = compileStatement(`
  select ${CLOSED_THROUGH} as closed,
    (select day from customers where account = :account and customer_id = :customer_id) as signup`)

/** Reads the last closed day of an account, null if there is none, and the day on which a customer signed up. */
export const readClosedFor = (
  db: D1Database,
  account: string,
  customer_id: string,
): Promise<{ readonly closed: number | null; readonly signup: number }> =>
  only(db, CLOSED_FOR, { account, customer_id })

/** How a table names its records: by these columns, of which several are a JSON array, and by their kind; and the figures that a cause says. */
export const IDENTITIES: Readonly<
  Record<
    string,
    { readonly id: readonly string[]; readonly kind?: string; readonly figures: readonly string[] }
  >
> = {
  transactions: {
    id: ['transaction_id'],
    kind: 'transaction_type',
    figures: ['amount_currency', 'currency', 'status'],
  },
  activity: { id: ['instrument', 'currency'], figures: ['lots_traded'] },
  events: { id: ['id'], kind: 'eventname', figures: ['amount', 'currency'] },
  customers: { id: [], figures: [] },
}

/** The kinds of a change of a customer: received late, changed from the signup on, or the first affiliate was replaced. */
export type CustomerChange = 'received' | 'changed' | 'corrected_early'

/** Returns the SQL of the kind of a record: the type of a transaction, the name of an event, else ''. */
export const kindSql = ({ table }: RecordTable, toSql: (name: string) => string): string => {
  const kind = IDENTITIES[table]?.kind
  return kind === undefined ? `''` : toSql(kind)
}

const INSERT =
  'insert into late_changes (account, at, seq, resource, customer_id, day, id, kind, delivery'

const AGAIN = 'on conflict do update set seq = excluded.seq'

/**
 * Returns the SQL that notes the places of `:places` at `:now`, when the batch is sent (milliseconds), with the figures that
 * are stored before it.
 */
export function insertLateSql({ table, indexes }: RecordTable): string {
  const { id, figures } = IDENTITIES[table] ?? { id: [], figures: [] }
  const names = figures.map((name) => `'${name}', t.${name}`)
  const keys = id.map((name, i) => `t.${name} = value ->> 2${id.length > 1 ? ` ->> ${i}` : ''}`)
  // The ids of trading activity are those of a customer and a day.
  const places = id.length > 1 ? ['t.customer_id = value ->> 0', 't.date = value ->> 1'] : []
  const before =
    figures.length === 0
      ? 'null'
      : `(select json_object(${names.join()}) from ${table} t ${indexes.key ? `indexed by ${indexes.key}` : ''}
      where t.account = :account and t.held = 0 and ${[...keys, ...places].join(' and ')})`
  return `
    ${INSERT}, before, after)
    select :account, cast(:now as integer), ${NUMBER}, :resource, value ->> 0, value ->> 1, value ->> 2, value ->> 3,
      :delivery, ${before}, value ->> 4
    from ${JSON_EACH}(:places) where true ${AGAIN}`
}

/** Returns the SQL that notes records that are released; `waiting` is a query that selects from the table `w`. */
export function insertReleasedSql(
  { table, dayColumn, resource }: { table: string; dayColumn: string; resource: string },
  waiting: (columns: string) => string,
): string {
  const { id = [], kind } = IDENTITIES[table] ?? {}
  const columns = id.map((name) => `w.${name}`).join()
  return `
    ${INSERT})
    select :account, cast(:now as integer), ${NUMBER}, '${resource}', customer_id, day, id, kind, :delivery
    from (${waiting(`w.customer_id, w.${dayColumn} as day,
      ${id.length > 1 ? `json_array(${columns})` : columns} as id, ${kind ? `w.${kind}` : `''`} as kind`)})
    where day <= ${CLOSED_THROUGH} ${AGAIN}`
}

/** A record that changed in a closed period. Ids and days are as stored. */
export interface LateChange {
  readonly resource: 'transactions' | 'trading-activity' | 'activities' | 'customers'
  readonly customer_id: string
  /** The day on which it lies, or lay before. */
  readonly day: number
  /** Of trading activity, a JSON array of instrument and currency; '' of a customer. */
  readonly id: string
  /** The type of a transaction, the name of an event, a `CustomerChange`, else ''. */
  readonly kind: string
  readonly delivery: string
  /** Its `figures` before and after, as JSON; null if there were none, or they are not noted. */
  readonly before: string | null
  readonly after: string | null
  /** In milliseconds. */
  readonly at: number
}

/** How long changes are kept, in milliseconds. */
export const LATE_CHANGES_MS = 400 * DAY_MS

/** The most changes that one computation looks at, the latest first. */
const MAX_LATE = 50_000

const READ_LATE = compileStatement(`
  select resource, customer_id, day, id, kind, delivery, before, after, at from late_changes
  where account = :account and at >= :since
    and (day <= :last or resource = 'customers')
  order by at desc limit ${MAX_LATE}`)

/** Returns what has changed since a time (milliseconds) of records up to a day, and of customers, the latest first. */
export const readLateChanges = (
  db: Connection,
  account: string,
  query: { readonly since: number; readonly last: number },
): Promise<LateChange[]> => all<LateChange>(db, READ_LATE, { account, ...query })
