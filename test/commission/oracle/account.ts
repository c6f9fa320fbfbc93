import type { World } from '../world.ts'
import { type Rates, readRates } from './convert.ts'
import { entryOn, type Fact, readFacts } from './facts.ts'
import { type Attempt, attempt, earliest, type Qualified } from './once.ts'
import { type Version, versionsOf } from './plan.ts'

/** Everything that does not depend on the period that is asked for. */
export interface Account {
  world: World
  rates: Rates
  /** The configured affiliates. */
  affiliates: string[]
  /** The versions of each plan in order of `effective_from`. */
  plans: Map<string, Version[]>
  /** In order of time. */
  facts: Fact[]
  /** Facts that can earn: approved, of a configured affiliate and a customer who is not refused. */
  earning: Fact[]
  held: ReturnType<typeof readFacts>['held']
  /** The attempts of each customer by `once` rule id, over all plans and versions. */
  attempts: Map<string, Attempt[]>
  /** The qualification of each customer by rule id. */
  qualified: Map<string, Qualified>
}

export const attemptKey = (customer: string, rule: string) => JSON.stringify([customer, rule])

export function readAccount(world: World): Account {
  const rates = readRates(world)
  const plans = new Map(world.plans.map(({ plan }) => [plan, versionsOf(world, plan)]))
  const { facts, held } = readFacts(world, plans)
  const attempts = new Map<string, Attempt[]>()
  const byCustomer = Map.groupBy(facts, (one) => one.customer.customer_id)
  for (const { customer_id } of world.customers) {
    const own = byCustomer.get(customer_id)!
    for (const version of [...plans.values()].flat())
      for (const rule of version.rules) {
        if (rule.kind !== 'once') continue
        const key = attemptKey(customer_id, rule.id)
        attempts.set(key, [...(attempts.get(key) ?? []), attempt(rates, version, rule, own)])
      }
  }
  return {
    world,
    rates,
    affiliates: world.affiliates.map((one) => one.affiliate_id),
    plans,
    facts,
    earning: facts.filter((one) => one.state === 'approved' && one.reason === null),
    held,
    attempts,
    qualified: new Map(
      [...attempts].flatMap(([key, all]) => {
        const first = earliest(all)
        return first ? [[key, first] as const] : []
      }),
    ),
  }
}

/** Returns the parent of an affiliate on a day, or null. */
export function parentOn(world: World, affiliate: string, day: string): string | null {
  const found = world.affiliates.find((one) => one.affiliate_id === affiliate)
  return (found && entryOn(found.parents, day)?.parent) ?? null
}

/** Returns the affiliates exactly so many levels below, or on any level. */
export function below(account: Account, upline: string, day: string, level?: number): string[] {
  return account.affiliates.filter((affiliate) => {
    let at: string | null = affiliate
    for (let steps = 1; steps <= account.affiliates.length; steps += 1) {
      at = parentOn(account.world, at, day)
      if (at === null) return false
      if (at === upline && (level === undefined || level === steps)) return true
    }
    return false
  })
}
