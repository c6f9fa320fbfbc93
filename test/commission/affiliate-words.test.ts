import { describe, expect, test } from 'vitest'
import type { Explanation, Step } from '../../src/commission/engine/explain.ts'
import type { Qualification } from '../../src/commission/engine/plan.ts'
import {
  type SeenState,
  sentencesIn,
  stateWords,
} from '../../src/commission/why/affiliate-words.ts'
import type { AdjustmentExplanation } from '../../src/commission/why/explain.ts'
import { wordsOf } from '../../src/commission/words/words.ts'

const LINE = { rule: 'tenth', version: 2, scope: 'affiliate', amount: '5.00' }

const explanation = (...steps: object[]) =>
  ({
    ...{ affiliate_id: 'IB-07', plan: 'ib', period: '2026-10', currency: 'EUR', line: LINE },
    steps,
  }) as unknown as Explanation

/** Spaces as people type them. */
const plain = (texts: readonly string[]) =>
  texts.map((text) => text.replaceAll(/[\u00a0\u202f]/g, ' '))

const inWords = (language: string, ...steps: object[]) =>
  plain(sentencesIn(explanation(...steps), wordsOf(language)))

const RECORD = { resource: 'transactions', id: 't-1', day: '2026-10-05', at: null }
const LOTS: Qualification = { count: { activity: 'lots_traded' }, min: 5, within_days: 60 }

/** Every step, so that none is without a sentence. */
const STEPS: Readonly<Record<Step['step'], object>> = {
  facts: {
    ...{ records: 2, customers: 1 },
    terms: [
      {
        term: { transactions: ['deposit'] },
        currencies: [{ currency: 'USD', count: 2, amount: '100' }],
      },
      { term: null, currencies: [] },
    ],
  },
  conversion: {
    currency: 'EUR',
    days: Array.from({ length: 6 }, () => ({
      ...{ term: 0, day: '2026-10-05', currency: 'USD', rates: [], sums: 1, amount: '100' },
      ...{ converted: '80', by_amount_usd: { amount: '10', converted: '8' } },
    })),
  },
  base: { terms: [], base: '80' },
  units: {
    ...{ records: 2, customers: 1, unit: { activity: 'lots_traded' } },
    units: '20',
    each: '10',
    quantity: '2',
  },
  trigger: { record: { ...RECORD, amount: '100', currency: 'USD', converted: '80' }, min: null },
  qualification: {
    conditions: [
      { condition: LOTS, met_on: '2026-10-06', reached: '5', records: [] },
      { condition: { customer: { countries: ['DE'] } }, met_on: '2026-10-06', reached: null },
    ],
    qualified_on: '2026-10-06',
  },
  sources: {
    affiliate_id: 'IB-08',
    sources: [{ plan: 'ib', period: '2026-10', rule: 'r', currency: 'EUR', lines: 1, amount: '7' }],
  },
  funded: { period: '2026-10', converted: '7' },
  floor: { before: '-3', after: '0' },
  fence: { before: '1', paid_back: '2', fenced: '3', base: '4' },
  measure: {
    measure: '12',
    steps: [
      { from: '0', rate: '1' },
      { from: '10', rate: '2' },
    ],
  },
  rate: {
    rate_is: 'percent',
    parts: [
      { quantity: '80', rate: '10', amount: '8' },
      { quantity: '20', rate: '12.5', amount: '2.5' },
    ],
    amount: '10.5',
  },
  clamp: { before: '1', after: '5' },
  rounding: { before: '10.505', after: '10.50' },
  max_per_customer: { capped: '1', after: '2' },
  max_count: { capped: '1', after: '2' },
  max: { capped: '1', after: '2' },
  negative: { negative: 'carry', before: '-5', carried_in: '-2', carried_out: '-7', after: '0' },
  advance: { paid_once: '1', deficit_in: '2', after: '3' },
  amount: { amount: '10.50' },
}

const ALL = Object.entries(STEPS).map(([step, members]) => ({ step, ...members }))

test('a line says in English how it came about, without the ids of records', () => {
  expect(inWords('en-GB', ...ALL)).toEqual([
    'Counted: 2 records of 1 customer.',
    'Deposits: 100.00 USD.',
    ...['100.00 USD of 5 Oct 2026 is 80.00 EUR.', '10.00 USD of 5 Oct 2026 is 8.00 EUR.'],
    ...['100.00 USD of 5 Oct 2026 is 80.00 EUR.', '10.00 USD of 5 Oct 2026 is 8.00 EUR.'],
    ...['100.00 USD of 5 Oct 2026 is 80.00 EUR.', 'And 7 more conversions.'],
    'This is paid on 80.00 EUR.',
    ...['Counted: 2 records of 1 customer.', 'Lots traded: 20.', '20 ÷ 10 is 2.'],
    'What counts is of 5 Oct 2026: 100.00 USD = 80.00 EUR.',
    'Met on 6 Oct 2026, with 5: the customer has at least 5 days with lots traded within 60 days of the signup.',
    'Met on 6 Oct 2026: the customer is from Germany.',
    'The customer qualified on 6 Oct 2026.',
    'What the affiliate IB-08 earned in October 2026: 7.00 EUR.',
    'What the affiliate above earned in October 2026 is deducted here: 7.00 EUR.',
    '-3.00 EUR is negative and counts as 0.',
    'Losses set apart: 3.00 EUR. Earlier losses paid back: 2.00 EUR. This is paid on 4.00 EUR.',
    'The tiers measure 12. They begin at 0 and 10.',
    ...[
      '10% of 80.00 EUR is 8.00 EUR.',
      '12.5% of 20.00 EUR is 2.50 EUR.',
      'Together: 10.50 EUR.',
    ].map((text) => text.replace('%', ' %')),
    'Within the limits of the rule: 5.00 EUR.',
    'Rounded: 10.50 EUR.',
    ...Array.from({ length: 3 }, () => 'A limit of the rule cuts it by 1.00 EUR to 2.00 EUR.'),
    'With -2.00 EUR carried in, -5.00 EUR becomes -7.00 EUR.',
    '-7.00 EUR is carried to the next period.',
    'An advance is deducted: 1.00 EUR of this period and 2.00 EUR of earlier ones. It leaves 3.00 EUR.',
    'The line pays 10.50 EUR.',
  ])
})

test.each(['de', 'es', 'pt', 'fr'])('each step has a sentence of its own in %s', (language) => {
  const english = inWords('en-GB', ...ALL)
  const own = inWords(language, ...ALL)
  expect(own).toHaveLength(english.length)
  for (const [i, sentence] of own.entries()) {
    expect(sentence).not.toMatch(/undefined|null|NaN|[{}]|t-1| {2}/)
    if (!/÷|deposits/i.test(english[i] ?? '')) expect(sentence).not.toBe(english[i])
  }
})

test('steps that change nothing have no sentence', () => {
  const nothing = [
    { step: 'clamp', before: '5', after: '5' },
    { step: 'rounding', before: '5.0', after: '5.00' },
    { step: 'max', capped: '0.00', after: '5.00' },
    { step: 'negative', negative: 'zero', before: '5', after: '5' },
    {
      step: 'negative',
      ...{ negative: 'carry', before: '5', after: '5' },
      carried_in: '0',
      carried_out: '0',
    },
  ]
  expect(inWords('en-GB', ...nothing)).toEqual([])
  expect(
    inWords('en-GB', { step: 'negative', negative: 'zero', before: '-5', after: '0' }),
  ).toEqual(['-5.00 EUR is negative and is not paid.'])
})

test('a closed or changed line says what was approved, and a correction what it corrects', () => {
  const closed = { statement: 's', amount: '9.00', adjustments: [{ amount: '1.00' }] }
  const gone = { ...explanation(), closed, stored: { amount: '8.00', computed_at: '' } }
  expect(plain(sentencesIn(gone as unknown as Explanation, wordsOf('de')))).toEqual([
    'In der Abrechnung stehen 8,00 EUR. Seitdem haben sich Vorgänge geändert: So wird jetzt gerechnet.',
    'Oktober 2026 ist abgeschlossen. Freigegeben: 9,00 EUR.',
    'Spätere Abrechnungen berichtigen es um 1,00 EUR.',
    'Die Vorgänge dieser Zeile haben sich seither geändert, daher gibt es keine Schritte zu zeigen.',
  ])
  const correction = {
    ...{ id: 'adj_1', currency: 'EUR', amount: '-1.00', causes: [], causes_total: 0 },
    of: { period: '2026-09', line: 'l', dropped_in: null },
    now: explanation({ step: 'amount', amount: '5.00' }),
  } as unknown as AdjustmentExplanation
  expect(plain(sentencesIn(correction, wordsOf('en-GB')))).toEqual([
    '-1.00 EUR by the rule tenth, since what it was computed from changed after the approval.',
    ...['As the records are now:', 'The line pays 5.00 EUR.'],
  ])
  expect(plain(sentencesIn({ ...correction, now: null }, wordsOf('en-GB')))).toEqual([
    '-1.00 EUR, since what it was computed from changed after the approval.',
    'The records of this line have changed since, so there are no steps to show.',
  ])
})

const RULE = {
  currency: 'EUR',
  period: 'month' as const,
  trigger: { transactions: ['deposit'], min: '100' },
}
const DEPOSITS: Qualification = {
  sum: [{ transactions: ['deposit'] }],
  min: '500',
  within_days: 30,
}

const state = (members: object): SeenState => ({
  ...{
    status: 'waiting',
    missing: [],
    closed: null,
    until: null,
    refused_by: null,
    conditions: [],
  },
  ...members,
})

const OPEN = {
  missing: ['qualify/0', 'qualify/1'],
  conditions: [
    { condition: LOTS, status: 'open', reached: '3', min: '5', until: '2026-12-12' },
    { condition: DEPOSITS, status: 'open', reached: '120.5', min: '500', until: null },
  ],
}

describe('what became of a customer', () => {
  test.each([
    [
      'en-GB',
      'Still missing: days with lots traded: 3 of 5; until 12 Dec 2026.',
      'Still missing: deposits: 120.50 of 500.00 EUR.',
    ],
    [
      'de',
      'Es fehlt noch: Tage mit Lots: 3 von 5; bis 12. Dez. 2026.',
      'Es fehlt noch: Einzahlungen: 120,50 von 500,00 EUR.',
    ],
    [
      'es',
      'Falta todavía: días con lotes operados: 3 de 5; hasta el 12 dic 2026.',
      'Falta todavía: depósitos: 120,50 de 500,00 EUR.',
    ],
    [
      'pt',
      'Ainda falta: dias com lotes negociados: 3 de 5; até 12 de dez. de 2026.',
      'Ainda falta: depósitos: 120,50 de 500,00 EUR.',
    ],
  ])('says in %s what is missing, and until when', (language, ...expected) => {
    expect(plain(stateWords(state(OPEN), RULE, wordsOf(language)))).toEqual(expected)
  })

  test.each<[string, object, string[]]>([
    [
      'no record yet',
      { missing: ['trigger'], before_signup: ['x'] },
      [
        'Still missing: the customer makes a first deposit of at least 100.00 EUR.',
        'Records before the signup do not count.',
      ],
    ],
    [
      'no record yet, and a last day',
      { missing: ['trigger'], until: '2026-12-12' },
      [
        'Still missing: the customer makes a first deposit of at least 100.00 EUR; until 12 Dec 2026.',
      ],
    ],
    ['no rate yet', { missing: ['rate'] }, ['Still missing: an exchange rate.']],
    [
      'an ended window',
      { ...OPEN, status: 'failed', closed: { window: 'qualify/0', until: '2026-12-12' } },
      ['Not met: days with lots traded: 3 of 5.', 'The time for it ended on 12 Dec 2026.'],
    ],
    [
      'the end of the months of a rule',
      { status: 'failed', closed: { window: 'months', until: '2026-12-12' } },
      [
        'Not met: the customer makes a first deposit of at least 100.00 EUR.',
        'The time for it ended on 12 Dec 2026.',
      ],
    ],
    [
      'hidden figures',
      {
        ...OPEN,
        missing: ['qualify/0'],
        conditions: [{ ...OPEN.conditions[0], reached: undefined }],
      },
      [
        'Still missing: the customer has at least 5 days with lots traded within 60 days of the signup; until 12 Dec 2026.',
      ],
    ],
    [
      'a condition on the customer',
      {
        ...{ status: 'refused', refused_by: 'qualify/0' },
        conditions: [{ condition: { customer: { countries: ['DE'] } } }],
      },
      ['Not met: the customer is from Germany.'],
    ],
    [
      'a refused customer',
      { status: 'refused', refused_by: 'refused' },
      ['The firm does not accept this customer.'],
    ],
    ['a reversal', { status: 'refused', refused_by: 'reversed' }, ['What counted was taken back.']],
    [
      'a clawback',
      { status: 'refused', refused_by: 'void_by' },
      ['Later records used up its amount.'],
    ],
    [
      'a rule for others',
      { status: 'refused', refused_by: 'countries' },
      ['The rule does not pay for this customer.'],
    ],
    ['a qualification', { status: 'qualified' }, []],
  ])('explains %s', (_, members, expected) => {
    expect(plain(stateWords(state(members), RULE, wordsOf('en-GB')))).toEqual(expected)
  })
})
