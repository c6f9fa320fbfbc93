import { lookUp } from '../batch.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { compileStatement, type Statement } from '../statement.ts'
import type { Affiliation } from './affiliations.ts'
import { BEGINNING, fromOf, groupRows, partOn, type Since, withoutRepeats } from './history.ts'

/** The customer fields that conditions of plans use; a field without a value is absent. */
export interface FieldValues {
  country_code?: string
  trading_account_type?: string
  challenge_type?: string
  phase?: string
  kyc_status_id?: string
  sales_status_id?: string
  account_size?: number
  link?: string
}

/** The fields of a customer, from a day on. */
export interface CustomerFields extends Since {
  readonly values: FieldValues
}

/** The columns of these fields. */
export const FIELDS = [
  'country_code',
  'trading_account_type',
  'challenge_type',
  'phase',
  'kyc_status_id',
  'sales_status_id',
  'account_size',
  'link',
] as const

type Field = (typeof FIELDS)[number]
type Values = Record<Field, string | number | null>

/** A row of `SELECT_FIELDS`: the current values, and the values before one change if there is any. */
export type FieldsRow = Values & { [F in Field as `current_${F}`]: string | number | null } & {
  customer_id: string
  is_brand: number
  day: number | null
}

/** Reads the fields of customers; `:ids` is a JSON array of stored ids. */
export const SELECT_FIELDS: Statement = compileStatement(`
  select c.customer_id, c.first_day is not null as is_brand, h.day,
    ${FIELDS.map((name) => `c.${name} as current_${name}, h.${name}`).join()}
  from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  left join customer_fields h on h.account = :account and h.customer_id = c.customer_id
  order by c.customer_id, h.day`)

const valuesOf = (read: (field: Field) => string | number | null | undefined) =>
  Object.fromEntries(FIELDS.map((name) => [name, read(name) ?? null])) as Values

/** Returns the values of one customer by day. The first value of a field holds from the beginning. */
function partsOf(rows: readonly [FieldsRow, ...FieldsRow[]]) {
  const [first] = rows
  const changes = rows.filter(({ day }) => day !== null)
  const values = [
    ...changes.map((row) => valuesOf((name) => row[name])),
    valuesOf((name) => first[`current_${name}`]),
  ]
  for (const name of FIELDS) {
    const known = values.map((value) => value[name]).find((value) => value !== null) ?? null
    for (const value of values) {
      if (value[name] !== null) break
      value[name] = known
    }
  }
  return values.map((value, i) => ({ from: fromOf(changes[i - 1]?.day ?? BEGINNING), value }))
}

/** Returns the fields that have a value. */
export function presentFields(
  read: (field: Field, index: number) => string | number | null | undefined,
): FieldValues {
  const values: Partial<Record<Field, string | number>> = {}
  FIELDS.forEach((name, index) => {
    const value = read(name, index) ?? null
    if (value !== null) values[name] = value
  })
  return values as FieldValues
}

/** Returns the days on which either of two histories changes, in order. */
const daysOf = (a: readonly Since[], b: readonly Since[]): (string | null)[] =>
  [...new Set([...a, ...b].map(({ from }) => from ?? ''))].sort().map((from) => from || null)

const FIRST_DAY = '0000-01-01'

/**
 * Returns the fields by day of each customer of these rows, by stored customer id. The link of a brand's
 * customer is that of the affiliation.
 */
export function toFields(
  rows: readonly FieldsRow[],
  affiliations: ReadonlyMap<string, readonly Affiliation[]>,
): Map<string, CustomerFields[]> {
  return new Map(
    [...groupRows(rows, ({ customer_id }) => customer_id)].map(([id, own]) => {
      const [first] = own
      if (first.day === null && first.is_brand !== 1) {
        return [id, [{ from: null, values: presentFields((name) => first[`current_${name}`]) }]]
      }
      const parts = partsOf(own)
      if (first.is_brand !== 1) return [id, present(parts)]
      const links = lookUp(affiliations, id)
      const merged = daysOf(parts, links).map((from) => {
        const day = from ?? FIRST_DAY
        const values = { ...partOn(parts, day)?.value, link: partOn(links, day)?.link }
        return { from, value: valuesOf((name) => values[name]) }
      })
      return [id, present(merged)]
    }),
  )
}

/** Returns the parts that differ from the one before, without the fields that have no value. */
const present = (parts: readonly (Since & { value: Values })[]): CustomerFields[] =>
  withoutRepeats(parts, (a, b) => FIELDS.every((name) => a.value[name] === b.value[name])).map(
    ({ from, value }) => ({
      from,
      values: Object.fromEntries(
        Object.entries(value).filter(([, stored]) => stored !== null),
      ) as FieldValues,
    }),
  )
