import { foldCountry } from '../../platform/validation/country.ts'
import { compare, type Decimal, decimal, factAmount, fromFact } from './decimal.ts'
import type { CustomerFields, Fact } from './facts.ts'
import type { Conditions, ListName } from './plan.ts'

/** Returns the name of the first condition that does not hold, such as `not_countries`; else null. */
export type ConditionCheck = (fields: CustomerFields, fact: Fact | null) => string | null

type ReadValue = (fields: CustomerFields, fact: Fact | null) => string | null

const CUSTOMER_LISTS = {
  countries: (fields: CustomerFields) => fields.country_code,
  account_types: (fields: CustomerFields) => fields.trading_account_type,
  challenge_types: (fields: CustomerFields) => fields.challenge_type,
  phases: (fields: CustomerFields) => fields.phase,
  kyc: (fields: CustomerFields) => fields.kyc_status_id,
  sales: (fields: CustomerFields) => fields.sales_status_id,
  links: (fields: CustomerFields) => fields.link,
} as const satisfies Record<string, ReadValue>

const FACT_LISTS = {
  products: (_: CustomerFields, fact: Fact | null) => fact?.product ?? null,
  currencies: (_: CustomerFields, fact: Fact | null) => fact?.currency ?? null,
  subtypes: (_: CustomerFields, fact: Fact | null) => fact?.subtype ?? null,
} as const satisfies Record<string, ReadValue>

/** Returns whether a list, with or without `not_`, is a condition on customers; others are on records. */
export const isOfCustomer = (name: string): boolean =>
  Object.hasOwn(CUSTOMER_LISTS, name.replace(/^not_/, ''))

/** The lists that name one value. Instruments are patterns: see `instrumentChecks`. */
type ValueList = Exclude<ListName, 'instruments'>
const LISTS: Record<ValueList, ReadValue> = { ...CUSTOMER_LISTS, ...FACT_LISTS }
const LIST_NAMES = Object.keys(LISTS) as ValueList[]

const ALWAYS: ConditionCheck = () => null

/** Compiles conditions; all must hold. */
export function compileConditions(conditions: Conditions | undefined): ConditionCheck {
  if (conditions === undefined) return ALWAYS
  const checks = [...listChecks(conditions), ...instrumentChecks(conditions)]
  if (conditions.account_size) checks.push(sizeCheck(conditions.account_size))
  return (fields, fact) => {
    for (const check of checks) {
      const failed = check(fields, fact)
      if (failed !== null) return failed
    }
    return null
  }
}

/** A missing value matches no list and every `not_…`. */
function listChecks(conditions: Conditions): ConditionCheck[] {
  return LIST_NAMES.flatMap((name) => {
    const readValue = LISTS[name]
    return [
      ...membership(name, conditions[name], readValue, true),
      ...membership(`not_${name}`, conditions[`not_${name}`], readValue, false),
    ]
  })
}

function membership(
  name: string,
  list: readonly string[] | undefined,
  readValue: ReadValue,
  expected: boolean,
): ConditionCheck[] {
  if (list === undefined) return []
  if (name.endsWith('countries')) return [countryCheck(name, list, expected)]
  const members = new Set<string | null>(list)
  return [(fields, fact) => (members.has(readValue(fields, fact)) === expected ? null : name)]
}

/** The maximum number of countries for which a check stores how they fold. */
const REMEMBERED_COUNTRIES = 1_000

/** Checks the country of a customer. Both sides are folded; what cannot be is compared as sent (§16.31). */
function countryCheck(name: string, list: readonly string[], expected: boolean): ConditionCheck {
  const members = new Set(list.map(folded))
  const known = new Map<string, boolean>()
  return ({ country_code }) => {
    if (country_code === null) return expected ? name : null
    const isMember = known.get(country_code) ?? members.has(folded(country_code))
    if (known.size < REMEMBERED_COUNTRIES) known.set(country_code, isMember)
    return isMember === expected ? null : name
  }
}

const folded = (country: string): string => foldCountry(country) ?? country

function instrumentChecks({ instruments, not_instruments }: Conditions): ConditionCheck[] {
  const checks: ConditionCheck[] = []
  const add = (name: string, globs: readonly string[] | undefined, expected: boolean): void => {
    if (globs === undefined) return
    const matches = globMatcher(globs)
    checks.push((_, fact) => {
      const symbol = fact?.instrument ?? null
      return (symbol !== null && matches(symbol)) === expected ? null : name
    })
  }
  add('instruments', instruments, true)
  add('not_instruments', not_instruments, false)
  return checks
}

/** The maximum number of symbols for which a matcher stores its result. */
const REMEMBERED_SYMBOLS = 5_000

/** Returns whether a whole symbol matches one of the globs; letter case is ignored. */
function globMatcher(globs: readonly string[]): (symbol: string) => boolean {
  const patterns = globs.map((glob) =>
    glob
      .replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&')
      .replaceAll(/\*+/g, '.*')
      .replaceAll('?', '.'),
  )
  const pattern = new RegExp(`^(?:${patterns.join('|')})$`, 'isu')
  const known = new Map<string, boolean>()
  return (symbol) => {
    const matched = known.get(symbol) ?? pattern.test(symbol)
    if (known.size < REMEMBERED_SYMBOLS) known.set(symbol, matched)
    return matched
  }
}

/** Checks the account size in USD, both bounds included. A missing size does not match. */
function sizeCheck({ min, max }: { min?: string; max?: string }): ConditionCheck {
  const least = min === undefined ? null : decimal(min)
  const most = max === undefined ? null : decimal(max)
  return ({ account_size }) => {
    if (account_size === null) return 'account_size'
    return within(fromFact(factAmount(account_size)), least, most) ? null : 'account_size'
  }
}

const within = (value: Decimal, least: Decimal | null, most: Decimal | null): boolean =>
  (least === null || compare(value, least) >= 0) && (most === null || compare(value, most) <= 0)
