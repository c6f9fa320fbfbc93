import {
  compare,
  type Decimal,
  decimal,
  factAmount,
  fromFact,
} from '../../platform/money/decimal.ts'
import { foldCountry } from '../../platform/validation/country.ts'
import type { Conditions, ListName } from '../plans/types.ts'
import type { CustomerFields, Fact } from './facts.ts'

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
  instruments: (_: CustomerFields, fact: Fact | null) => fact?.instrument ?? null,
  products: (_: CustomerFields, fact: Fact | null) => fact?.product ?? null,
  currencies: (_: CustomerFields, fact: Fact | null) => fact?.currency ?? null,
  subtypes: (_: CustomerFields, fact: Fact | null) => fact?.subtype ?? null,
} as const satisfies Record<string, ReadValue>

const LISTS: Record<ListName, ReadValue> = { ...CUSTOMER_LISTS, ...FACT_LISTS }
const LIST_NAMES = Object.keys(LISTS) as ListName[]

const ALWAYS: ConditionCheck = () => null

/** Compiles conditions; all must hold. */
export function compileConditions(conditions: Conditions | undefined): ConditionCheck {
  if (conditions === undefined) return ALWAYS
  const checks = LIST_NAMES.flatMap((name) => [
    ...listCheck(name, conditions[name], true),
    ...listCheck(name, conditions[`not_${name}`], false),
  ])
  if (conditions.account_size) checks.push(sizeCheck(conditions.account_size))
  return (fields, fact) => {
    for (const check of checks) {
      const failed = check(fields, fact)
      if (failed !== null) return failed
    }
    return null
  }
}

/** The maximum number of values for which a check stores its result. */
const REMEMBERED_VALUES = 5_000

/** A missing value matches no list and every `not_…`. */
function listCheck(
  list: ListName,
  values: readonly string[] | undefined,
  expected: boolean,
): ConditionCheck[] {
  if (values === undefined) return []
  const name = expected ? list : `not_${list}`
  const readValue = LISTS[list]
  const matches = matcherOf(list, values)
  const known = new Map<string, boolean>()
  return [
    (fields, fact) => {
      const value = readValue(fields, fact)
      if (value === null) return expected ? name : null
      const isMember = known.get(value) ?? matches(value)
      if (known.size < REMEMBERED_VALUES) known.set(value, isMember)
      return isMember === expected ? null : name
    },
  ]
}

/**
 * Returns whether a value is one of a list. Countries are folded, and compared as sent if they cannot be (§16.31);
 * instruments are patterns of whole symbols, in any letter case.
 */
function matcherOf(list: ListName, values: readonly string[]): (value: string) => boolean {
  if (list === 'instruments') {
    const pattern = new RegExp(`^(?:${values.map(patternOf).join('|')})$`, 'isu')
    return (symbol) => pattern.test(symbol)
  }
  const fold = list === 'countries' ? folded : (value: string) => value
  const members = new Set(values.map(fold))
  return (value) => members.has(fold(value))
}

const folded = (country: string): string => foldCountry(country) ?? country

const patternOf = (glob: string): string =>
  glob
    .replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.')

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
