/** What the platform bills, each by the name under which it is counted. */
export type Meter =
  | 'requests'
  | 'cpuMs'
  | 'objectRequests'
  | 'objectGbSeconds'
  | 'objectRowsRead'
  | 'objectRowsWritten'
  | 'rowsRead'
  | 'rowsWritten'
  | 'queueOperations'

/** So much of each, whatever the time it was counted in. */
export type Usage = Record<Meter, number>

/**
 * What a million of each costs in US dollars on Workers Paid, beyond what the plan includes. Read on
 * 2026-11-20 in the sources of Cloudflare's documentation.
 *
 * @see https://developers.cloudflare.com/workers/platform/pricing/ requests, CPU
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/ a call is a request; `get`
 * and `put` are rows, so is `setAlarm`; 128 MB are billed for as long as it cannot hibernate
 * @see https://developers.cloudflare.com/d1/platform/pricing/ an entry of an index is a row more
 * @see https://developers.cloudflare.com/queues/platform/pricing/ a message is written, read, deleted
 */
export const PRICES: Record<Meter, { title: string; perMillion: number }> = {
  requests: { title: 'Worker requests', perMillion: 0.3 },
  cpuMs: { title: 'CPU-ms, of this machine', perMillion: 0.02 },
  objectRequests: { title: 'object requests', perMillion: 0.15 },
  objectGbSeconds: { title: 'object GB-s, reckoned', perMillion: 12.5 },
  objectRowsRead: { title: 'object rows read', perMillion: 0.001 },
  objectRowsWritten: { title: 'object rows written', perMillion: 1 },
  rowsRead: { title: 'D1 rows read', perMillion: 0.001 },
  rowsWritten: { title: 'D1 rows written', perMillion: 1 },
  queueOperations: { title: 'Queue operations', perMillion: 0.4 },
}

/** All meters, in the order of the bill. */
export const METERS = Object.keys(PRICES) as Meter[]

/** Nothing of anything. */
export const nothing = (): Usage =>
  Object.fromEntries(METERS.map((meter) => [meter, 0])) as unknown as Usage

/** Some usage, so many times. */
export const times = (usage: Usage, factor: number): Usage =>
  Object.fromEntries(METERS.map((meter) => [meter, usage[meter] * factor])) as Usage

/** Some usages together. */
export const sum = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (all, one) =>
      Object.fromEntries(METERS.map((meter) => [meter, all[meter] + one[meter]])) as Usage,
    nothing(),
  )

/** What it costs, in dollars. */
export const dollars = (usage: Usage): number =>
  METERS.reduce((all, meter) => all + (usage[meter] * PRICES[meter].perMillion) / 1e6, 0)
