import type { FactResource } from '../engine/facts.ts'
import type { PlanTerms } from '../engine/plan.ts'
import type { Unpaid } from '../engine/reason-words.ts'

// What the console reads to say in sentences what a stored record earns, or why it earns nothing.

/** A stored record, as `GET …/records` finds it by its id. */
export interface FoundRecord {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
  /** `YYYY-MM-DD`. */
  readonly day: string
  /** The record as its sender reads it. */
  readonly record: Readonly<Record<string, unknown>>
}

/** The version of a plan that decided about records; null if none did. */
export interface Decided {
  readonly plan: string | null
  readonly version: number | null
}

/** Returns the terms of a version; null if they are not known. */
export type TermsOf = (decided: Decided) => PlanTerms | null

const versionKey = ({ plan, version }: Decided): string => `${plan} ${version}`

/**
 * Reads the terms of the versions that decided about records, each once.
 *
 * @param read Reads the terms of a version; null if there is no such version.
 */
export async function readTermsOf(
  decided: readonly Decided[],
  read: (plan: string, version: number) => Promise<PlanTerms | null>,
): Promise<TermsOf> {
  const versions = new Map(decided.map((one) => [versionKey(one), one]))
  const entries = [...versions].map(async ([key, { plan, version }]) => {
    const terms = plan === null || version === null ? null : await read(plan, version)
    return [key, terms] as const
  })
  const terms = new Map(await Promise.all(entries))
  return (one) => terms.get(versionKey(one)) ?? null
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Returns an outcome of a record as sentences need it. */
export const unpaidOf = <Outcome extends Decided & Pick<Unpaid, 'reason' | 'rule' | 'condition'>>(
  { resource, customer_id, day, record }: FoundRecord,
  affiliate_id: string | null,
  outcome: Outcome,
) => ({
  ...outcome,
  resource,
  customer_id,
  affiliate_id,
  day,
  transaction_type: textOrNull(record.transaction_type),
  eventname: textOrNull(record.eventname),
  currency: textOrNull(record.currency) ?? textOrNull(record.Currency),
})
