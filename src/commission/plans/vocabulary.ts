import type { Resource } from '../../ingest/resource/resource.ts'
import type { EventDefinition } from '../../platform/directory/event-definitions.ts'
import type { ConditionName } from './types.ts'

/** The facts that an account can send, by which the names in its plans are checked. */
export interface Vocabulary {
  /** The types of transactions; null for brands, which send none. */
  readonly transactions: readonly string[] | null
  /** The fields of trading activity; null for brands. */
  readonly activity: readonly string[] | null
  /** The event definitions of a brand; null for partners, who send no events. */
  readonly events: readonly Pick<EventDefinition, 'eventname' | 'kpis'>[] | null
  /** The conditions that can hold for some fact, without `not_`. */
  readonly conditions: ReadonlySet<string>
}

/** The field of a customer or fact that each condition looks at, as partners send it. */
const CONDITION_FIELDS: Readonly<Record<string, readonly string[]>> = {
  countries: ['country_code', 'country'],
  account_types: ['trading_account_type'],
  challenge_types: ['challenge_type'],
  phases: ['phase'],
  kyc: ['kyc_status_id'],
  sales: ['sales_status_id'],
  account_size: ['account_size'],
  links: ['tracking_data'],
  instruments: ['instrument'],
  products: ['product'],
  currencies: ['currency', 'Currency'],
  subtypes: ['transaction_subtype'],
} satisfies Record<ConditionName, readonly string[]>

/** Returns the vocabulary of an account, from the resources of its vertical and its definitions. */
export function vocabularyOf(
  resources: readonly Resource[],
  definitions: readonly EventDefinition[],
): Vocabulary {
  const fieldsOf = (name: string) => resources.find((one) => one.name === name)?.fields ?? null
  const names = resources.flatMap(({ fields }) => Object.keys(fields))
  const transactions = fieldsOf('transactions')
  const activity = fieldsOf('trading-activity')
  const events = fieldsOf('activities')
  const known = new Set(events ? [...names, 'product'] : names)
  const conditions = Object.entries(CONDITION_FIELDS).flatMap(([condition, fields]) =>
    fields.some((field) => known.has(field)) ? [condition] : [],
  )
  return {
    transactions: transactions && choicesOf(transactions.transaction_type),
    activity: activity && Object.keys(activity),
    events: events && definitions,
    conditions: new Set(conditions),
  }
}

/** Returns the values of a field that is an enumeration. */
function choicesOf(field: object | undefined): string[] {
  const pipe = field && 'pipe' in field && Array.isArray(field.pipe) ? field.pipe : []
  const picklist: unknown = pipe.find((step) => step.type === 'picklist')
  const options: unknown = Object(picklist).options
  return Array.isArray(options) ? options.map(String) : []
}
