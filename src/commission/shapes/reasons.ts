/**
 * The reasons why a fact earns nothing, in the order of §10. If several apply to a fact under one rule,
 * the first counts. If several rules name the fact, the one that is last in this list counts.
 */
export const REASONS = [
  'held',
  'implausible_time',
  'organic',
  'unknown_affiliate',
  'refused',
  'no_plan',
  'pending',
  'unmapped',
  'declined',
  'reversed',
  'no_rule',
  'excluded',
  'expired',
  'no_currency',
  'fx_pending',
  'fx_missing',
  'already_counted',
  'not_qualified',
] as const

/** Why a fact earns nothing. */
export type Reason = (typeof REASONS)[number]

/** Reasons of facts that wait for data: they are listed as holds and stop an approval. */
export type HoldReason = 'no_currency' | 'fx_pending' | 'fx_missing'

/** The verdict on a fact: `counted`, or the reason why not. */
export type Verdict = 'counted' | Reason

const RANK = new Map<Verdict, number>(REASONS.map((reason, index) => [reason, index]))

/** Returns the position of a verdict in `REASONS`; `counted` comes after all reasons. */
export const rankOf = (verdict: Verdict): number => RANK.get(verdict) ?? REASONS.length
