import { HOUR_MS } from '../../durations.ts'
import { isTriggerKind } from './candidate.ts'
import type { Context } from './context.ts'
import { fromFact, plainText } from './decimal.ts'
import type { Customer, Fact } from './facts.ts'
import { sinceSignup } from './qualify.ts'
import type { CompiledOnce } from './rules.ts'

/**
 * Returns sentences that name the facts up to a day that a `once` rule would use, were they not too early,
 * such as `1 deposit of 500 EUR is more than 24 hours before the signup`.
 */
export function factsBeforeSignup(
  context: Context,
  customer: Customer,
  rule: CompiledOnce,
  through: number,
): string[] {
  const early = customer.facts.filter(
    (fact) =>
      fact.day <= through &&
      fact.state === 'approved' &&
      isNamed(rule, fact) &&
      !sinceSignup(context, customer, fact, rule.grace),
  )
  const groups = Map.groupBy(early, ({ resource, kind, currency }) =>
    JSON.stringify([resource, kind, currency]),
  )
  return [...groups.values()].map((facts) => sentenceOf(facts, rule.grace / HOUR_MS))
}

const isNamed = (rule: CompiledOnce, fact: Fact): boolean =>
  isTriggerKind(rule, fact) ||
  rule.qualify.some((one) => one.kind !== 'customer' && one.terms.some((term) => term.names(fact)))

function sentenceOf(facts: readonly Fact[], graceHours: number): string {
  const [{ kind, currency } = { kind: '', currency: null }] = facts
  const amounts = facts.flatMap(({ amounts }) => {
    const amount = amounts.get('amount_currency') ?? amounts.get('Value')
    return amount === undefined ? [] : [amount]
  })
  const sum = amounts.reduce((total, one) => total + one, 0n)
  const amount = `${plainText(fromFact(sum))}${currency === null ? '' : ` ${currency}`}`
  const hours = graceHours === 0 ? '' : `more than ${graceHours} hours `
  const what = `${facts.length} ${kind || 'record of trading activity'}${amounts.length > 0 ? ` of ${amount}` : ''}`
  return facts.length === 1
    ? `${what} is ${hours}before the signup`
    : `${what}${amounts.length > 0 ? ' in all' : ''} are ${hours}before the signup`
}
