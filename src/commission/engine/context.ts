import { type Book, governingVersion, type Version } from './book.ts'
import type { Period } from './calendar.ts'
import type { RateLookup } from './convert.ts'
import { type Customer, type CustomerFields, type Fact, NO_FIELDS, valueOn } from './facts.ts'
import { memoize } from './memoize.ts'
import type { Reason } from './reasons.ts'
import type { Tree } from './tree.ts'

/** Everything besides facts and carries that a computation depends on. */
export interface Context {
  readonly book: Book
  readonly tree: Tree
  readonly rates: RateLookup
  /** Returns the instant at which a day starts in the account's zone. */
  readonly dayStart: (day: number) => number
}

/** A computation of one period. */
export interface PeriodContext extends Context {
  readonly period: Period
}

/**
 * Whose a fact is: its affiliate and the version that governs it, or why no version does. An affiliate
 * without a plan still has uplines, whose overrides count the fact.
 */
export interface Owner {
  readonly affiliate: string | null
  readonly version: Version | null
  readonly reason: Reason | null
}

/** Returns the customer's fields as they were on a day (§16.9). */
export const fieldsOn = (customer: Customer, day: number): CustomerFields =>
  valueOn(customer.fields, day) ?? NO_FIELDS

/** Whether a customer is refused on a day (§16.12). */
export const isRefused = ({ refusedFrom }: Customer, day: number): boolean =>
  refusedFrom !== null && refusedFrom <= day

/** Finds the owner of a fact of a customer on a day. */
export function ownerOn(context: Context, customer: Customer, day: number): Owner {
  const affiliate = valueOn(customer.affiliates, day)
  const without = (reason: Reason): Owner => ({ affiliate, version: null, reason })
  if (affiliate === null) return without('organic')
  if (!context.tree.isConfigured(affiliate)) return without('unknown_affiliate')
  if (isRefused(customer, day)) return without('refused')
  const version = governingVersion(context.book, affiliate, customer.signupDay, day)
  return version ? { affiliate, version, reason: null } : without('no_plan')
}

/** Returns a function that finds the owner of each fact, and computes it once a day. */
export function ownersOf(context: Context, customer: Customer): (fact: Fact) => Owner {
  const ownerOnDay = memoize((day: number) => ownerOn(context, customer, day))
  return ({ day }) => ownerOnDay(day)
}
