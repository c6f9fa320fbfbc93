import { type Decimal, fromFact } from '../../platform/money/decimal.ts'
import { convertUnits, type RateLookup } from '../../platform/money/exchange.ts'
import type { HoldReason } from '../shapes/reasons.ts'
import { amountOf, type Fact } from './facts.ts'
import type { FactKind } from './terms.ts'

/**
 * How an amount of a fact is converted: by the `rate` of its day, together with others, or alone, through its `amount_usd`,
 * to so many 10^-12; or why it cannot be.
 */
export type Conversion = 'rate' | bigint | HoldReason

/** What takes an amount of a fact. */
type TakenAmount = Pick<FactKind, 'field' | 'currencyOf'>

/** Decides how a fact's amount is converted to a currency: the first way that applies (§11). */
export function conversionOf(
  fact: Fact,
  { field, currencyOf }: TakenAmount,
  to: string,
  rates: RateLookup,
): Conversion {
  const currency = currencyOf(fact)
  if (currency === null) return 'no_currency'
  if (currency === to) return 'rate'
  const usd = field === 'amount_currency' ? fact.amounts.get('amount_usd') : undefined
  if (usd !== undefined && to === 'USD') return usd
  const reason = convertUnits(0n, currency, to, fact.day, rates)
  if (typeof reason !== 'string') return 'rate'
  const converted = usd === undefined ? reason : convertUnits(usd, 'USD', to, fact.day, rates)
  return typeof converted === 'string' ? reason : converted
}

/** Converts one fact's amount alone, as triggers and qualifications do (§16.16). */
export function convertFact(
  fact: Fact,
  of: TakenAmount,
  to: string,
  rates: RateLookup,
): Decimal | HoldReason {
  const how = conversionOf(fact, of, to, rates)
  if (how !== 'rate') return typeof how === 'bigint' ? fromFact(how) : how
  const amount = amountOf(fact, of.field)
  const converted = convertUnits(amount, of.currencyOf(fact) ?? to, to, fact.day, rates)
  return typeof converted === 'string' ? converted : fromFact(converted)
}
