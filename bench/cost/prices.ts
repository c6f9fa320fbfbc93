/** The meters of the platform. */
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

/** An amount for each meter. */
export type Usage = Record<Meter, number>

/**
 * The price of a million of each in US dollars on Workers Paid, beyond the included amounts, as of
 * 2026-11-20 in Cloudflare's documentation.
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
  objectGbSeconds: { title: 'object GB-s, estimated', perMillion: 12.5 },
  objectRowsRead: { title: 'object rows read', perMillion: 0.001 },
  objectRowsWritten: { title: 'object rows written', perMillion: 1 },
  rowsRead: { title: 'D1 rows read', perMillion: 0.001 },
  rowsWritten: { title: 'D1 rows written', perMillion: 1 },
  queueOperations: { title: 'Queue operations', perMillion: 0.4 },
}

/** The meters in the order of the bill. */
export const METERS = Object.keys(PRICES) as Meter[]

/** Zero for each meter. */
export const ZERO_USAGE: Readonly<Usage> = Object.fromEntries(
  METERS.map((meter) => [meter, 0]),
) as unknown as Usage

/** Multiplies a usage. */
export const times = (usage: Usage, factor: number): Usage =>
  Object.fromEntries(METERS.map((meter) => [meter, usage[meter] * factor])) as Usage

/** Adds usages. */
export const sum = (usages: readonly Usage[]): Usage =>
  usages.reduce(
    (all, one) =>
      Object.fromEntries(METERS.map((meter) => [meter, all[meter] + one[meter]])) as Usage,
    ZERO_USAGE,
  )

/** Returns the cost of a usage in US dollars. */
export const dollars = (usage: Usage): number =>
  METERS.reduce((all, meter) => all + (usage[meter] * PRICES[meter].perMillion) / 1e6, 0)
