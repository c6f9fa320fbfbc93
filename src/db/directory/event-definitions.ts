import { and, asc, eq } from 'drizzle-orm'
import { all, build, toStatement } from '../query.ts'
import { eventDefinitions } from '../schema.ts'

/** The product lines of iGaming. */
export const PRODUCTS = ['casino', 'sports', 'poker', 'bingo'] as const

/** The members that every event may have. A definition cannot give them another meaning. */
export const KNOWN_MEMBERS = [
  'customerid',
  'eventname',
  'eventid',
  'createtime',
  'Value',
  'Currency',
]

type Row = typeof eventDefinitions.$inferSelect

/**
 * How the events of one name are validated; configured when a brand is set up.
 * - `granularity`: with `day` there is one record per customer and day, which a re-send replaces.
 * - `currency`: the currency of events that name none; null if events must name one.
 */
export interface EventDefinition extends Omit<Row, 'account' | 'kpis' | 'product'> {
  /** The members that are KPIs and must be decimals; `Value` always is one. */
  kpis: string[]
  /** The member with the product line, and the product line of each of its values; null: `product`. */
  product: { field: string; map: Record<string, (typeof PRODUCTS)[number]> } | null
}

/** Returns the event definitions of an account, in the order of their names. */
export async function listDefinitions(db: D1Database, account: string): Promise<EventDefinition[]> {
  const { eventname, granularity, eventid, kpis, product, currency } = eventDefinitions
  const rows = await all(
    db,
    build
      .select({ eventname, granularity, eventid, kpis, product, currency })
      .from(eventDefinitions)
      .where(eq(eventDefinitions.account, account))
      .orderBy(asc(eventname)),
  )
  return rows.map((row) => ({
    ...row,
    kpis: JSON.parse(row.kpis),
    product: row.product === null ? null : JSON.parse(row.product),
  }))
}

/** Stores the definition of one event name, in place of an earlier one. */
export function putDefinition(db: D1Database, account: string, definition: EventDefinition) {
  const { eventname, granularity, eventid, currency } = definition
  const settings = {
    granularity,
    eventid,
    kpis: JSON.stringify(definition.kpis),
    product: definition.product && JSON.stringify(definition.product),
    currency,
  }
  return toStatement(
    db,
    build
      .insert(eventDefinitions)
      .values({ account, eventname, ...settings })
      .onConflictDoUpdate({
        target: [eventDefinitions.account, eventDefinitions.eventname],
        set: settings,
      }),
  )
}

/** Deletes the definition of one event name. */
export const deleteDefinition = (db: D1Database, account: string, eventname: string) =>
  toStatement(
    db,
    build
      .delete(eventDefinitions)
      .where(and(eq(eventDefinitions.account, account), eq(eventDefinitions.eventname, eventname))),
  )
