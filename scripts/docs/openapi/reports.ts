import { CLICK_DAYS, REPORT_LIMITS } from '../../../src/reports/limits.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { ACCOUNT_PATH, operation } from './administration/operation.ts'
import { type CallerKind, type Operation, pascalCase, READ_HEADERS, ref } from './operation.ts'
import { DAY, oneOf, orNull, TEXT } from './shapes.ts'

const written = (limit: number) => limit.toLocaleString('en')

const UNCONVERTED = object({
  metric: documented('The metric whose figure lacks the amount.'),
  currency: documented('The currency. Null if the records name none.', orNull(TEXT)),
  reason: documented(
    'Why the amount cannot be converted.',
    oneOf('no_currency', 'fx_pending', 'fx_missing'),
  ),
  amount: documented('The exact amount in that currency.'),
})

const FIGURES: Record<string, JsonSchema> = {
  metrics: documented(
    'The figures by metric: counts as integers, amounts and other decimals as exact text. Null if it cannot be told; `notes` has the reason.',
    {
      type: 'object',
      additionalProperties: { type: ['integer', 'string', 'null'] },
    },
  ),
  unconverted: documented('What could not be converted, by currency. `metrics` lacks it.', {
    type: 'array',
    items: UNCONVERTED,
  }),
}

const NOTE = object({
  metric: documented('The metric.'),
  reason: documented(
    'Why it is null in some figures; `unknown_metric`: neither an event definition nor a record of these days has it.',
    oneOf('not_kept', 'no_statements', 'partial_period', 'finer_than_statement', 'unknown_metric'),
  ),
  detail: documented('The same as a sentence.'),
})

/** The schemas of reports. */
export const REPORT_SCHEMAS: Record<string, JsonSchema> = {
  Report: object({
    from: documented('The first day.', DAY),
    to: documented('The last day.', DAY),
    currency: documented('The currency of all amounts.'),
    group_by: documented('The groups.', { type: 'array', items: TEXT }),
    columns: documented('The groups and metrics in their order.', {
      type: 'array',
      items: object({
        name: documented('The name of the group or metric.'),
        type: documented('What its values are.', oneOf('group', 'count', 'amount', 'number')),
      }),
    }),
    data: documented('One row for each group, in the order of the values; null comes last.', {
      type: 'array',
      items: object({
        groups: documented('The value of each group. Null for records that do not have it.', {
          type: 'object',
          additionalProperties: { type: ['string', 'number', 'null'] },
        }),
        ...FIGURES,
      }),
    }),
    totals: documented('The figures of all records.', object(FIGURES)),
    notes: documented('Why figures are null.', { type: 'array', items: NOTE }),
  }),
}

const CSV = [
  'row,day,deposit_count,deposit_amount,unconverted',
  'data,2026-10-02,12,1200.25,',
  'total,,12,1200.25,deposit_amount: 80 HUF (fx_missing)',
]

const draft = (at: string, id: string) => ({
  method: 'get' as const,
  path: `${at}/reports`,
  id,
  summary: 'Get a report',
  description: `Returns metrics of some days by up to three groups, converted to one currency, with their totals. The totals are those of the control totals. Clicks are kept for ${CLICK_DAYS} days. A report has at most ${written(REPORT_LIMITS.groups)} rows and ${written(REPORT_LIMITS.figures)} figures, and reads at most ${written(REPORT_LIMITS.records)} records of a resource, which are counted first. \`Accept: text/csv\` returns the same as CSV.`,
  parameters: [
    'from_day',
    'report_to',
    'group_by',
    'report_currency',
    'metrics_query',
    'x-d1-bookmark',
  ],
  answers: {
    200: {
      description: 'The report.',
      schema: ref('Report'),
      headers: [...READ_HEADERS, 'Content-Disposition'],
      also: {
        'text/csv': { schema: TEXT, example: CSV.map((row) => `${row}\r\n`).join('') },
      },
    },
  },
})

/** Describes reports, as an account reads them. */
export const reportOf = (at: string, caller: CallerKind, tag: string): Operation => ({
  ...draft(at, `get${pascalCase(tag)}Report`),
  tag,
  caller,
  errors: ['invalid_query', 'validation_failed', 'unavailable'],
})

/** Describes reports, as the integrations team reads them. */
export const report = (): Operation =>
  operation({
    ...draft(ACCOUNT_PATH, 'getAccountReport'),
    errors: ['invalid_query', 'validation_failed', 'rate_limited', 'unavailable'],
  })
