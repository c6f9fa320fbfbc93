import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readTemplates } from '../scripts/docs/plans.ts'
import { validateShape } from '../src/commission/plans/issues.ts'
import { planTerms } from '../src/commission/plans/plan.ts'
import { readSchemaValidator } from './agreement/schemas.ts'

// The JSON Schema of plans, the validation of the service, the templates and the documentation agree.

/** Every how many of the plans with one change are compared: all if FC_RECORDS is set. */
const EVERY = process.env.FC_RECORDS ? 1 : 13

const validator = readSchemaValidator('commission-plan')

/** The codes of rules that the schema has in `x-rules`, because no keyword expresses them. */
const ONLY_IN_RULES = ['digits', 'pattern']

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** A plan with every member that rules, terms and conditions can have. */
const everything = (): Json => {
  const when = {
    countries: ['DE'],
    not_phases: ['funded'],
    account_size: { min: '1', max: '2' },
    instruments: ['EUR*'],
    currencies: ['EUR'],
  }
  const template = readTemplates().cpa as { [name: string]: Json }
  const base = [
    { name: 'a', transactions: ['deposit'], subtypes: ['card'], times: '-0.5', when },
    { activity: 'pnl' },
    { event: 'Deposit', kpi: 'Value' },
    { of: ['a'], times: '0.1', name: 'b' },
    { fixed: '-50.00' },
  ]
  const steps = [
    { from: '0', percent: '1' },
    { from: '1.5', amount: '2' },
  ]
  const shared = { when, months: 12, max: '100', tiers: { mode: 'whole', steps } }
  return {
    ...template,
    rules: [
      {
        ...shared,
        id: 'once',
        kind: 'once',
        trigger: { event: 'x', min: '5' },
        amount: '1',
        min_amount: '1',
        max_amount: '2',
        requalify: true,
        max_count: 3,
        qualify: [
          { sum: [base[0]!], min: '-5', within_days: 3, at: 'end' },
          { count: { activity: 'pnl' }, min: '3' },
          { count: { transactions: ['x'] }, min: 3 },
          { customer: when },
        ],
        void_by: { terms: [base[1]!], within_days: 4 },
        max_per_customer: '5',
      },
      {
        ...shared,
        id: 'share',
        kind: 'share',
        percent: '30',
        base,
        per: 'customer',
        negative: 'carry',
        fence: { customer: '-1', affiliate: '0' },
        recoups: 'once',
        max_per_customer: '5',
        tiers: { mode: 'slice', by: { base }, over: 'network', window: 'quarter', steps },
      },
      { ...shared, id: 'unit', kind: 'unit', unit: { count: { event: 'x' } }, each: '10' },
      {
        id: 'o',
        kind: 'override',
        level: 2,
        of: { lines: ['once'] },
        percent: '5',
        funded_by: 'downline',
        negative: 'offset',
      },
      {
        id: 'p',
        kind: 'override',
        level: 1,
        of: { unit: { activity: 'volume_usd' } },
        amount: '1',
      },
      {
        id: 'q',
        kind: 'override',
        level: 1,
        of: { once: 'once' },
        tiers: { mode: 'whole', by: { customers: 'active' }, steps },
      },
    ],
  } as Json
}

const VALUES: Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  11,
  366,
  3651,
  1e6,
  1e300,
  '',
  'x',
  '0',
  '-0',
  '1',
  '-1',
  '01',
  '1.',
  '.5',
  '+1',
  '1e5',
  '1,000',
  '0.123456',
  '0.1234567',
  '123456789012345',
  '1234567890123456',
  '1234567890.123456',
  '-5.5',
  '0.0',
  '1000000',
  '1000001',
  'EUR',
  'eur',
  'HRK',
  '2026-12-01',
  '2026-02-30',
  'DE',
  'once',
  'whole',
  'a b',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(501),
  '*'.repeat(8),
  '*'.repeat(9),
  'a\0',
  '\ud800',
  '\u200e',
  [],
  ['x'],
  [1],
  {},
  { x: 1 },
  { once: 'x' },
  { customers: 'active' },
  { signup: true },
  [{}],
  [[]],
  Array(21).fill({ activity: 'pnl' }),
  Array(201).fill('DE'),
]
const NAMES = ['x', 'percent', 'amount', 'activity', 'event', 'fixed', 'min', 'when', 'by', 'kpi']

/** Yields a value with each of its places changed in each way, one at a time. */
function* edits(value: Json): Generator<Json> {
  yield* VALUES
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    yield value.slice(1)
    for (const [i, item] of value.entries()) {
      for (const changed of edits(item)) yield value.with(i, changed)
    }
    return
  }
  for (const name of NAMES) if (!(name in value)) yield { ...value, [name]: 'x' }
  for (const [name, member] of Object.entries(value)) {
    const { [name]: _, ...others } = value
    yield others
    for (const changed of edits(member)) yield { ...others, [name]: changed }
  }
}

/** Yields plans of one rule of the plan of everything, each with one change. */
function* onePlaceChanged(): Generator<Json> {
  const { rules, ...head } = everything() as { [name: string]: Json }
  for (const changed of edits(head)) yield { ...Object(changed), rules: [(rules as Json[])[0]!] }
  for (const rule of rules as Json[]) {
    for (const changed of edits(rule)) yield { ...head, rules: [changed] }
  }
}

/** Returns where schema and service disagree on a plan, or null. */
function disagreement(plan: Json): string | null {
  const { issues } = validateShape(planTerms, plan)
  const isRefused = !validator.validate(plan)
  const codes = [...new Set(issues.map(({ code }) => code))]
  if (issues.length === 0) return isRefused ? 'The schema refuses it.' : null
  if (isRefused || codes.some((code) => ONLY_IN_RULES.includes(code))) return null
  return `The service reports ${codes.join()}.`
}

describe('plans', () => {
  test('schema and service accept the templates and a plan of everything', () => {
    for (const plan of [everything(), ...Object.values(readTemplates())]) {
      assert.deepEqual(validateShape(planTerms, plan).issues, [])
      assert.ok(validator.validate(plan), JSON.stringify(validator.validate.errors))
    }
  })

  test('schema and service agree on plans with one change', () => {
    const codes = new Set<string>()
    let count = 0
    for (const plan of onePlaceChanged()) {
      count += 1
      if (count % EVERY > 0) continue
      assert.equal(disagreement(plan), null, JSON.stringify(plan))
      for (const { code } of validateShape(planTerms, plan).issues) codes.add(code)
    }
    assert.ok(count > 10_000, String(count))
    const expected =
      'choice currency date decimals digits enum length maximum minimum number pattern'
    assert.deepEqual([...codes].sort(), [
      ...expected.split(' '),
      'required',
      'text',
      'type',
      'unknown_field',
    ])
  })
})
