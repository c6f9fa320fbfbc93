import { all } from '../db/query.ts'
import type { eventDefinitions } from '../db/schema.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

/** The product lines of iGaming. */
export const PRODUCTS = ['casino', 'sports', 'poker', 'bingo'] as const

/** Returns whether a member carries the product line unless an event definition names another: `product` in any case. */
export const isProductName = (name: string) => /^product$/i.test(name)

/** Returns the member that an event definition names for the product line; null if it is `product`, in any case. */
export const productFieldOf = ({ product }: Pick<EventDefinition, 'product'>): string | null =>
  product && !isProductName(product.field) ? product.field : null

type Row = typeof eventDefinitions.$inferSelect

/**
 * How the events of one name are validated; configured when a brand is set up.
 * - `granularity`: with `day` there is one record per customer and day, which a re-send replaces.
 * - `currency`: the currency of events that name none; null if events must name one.
 * - `status_member`: the member with the status of an event; null: all are `approved`.
 */
export interface EventDefinition extends Omit<Row, 'account' | 'kpis' | 'product' | 'outflow'> {
  /** The members that are KPIs and must be decimals; `Value` always is one. */
  kpis: readonly string[]
  /** The member with the product line, and the product line of each of its values; null: `product`. */
  product: {
    readonly field: string
    readonly map: Readonly<Record<string, (typeof PRODUCTS)[number]>>
  } | null
  /** Whether money leaves with the event, as by a withdrawal. */
  outflow: boolean
}

const LIST_DEFINITIONS = compileStatement(`
  select eventname, granularity, eventid, kpis, product, currency, outflow, status_member
  from event_definitions
  where account = :account order by eventname`)

/** Returns the event definitions of an account, in the order of their names. */
export async function listDefinitions(db: D1Database, account: string): Promise<EventDefinition[]> {
  const rows = await all<Omit<Row, 'account'>>(db, LIST_DEFINITIONS, { account })
  return rows.map((row) => ({
    ...row,
    kpis: JSON.parse(row.kpis),
    product: row.product === null ? null : JSON.parse(row.product),
    outflow: row.outflow === 1,
  }))
}

const PUT_DEFINITION = compileStatement(`
  insert into event_definitions
    (account, eventname, granularity, eventid, kpis, product, currency, outflow, status_member)
  values (:account, :eventname, :granularity, :eventid, :kpis, :product, :currency, :outflow,
    :status_member)
  on conflict (account, eventname) do update set granularity = excluded.granularity,
    eventid = excluded.eventid, kpis = excluded.kpis, product = excluded.product,
    currency = excluded.currency, outflow = excluded.outflow,
    status_member = excluded.status_member`)

/** Stores the definition of one event name, in place of an earlier one. */
export const putDefinition = (db: D1Database, account: string, definition: EventDefinition) =>
  bindStatement(db, PUT_DEFINITION, {
    ...definition,
    account,
    kpis: JSON.stringify(definition.kpis),
    product: definition.product && JSON.stringify(definition.product),
    outflow: Number(definition.outflow),
  })

const DELETE_DEFINITION = compileStatement(
  `delete from event_definitions where account = :account and eventname = :eventname`,
)

/** Deletes the definition of one event name. */
export const deleteDefinition = (db: D1Database, account: string, eventname: string) =>
  bindStatement(db, DELETE_DEFINITION, { account, eventname })
