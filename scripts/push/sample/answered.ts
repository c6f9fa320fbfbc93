import type { Answer } from '../exchange.ts'
import { type SaidError, saidOf } from '../refusal.ts'
import type { Shows } from './lesson.ts'
import type { Account } from './places.ts'

/** What was answered of one record, or of a request as a whole. */
export interface Answered {
  outcome?: string
  errors: Said[]
  warnings: Said[]
}

type Said = Omit<SaidError, 'index' | 'key'>

interface Accepted {
  results: ({ index: number } & Partial<Answered>)[]
}

/** What was answered of the request as a whole, and of each of its records. */
export function answeredOf({ status, body }: Answer, records: number) {
  const said = saidOf(body).errors ?? []
  const { results = [] } = status < 300 ? (body as Accepted) : {}
  const of = (index: number | undefined): Answered => {
    const { outcome, errors, warnings = [] } = results.find((one) => one.index === index) ?? {}
    const own = said
      .filter((error) => error.index === index)
      .map(({ index: _, key: __, ...error }) => error)
    return { ...(outcome !== undefined && { outcome }), errors: errors ?? own, warnings }
  }
  return { whole: of(undefined), each: Array.from({ length: records }, (_, index) => of(index)) }
}

/** Warnings that the account alone is the reason of, whatever a record says. */
export function toldAnyway({ affiliates }: Account, hasOwnCode: boolean): ReadonlySet<string> {
  const codes = []
  if (affiliates.length === 0) codes.push('unknown_affiliate')
  if (!hasOwnCode) codes.push('unattributed')
  return new Set(codes)
}

/** Whether the answer is what the lesson says, and nothing else. */
export function isExpected(
  { error, warning, outcome }: Shows,
  answered: Answered,
  anyway: ReadonlySet<string>,
): boolean {
  const codes = (said: readonly Said[], but: ReadonlySet<string>, expected: string | undefined) =>
    said.map(({ code }) => code).filter((code) => code === expected || !but.has(code))
  const isOnly = (found: string[], expected: string | undefined) =>
    found.length === (expected === undefined ? 0 : 1) && found[0] === expected
  return (
    isOnly(codes(answered.errors, new Set(), error), error) &&
    isOnly(codes(answered.warnings, anyway, warning), warning) &&
    (outcome === undefined || answered.outcome === outcome)
  )
}

/** Which policy a sample needs, where it needs one. */
const NEEDED = [
  ['error', 'unknown_customer', 'unknown_customer', 'reject'],
  ['outcome', 'held', 'unknown_customer', 'hold'],
  ['error', 'unknown_affiliate', 'unknown_affiliate', 'reject'],
  ['warning', 'unknown_affiliate', 'unknown_affiliate', 'warn'],
] as const

/** Why this account is not answered so; null: it is. */
export function hindrance(shows: Shows, { policies }: Account): string | null {
  const needed = NEEDED.find(([kind, code]) => shows[kind] === code)
  if (!needed) return null
  const [, , policy, value] = needed
  return policies[policy] === value
    ? null
    : `the policy ${policy} of this account is ${policies[policy]}, not ${value}`
}

/** What a sample shows, as names. */
export const namesOf = ({ error, warning, outcome }: Shows): string[] =>
  Object.entries({ error, warning, outcome })
    .filter(([, code]) => code !== undefined)
    .map(([kind, code]) => `${kind} ${code}`)
