import type { Resource } from '../../src/ingest/resource.ts'

/** The descriptions of the resources of partners, by name. */
export const PARTNER_RESOURCES: ReadonlyMap<string, string> = new Map([
  [
    'customers',
    'A trader account, identified by `customer_id`. Sending it again replaces the whole record.',
  ],
  [
    'transactions',
    'A financial event on a trader account, identified by `transaction_id`. Sending it again replaces the whole record.',
  ],
  [
    'trading-activity',
    'The activity of one trader on one day, in one instrument and one currency. Sending it again replaces the whole record.',
  ],
])

/** The descriptions of the resources of brands, by name. */
export const BRAND_RESOURCES: ReadonlyMap<string, string> = new Map([
  [
    'customers',
    'A player, identified by `customerId`. When you send a customer again, fields that you leave out keep their stored values. Fields that are not listed here are stored as sent.',
  ],
  [
    'activities',
    'One event, or one day of one customer with several KPIs. An activity is identified by its `eventid`. Without one, a daily aggregate is identified by `eventname`, `customerid`, day, `Currency` and product, and any other record is an event of its own. Fields that are not listed here are KPI fields if they are decimals and details otherwise; all are stored.',
  ],
])

/** Returns the description of a resource. Throws if it has none. */
export function describeResource(
  { name }: Resource,
  descriptions: ReadonlyMap<string, string>,
): string {
  const found = descriptions.get(name)
  if (!found) throw new Error(`scripts/docs/resources.ts does not describe ${name}.`)
  return found
}
