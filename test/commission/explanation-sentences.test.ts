import { expect, test } from 'vitest'
import {
  type CountedRecord,
  type Explanation,
  explanationText,
  factSentences,
  type MetCondition,
  type Step,
} from '../../src/commission/engine/explain.ts'
import type { Qualification } from '../../src/commission/engine/plan.ts'
import { countedWords } from '../../src/commission/engine/plan-words.ts'
import { figure, listed } from '../../src/commission/engine/reasons.ts'

const ofFacts = (step: Step) => factSentences(step, 'EUR', 'IB-07')

const LINE = {
  ...{ id: 'lin_1', rule: 'tenth', version: 2, kind: 'share', scope: 'affiliate', base: null },
  ...{ units: null, measure: null, step: null, rate: null, carried_in: '0', carried_out: '0' },
  ...{ capped: '0', recouped: '0', deficit: '0', amount: '5.00' },
} as unknown as Explanation['line']

const EXPLANATION: Explanation = {
  ...{ affiliate_id: 'IB-07', plan: 'ib', period: '2026-10', currency: 'EUR' },
  ...{ line: LINE, steps: [] },
}

/** Returns the sentences of steps, without the title. */
const ofLine = (...steps: Step[]) =>
  explanationText({ ...EXPLANATION, steps })
    .trimEnd()
    .split('\n')
    .slice(2)

const RECORD: CountedRecord = {
  ...{ resource: 'transactions', id: 't-1', day: '2026-10-05', at: null },
  ...{ amount: '100', currency: 'USD', converted: '80' },
}

test.each<[unknown, string]>([
  [null, 'records'],
  [[], 'records'],
  [{}, 'records'],
  [{ transactions: ['deposit', 'refund'] }, 'deposits and refunds'],
  [
    { transactions: ['deposit'], subtypes: ['card', 'bank_wire', 'cash'] },
    'deposits of the kind card, bank wire or cash',
  ],
  [{ activity: 'lots_traded' }, 'lots traded'],
  [{ event: 'DailyStats' }, 'DailyStats events'],
  [{ event: 'DailyStats', kpi: 'NGR' }, 'NGR of DailyStats events'],
  [{ signup: true }, 'signups'],
  [{ once: 'cpa' }, 'lines of the rule cpa'],
  [{ count: { signup: true } }, 'signups'],
])('what %j counts is named', (kind, text) => {
  expect(countedWords(kind)).toBe(text)
})

test('words are joined as a list', () => {
  expect([listed([]), listed(['a']), listed(['a', 'b', 'c'])]).toEqual(['', 'a', 'a, b and c'])
})

test('figures have separators, a minus sign and their minor digits', () => {
  const figures = [figure('-1234567.5', 2), figure('999'), figure('1000'), figure('0', 3)]
  expect(figures).toEqual(['−1,234,567.50', '999', '1,000', '0.000'])
})

test('facts: how many records each term counts, and their sums by currency', () => {
  const sums = [
    { currency: 'EUR', count: 1, amount: '5' },
    { currency: 'USD', count: 2000, amount: '-7.5' },
  ]
  const when = { countries: ['DE'] }
  const terms = [
    { term: { transactions: ['deposit'], when }, currencies: sums },
    { term: { activity: 'pnl' }, currencies: [] },
    { term: { transactions: ['refund'] }, currencies: [] },
    { term: null, currencies: sums.slice(0, 1) },
  ]
  expect(ofFacts({ step: 'facts', records: 2001, customers: 1, terms })).toEqual([
    'The base counts 2,001 records of 1 customer.',
    'Deposits (only customers from Germany) sum to 5.00 EUR (1 record) and −7.50 USD (2,000 records).',
    'No profit and loss of customers is counted.',
    'No refunds are counted.',
    'Records sum to 5.00 EUR (1 record).',
  ])
  expect(ofFacts({ step: 'facts', records: 0, customers: 0, terms })).toEqual([
    'No record of the period is counted.',
  ])
})

test('conversion: the rates of each day, and the amounts that the records have in USD', () => {
  const rates = [
    { currency: 'USD', rate: '1.25', day: '2026-10-02' },
    { currency: 'EUR', rate: '1', day: null },
  ]
  const day = { term: 0, day: '2026-10-05', currency: 'USD', rates, amount: '100', converted: '80' }
  const days = [
    { ...day, sums: 1, by_amount_usd: null },
    { ...day, sums: 3, by_amount_usd: { amount: '10', converted: '8' } },
    { ...day, sums: 0, by_amount_usd: { amount: '10', converted: '8' } },
    { ...day, rates: [], sums: 1, by_amount_usd: null },
    {
      ...day,
      rates: [rates[0]!, { currency: 'GBP', rate: '0.8', day: null }],
      sums: 1,
      by_amount_usd: null,
    },
  ]
  const first = 'On 5 Oct 2026, 100.00 USD at 1 EUR = 1.25 USD (2 Oct 2026) is 80.00 EUR'
  const ofRecords = "On 5 Oct 2026, 10.00 USD is 8.00 EUR by the records' own amounts in USD."
  expect(ofFacts({ step: 'conversion', currency: 'EUR', days })).toEqual([
    `${first}.`,
    ...[`${first}, in 3 separate conversions.`, ofRecords],
    ofRecords,
    'On 5 Oct 2026, 100.00 USD is 80.00 EUR.',
    'On 5 Oct 2026, 100.00 USD at 1 EUR = 1.25 USD (2 Oct 2026) and 1 EUR = 0.8 GBP is 80.00 EUR.',
  ])
  const many = Array.from({ length: 402 }, () => days[0]!)
  const written = ofFacts({ step: 'conversion', currency: 'EUR', days: many })
  expect(written).toHaveLength(401)
  expect(written.at(-1)).toBe('The JSON of this explanation lists 2 more conversions.')
})

test('base: each term with what it is multiplied by', () => {
  const ngr = { transactions: ['deposit'] }
  const terms = [
    { term: { ...ngr, name: 'NGR' }, sum: '100', times: '1', value: '100' },
    { term: { of: ['NGR', 'fees'] }, sum: '100', times: '-0.2', value: '-20' },
    { term: { of: ['NGR'] }, sum: '100', times: '0.1', value: '10' },
    { term: { fixed: '-50' }, sum: '-50', times: '1', value: '-50' },
    { term: ngr, sum: '7', times: '1', value: '7' },
    { term: null, sum: '1', times: '1', value: '1' },
  ]
  expect(ofFacts({ step: 'base', terms, base: '48' })).toEqual([
    'The term NGR adds 100.00 EUR.',
    'Deduction on NGR and fees: −0.2 × 100.00 EUR = −20.00 EUR.',
    'Part of NGR: 0.1 × 100.00 EUR = 10.00 EUR.',
    'The fixed amount of the period adds −50.00 EUR.',
    'The term of deposits adds 7.00 EUR.',
    'The term adds 1.00 EUR.',
    'The base is 48.00 EUR.',
  ])
  expect(ofFacts({ step: 'base', terms: terms.slice(0, 1), base: '100' })).toHaveLength(1)
  expect(ofFacts({ step: 'base', terms: terms.slice(1, 2), base: '-20' })).toHaveLength(2)
  const none = terms.map((one) => ({ ...one, value: '0' }))
  expect(ofFacts({ step: 'base', terms: none, base: '0' })).toEqual(['The base is 0.00 EUR.'])
})

test('units: what was counted, and what one unit of pay is', () => {
  const lots = { step: 'units', records: 2, customers: 1, units: '7', each: '1', quantity: '7' }
  const step = { ...lots, unit: { activity: 'lots_traded' } } as Step & { step: 'units' }
  const source = '7 units come from 2 records of 1 customer (lots traded).'
  expect(ofFacts(step)).toEqual([source])
  expect(ofFacts({ ...step, each: '2', quantity: '3.5' })).toEqual([source, '7 ÷ 2 is 3.5.'])
  expect(ofFacts({ ...step, unit: { once: 'cpa' } })).toEqual([
    '2 lines of the rule cpa of the sub-affiliate.',
  ])
})

test('a trigger names its record, and the least amount', () => {
  const textOf = (record: Partial<CountedRecord>, min: string | null = null) =>
    ofFacts({ step: 'trigger', record: { ...RECORD, ...record }, min })
  const start = 'Qualifying record: transaction t-1 of 5 Oct 2026'
  expect(textOf({}, '50')).toEqual([`${start}, 100.00 USD = 80.00 EUR, minimum 50.00 EUR.`])
  expect(textOf({ converted: null })).toEqual([`${start}, 100.00 USD.`])
  expect(textOf({ converted: '100', currency: 'EUR' })).toEqual([`${start}, 100.00 EUR.`])
  expect(textOf({ currency: null, converted: null })).toEqual([`${start}, 100.`])
  expect(textOf({ amount: null, converted: null })).toEqual([`${start}.`])
})

test('a qualification names what was reached, and by which records', () => {
  const met = { met_on: '2026-10-06', met_at: '', reached: '200', min: '150' }
  const records = [RECORD, { ...RECORD, id: 't-2' }]
  const kind = { transactions: ['deposit'] }
  const textOf = (condition: Qualification, own: Partial<MetCondition>) =>
    ofFacts({
      ...{ step: 'qualification', qualified_on: '2026-10-06', qualified_at: '' },
      conditions: [{ condition, ...met, records, records_total: 2, ...own }],
    })
  const sum = { sum: [kind, { activity: 'pnl' } as const], min: '150', within_days: 30 }
  expect(textOf(sum, {})).toEqual([
    'The sum of deposits and profit and loss of customers within 30 days: 200.00 EUR (needed 150.00 EUR), reached on 6 Oct 2026, by 2 records (transaction t-1 of 5 Oct 2026, 100.00 USD = 80.00 EUR; transaction t-2 of 5 Oct 2026, 100.00 USD = 80.00 EUR).',
    'The customer qualified on 6 Oct 2026.',
  ])
  const six = { records: Array.from({ length: 6 }, () => RECORD), records_total: 6 }
  expect(textOf({ count: kind, min: 6 }, { ...six, reached: '6', min: null })[0]).toBe(
    'The number of deposits: 6 (needed 0), reached on 6 Oct 2026, by 6 records.',
  )
  expect(textOf({ count: kind, min: 6 }, { records: [], records_total: 0, reached: '0' })[0]).toBe(
    'The number of deposits: 0 (needed 150), reached on 6 Oct 2026.',
  )
})

test('an override names the lines of the affiliate below, their conversion and what waits', () => {
  const source = { plan: 'ib', period: '2026-10', rule: 'tenth', version: 1, currency: 'USD' }
  const rates = [{ currency: 'USD', rate: '1.25', day: null }]
  const own = { amount: '100', reason: null }
  const step: Step = {
    ...{ step: 'sources', affiliate_id: 'IB-70', sum: '85' },
    sources: [
      { ...source, lines: 2, amount: '100' },
      { ...source, currency: 'EUR', lines: 1, amount: '5' },
    ],
    conversions: [
      { ...own, currency: 'USD', rates, converted: '80' },
      { ...own, currency: 'EUR', amount: '5', rates: [], converted: '5' },
      { ...own, currency: 'XAG', rates: [], converted: null },
    ],
  }
  const of = 'of the affiliate IB-70 by the rule tenth (version 1) of the plan ib in October 2026'
  expect(ofFacts(step)).toEqual([
    ...[`2 lines ${of} sum to 100.00 USD.`, `1 line ${of} sums to 5.00 EUR.`],
    '100.00 USD at 1 EUR = 1.25 USD is 80.00 EUR.',
    '100.00 XAG is not paid yet: no exchange rate.',
    'Together that is 85.00 EUR.',
  ])
  expect(ofFacts({ ...step, conversions: [] })).toHaveLength(2)
  const funded = { affiliate_id: 'IB-01', plan: 'ib', period: '2026-10', amount: '100' }
  const line = { step: 'funded', ...funded, currency: 'USD', rates, converted: '80' } as const
  expect(ofFacts(line)[1]).toBe('100.00 USD at 1 EUR = 1.25 USD is 80.00 EUR.')
  expect(ofFacts({ step: 'floor', before: '-5', after: '0' })).toEqual([
    '−5.00 EUR is negative and counts as 0.',
  ])
})

test('a measure names the tiers, and which one it reaches', () => {
  const measure = { by: null, over: 'network', window: 'lifetime', covered: null } as const
  const step: Step = {
    ...{ step: 'measure', mode: 'whole', earlier: '100', own: '50', network: '0' },
    ...{ measure: '150', ...measure },
    steps: [
      { from: '0', rate: '10' },
      { from: '150', rate: '12' },
      { from: '1000', rate: '15' },
    ],
  }
  const sum = 'Tier measure: 150 (100 of earlier periods + 50 of this period). Tiers:'
  expect(ofLine(step)).toEqual([
    `${sum} 10.00 EUR from 0, 12.00 EUR from 150 (reached), 15.00 EUR from 1,000.`,
  ])
  const percent = { step: 'rate', rate_is: 'percent', parts: [], amount: '0', rounded: false }
  expect(ofLine(step, percent as Step)[0]).toBe(
    `${sum} 10 % from 0, 12 % from 150 (reached), 15 % from 1,000.`,
  )
  const network = { earlier: '0', network: '100', mode: 'slice' } as const
  expect(ofLine({ ...step, ...network, covered: '30' })).toEqual([
    'Tier measure: 150 (50 of this period + 100 of the affiliates below). Tiers: 10.00 EUR from 0, 12.00 EUR from 150 (reached), 15.00 EUR from 1,000. Each part is paid at its own step. Earlier lines and periods used 30.',
  ])
  const below = { earlier: '0', own: '-5', measure: '-5', mode: 'slice', covered: '0' } as const
  expect(ofLine({ ...step, ...below })).toEqual([
    'Tier measure: −5. Tiers: 10.00 EUR from 0 (reached), 12.00 EUR from 150, 15.00 EUR from 1,000. Each part is paid at its own step.',
  ])
})

const RATE = { step: 'rate', amount: '5.00', rounded: false } as const
const CUT = { before: '9.00', capped: '4.00', after: '5.00' }
const WHOLE = { before: '9.00', capped: '0.00', after: '9.00' }
const CARRY = { step: 'negative', negative: 'carry' } as const
const ADVANCE = { step: 'advance', recoups: 'cpa', before: '9.00', deficit_in: '1.00' } as const

test.each<[Step, string[]]>([
  [
    { ...RATE, rate_is: 'percent', parts: [{ quantity: '50', rate: '10', amount: '5' }] },
    ['10 % of 50.00 EUR is 5.00 EUR.'],
  ],
  [
    { ...RATE, rate_is: 'amount', parts: [{ quantity: '1', rate: '5', amount: '5' }] },
    ['The rule pays 5.00 EUR.'],
  ],
  [
    {
      ...{ ...RATE, rate_is: 'amount', rounded: true },
      parts: [
        { quantity: '2', rate: '1', amount: '2' },
        { quantity: '3', rate: '1', amount: '3' },
      ],
    },
    [
      '2 × 1.00 EUR is about 2.00 EUR.',
      '3 × 1.00 EUR is about 3.00 EUR.',
      'Together that is about 5.00 EUR.',
    ],
  ],
  [
    { step: 'clamp', min_amount: '5', max_amount: '9', before: '1', after: '5' },
    ['The rule pays 5.00 EUR to 9.00 EUR for each customer: 5.00 EUR.'],
  ],
  [
    { step: 'clamp', min_amount: null, max_amount: '9', before: '10', after: '9' },
    ['The rule pays at most 9.00 EUR for each customer: 9.00 EUR.'],
  ],
  [
    { step: 'clamp', min_amount: '5', max_amount: null, before: '1', after: '5' },
    ['The rule pays at least 5.00 EUR for each customer: 5.00 EUR.'],
  ],
  [{ step: 'rounding', digits: 2, before: '5.00', after: '5.00' }, []],
  [{ step: 'rounding', digits: 2, before: '5', after: '5.00' }, []],
  [
    { step: 'rounding', digits: 2, before: '5.005', after: '5.00' },
    ['5.005 EUR is rounded to 5.00 EUR (half to even).'],
  ],
  [
    { step: 'max_per_customer', max: '5', ...CUT },
    ['The rule pays at most 5.00 EUR for a customer: reduced by 4.00 EUR to 5.00 EUR.'],
  ],
  [
    { step: 'max_count', max_count: 1, position: 2, ...WHOLE },
    ['The rule pays for at most 1 customer in a period. This is number 2: not reduced.'],
  ],
  [
    { step: 'max', max: '5', ...CUT },
    ['The lines of the rule are limited to 5.00 EUR in all: reduced by 4.00 EUR to 5.00 EUR.'],
  ],
  [
    {
      ...{ step: 'negative', negative: 'zero', before: '-5.00', after: '0.00' },
      ...{ carried_in: '0', carried_out: '0' },
    },
    ['−5.00 EUR is negative and is not paid: the rule writes negative amounts off.'],
  ],
  [
    {
      ...{ step: 'negative', negative: 'zero', before: '5.00', after: '5.00' },
      ...{ carried_in: '0', carried_out: '0' },
    },
    [],
  ],
  [{ ...CARRY, before: '5.00', carried_in: '0.00', carried_out: '0.00', after: '5.00' }, []],
  [
    { ...CARRY, before: '5.00', carried_in: '-2.00', carried_out: '0.00', after: '3.00' },
    ['5.00 EUR with −2.00 EUR carried in from earlier periods is 3.00 EUR.'],
  ],
  [
    { ...CARRY, before: '-5.00', carried_in: '0.00', carried_out: '-5.00', after: '0.00' },
    [
      '−5.00 EUR with 0.00 EUR carried in from earlier periods is −5.00 EUR, which is carried to the next period. Nothing is paid.',
    ],
  ],
  [
    { ...ADVANCE, paid_once: '3.00', recouped: '4.00', deficit_out: '0.00', after: '5.00' },
    [
      'The rule cpa paid 3.00 EUR in this period. Advance still to recover from earlier periods: 1.00 EUR.',
      '9.00 EUR − 3.00 EUR − 1.00 EUR is 5.00 EUR.',
    ],
  ],
  [
    { ...ADVANCE, paid_once: '10.00', recouped: '9.00', deficit_out: '2.00', after: '0.00' },
    [
      'The rule cpa paid 10.00 EUR in this period. Advance still to recover from earlier periods: 1.00 EUR.',
      '9.00 EUR − 10.00 EUR − 1.00 EUR is −2.00 EUR: nothing is paid, and 2.00 EUR is still to recover.',
    ],
  ],
  [
    {
      ...{ step: 'fence', customer: 'c-1', affiliate: 'IB-07' },
      ...{ before: '10', paid_back: '3', fenced: '20', base: '27' },
    },
    [
      'The base of the affiliate is 10.00 EUR. High-roller losses ring-fenced in this period: 20.00 EUR. Recovered from customers with earlier ring-fenced losses: 3.00 EUR.',
      'So the base is 10.00 EUR − 3.00 EUR + 20.00 EUR = 27.00 EUR.',
    ],
  ],
  [{ step: 'amount', amount: '5.00' }, ['The line pays 5.00 EUR.']],
])('%j is written in sentences', (step, sentences) => {
  expect(ofLine(step)).toEqual(sentences)
})

test('the title names the scope; what was stored or approved comes first', () => {
  const title = 'Rule tenth (version 2) of the plan ib for the affiliate IB-07 in October 2026'
  const amount: Step = { step: 'amount', amount: '5.00' }
  const line = { ...LINE, scope: 'customer:c-1' }
  const stored = { amount: '4', computed_at: '2026-11-01T06:00:00.000Z' }
  expect(explanationText({ ...EXPLANATION, line, steps: [amount], stored })).toBe(
    [
      ...[`${title}, for the customer c-1`, ''],
      'The statement of 1 Nov 2026, 06:00 UTC says 4.00 EUR. Records have changed since; this is the line as it is computed now.',
      ...['', 'The line pays 5.00 EUR.', ''],
    ].join('\n'),
  )
  const adjustments = [
    { id: 'adj_1', statement: 'stm_2', period: '2026-11', status: 'draft', amount: '1' } as const,
  ]
  const closed = { statement: 'stm_1', amount: '4', adjustments }
  expect(explanationText({ ...EXPLANATION, closed })).toBe(
    [
      ...[title, '', 'October 2026 is closed. The approved statement says 4.00 EUR.'],
      'Adjustments of this line: 1.00 EUR in November 2026.',
      ...['Its records have changed since, so there are no steps to show.', '', ''],
    ].join('\n'),
  )
  const never = { ...closed, amount: null, adjustments: [] }
  expect(explanationText({ ...EXPLANATION, steps: [amount], closed: never })).toBe(
    [
      ...[title, '', 'October 2026 is closed. No statement with this line was approved.'],
      ...['This is the line as it is computed now.', '', 'The line pays 5.00 EUR.', ''],
    ].join('\n'),
  )
})
