import { FRESH_LIMITS, PART_LIMITS, RUN_LIMITS } from '../../../src/commission/statements/limits.ts'
import { SUMMED_STATEMENTS } from '../../../src/db/commission/statements.ts'
import { LIST_LIMITS } from '../../../src/db/paginate.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { operation } from './administration/operation.ts'
import { CAUSES } from './cause-schemas.ts'
import { derivedSchemas } from './derived.ts'
import {
  type CallerKind,
  type Operation,
  PAGING,
  pageOf,
  pascalCase,
  READ_HEADERS,
  ref,
} from './operation.ts'
import { COUNT, listed, oneOf, orNull, TEXT, TIME } from './shapes.ts'
import {
  LIST_EXPORTS,
  LIST_FORMATS,
  STATEMENT_EXPORTS,
  STATEMENT_FORMATS,
} from './statement-exports.ts'

const money = (description: string) =>
  documented(description, { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' })
const decimal = (description: string) =>
  documented(description, { type: ['string', 'null'], pattern: '^-?\\d+(\\.\\d+)?$' })
const FX = listed(
  'The amounts by currency, and what they were converted to.',
  object({
    currency: documented('An ISO 4217 code.'),
    amount: money('The sum in this currency.'),
    converted: money('The sum in the currency of the plan.'),
  }),
)

const FENCE: JsonSchema = {
  description: 'What the fence of the rule did. Null without one.',
  anyOf: [
    object({
      base: money('The base before.'),
      paid_back: money('What later revenue of customers recovered of their ring-fenced losses.'),
      fenced: money('The losses that were ring-fenced in this period.'),
    }),
    { type: 'null' },
  ],
}

const LINE = object({
  id: documented('The id of the line.'),
  rule: documented('The id of the rule.'),
  version: documented('The version of the plan that has the rule.', { type: 'integer' }),
  kind: documented('The kind of the rule.', oneOf('once', 'share', 'unit', 'override')),
  scope: documented('`affiliate`, or `customer:`, `product:` or `affiliate:` and an id.'),
  base: decimal('The base, after a fence. Null if the rule has none.'),
  units: decimal('The units, before `each`. Null if the rule has none.'),
  measure: decimal('The measure of the tiers. Null without tiers.'),
  step: {
    description: 'The tier that applies; under `slice` the part in each tier. Null without tiers.',
    anyOf: [
      TEXT,
      { type: 'array', items: object({ from: TEXT, part: TEXT, rate: TEXT }) },
      { type: 'null' },
    ],
  },
  rate: decimal('The percentage or the amount that applies. Null under `slice`.'),
  amount: money('What the line pays.'),
  carried_in: money('What the line took over from the period before.'),
  carried_out: money('What the line leaves to the next period.'),
  capped: money('What caps cut off.'),
  recouped: money('What was deducted to recover the CPA.'),
  deficit: money('The deficit of an advance after the period.'),
  fence: FENCE,
  fx: FX,
})

const ADJUSTMENT = object({
  id: documented('The id of the adjustment.'),
  of: documented(
    'What it corrects.',
    object({
      period: documented('The closed period.'),
      line: documented(
        'The line. Null: a part of the correction reverses what a statement wrote off.',
        orNull(TEXT),
      ),
      dropped_in: documented(
        'The period of the statement that wrote it off. Null if `line` is set.',
        orNull(TEXT),
      ),
    }),
  ),
  rule: documented('The id of the rule of the line.', orNull(TEXT)),
  version: documented('The version of the plan that has the rule.', { type: ['integer', 'null'] }),
  scope: documented('The scope of the line.', orNull(TEXT)),
  occurrence: documented(
    'The number of earlier lines with the same rule, version and scope.',
    COUNT,
  ),
  amount: money('The difference between the line as it is now and what was approved of it.'),
  ...CAUSES,
})

const HEAD = derivedSchemas().BookedStatement?.properties as Record<
  'id' | 'affiliate_id' | 'plan' | 'period' | 'currency' | 'status' | 'total',
  JsonSchema
>

const ADJUSTMENTS = listed('Corrections of lines of closed periods.', ref('Adjustment'))
const LINES = listed(`The lines, at most ${PART_LIMITS.lines} of them.`, ref('StatementLine'))

/** The schemas of statements and runs. */
export const STATEMENT_SCHEMAS: Record<string, JsonSchema> = {
  StatementLine: LINE,
  Adjustment: ADJUSTMENT,
  Statement: object(HEAD),
  ListedStatement: object({ ...HEAD, lines: LINES, adjustments: ADJUSTMENTS }, [
    'lines',
    'adjustments',
  ]),
  StatementInFull: object({
    ...HEAD,
    lines: LINES,
    adjustments: ADJUSTMENTS,
    part: documented('The part of the lines.', COUNT),
    parts: documented('The number of parts.', COUNT),
  }),
  StatementTotals: object({
    data: listed(
      'The sums, by plan, status and currency.',
      object({
        plan: HEAD.plan,
        status: HEAD.status,
        currency: HEAD.currency,
        statements: documented('The number of statements.', COUNT),
        with_holds: documented(
          'The number of statements with records that wait for a rate or a currency.',
          COUNT,
        ),
        paying: documented('The number of statements whose `payable` is not 0.', COUNT),
        total: money('The sum of `total`.'),
        payable: money('The sum of `payable`.'),
        opening: decimal(
          'The sum of `opening`. Null unless `period` is given: the balances of several periods have no sum.',
        ),
        closing: decimal(
          'The sum of `closing`. Null unless `period` is given: the balances of several periods have no sum.',
        ),
      }),
    ),
    is_limited: documented('Whether there may be more statements than are added up.', {
      type: 'boolean',
    }),
    changes: documented(
      'With `period` and `status=draft`: the ten largest changes of a currency against the period before. Else null.',
      orNull({
        type: 'array',
        items: object({
          affiliate_id: HEAD.affiliate_id,
          plan: HEAD.plan,
          currency: HEAD.currency,
          total: money('What the draft earned; 0 if there is none.'),
          before: money('What the same affiliate and plan earned in the period before.'),
        }),
      }),
    ),
  }),
  PeriodSums: object({
    data: listed(
      'The sums, by period, status and currency, the latest period first.',
      object({
        period: HEAD.period,
        status: HEAD.status,
        currency: HEAD.currency,
        statements: documented('The number of statements.', COUNT),
        paying: documented('The number of statements whose `payable` is not 0.', COUNT),
        total: money('The sum of `total`.'),
        computed_at: documented('When the latest of them was computed.', TIME),
      }),
    ),
    is_limited: documented('Whether there may be more statements than are added up.', {
      type: 'boolean',
    }),
    due: listed(
      'What is payable today: approved statements that are not paid, by currency.',
      object({
        currency: HEAD.currency,
        affiliates: documented('The number of affiliates.', COUNT),
        statements: documented('The number of statements.', COUNT),
        amount: money('The sum of `payable`.'),
      }),
    ),
    leading: listed(
      'The statements with the highest totals of the current month and week (UTC): at most 5 of each currency.',
      object({
        id: HEAD.id,
        affiliate_id: HEAD.affiliate_id,
        plan: HEAD.plan,
        period: HEAD.period,
        status: HEAD.status,
        currency: HEAD.currency,
        total: HEAD.total,
      }),
    ),
    last_run_at: documented(
      'When the latest run that is `done` ended. It computes all drafts, and writes those that have changed. Null if there was none within 30 days.',
      orNull(TIME),
    ),
  }),
  Run: object({
    id: documented('The id of the run.'),
    period: documented('The period.'),
    status: documented(
      'A `failed` run gave up after many attempts. What it had stored stays.',
      oneOf('running', 'done', 'failed'),
    ),
    affiliates: documented('The number of affiliates. Null until it is known.', orNull(COUNT)),
    steps: documented('The number of steps. Null until it is known.', orNull(COUNT)),
    steps_done: documented('The number of steps that are done.', orNull(COUNT)),
    changed: documented('The number of statements that were written.', orNull(COUNT)),
    started_at: documented('When it was started.', TIME),
    active_at: documented(
      'When it last showed that it is working. A run that stops for 20 minutes is resumed.',
      TIME,
    ),
    ended_at: documented('When it ended. Null while it runs.', orNull(TIME)),
    reason: documented('Why it failed, in words. Null unless it has.', orNull({ type: 'string' })),
  }),
}

const FILTERS = ['affiliate_query', 'period_query', 'plan_query', 'status_query']

const LIST =
  'Returns the stored statements of affiliates in the order of period, affiliate and plan, without their lines. A run of the period brings drafts up to date; each account has one every morning.'

/** Describes the statements as an account reads them. */
export const statementOperationsOf = (at: string, caller: CallerKind, tag: string): Operation[] => [
  {
    method: 'get',
    path: `${at}/statements`,
    id: `list${pascalCase(tag)}Statements`,
    tag,
    summary: 'List statements',
    description: `${LIST} ${LIST_FORMATS}`,
    caller,
    parameters: [...PAGING, ...FILTERS, 'x-d1-bookmark'],
    answers: {
      200: {
        description: 'One page of statements.',
        schema: pageOf(ref('Statement')),
        ...LIST_EXPORTS,
      },
    },
    errors: ['invalid_query'],
  },
  {
    method: 'get',
    path: `${at}/statements/{statement_id}`,
    id: `get${pascalCase(tag)}Statement`,
    tag,
    summary: 'Get a statement',
    description: `Returns a statement with its lines. A long one has parts of at most ${PART_LIMITS.lines} lines. ${STATEMENT_FORMATS}`,
    caller,
    parameters: ['statement_id', 'part', 'x-d1-bookmark'],
    answers: {
      200: {
        description: 'The statement.',
        schema: ref('StatementInFull'),
        ...STATEMENT_EXPORTS,
      },
    },
    errors: ['invalid_query', 'not_found'],
  },
]

const ACCOUNT = '/admin/v1/accounts/{account}'

const read = (description: string, name: string) => ({
  200: { description, schema: ref(name), headers: READ_HEADERS },
})

/** Lists the operations of the integrations team on statements and runs. */
export const statements = (): Operation[] => [...reads(), ...runs()]

const reads = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT}/statements`,
    id: 'listStatements',
    summary: 'List statements',
    description: `${LIST} ${LIST_FORMATS} With \`fresh=true\` it computes the statements of one affiliate at once, with their first lines, as JSON, and stores nothing: up to ${FRESH_LIMITS.facts.toLocaleString('en')} facts.`,
    parameters: [
      ...PAGING,
      ...FILTERS,

      'statement_approved_since',
      'list_order',
      'fresh',
      'x-d1-bookmark',
    ],
    answers: {
      200: {
        description: 'One page of statements.',
        schema: pageOf(ref('ListedStatement')),
        ...LIST_EXPORTS,
      },
    },
    errors: ['validation_failed'],
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT}/statements/totals`,
    id: 'getStatementTotals',
    summary: 'Add up statements',
    description: `Adds up the stored statements that the parameters match, by plan, status and currency: at most ${LIST_LIMITS.total.toLocaleString('en')} of them, the first by period.`,
    parameters: [...FILTERS, 'x-d1-bookmark'],
    answers: read('The sums.', 'StatementTotals'),
    errors: ['invalid_query'],
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT}/periods`,
    id: 'listPeriods',
    summary: 'Add up the latest periods',
    description: `Adds up the stored statements of the latest periods by status and currency: at most ${SUMMED_STATEMENTS.toLocaleString('en')} statements. If there are more, the last period may be a part. A day has no commission of its own: a statement is for an affiliate and a period.`,
    parameters: ['x-d1-bookmark'],
    answers: read('The sums.', 'PeriodSums'),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT}/statements/{statement_id}`,
    id: 'getStatement',
    summary: 'Get a statement',
    description: `Returns a statement with its lines. A long one has parts of at most ${PART_LIMITS.lines} lines. ${STATEMENT_FORMATS}`,
    parameters: ['part', 'x-d1-bookmark'],
    answers: {
      200: { description: 'The statement.', schema: ref('StatementInFull'), ...STATEMENT_EXPORTS },
    },
  }),
]

const runs = (): Operation[] => [
  operation({
    method: 'post',
    path: `${ACCOUNT}/periods/{period}/run`,
    id: 'startRun',
    summary: 'Compute the statements of a period',
    description: `Starts a run over all affiliates of the account. It computes the drafts of the period and of open periods before it, and writes those that have changed. Two runs at the same time do no harm. If a run of the same period has begun but has read nothing yet, the response is that run. A period that has not begun in the time zone of the account's records is 422. An account has at most ${RUN_LIMITS.running} runs at once; another one is 429 \`rate_limited\`.`,
    parameters: ['x-d1-bookmark'],
    answers: {
      202: { description: 'The run has started.', schema: ref('Run'), headers: READ_HEADERS },
    },
    errors: ['validation_failed', 'rate_limited'],
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT}/runs/{run_id}`,
    id: 'getRun',
    summary: 'Get the progress of a run',
    description: 'Returns how far a run is. Runs are kept for 30 days.',
    parameters: ['x-d1-bookmark'],
    answers: read('The run.', 'Run'),
  }),
]
