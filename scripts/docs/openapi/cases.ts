import { EXPIRE_DAYS } from '../../../src/durations.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { figures, subject } from './administration/fraud-simulation.ts'
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
import { COUNT, DAY, FLAG, listed, oneOf, orNull, TEXT, TIME } from './shapes.ts'

const CASE = {
  case_id: documented('The id of the case.'),
  rule: documented('The id of the rule that found it.'),
  name: documented('The display name of the rule.'),
  version: documented('The version of the rule that found it last.', {
    type: 'integer',
    minimum: 1,
  }),
  kind: documented('The kind of the rule.'),
  subject,
  affiliate_id: documented('The affiliate that had the customers.'),
  severity: documented('How serious it is.', oneOf('low', 'medium', 'high')),
  action: documented('Whether it holds payouts while it is open.', oneOf('flag', 'hold')),
  reserve_percent: documented('The part of a payout that it holds, in percent.'),
  status: documented(
    `Whether it is open, was decided, or has expired: ${EXPIRE_DAYS} days without a decision and without a new record.`,
    oneOf('open', 'confirmed', 'dismissed', 'expired'),
  ),
  opened_at: documented('When an evaluation first found it.', TIME),
  opened_for: documented('The first day with a finding.', DAY),
  last_evidence_for: documented('The last day whose finding had a new record.', DAY),
  figures,
  sentence: documented('The finding of that day in one sentence.'),
  evidence_total: documented('The number of its records.', COUNT),
  evidence_digest: documented(
    'A digest of its records: it changes when they do. Send it with a decision.',
  ),
  keep_hold: documented('Whether it was confirmed and goes on holding payouts.', FLAG),
  decided_at: documented('When it was decided, or null.', orNull(TIME)),
  waiting: documented(
    'Whether a person has decided it, or the end of its hold, and another person must decide the same.',
    FLAG,
  ),
  hold_goes_on: documented(
    'Whether its hold ended without a decision, and goes on until two persons have decided the case or acknowledged the end: see `ended-holds`.',
    FLAG,
  ),
  amount_held: listed(
    'What it holds of the payouts of the affiliate, by currency. Another case can hold the same payouts.',
    object({ currency: documented('The currency.'), amount: documented('The amount, a decimal.') }),
  ),
}

const DECISION = {
  decision: documented('The decision.', oneOf('confirmed', 'dismissed')),
  reason: documented('Why.'),
  keep_hold: documented('Whether the case goes on holding payouts.', FLAG),
  refuse: listed('The customers who are refused with it.', TEXT),
  from: documented('The day from which they are refused, or null.', orNull(DAY)),
  at: documented('When it was made.', TIME),
  ends_hold: documented(
    'Whether it ends the hold that an earlier decision kept: the case stays confirmed.',
    FLAG,
  ),
  waiting: documented('Whether another person must decide the same before it takes effect.', FLAG),
}

const DECISIONS =
  'The decisions, the first one first. Where two persons must decide, the first one alone leaves the case open.'

/** The main values of records by resource. */
const VALUES: JsonSchema = documented(
  'The main values of the record, by the names of its fields. Null if it is gone or archived.',
  { type: ['object', 'null'], additionalProperties: { type: ['string', 'number', 'null'] } },
)

const WHOLE_CASE = {
  ...CASE,
  decisions: listed(
    DECISIONS,
    object({
      ...DECISION,
      evidence_digest: documented('The digest of the records that the person saw.'),
      actor: documented('Who decided.'),
    }),
  ),
  notes: listed('What the team wrote about it, the oldest first.', ref('FraudNote')),
}

/** The schemas of cases. */
export const CASE_SCHEMAS: Record<string, JsonSchema> = {
  FraudCase: object(CASE),
  OwnFraudCase: object({ ...CASE, decisions: listed(DECISIONS, object(DECISION)) }),
  WholeFraudCase: object(WHOLE_CASE),
  FraudEvidence: object({
    resource: documented(
      'The resource of the record, or `statements`.',
      oneOf('customers', 'transactions', 'trading-activity', 'activities', 'statements'),
    ),
    id: documented(
      'The id of the record. Of trading activity: day, customer, instrument and currency.',
    ),
    customer_id: documented('The customer. Null for a statement.', orNull(TEXT)),
    day: documented('The day of the record.', DAY),
    delivery_id: documented(
      'The delivery that had last written the record. Null for a statement.',
      orNull(TEXT),
    ),
    values: VALUES,
    archived: documented(
      'Whether the record is in the archive: its own route has it, and the case does not need it.',
      FLAG,
    ),
  }),
  FraudCustomer: object({
    customer_id: documented('The customer.'),
    records: documented('How many records of the case are theirs.', COUNT),
  }),
  WaitingFraudCase: object({
    ...WHOLE_CASE,
    approvals_required: documented('The number of different persons who must decide it.', COUNT),
    message: documented('What is still needed.'),
  }),
}

const FILTERS = [
  ...[
    'case_status',
    'rule_query',
    'case_severity',
    'affiliate_query',
    'case_customer',
    'case_draft_of',
  ],
  ...['case_from', 'case_to', 'case_keep_hold', 'case_needs', 'case_opened_since'],
]

const READS = [
  {
    path: '/cases',
    verb: 'list',
    noun: 'FraudCases',
    summary: 'List cases of the fraud review',
    description:
      'Returns what the fraud rules of the account found: one case for each rule and subject, to which later records are added. Those of the latest day come first.',
    parameters: [...PAGING, ...FILTERS],
    schema: pageOf(ref('FraudCase')),
    isPaged: true,
  },
  {
    path: '/cases/{case_id}',
    verb: 'get',
    noun: 'FraudCase',
    summary: 'Get a case',
    description: 'Returns a case with its figures, their thresholds and the decisions.',
    parameters: [],
    schema: null,
    isPaged: false,
  },
  {
    path: '/cases/{case_id}/evidence',
    verb: 'list',
    noun: 'FraudEvidence',
    summary: 'List the records of a case',
    description:
      'Returns the records on which a case rests, in the order in which they were found. Each figure can be recomputed from them.',
    parameters: [...PAGING],
    schema: pageOf(ref('FraudEvidence')),
    isPaged: true,
  },
  {
    path: '/cases/{case_id}/customers',
    verb: 'list',
    noun: 'FraudCustomers',
    summary: 'List the customers of a case',
    description: 'Returns the customers who have records in a case, in order of id.',
    parameters: [...PAGING],
    schema: pageOf(ref('FraudCustomer')),
    isPaged: true,
  },
] as const

/** Describes cases as an account reads them. */
export const casesOf = (at: string, caller: CallerKind, tag: string): Operation[] =>
  READS.map(({ path, verb, noun, summary, description, parameters, schema, isPaged }) => ({
    ...{ method: 'get', path: `${at}${path}`, id: `${verb}${pascalCase(tag)}${noun}`, tag },
    ...{ summary, description, caller },
    parameters: [
      ...(path.includes('{case_id}') ? ['case_id'] : []),
      ...parameters,
      'x-d1-bookmark',
    ],
    answers: {
      200: {
        description: isPaged ? 'One page.' : 'The case.',
        schema: schema ?? ref('OwnFraudCase'),
        headers: isPaged ? PAGE_HEADERS : READ_HEADERS,
      },
    },
    errors: ['invalid_query', ...(path.includes('{case_id}') ? (['not_found'] as const) : [])],
  }))

/** Describes cases as the team reads them. */
export const fraudCases = (): Operation[] => [
  ...READS.map(({ path, verb, noun, summary, description, parameters, schema, isPaged }) =>
    operation({
      ...{ method: 'get', path: `${ACCOUNT_PATH}${path}`, id: `${verb}${noun}`, summary },
      description: schema === null ? `${description} Notes of the team are with it.` : description,
      parameters: [...parameters, 'x-d1-bookmark'],
      answers: {
        200: {
          description: isPaged ? 'One page.' : 'The case.',
          schema: schema ?? ref('WholeFraudCase'),
          headers: isPaged ? PAGE_HEADERS : READ_HEADERS,
        },
      },
    }),
  ),
]
