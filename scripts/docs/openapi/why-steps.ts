import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { COUNT, DAY, FLAG, oneOf, orNull, TEXT } from './shapes.ts'

// The steps of an explanation, in the order in which they are applied.

const money = (description: string) => documented(description)
const maybe = (description: string) => documented(description, orNull(TEXT))
const list = (description: string, items: JsonSchema) =>
  documented(description, { type: 'array', items })
const anything = (description: string): JsonSchema => ({ description })

const step = (name: string, description: string, members: Record<string, JsonSchema>) => ({
  ...object({ step: documented(`The name of the step: \`${name}\`.`, oneOf(name)), ...members }),
  title: name,
  description,
})

const RATES = list(
  'The rates that were used: units of each currency for one euro. Empty if none was needed.',
  object({
    currency: documented('An ISO 4217 code.'),
    rate: money('Units of the currency for one euro.'),
    day: documented('The day that it was published for. Null for the euro.', orNull(DAY)),
  }),
)

const RECORD = object({
  resource: documented('The resource of the record.'),
  id: documented('The id of the record.'),
  day: documented('Its day.', DAY),
  at: maybe('Its instant. Null for whole days.'),
  amount: maybe('The amount that counts, as sent.'),
  currency: maybe('The currency of the amount.'),
  converted: maybe('The amount in the currency of the plan, with `times`.'),
})

const cap = (what: string) => ({
  before: money('The amount before.'),
  capped: money(`What ${what} cuts.`),
  after: money('The amount after.'),
})

const FACTS = step('facts', 'The records that the base counts, by term.', {
  records: documented('The number of different records.', COUNT),
  customers: documented('The number of their customers.', COUNT),
  terms: list(
    'The terms of the base that name records, in order.',
    object({
      term: anything('The term as the plan has it.'),
      currencies: list(
        'What was sent, by currency.',
        object({
          currency: documented('An ISO 4217 code.'),
          count: documented('The number of records.', COUNT),
          amount: money('The sum of their amounts.'),
        }),
      ),
    }),
  ),
})

const CONVERSION = step(
  'conversion',
  'Conversions. Amounts in the currency of the plan are not listed.',
  {
    currency: documented('The currency of the plan.'),
    days: list(
      'The amounts of a term in one currency on one day.',
      object({
        term: documented('The position of the term among those of `facts`, from 0.', COUNT),
        day: documented('The day.', DAY),
        currency: documented('The currency.'),
        rates: RATES,
        sums: documented(
          'The number of sums (one for each customer and product) that were converted and rounded to 12 places apart.',
          COUNT,
        ),
        amount: money('The sum of the amounts.'),
        converted: money('What they were converted to.'),
        by_amount_usd: {
          description:
            'What was converted by the `amount_usd` of the records. Null if nothing was.',
          anyOf: [object({ amount: TEXT, converted: TEXT }), { type: 'null' }],
        },
      }),
    ),
  },
)

const BASE = step('base', 'The base: the sum of the `value` of its terms.', {
  terms: list(
    'The terms, in order.',
    object({
      term: anything('The term as the plan has it.'),
      sum: money('What its records sum to, or the terms that `of` names.'),
      times: money('The factor.'),
      value: money('`sum` × `times`.'),
    }),
  ),
  base: money('The base.'),
})

const UNITS = step('units', 'What is paid for: units divided by `each`.', {
  records: documented('The number of records (of an override of `once`: of lines).', COUNT),
  customers: documented('The number of their customers.', COUNT),
  unit: anything('What is counted, as the plan has it.'),
  units: money('The units.'),
  each: money('The divisor.'),
  quantity: money('`units` ÷ `each`, with at most 12 places.'),
})

const TRIGGER = step('trigger', 'The record that triggers a `once` rule.', {
  record: RECORD,
  min: maybe('The least amount. Null if the rule has none.'),
})

const QUALIFICATION = step('qualification', 'How the customer qualified.', {
  conditions: list(
    'The conditions of `qualify`, in order.',
    object({
      condition: anything('The condition as the plan has it.'),
      met_on: documented('The day on which it was met.', DAY),
      met_at: documented('The instant.'),
      reached: maybe('What the sum or count had reached.'),
      min: maybe('What it had to reach.'),
      records: list('The first 100 of its records.', RECORD),
      records_total: documented('The number of its records.', COUNT),
    }),
  ),
  qualified_on: documented('The day of the qualification: the latest of all.', DAY),
  qualified_at: documented('The instant.'),
})

const SOURCES = step('sources', 'The lines of an affiliate below that an override pays for.', {
  affiliate_id: documented('The affiliate below.'),
  sources: list(
    'The lines by statement and rule.',
    object({
      plan: documented('The plan.'),
      period: documented('The period.'),
      rule: documented('The rule.'),
      version: documented('The version of the plan.', COUNT),
      currency: documented('The currency of the plan.'),
      lines: documented('The number of lines.', COUNT),
      amount: money('What they pay.'),
    }),
  ),
  conversions: list(
    'The sums by currency, converted on the last day of the period.',
    object({
      currency: documented('The currency.'),
      amount: money('The sum.'),
      rates: RATES,
      converted: maybe('What it was converted to. Null if there is no rate: it waits.'),
      reason: maybe('Why there is no rate.'),
    }),
  ),
  sum: money('The sum, or the number of lines.'),
})

const FUNDED = step('funded', "An upline's line that this affiliate pays for.", {
  affiliate_id: documented('The upline.'),
  plan: documented('Its plan.'),
  period: documented('Its period.'),
  amount: money('What its line pays.'),
  currency: documented('The currency of its plan.'),
  rates: RATES,
  converted: money('The amount in the currency of this plan.'),
})

const FLOOR = step('floor', 'A negative sum of an affiliate below counts 0.', {
  before: money('The sum.'),
  after: money('What counts.'),
})

const FENCE = step('fence', 'Losses of single customers that are kept out of the base.', {
  customer: money('The threshold of a customer.'),
  affiliate: money('The threshold of the affiliate.'),
  before: money('The base before.'),
  paid_back: money('What customers pay back.'),
  fenced: money('What is kept out.'),
  base: money('`before` − `paid_back` + `fenced`.'),
})

const MEASURE = step('measure', 'What the tiers measure: `earlier` + `own` + `network`.', {
  mode: documented('How the tiers apply.', oneOf('whole', 'slice')),
  by: anything('What is measured, as the plan has it. Null: what the rule pays for.'),
  over: documented('Whose facts are measured.', oneOf('own', 'network')),
  window: documented('The periods that are measured.', oneOf('period', 'quarter', 'lifetime')),
  earlier: money('The measure of earlier periods of the window.'),
  own: money('The measure of this period.'),
  network: money('That of the affiliates below.'),
  measure: money('The measure, with at most 12 places.'),
  steps: list('The steps of the tiers.', object({ from: TEXT, rate: TEXT })),
  covered: maybe('Under `slice`: what earlier periods and lines before this one cover.'),
})

const RATE = step('rate', 'What the rate makes of the base or the units.', {
  rate_is: documented('What the rate is.', oneOf('percent', 'amount')),
  parts: list(
    'One part, or under `slice` one for each step.',
    object({ quantity: TEXT, rate: TEXT, amount: TEXT }),
  ),
  amount: money('The amount before rounding.'),
  rounded: documented('Whether the amount has more digits than these.', FLAG),
})

const LIMITS = [
  step('clamp', 'The bounds of the amount of a `once` rule.', {
    min_amount: maybe('The least amount.'),
    max_amount: maybe('The largest amount.'),
    before: money('The amount before.'),
    after: money('The amount after.'),
  }),
  step('rounding', 'Rounding to the minor unit, half to even.', {
    digits: documented('The decimal places of the currency.', COUNT),
    before: money('The amount before.'),
    after: money('The amount after.'),
  }),
  step('max_per_customer', 'The most that the rule pays for a customer.', {
    max: money('The limit.'),
    ...cap('the limit'),
  }),
  step(
    'negative',
    'What becomes of a negative amount: `before` + `carried_in` is `after` + `carried_out`.',
    {
      negative: documented('What the rule says.', oneOf('zero', 'carry')),
      before: money('The amount before.'),
      carried_in: money('What the period before left.'),
      carried_out: money('What is left to the next period.'),
      after: money('The amount after.'),
    },
  ),
  step('max_count', 'The most customers that the rule pays for in a period.', {
    max_count: documented('The limit.', COUNT),
    position: documented('The position of the customer in the period, from 1.', COUNT),
    ...cap('the limit'),
  }),
  step('max', 'The most that the rule pays the affiliate in a period.', {
    max: money('The limit.'),
    ...cap('the limit'),
  }),
  step(
    'advance',
    'What the share recoups: `after` is max(0, `before` − `paid_once` − `deficit_in`).',
    {
      recoups: documented('The `once` rule.'),
      before: money('The share.'),
      paid_once: money('What the `once` rule paid in the period.'),
      deficit_in: money('What was left to recoup before.'),
      recouped: money('What the share pays back.'),
      deficit_out: money('What is left to recoup.'),
      after: money('The amount after.'),
    },
  ),
  step('amount', 'What the line pays.', { amount: money('The amount.') }),
]

/** The schema of one step. */
export const STEP: JsonSchema = {
  description: 'A step of the computation. All figures are decimal text.',
  anyOf: [
    FACTS,
    CONVERSION,
    BASE,
    UNITS,
    TRIGGER,
    QUALIFICATION,
    SOURCES,
    FUNDED,
    FLOOR,
    FENCE,
    MEASURE,
    RATE,
    ...LIMITS,
  ],
}
