import { CSV_COLUMNS } from '../../../src/affiliate/csv-rows.ts'
import { kindOf } from '../../../src/affiliate/members.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { affiliateAnswers, derivedForAffiliates, derivedSchemas } from './derived.ts'
import {
  type Answer,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { COUNT, DAY, oneOf, orNull, TEXT, TIME } from './shapes.ts'

// The API of affiliates. Its answers are those of accounts, without what is hidden.

const AT = '#/components/schemas/'

type Schemas = Readonly<Record<string, JsonSchema>>

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members that are left out under some view. */
const MAY_BE_HIDDEN: ReadonlySet<string> = new Set(['amount', 'country'])

/** The members whose values are shown with everything in them. */
const WHOLE: ReadonlySet<string> = new Set(['whole', 'amount'])

/** What is said of a checksum, which affiliates see under a name of their own. */
const OWN_HASH =
  'It changes whenever the statement changes. A key of the account makes it, so the firm sees another one.'

/** What is made of components, and the members of which nobody has decided what they are. */
interface Showing {
  readonly all: Schemas
  readonly added: Record<string, JsonSchema>
  readonly undecided: Set<string>
}

/**
 * Returns a schema as affiliates see it: without the members that are never shown, and with those that may be
 * hidden as optional. Adds the components that it refers to, as affiliates see them.
 */
function shown(schema: JsonSchema, parent: string, showing: Showing): JsonSchema {
  const one = (value: unknown, name = parent): unknown => {
    if (Array.isArray(value)) return value.map((item) => one(item, name))
    return isSchema(value) ? shown(value, name, showing) : value
  }
  const { $ref, properties, required, ...rest } = schema
  if (typeof $ref === 'string') return { ...rest, $ref: shownRef($ref, parent, showing) }
  const seen: JsonSchema = {}
  for (const [name, value] of Object.entries(rest)) {
    const isNested = ['items', 'allOf', 'anyOf', 'oneOf'].includes(name)
    seen[name] = isNested ? one(value) : value
  }
  if (!isSchema(properties)) return { ...seen, ...(required !== undefined && { required }) }
  const members = Object.entries(properties).flatMap(([name, value]) => {
    const kind = kindOf(parent, name)
    if (kind === undefined) showing.undecided.add(`${parent}.${name}`)
    if (kind === undefined || kind === 'never') return []
    const own = kind === 'hash' ? documented(OWN_HASH) : value
    return [[name, WHOLE.has(kind) ? own : one(own, name), kind] as const]
  })
  return {
    ...seen,
    properties: Object.fromEntries(members.map(([name, value]) => [name, value])),
    required: members
      .filter(([, , kind]) => !MAY_BE_HIDDEN.has(kind))
      .map(([name]) => name)
      .filter((name) => Array.isArray(required) && required.includes(name)),
  }
}

/** Returns the reference to a component as affiliates see it. */
function shownRef($ref: string, parent: string, showing: Showing): string {
  const name = $ref.slice(AT.length)
  const schema = showing.all[name]
  if (!schema) return $ref
  const own = `Shown${name}`
  if (!(own in showing.added)) {
    showing.added[own] = {}
    showing.added[own] = shown(schema, parent, showing)
  }
  return AT + own
}

const BALANCES = documented('What is booked and not paid, and what of it is due, by currency.', {
  type: 'array',
  items: object({
    currency: documented('An ISO 4217 code.'),
    balance: documented('All that is booked and not paid.'),
    due: documented('What of it has to be paid.'),
  }),
})

const AMOUNTS: JsonSchema = {
  type: 'array',
  items: object({ currency: TEXT, amount: TEXT }),
}

/** What an affiliate is owed, without what is under review. */
const DUE = {
  due: documented('What is approved and has to be paid, by currency.', AMOUNTS),
  due_by_day: documented('When: what is due now, and what on each later day.', {
    type: 'array',
    items: object({
      payable_on: documented('The day from which it is paid. Null: it is due now.', orNull(DAY)),
      currency: TEXT,
      amount: TEXT,
    }),
  }),
}

const UNDER_REVIEW = documented(
  'What of it waits for a review, by currency. Empty if nothing does, or if the account does not show it.',
  AMOUNTS,
)

const WAITING_STATEMENT = object({
  statement: documented('The id of the statement.'),
  plan: TEXT,
  period: TEXT,
  currency: TEXT,
  payable_on: DAY,
  amount: TEXT,
})

const COUNTED = documented('The counts by metric. Null if it cannot be told.', {
  type: 'object',
  additionalProperties: { type: ['integer', 'string', 'null'] },
})

/** The answers that only affiliates have. */
const OWN = (all: Schemas): Schemas => {
  const {
    customer_id: _,
    affiliate_id: __,
    ...state
  } = (all.Qualification?.properties ?? {}) as Record<string, JsonSchema>
  return {
    AffiliateCustomer: object({
      customer: documented('The customer, by the name that the account shows.'),
      signup_day: documented('The day of the signup.', DAY),
      link: documented('The link that they followed. Null if none is known.', orNull(TEXT)),
      country_code: documented('The country. Null if it is not known.', orNull(TEXT)),
      states: documented('What has become of them under each rule that pays once.', {
        type: 'array',
        items: object({
          ...state,
          status: documented(
            '`waiting`: something is `missing`. `failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed. `already_counted`: the rule has paid for the customer before the affiliate had them.',
            oneOf('qualified', 'waiting', 'failed', 'refused', 'already_counted'),
          ),
          amount: documented(
            'What a statement pays for it. Null unless it is `qualified` and a statement has it that the affiliate may see.',
            orNull(TEXT),
          ),
          currency: documented('The currency of the amount.', orNull(TEXT)),
        }),
      }),
    }),
    AffiliateOverview: object({
      from: DAY,
      to: DAY,
      days: documented('The figures of each day that has any.', {
        type: 'array',
        items: object({
          day: DAY,
          metrics: COUNTED,
          qualified: documented('The customers who qualified on it.', COUNT),
        }),
      }),
      totals: object({ metrics: COUNTED, qualified: COUNT }),
      earned: documented('What the statements of the last periods come to.', {
        type: 'array',
        items: object({ period: TEXT, currency: TEXT, total: TEXT }),
      }),
      balances: BALANCES,
      pending: documented(
        'What is not paid yet, and why.',
        object({
          waiting: documented('The customers of whom something is missing under a rule.', COUNT),
          ...DUE,
          hold_period: documented('Approved statements whose day has not come.', {
            type: 'array',
            items: WAITING_STATEMENT,
          }),
          below_minimum: documented('Balances that wait for the minimum payout.', {
            type: 'array',
            items: WAITING_STATEMENT,
          }),
          under_review: UNDER_REVIEW,
        }),
      ),
    }),
    AffiliatePayment: object({
      reference: documented('The reference of the payment.'),
      affiliate_id: TEXT,
      currency: TEXT,
      amount: TEXT,
      paid_on: DAY,
      statements: documented('The number of the statements that it paid.', COUNT),
      at: documented('When it was booked.', TIME),
      return_reference: documented('The reference of its return. Null: it arrived.', orNull(TEXT)),
      returned_on: documented('When it came back.', orNull(DAY)),
      reason: documented('Why it came back.', orNull(TEXT)),
    }),
    AffiliateLedgerEntry: object({
      ...(derivedSchemas().LedgerEntry?.properties as Schemas),
      balance_after: documented('The balance of its currency after the entry.', TEXT),
    }),
    AffiliateLinePart: {
      anyOf: [
        ref('LinePart'),
        object({
          records: documented('The records of all customers of affiliates below.', COUNT),
          base: documented('What they add to the base.', orNull(TEXT)),
          units: documented('What they add to the units.', orNull(TEXT)),
        }),
      ],
    },
    SubAffiliate: object(
      {
        affiliate_id: TEXT,
        level: documented('1: directly below.', { type: 'integer', minimum: 1 }),
        from: documented('The first of the days on which they stood there.', DAY),
        to: documented('The last of the days on which they stood there.', DAY),
        signups: COUNT,
        active_customers: documented('The customers with records on these days.', COUNT),
        customers: documented(
          'The customers whom they had on these days, the latest 100 signups, if the account shows them.',
          {
            type: 'array',
            items: object({
              customer: documented('The customer, by the name that the account shows.'),
              signup_day: documented('The day of the signup.', DAY),
            }),
          },
        ),
        customers_total: documented(
          'How many there are, if the account shows them. Null: too many to count.',
          orNull(COUNT),
        ),
      },
      ['customers', 'customers_total'],
    ),
  }
}

/** Returns the schema of one page with these other members. */
const pageWith = (name: string, more: Record<string, JsonSchema> = {}): JsonSchema => ({
  type: 'object',
  properties: { data: { type: 'array', items: ref(name) }, meta: ref('Meta'), ...more },
  required: ['data', 'meta', ...Object.keys(more)],
})

/** An operation whose answer is that of an account, without what is hidden. */
interface Reading {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly string[]
  readonly errors?: readonly ErrorCode[]
  readonly answer: JsonSchema
  readonly type?: readonly string[]
}

const READINGS: readonly Reading[] = [
  {
    id: 'getAffiliateOverview',
    path: '/overview',
    summary: 'Get the overview',
    description:
      'Returns the figures of some days, what was earned in the last periods, the balance, and what is pending and why.',
    parameters: ['from_day', 'report_to'],
    errors: ['validation_failed'],
    answer: ref('AffiliateOverview'),
  },
  {
    id: 'explainAffiliateLine',
    path: '/lines/{line_id}/explain',
    summary: 'Explain a line',
    description:
      'Returns every step from the records to the amount. With `Accept: text/plain` it returns sentences.',
    parameters: ['own_line_period'],
    errors: ['not_found', 'validation_failed'],
    answer: ref('Explanation'),
    type: ['application/json', 'text/plain'],
  },
  {
    id: 'listAffiliateLineParts',
    path: '/lines/{line_id}/parts',
    summary: 'List the parts of a line',
    description:
      'Returns what each customer adds to a line. The customers of affiliates below are one part in all, unless the account shows them.',
    parameters: [...PAGING, 'own_line_period'],
    errors: ['not_found', 'validation_failed'],
    answer: pageWith('AffiliateLinePart'),
  },
  {
    id: 'getAffiliateUnearned',
    path: '/unearned',
    summary: 'Get what earned nothing',
    description: 'Returns the records of a period that no line counts, in groups, with the reason.',
    parameters: ['period_required', 'reason_query', 'own_customer'],
    errors: ['validation_failed'],
    answer: ref('Unearned'),
  },
  {
    id: 'listAffiliateUnearnedRecords',
    path: '/unearned/facts',
    summary: 'List the records that earned nothing',
    description: 'Returns the records of a period that no line counts, each with the reason.',
    parameters: [...PAGING, 'period_required', 'reason_query', 'own_customer'],
    errors: ['validation_failed'],
    answer: pageWith('UnearnedRecord'),
  },
  {
    id: 'listAffiliateCustomers',
    path: '/customers',
    summary: 'List customers',
    description:
      'Returns one row for each customer, the latest signups first, as of the end of a period, or as of today if it has not ended, the current month unless set, with what has become of them under each rule that pays once.',
    parameters: [...PAGING, 'period_query', 'customer_state'],
    errors: ['validation_failed'],
    answer: pageWith('AffiliateCustomer'),
  },
  {
    id: 'listAffiliateClicks',
    path: '/clicks',
    summary: 'Count clicks',
    description: 'Counts the clicks on the links of the affiliate, by day (UTC) and link.',
    parameters: ['from_day', 'to_day'],
    answer: object({ data: { type: 'array', items: ref('Clicks') } }),
  },
  {
    id: 'listAffiliateLedger',
    path: '/ledger',
    summary: 'List the ledger',
    description:
      'Lists what was booked for the affiliate and paid to them, each entry with the balance after it.',
    parameters: [...PAGING, 'list_order'],
    answer: pageWith('AffiliateLedgerEntry', { balances: BALANCES }),
  },
  {
    id: 'listAffiliatePayouts',
    path: '/payouts',
    summary: 'List payments',
    description: 'Lists what was paid to the affiliate, with what is due.',
    parameters: PAGING,
    answer: pageWith('AffiliatePayment', {
      ...DUE,
      under_review: UNDER_REVIEW,
    }),
  },
  {
    id: 'listSubAffiliates',
    path: '/sub-affiliates',
    summary: 'List the affiliates below',
    description:
      'Lists the affiliates who stood below on some days, with their counts on the days on which they did, and with their customers if the account shows these. One who moved has a row for each place. The list is empty if the account shows none.',
    parameters: ['from_day', 'to_day'],
    errors: ['validation_failed'],
    answer: object({ from: DAY, to: DAY, data: { type: 'array', items: ref('SubAffiliate') } }),
  },
]

/**
 * Returns the components of answers as affiliates see them.
 *
 * @throws Error if nobody has decided what a member is: see `MEMBERS` in src/affiliate/members.ts.
 */
export function affiliateSchemas(accounts: Schemas): Record<string, JsonSchema> {
  const all = { ...accounts, ...OWN(accounts) }
  const showing: Showing = { all, added: {}, undecided: new Set() }
  const answers = [
    ...affiliateAnswers(),
    ...READINGS.map(({ id, answer }) => [`${pascalCase(id)}Answer`, answer] as const),
  ].map(([name, answer]) => [name, shown(answer, '', showing)])
  if (showing.undecided.size > 0) {
    throw new Error(`What are these members to affiliates? ${[...showing.undecided].join(', ')}`)
  }
  return { ...Object.fromEntries(answers), ...showing.added }
}

/** The paths whose answers are read from no replica: mostly from the directory. They have no bookmark. */
const FROM_PRIMARY = /^\/(clicks|sub-affiliates)\b/

/** Returns the headers of an answer. */
function headersOf({ path, answer }: Pick<Reading, 'path' | 'answer'>) {
  const isPage = JSON.stringify(answer).includes('"#/components/schemas/Meta"')
  const headers = isPage ? PAGE_HEADERS : READ_HEADERS
  return headers.filter((name) => name !== 'x-d1-bookmark' || !FROM_PRIMARY.test(path))
}

/** Returns the CSV of a list, if it is CSV as well. */
function csvOf(path: string, answer: JsonSchema): Pick<Answer, 'also' | 'headers'> {
  const columns = CSV_COLUMNS.get(path.slice(1))
  if (!columns) return {}
  return {
    headers: [...headersOf({ path, answer }), 'Content-Disposition'],
    also: { 'text/csv': { schema: TEXT, example: `${columns.join()}\r\n` } },
  }
}

/** Lists the operations of affiliates. */
export const affiliateApi = (): Operation[] => [
  ...derivedForAffiliates(),
  ...READINGS.map(
    ({ id, path, summary, description, parameters = [], errors = [], ...reading }) => ({
      ...{ id, summary, description },
      method: 'get' as const,
      path: `/affiliate/v1${path}`,
      tag: 'affiliate-api',
      caller: 'affiliate' as const,
      parameters: [...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name), ...parameters],
      answers: {
        200: {
          description: 'The answer.',
          schema: ref(`${pascalCase(id)}Answer`),
          headers: headersOf({ ...reading, path }),
          ...(reading.type && { type: reading.type }),
          ...csvOf(path, reading.answer),
        },
      },
      errors: ['invalid_query' as const, ...errors],
    }),
  ),
]
