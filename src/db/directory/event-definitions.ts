import { withD1Retry } from '../retry.ts'

/** The product lines of iGaming. */
export const PRODUCTS = ['casino', 'sports', 'poker', 'bingo'] as const

/** The members that every event may have: no definition says anything else of them. */
export const KNOWN_MEMBERS = [
  'customerid',
  'eventname',
  'eventid',
  'createtime',
  'Value',
  'Currency',
]

/** How the events of one name are to be read: set at onboarding, judges what arrives later. */
export interface EventDefinition {
  eventname: string
  /** `day`: one record a customer and day, which a re-send replaces. */
  granularity: 'event' | 'day'
  eventid: 'required' | 'used' | 'ignored'
  /** The members that are KPIs, and must be decimals; `Value` always is one. */
  kpis: string[]
  /** The member that says the product line, and what each of its values means; null: `product`. */
  product: { field: string; map: Record<string, (typeof PRODUCTS)[number]> } | null
  /** The currency of what names none. */
  currency: string | null
}

interface Row extends Omit<EventDefinition, 'kpis' | 'product'> {
  kpis: string
  product: string | null
}

/** The event definitions of an account, by name. */
export async function listDefinitions(db: D1Database, account: string): Promise<EventDefinition[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select eventname, granularity, eventid, kpis, product, currency
         from event_definitions where account = ?1 order by eventname`,
      )
      .bind(account)
      .all<Row>(),
  )
  return results.map(({ kpis, product, ...row }) => ({
    ...row,
    kpis: JSON.parse(kpis),
    product: product === null ? null : JSON.parse(product),
  }))
}

/** Sets the definition of one name, in place of the one that is there. */
export const putDefinition = (db: D1Database, account: string, definition: EventDefinition) =>
  db
    .prepare(
      `insert into event_definitions
         (account, eventname, granularity, eventid, kpis, product, currency)
       values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
       on conflict (account, eventname) do update set
         granularity = excluded.granularity, eventid = excluded.eventid, kpis = excluded.kpis,
         product = excluded.product, currency = excluded.currency`,
    )
    .bind(
      account,
      definition.eventname,
      definition.granularity,
      definition.eventid,
      JSON.stringify(definition.kpis),
      definition.product && JSON.stringify(definition.product),
      definition.currency,
    )

/** Forgets the definition of one name. */
export const deleteDefinition = (db: D1Database, account: string, eventname: string) =>
  db
    .prepare('delete from event_definitions where account = ?1 and eventname = ?2')
    .bind(account, eventname)
