import type { WorldFields } from '../world.ts'
import { addMonths } from './calendar.ts'
import { type Fact, fieldsOn } from './facts.ts'
import type { Conditions, Rule } from './plan.ts'
import { compare, parse } from './rational.ts'

const CUSTOMER_LISTS: Record<string, keyof WorldFields> = {
  countries: 'country_code',
  account_types: 'trading_account_type',
  challenge_types: 'challenge_type',
  phases: 'phase',
  kyc: 'kyc_status_id',
  sales: 'sales_status_id',
  links: 'link',
}

const FACT_LISTS: Record<string, (fact: Fact) => string | undefined> = {
  instruments: (fact) => fact.instrument,
  products: (fact) => fact.product,
  currencies: (fact) => fact.currency,
  subtypes: (fact) => fact.subtype,
}

/** Returns whether a symbol as a whole matches a glob of `*` and `?`, letter case ignored. */
export function matchesGlob(glob: string[], symbol: string[]): boolean {
  const [head, ...rest] = glob
  if (head === undefined) return symbol.length === 0
  if (head === '*')
    return matchesGlob(rest, symbol) || (symbol.length > 0 && matchesGlob(glob, symbol.slice(1)))
  const [first, ...others] = symbol
  return first !== undefined && (head === '?' || head === first) && matchesGlob(rest, others)
}

const characters = (text: string) => [...text.toLowerCase()]

/** The countries of random worlds, as they may be written. */
const WRITTEN: Record<string, string[]> = {
  DE: ['de', 'deu', 'germany'],
  CZ: ['cz', 'cze', 'czechia'],
  JP: ['jp', 'jpn', 'japan'],
}

function country(text: string): string {
  const written = text.trim().toLowerCase()
  return Object.keys(WRITTEN).find((code) => WRITTEN[code]!.includes(written)) ?? text
}

function inList(name: string, list: string[], value: string | number | undefined): boolean {
  if (value === undefined) return false
  if (name === 'countries') return list.map(country).includes(country(String(value)))
  if (name !== 'instruments') return list.includes(String(value))
  return list.some((glob) => matchesGlob(characters(glob), characters(String(value))))
}

function inRange(range: { min?: string; max?: string }, size: number | undefined): boolean {
  if (size === undefined) return false
  const value = parse(size)
  if (range.min !== undefined && compare(value, parse(range.min)) < 0) return false
  return range.max === undefined || compare(value, parse(range.max)) <= 0
}

/** Returns whether all conditions hold for these fields of a customer and, if given, this fact. */
export function holds(when: Conditions | undefined, fields: WorldFields, fact?: Fact): boolean {
  return Object.entries(when ?? {}).every(([condition, wanted]) => {
    if (wanted === undefined) return true
    if (condition === 'account_size') return inRange(wanted as object, fields.account_size)
    const negated = condition.startsWith('not_')
    const name = negated ? condition.slice('not_'.length) : condition
    const field = CUSTOMER_LISTS[name]
    if (!field && !FACT_LISTS[name]) throw new Error(`unknown condition ${condition}`)
    const value = field ? fields[field] : fact && FACT_LISTS[name]!(fact)
    return inList(name, wanted as string[], value) !== negated
  })
}

/** Returns whether conditions hold for a fact: those of its customer by the value of its day. */
export const holdsFor = (when: Conditions | undefined, fact: Fact) =>
  when === undefined || holds(when, fieldsOn(fact.customer, fact.day), fact)

/** Returns whether a fact lies before the signup day + `months`. */
export const withinMonths = ({ months }: Rule, fact: Fact) =>
  months === undefined || fact.day < addMonths(fact.signupDay, months)
