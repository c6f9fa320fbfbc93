import { MAX_FRESH_FACTS } from '../../../src/commission/drafts/limits.ts'
import { REASONS } from '../../../src/commission/engine/reasons.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ACCOUNT_PATH, operation } from './administration/operation.ts'
import {
  type Caller,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { COUNT, DAY, oneOf, orNull, TEXT } from './shapes.ts'
import { STEP } from './why-steps.ts'

const maybe = (description: string) => documented(description, orNull(TEXT))
const list = (description: string, items: JsonSchema) =>
  documented(description, { type: 'array', items })

const resource = documented(
  'The resource of the record.',
  oneOf('customers', 'transactions', 'trading-activity', 'activities'),
)

const CAUSE = {
  reason: documented('What became of it.', oneOf('counted', ...REASONS)),
  plan: maybe('The plan of the rule. Null if no rule decided.'),
  version: documented('The version of the plan.', orNull(COUNT)),
  rule: maybe('The rule that decided.'),
  condition: maybe(
    'The condition that did not hold: one of `when`, such as `not_countries`; `months`; `min`, `trigger`, `rate`, `reversed`, `void_by`, `elsewhere` or `qualify/0` of a `once` rule.',
  ),
}

const SUMS = documented('The sums of the amounts, by field.', {
  type: 'object',
  additionalProperties: TEXT,
})

const GROUP = object({
  ...CAUSE,
  resource,
  currency: maybe('The currency of the amounts.'),
  count: documented('The number of records.', COUNT),
  sums: SUMS,
})

const RECORD_REF = {
  resource,
  id: documented('The id of the record.'),
  day: documented('Its day.', DAY),
}

const CONDITION = object({
  condition: { description: 'The condition as the plan has it.' },
  status: documented('Whether it is met.', oneOf('met', 'open', 'waiting')),
  met_on: documented('The day on which it was met.', orNull(DAY)),
  reached: maybe('What the sum or count has reached.'),
  min: maybe('What it must reach.'),
  missing: maybe('What lacks.'),
  until: documented('The last day of its window. Null if it has none.', orNull(DAY)),
  fails: maybe('The condition on the customer that does not hold, such as `kyc`.'),
})

const anyOrNull = (description: string, schema: JsonSchema): JsonSchema => ({
  description,
  anyOf: [schema, { type: 'null' }],
})

/** The schemas of explanations and of what earned nothing. */
export const WHY_SCHEMAS: Record<string, JsonSchema> = {
  ExplanationStep: STEP,
  Explanation: object({
    id: documented('The id of the line.'),
    affiliate_id: documented('The affiliate.'),
    plan: documented('The plan.'),
    period: documented('The period.'),
    currency: documented('The currency of the plan.'),
    line: documented('The line, without its id.', { type: 'object' }),
    steps: list('How the line came about, in order.', ref('ExplanationStep')),
  }),
  LinePart: object({
    customer_id: documented('The customer.'),
    records: documented('The number of records that the line counts.', COUNT),
    base: maybe('What they add to the base before a fence. Null if the line has none.'),
    units: maybe('What they add to the units. Null if the line has none.'),
  }),
  LineRecord: object({
    ...RECORD_REF,
    at: maybe('The instant. Null for whole days.'),
    type: maybe('The transaction type or the name of the event.'),
    currency: maybe('The currency.'),
    amounts: SUMS,
    base: maybe('What it adds to the base, converted by itself.'),
    units: maybe('What it adds to the units.'),
    delivery_id: maybe('The delivery that last changed the record.'),
  }),
  UnearnedGroup: GROUP,
  Unearned: object({
    period: documented('The period.'),
    data: list('The records that no line counts, each in one group.', ref('UnearnedGroup')),
    rules: list(
      'What each rule does not count. A record that one rule counts and another does not stands here, too.',
      ref('UnearnedGroup'),
    ),
    counted: list(
      'The records that a line counts. Together with `data`, without `held`, these are the control totals.',
      object({
        resource,
        currency: maybe('The currency of the amounts.'),
        count: documented('The number of records.', COUNT),
        sums: SUMS,
      }),
    ),
  }),
  UnearnedRecord: object({
    ...RECORD_REF,
    ...CAUSE,
    customer_id: documented('The customer.'),
    affiliate_id: maybe('The affiliate of the customer on that day.'),
    currency: maybe('The currency of the amounts.'),
    amounts: SUMS,
    rules: list('What each rule that names the record makes of it.', object(CAUSE)),
  }),
  Qualification: object({
    customer_id: documented('The customer.'),
    affiliate_id: maybe('The affiliate of the trigger, or the present one while there is none.'),
    plan: documented('The plan.'),
    version: documented('The version of the plan.', COUNT),
    rule: documented('The `once` rule.'),
    status: documented(
      '`failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed.',
      oneOf('qualified', 'waiting', 'failed', 'refused'),
    ),
    qualified_on: documented('The day of the qualification.', orNull(DAY)),
    trigger: anyOrNull('The record that triggers the rule.', object(RECORD_REF)),
    missing: list('What is missing: `trigger`, `rate`, or conditions as `qualify/0`.', TEXT),
    closed: anyOrNull(
      'The window that closed.',
      object({
        window: documented('`months`, or a condition as `qualify/0`.'),
        until: documented('Its last day.', DAY),
      }),
    ),
    refused_by: maybe(
      '`reversed`, `void_by`, `refused`, `other_version`, a condition as `qualify/0`, or why the trigger belongs to no plan.',
    ),
    conditions: list('The conditions of `qualify`, in order.', CONDITION),
    waits_for: list(
      'Records without a rate or a currency.',
      object({
        ...RECORD_REF,
        reason: documented('Why.', oneOf('no_currency', 'fx_pending', 'fx_missing')),
      }),
    ),
  }),
  RecordEarnings: object({
    ...RECORD_REF,
    customer_id: documented('The customer.'),
    affiliate_id: maybe('The affiliate of the customer on that day.'),
    state: documented('`counted`, or why no line counts it.', object(CAUSE)),
    lines: list(
      'The lines that count it.',
      object({
        line_id: documented('The id of the line.'),
        affiliate_id: documented('The affiliate that earns.'),
        plan: documented('The plan.'),
        version: documented('Its version.', COUNT),
        rule: documented('The rule.'),
        kind: documented('The kind of the rule.', oneOf('once', 'share', 'unit', 'override')),
        period: documented('The period of the line.'),
        scope: documented('The scope of the line.'),
        base: maybe('What it adds to the base, in the currency of the plan.'),
        units: maybe('What it adds to the units.'),
        currency: documented('The currency of the plan.'),
        as: documented('As what it counts.', oneOf('base', 'units', 'trigger', 'qualification')),
      }),
    ),
    rules: list('What each rule of its plan that names it makes of it.', object(CAUSE)),
  }),
}

const LIMIT = `It reads at most ${MAX_FRESH_FACTS.toLocaleString('en')} records.`
const WHOSE = ['affiliate_query', 'customer_id']

const answer = (description: string, name: string, type?: readonly string[]) => ({
  200: { description, schema: ref(name), headers: READ_HEADERS, ...(type && { type }) },
})

const page = (description: string, name: string) => ({
  200: { description, schema: pageOf(ref(name)), headers: PAGE_HEADERS },
})

type Described = Pick<Operation, 'path' | 'summary' | 'description' | 'answers' | 'parameters'> & {
  noun: string
}

/** What an account reads for itself. */
const OWN: readonly Described[] = [
  {
    noun: 'Explanation',
    path: '/lines/{line_id}/explain',
    summary: 'Explain a line',
    description: `Computes a line from the records as they are now, and returns every step. With \`Accept: text/plain\` it returns sentences. A line of a statement that is not stored needs \`affiliate_id\` and \`period\`. ${LIMIT}`,
    parameters: ['affiliate_query', 'period_query', 'x-d1-bookmark'],
    answers: answer('The steps.', 'Explanation', ['application/json', 'text/plain']),
  },
  {
    noun: 'Unearned',
    path: '/unearned',
    summary: 'Get what earned nothing',
    description: `Returns how many records of a period no line counts and what they sum to, by reason, rule and condition. Records that wait for their customer are \`held\`. ${LIMIT}`,
    parameters: ['period_required', 'reason_query', ...WHOSE, 'x-d1-bookmark'],
    answers: answer('The groups.', 'Unearned'),
  },
  {
    noun: 'Qualifications',
    path: '/qualifications',
    summary: 'List qualifications',
    description: `Returns customers under \`once\` rules as of the end of a period: who qualified, what is missing, which window closed, which condition refuses. ${LIMIT}`,
    parameters: [
      ...PAGING,
      'period_required',
      'qualification_status',
      'plan_query',
      'rule_query',
      ...WHOSE,
      'x-d1-bookmark',
    ],
    answers: page('One page of customers and rules.', 'Qualification'),
  },
]

/** Describes explanations and what earned nothing, as an account reads them. */
export const whyOf = (at: string, caller: Caller, tag: string): Operation[] =>
  OWN.map(({ noun, path, ...described }) => ({
    ...described,
    method: 'get',
    path: `${at}${path}`,
    id: `${path.endsWith('qualifications') ? 'list' : 'get'}${pascalCase(tag)}${noun}`,
    tag,
    caller,
    parameters: [
      ...(path.includes('{line_id}') ? ['line_id'] : []),
      ...(described.parameters ?? []),
    ],
    errors: [
      'invalid_query',
      'validation_failed',
      ...(path.includes('{line_id}') ? (['not_found'] as const) : []),
    ],
  }))

const earnings = (noun: string, path: string, what: string, parameters: string[]): Described => ({
  noun,
  path,
  summary: `Get what ${what} earns`,
  description: `Returns the lines that count ${what} and for how much, by all that is known now, or why no line does.`,
  parameters: [...parameters, 'x-d1-bookmark'],
  answers: answer('Its lines, or the reasons.', 'RecordEarnings'),
})

const TEAM: readonly Described[] = [
  {
    noun: 'LineParts',
    path: '/lines/{line_id}/parts',
    summary: 'List the customers of a line',
    description: `Returns what each customer adds to a line, by customer. The sum is the base of the line before \`fixed\` terms and a fence, or its units. ${LIMIT}`,
    parameters: [...PAGING, 'affiliate_query', 'period_query', 'x-d1-bookmark'],
    answers: page('One page of customers.', 'LinePart'),
  },
  {
    noun: 'LineRecords',
    path: '/lines/{line_id}/parts/{customer_id}/facts',
    summary: 'List the records of a customer that a line counts',
    description: `Returns the records in order of time, each with the delivery that last changed it. ${LIMIT}`,
    parameters: [...PAGING, 'affiliate_query', 'period_query', 'x-d1-bookmark'],
    answers: page('One page of records.', 'LineRecord'),
  },
  {
    noun: 'UnearnedRecords',
    path: '/unearned/facts',
    summary: 'List the records that earned nothing',
    description: `Returns the records of a period that no line counts, by resource and id. With \`reason\` also those that one rule counts and another, for this reason, does not. ${LIMIT}`,
    parameters: [...PAGING, 'period_required', 'reason_query', ...WHOSE, 'x-d1-bookmark'],
    answers: page('One page of records.', 'UnearnedRecord'),
  },
  earnings('Transaction', '/transactions/{transaction_id}/earnings', 'a transaction', []),
  earnings('TradingActivity', '/trading-activity/earnings', 'a row of trading activity', [
    'activity_date',
    'id_query',
    'instrument_query',
    'currency_query',
  ]),
  earnings('Activity', '/activities/earnings', 'an event', ['event_query']),
  earnings('Signup', '/customers/{customer_id}/earnings', 'a signup', []),
]

const nameOf = ({ path, noun }: Described): string => {
  if (path.endsWith('/earnings')) return `get${noun}Earnings`
  return path.endsWith('/explain') || path === '/unearned' ? `get${noun}` : `list${noun}`
}

/** Lists the operations of the integrations team on explanations and what earned nothing. */
export const why = (): Operation[] =>
  [...OWN, ...TEAM].map(({ noun, path, ...described }) =>
    operation({
      ...described,
      method: 'get',
      path: `${ACCOUNT_PATH}${path}`,
      id: nameOf({ noun, path, ...described }),
      errors: ['validation_failed'],
    }),
  )
