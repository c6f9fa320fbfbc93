import { FRESH_LIMITS } from '../../../src/commission/statements/limits.ts'
import { ACCOUNT_PATH, operation } from './administration/operation.ts'
import {
  type CallerKind,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'

const LIMIT = `It reads at most ${FRESH_LIMITS.facts.toLocaleString('en')} records.`
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
    summary: 'Explain a line or an adjustment',
    description: `Computes a line from the records as they are now, and returns every step. Of a closed period it also returns what was approved. The id of an adjustment returns what was approved of the corrected line, what the line comes to now, and what has changed. With \`Accept: text/plain\` it returns sentences. A line of a statement that is not stored needs \`affiliate_id\` and \`period\`. ${LIMIT}`,
    parameters: ['line_affiliate', 'line_period', 'x-d1-bookmark'],
    answers: answer('The explanation.', 'Explanation', ['application/json', 'text/plain']),
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
    description: `Returns customers under \`once\` rules as of the end of a period: who qualified, what is missing, which window closed, which condition is not met. ${LIMIT}`,
    parameters: [
      ...PAGING,
      'period_required',
      'qualification_status',
      'qualified_from',
      'rule_plan',
      'rule_query',
      ...WHOSE,
      'x-d1-bookmark',
    ],
    answers: page('One page of customers and rules.', 'Qualification'),
  },
]

/** Describes explanations and what earned nothing, as an account reads them. */
export const whyOf = (at: string, caller: CallerKind, tag: string): Operation[] =>
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
  description: `Returns the lines that count ${what} and for how much, as of now, or why no line does.`,
  parameters: [...parameters, 'x-d1-bookmark'],
  answers: answer('Its lines, or the reasons.', 'RecordEarnings'),
})

const TEAM: readonly Described[] = [
  {
    noun: 'LineParts',
    path: '/lines/{line_id}/parts',
    summary: 'List the parts of a line',
    description: `Returns what each customer adds to a line, by customer. The sum is the base of the line before \`fixed\` terms and a fence, or its units. The part of a \`once\` line is its customer. An override over lines has no customers: its parts are the lines of the affiliate below, as summed by the step \`sources\` of the explanation. ${LIMIT}`,
    parameters: [...PAGING, 'line_affiliate', 'line_period', 'x-d1-bookmark'],
    answers: page('One page of customers, or of lines.', 'LinePart'),
  },
  {
    noun: 'LineRecords',
    path: '/lines/{line_id}/parts/{customer_id}/facts',
    summary: 'List the records of a customer that a line counts',
    description: `Returns the records in order of time, each with the delivery that last changed it. ${LIMIT}`,
    parameters: [...PAGING, 'line_affiliate', 'line_period', 'x-d1-bookmark'],
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
  earnings('TransactionById', '/transactions/earnings', 'a transaction, by its id in the query', [
    'transaction_id_query',
  ]),
  earnings('TradingActivity', '/trading-activity/earnings', 'a row of trading activity', [
    'activity_date',
    'id_query',
    'instrument_query',
    'currency_query',
  ]),
  earnings('Activity', '/activities/earnings', 'an event', ['event_query']),
  earnings('Signup', '/customers/{customer_id}/earnings', 'a signup', []),
  {
    noun: 'CustomerLines',
    path: '/customers/{customer_id}/lines',
    summary: 'List the lines that count a customer',
    description: `Returns the lines that count records of a customer of a period, and what these add to each, as of now. A line of \`scope\` \`customer:…\` counts this customer only. ${LIMIT}`,
    parameters: ['period_required', 'x-d1-bookmark'],
    answers: answer('The lines.', 'CustomerLines'),
  },
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
