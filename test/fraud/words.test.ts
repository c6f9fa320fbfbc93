import { describe, expect, test } from 'vitest'
import forex from '../../examples/fraud-rules/forex.json'
import igaming from '../../examples/fraud-rules/igaming.json'
import propTrading from '../../examples/fraud-rules/prop-trading.json'
import { checkShape } from '../../src/fraud/check-rule.ts'
import type { Kind } from '../../src/fraud/kind.ts'
import { KINDS } from '../../src/fraud/kinds.ts'
import type { RuleTerms } from '../../src/fraud/rules.ts'
import { fraudRuleWords } from '../../src/fraud/words.ts'

// A fraud rule in plain English: all kinds, and each parameter.

const termsOf = ({ kind, verticals }: Pick<Kind, 'kind' | 'verticals'>, more: object = {}) => {
  const base = { kind, name: 'A rule', effective_from: '2026-12-01', severity: 'high' }
  const { issues, output } = checkShape({ ...base, ...more }, verticals[0]!)
  expect(issues).toEqual([])
  return output as RuleTerms
}

const sentencesOf = (terms: RuleTerms): string[] => {
  const { opens, limits } = fraudRuleWords(terms)
  return [opens, ...limits]
}

/** Another value of each parameter. */
const OTHERS: Readonly<Record<string, unknown>> = {
  ...{ names: true, min_signups: 13, days: 33, share_percent: '61.5', seconds: 17, hours: 49 },
  ...{ min: '1300', times: '7.25', points: '43', min_customers: 14, within_percent: '2.5' },
  ...{ idle_days: 19, active_days: 5, percent: '87', lots: '0.35', min_count: 9, count: 8 },
  ...{ window_days: 44, lots_percent: '3', pnl_percent: '12', daily: '4', total: '9' },
  ...{ grace_days: 6, by_challenge_type: { rapid: { daily: '3.5' } }, periods: 4 },
  events: { deposits: ['FTD', 'Top-up'] },
}

/** What the sentences mention of a value with members. */
const MENTIONED: Readonly<Record<string, string>> = { events: 'FTD', by_challenge_type: 'rapid' }

const entriesOf = (kind: Kind): Record<string, unknown> => Object(kind.parameters).entries

describe.each(KINDS)('$kind in words', (kind) => {
  const usual = sentencesOf(termsOf(kind))

  test('each parameter has a label, and no other name has one', () => {
    expect(Object.keys(kind.labels).sort()).toEqual(Object.keys(entriesOf(kind)).sort())
    const labels = Object.values(kind.labels).map(({ label }) => label)
    expect(new Set(labels).size).toBe(labels.length)
  })

  test.each(Object.keys(entriesOf(kind)))('another value of %s changes the words', (name) => {
    const value = name === 'min' && kind.kind === 'signup_burst' ? 1300 : OTHERS[name]
    const words = sentencesOf(termsOf(kind, { parameters: { [name]: value } }))
    expect(words).not.toEqual(usual)
    expect(words.join(' ')).toContain(MENTIONED[name] ?? '')
    if (typeof value === 'string') expect(words[0]).toContain(value.replace('1300', '1,300'))
    if (typeof value === 'number') expect(words[0]).toContain(value.toLocaleString('en'))
  })

  test('the sentences are plain English', () => {
    const texts = [
      ...usual,
      ...[kind.sees, kind.cannotSee],
      ...Object.values(kind.labels).flatMap(({ label, hint = '' }) => [label, hint]),
    ]
    for (const text of texts) {
      expect(text).not.toMatch(/[`_{}]|\d{4}-\d\d|undefined|\bNaN\b| {2}/)
    }
    for (const text of usual) expect(text).toMatch(/^[A-Z].*[^ .]\.$/)
  })
})

test('says what a rule holds, whose records it reads, and how serious its cases are', () => {
  const kind = { kind: 'resets', verticals: ['prop-trading'] } as const
  const opens = 'a customer paid at least 5 fees for challenges and resets in 14 days.'
  expect(sentencesOf(termsOf(kind))).toEqual([
    `Opens a case when ${opens}`,
    'It reads the records of all affiliates.',
    'Its cases are of high severity.',
  ])
  expect(
    sentencesOf(
      termsOf(kind, {
        ...{ action: 'hold', reserve_percent: '12.5', disabled: true, severity: 'low' },
        scope: { affiliates: ['*'], not_affiliates: ['HOUSE', 'A-2'] },
      }),
    ),
  ).toEqual([
    `Holds 12.5 % of the payouts of the affiliate when ${opens}`,
    'It reads the records of all affiliates, but not of HOUSE and A-2.',
    'Its cases are of low severity.',
    'It is disabled, and finds nothing.',
  ])
  const scope = { affiliates: ['A-1', 'A-2'] }
  expect(sentencesOf(termsOf(kind, { action: 'hold', scope }))).toEqual([
    `Holds the payouts of the affiliate when ${opens}`,
    'It only reads the records of A-1 and A-2.',
    'Its cases are of high severity.',
  ])
})

test.each<[kind: string, parameters: object, opens: string]>([
  [
    'minimum_deposit',
    {},
    'Opens a case when 60 % of at least 10 customers who qualified in 30 days deposited at most 1 % above the minimum of the plan, and did nothing in the 14 days after.',
  ],
  [
    'click_to_signup',
    { hours: 72 },
    'Opens a case when 50 % of at least 10 signups in 7 days came less than 10 seconds after the click, or 50 % more than 72 hours after it.',
  ],
  [
    'shared_identity',
    { names: true },
    'Opens a case when a customer has the e-mail or the name and country of an earlier customer, or the e-mail of the affiliate.',
  ],
  [
    'payout_without_trading',
    { times: '1.5' },
    'Opens a case when a customer was paid out without trading in the 30 days before, or more than 1.5 times the profit since the last payout.',
  ],
  [
    'drawdown_breach',
    { grace_days: 0, by_challenge_type: { rapid: { total: '6' } } },
    'Opens a case when the drawdown of a customer was more than 5 % on one day or more than 10 % in all, and the phase was not failed on that day.',
  ],
])('%s: the whole sentence', (name, parameters, opens) => {
  const kind = KINDS.find((one) => one.kind === name)!
  expect(sentencesOf(termsOf(kind, { parameters }))[0]).toBe(opens)
})

test('the sets that are ready to use have a rule of each kind of their vertical', () => {
  for (const [vertical, set] of Object.entries({ forex, igaming, 'prop-trading': propTrading })) {
    const kinds = KINDS.filter(({ verticals }) => verticals.some((one) => one === vertical))
    const own = Object.values(set).map(({ kind }) => kind)
    expect([vertical, [...new Set(own)].length]).toEqual([vertical, own.length])
    for (const kind of own) expect(kinds.map((one) => one.kind)).toContain(kind)
  }
})
