import { encode } from '../db/column-types.ts'
import { countStoredSince, latestRefused, type RefusedKey } from '../db/records/refused-since.ts'
import { DAY_MS } from '../durations.ts'
import { readAllErrors } from '../ingest/delivery-errors.ts'
import { firstIdAt } from '../ingest/delivery-id.ts'
import type { Resource } from '../ingest/resource.ts'

/**
 * Counts the refused records of a resource that were stored after their refusal: of the deliveries of the last
 * 24 hours, the latest. The log has the keys of most refused records; the others count as not stored.
 */
export async function countRefusedStoredSince(
  session: D1DatabaseSession,
  account: string,
  resource: Resource,
  now: number,
): Promise<number> {
  const day = Math.floor(now / DAY_MS)
  const deliveries = await latestRefused(session, account, resource.name, {
    oldest: firstIdAt(now - DAY_MS),
    end: firstIdAt((day + 1) * DAY_MS),
    firstDay: day - 1,
    lastDay: day,
  })
  const keys = deliveries.flatMap((delivery) => {
    const byIndex = new Map(readAllErrors(delivery, resource).map(({ index, key }) => [index, key]))
    return [...byIndex.values()].flatMap((key) => {
      const columns = key && columnsOf(key, resource)
      return columns ? [{ delivery: delivery.id, ...columns }] : []
    })
  })
  return keys.length === 0 ? 0 : countStoredSince(session, account, resource.recordTable, keys)
}

/** Sorts after every character of a text that is stored. */
const AFTER_ALL = '\u{10ffff}'

/** Returns the columns of the key of a refused record; undefined if the log has only a part of it. */
function columnsOf(
  key: Record<string, string>,
  { recordTable, key: names }: Resource,
): Omit<RefusedKey, 'delivery'> | undefined {
  if (Object.values(key).some((value) => value.endsWith('…'))) return undefined
  const { eventid, eventname, customerid } = key
  if (eventid !== undefined) return { values: [`e ${eventid}`] }
  if (eventname !== undefined && customerid !== undefined) {
    const start = `d ${JSON.stringify([eventname, customerid]).slice(0, -1)},`
    return { values: [start], end: start + AFTER_ALL }
  }
  const values = names.map((name, i) => {
    const column = recordTable.key[i] ?? name
    return key[name] === undefined
      ? undefined
      : encode(recordTable.encoded[column] ?? null, key[name])
  })
  return values.includes(undefined) ? undefined : { values }
}
