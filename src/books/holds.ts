import type { DueStatement, PayableStatement } from '../ledger/db/entries.ts'
import { compareText } from '../platform/compare-text.ts'
import type { Connection } from '../platform/db/database.ts'
import { parsePeriod } from '../platform/money/calendar.ts'
import { add, type Decimal, decimal, ZERO } from '../platform/money/decimal.ts'
import { moneyText } from '../platform/money/money.ts'
import { type HoldingCase, readStoredHolds, type SeenHolds } from './db/fraud-holds.ts'

// Cases of the fraud review hold payouts (§17): all that has to be paid to an affiliate.

/** What holds the payouts of an affiliate, and what is held. */
export interface AffiliateHolds {
  /** The cases, in order of id. */
  readonly cases: readonly HoldingCase[]
  /** What has to be paid. */
  readonly held: readonly PayableStatement[]
}

/** What statements are ordered by. */
type Dated = Pick<DueStatement, 'period' | 'plan'>

const lastDay = ({ period }: Dated) => parsePeriod(period)?.last ?? 0

/** Compares statements by age: payments pay the oldest first. */
export const byAge = (a: Dated, b: Dated): number =>
  lastDay(a) - lastDay(b) || compareText(a.plan, b.plan) || compareText(a.period, b.period)

/** Returns what statements have to pay together. */
export const sumPayable = (statements: readonly { readonly payable: string }[]): Decimal =>
  statements.reduce((sum, { payable }) => add(sum, decimal(payable)), ZERO)

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
  const [cases, due] = await readStoredHolds(db, account, affiliates)
  const dueTo = Map.groupBy(due, affiliateOf)
  return new Map(
    [...Map.groupBy(cases, affiliateOf)].map(([affiliate, own]) => [
      affiliate,
      { cases: own, held: dueTo.get(affiliate) ?? [] },
    ]),
  )
}

/** Returns what a payment of these affiliates has seen of their holds. */
export const seenOf = (
  holds: ReadonlyMap<string, AffiliateHolds>,
  affiliates: readonly string[],
): SeenHolds[] =>
  affiliates.map((affiliate_id) => ({
    affiliate_id,
    cases: holds.get(affiliate_id)?.cases.map(({ id }) => id) ?? [],
  }))
