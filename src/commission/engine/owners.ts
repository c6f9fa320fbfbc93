import type { Reason } from '../shapes/reasons.ts'
import type { Account } from './account.ts'
import { type Customer, type CustomerFields, type Fact, NO_FIELDS, valueOn } from './facts.ts'
import { governingVersion, type Version } from './plans-in-force.ts'

/**
 * An owner whose facts count: the affiliate, and the version that governs the fact. An affiliate without
 * a plan still has uplines, whose overrides count the fact.
 */
export interface CountedOwner {
  readonly affiliate: string
  readonly version: Version | null
  readonly reason: 'no_plan' | null
}

/** The affiliate and plan version of a record, or why no version governs it. */
export type Owner =
  | CountedOwner
  | {
      readonly affiliate: string | null
      readonly version: null
      readonly reason: UncountedReason
    }

type UncountedReason = Exclude<Reason, 'no_plan'>

/** Returns the customer's fields as they were on a day (§16.9). */
export const fieldsOn = (customer: Customer, day: number): CustomerFields =>
  valueOn(customer.fields, day) ?? NO_FIELDS

/** Whether a customer is refused on a day (§16.12). */
export const isRefused = ({ refusedFrom }: Customer, day: number): boolean =>
  refusedFrom !== null && refusedFrom <= day

/** Finds the owner of a fact of a customer on a day. */
export function ownerOn(account: Account, customer: Customer, day: number): Owner {
  const affiliate = valueOn(customer.affiliates, day)
  if (affiliate === null) return unowned(affiliate, 'organic')
  if (!account.tree.isConfigured(affiliate)) return unowned(affiliate, 'unknown_affiliate')
  if (isRefused(customer, day)) return unowned(affiliate, 'refused')
  const version = governingVersion(account.inForce, affiliate, customer.signupDay, day)
  return { affiliate, version, reason: version ? null : 'no_plan' }
}

const unowned = (affiliate: string | null, reason: UncountedReason): Owner => ({
  affiliate,
  version: null,
  reason,
})

/** A customer with the owners of its facts. */
export interface OwnedCustomer {
  readonly customer: Customer
  readonly ownerOf: (fact: Fact) => Owner
}

/** Returns a function that returns the owner of each fact. It remembers the owner of the last day. */
export function ownersOf(account: Account, customer: Customer): (fact: Fact) => Owner {
  let known: Owner | null = null
  let knownDay = 0
  return ({ day }) => {
    if (known === null || day !== knownDay) known = ownerOn(account, customer, day)
    knownDay = day
    return known
  }
}
