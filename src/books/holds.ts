import type { DueStatement, PayableStatement } from '../commission/db/ledger.ts'
import { parsePeriod } from '../commission/engine/calendar.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  multiply,
  ZERO,
} from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import { moneyText } from '../commission/statements/money.ts'
import type { Connection } from '../platform/db/database.ts'
import {
  type HoldingCase,
  type PaidStatement,
  readStoredHolds,
  type SeenHolds,
} from './db/fraud-holds.ts'

// Cases of the fraud review hold payouts (§17). Statements are paid as a whole. So a case that holds a part
// holds the latest statements: as few as reach the part. The part is that of all that was payable since the
// case opened: what was paid meanwhile does not make it smaller.

/** What holds the payouts of an affiliate, and which of them are held. */
export interface AffiliateHolds {
  /** The cases, in order of id. */
  readonly cases: readonly HoldingCase[]
  /** What has to be paid, held or not. */
  readonly due: readonly PayableStatement[]
  /** What is held of it. */
  readonly held: readonly PayableStatement[]
  /** What each case alone holds, by its id. */
  readonly byCase: ReadonlyMap<string, readonly PayableStatement[]>
}

/** What statements are ordered by. */
type Dated = Pick<DueStatement, 'period' | 'plan'>

const lastDay = ({ period }: Dated) => parsePeriod(period)?.last ?? 0

/** Compares statements by age: payments pay the oldest first. */
export const byAge = (a: Dated, b: Dated): number =>
  lastDay(a) - lastDay(b) || compareText(a.plan, b.plan) || compareText(a.period, b.period)

const WHOLE = decimal('100')
const PERCENT = decimal('0.01')

/**
 * Returns the latest statements of a currency: as few as reach a part of an amount.
 *
 * @param due The statements, the oldest first.
 */
export function latestThatReach<S extends { readonly payable: string }>(
  due: readonly S[],
  reservePercent: string,
  base: Decimal,
): readonly S[] {
  const percent = decimal(reservePercent)
  if (compare(percent, WHOLE) >= 0) return due
  const part = multiply(multiply(base, percent), PERCENT)
  let first = due.length
  for (let sum = ZERO; first > 0 && compare(sum, part) < 0; first--) {
    sum = add(sum, decimal(due[first - 1]?.payable ?? '0'))
  }
  return due.slice(first)
}

/** Returns what statements have to pay together. */
export const sumPayable = (statements: readonly { readonly payable: string }[]): Decimal =>
  statements.reduce((sum, { payable }) => add(sum, decimal(payable)), ZERO)

/**
 * Returns the statements of a currency that a case holds.
 *
 * @param due What has to be paid in the currency, the oldest first.
 * @param paid What was paid in the currency.
 */
function heldByCase(
  { reserve_percent, opened_at }: HoldingCase,
  due: readonly PayableStatement[],
  paid: readonly PaidStatement[],
): readonly PayableStatement[] {
  const since = paid.filter(({ at }) => Date.parse(at) >= opened_at)
  return latestThatReach(due, reserve_percent, add(sumPayable(due), sumPayable(since)))
}

/** Returns what cases hold of what has to be paid to an affiliate. */
export function holdsOf(
  cases: readonly HoldingCase[],
  due: readonly PayableStatement[],
  paid: readonly PaidStatement[],
): AffiliateHolds {
  const byCurrency = [...Map.groupBy(due.toSorted(byAge), ({ currency }) => currency)]
  const byCase = new Map(
    cases.map((one) => {
      const held = byCurrency.flatMap(([currency, own]) => {
        const ofCurrency = paid.filter((payment) => payment.currency === currency)
        return heldByCase(one, own, ofCurrency)
      })
      return [one.id, held]
    }),
  )
  // Each case holds the latest of a currency, so together they hold what the greatest part does.
  const held = [...new Set([...byCase.values()].flat())]
  return { cases, due, held, byCase }
}

/** Returns what statements have to pay by currency, in order of currency. */
export const sumByCurrency = (
  statements: readonly Pick<DueStatement, 'currency' | 'payable'>[],
): { currency: string; amount: string }[] =>
  [...Map.groupBy(statements, ({ currency }) => currency)]
    .map(([currency, own]) => ({ currency, amount: moneyText(sumPayable(own), currency) }))
    .sort((a, b) => compareText(a.currency, b.currency))

const affiliateOf = ({ affiliate_id }: { readonly affiliate_id: string }) => affiliate_id

/** Reads what holds payouts of some affiliates. Affiliates without such a case are absent. */
export async function readHolds(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ReadonlyMap<string, AffiliateHolds>> {
  const { cases, due, paid } = await readStoredHolds(db, account, affiliates)
  const [dueTo, paidTo] = [Map.groupBy(due, affiliateOf), Map.groupBy(paid, affiliateOf)]
  return new Map(
    [...Map.groupBy(cases, affiliateOf)].map(([affiliate, own]) => [
      affiliate,
      holdsOf(own, dueTo.get(affiliate) ?? [], paidTo.get(affiliate) ?? []),
    ]),
  )
}

/** Returns what a payment of these affiliates has seen of their holds. */
export const seenOf = (
  holds: ReadonlyMap<string, AffiliateHolds>,
  affiliates: readonly string[],
): SeenHolds[] =>
  affiliates.map((affiliate_id) => {
    const { cases = [], due } = holds.get(affiliate_id) ?? {}
    return { affiliate_id, cases, due: due?.map(({ id }) => id).sort() ?? null }
  })
