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
  | 'r2Writes'
  | 'r2Reads'

/** An amount for each meter. */
export type Usage = Record<Meter, number>

/**
 * The price of a million of each in US dollars on Workers Paid, and the millions a month that the plan includes,
 * as of 2026-11-20 in Cloudflare's documentation.
 *
 * @see https://developers.cloudflare.com/workers/platform/pricing/ requests, CPU
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/ a call is a request; `get`
 * and `put` are rows, so is `setAlarm`; 128 MB are billed for as long as it cannot hibernate
 * @see https://developers.cloudflare.com/d1/platform/pricing/ an entry of an index is a row more
 * @see https://developers.cloudflare.com/queues/platform/pricing/ a message is written, read, deleted
 * @see https://developers.cloudflare.com/r2/pricing/ `put` and `list` are writes, `get` and `head` are reads
 */
export const PRICES: Record<Meter, { title: string; perMillion: number; included: number }> = {
  requests: { title: 'Worker requests', perMillion: 0.3, included: 10 },
  cpuMs: { title: 'CPU-ms, of this machine', perMillion: 0.02, included: 30 },
  objectRequests: { title: 'object requests', perMillion: 0.15, included: 1 },
  objectGbSeconds: { title: 'object GB-s, estimated', perMillion: 12.5, included: 0.4 },
  objectRowsRead: { title: 'object rows read', perMillion: 0.001, included: 25_000 },
  objectRowsWritten: { title: 'object rows written', perMillion: 1, included: 50 },
  rowsRead: { title: 'D1 rows read', perMillion: 0.001, included: 25_000 },
  rowsWritten: { title: 'D1 rows written', perMillion: 1, included: 50 },
  queueOperations: { title: 'Queue operations', perMillion: 0.4, included: 1 },
  r2Writes: { title: 'R2 writes', perMillion: 4.5, included: 1 },
  r2Reads: { title: 'R2 reads', perMillion: 0.36, included: 10 },
}

/** The meters in the order of the bill. */
export const METERS = Object.keys(PRICES) as Meter[]

/** The fee of Workers Paid, in US dollars a month. */
export const PLAN_FEE = 5

/** The price of a GB stored in D1 for a month in US dollars, and the GB that the plan includes. */
export const D1_STORAGE = { perGb: 0.75, includedGb: 5 }

/** The same of R2. */
export const R2_STORAGE = { perGb: 0.015, includedGb: 10 }

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

/** Returns the cost of a usage in US dollars, without what the plan includes. */
export const dollars = (usage: Usage): number =>
  METERS.reduce((all, meter) => all + (usage[meter] * PRICES[meter].perMillion) / 1e6, 0)

/** Returns the cost of the usage of a month in US dollars, beyond what the plan includes. */
export const billed = (usage: Usage): number =>
  METERS.reduce((all, meter) => {
    const { perMillion, included } = PRICES[meter]
    return all + Math.max(0, usage[meter] / 1e6 - included) * perMillion
  }, 0)
