import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import {
  formOf,
  listItems,
  termsOf,
  valuesOf,
  withoutRow,
  withRow,
} from '../../src/console/plan/form.ts'
import { randomSource, randomWorld, type Source } from '../commission/worlds.ts'

type Json = Record<string, unknown>

/** Returns the terms of random plans. */
const randomTerms = (seed: number): Json[] =>
  randomWorld(seed).plans.flatMap(({ versions }) => versions.map(({ terms }) => terms as Json))

/** Returns the terms that a form has which shows terms. */
const thereAndBack = (terms: unknown) => termsOf(valuesOf(formOf(terms) ?? new Map())).terms

const SEEDS = Array.from({ length: 300 }, (_, i) => env.SEED + i)

const kept = (terms: unknown) =>
  [...(formOf(terms) ?? [])].filter(([name]) => /(^|\/)kept$/.test(name))

test('a plan becomes a form and the same plan again, and the form has a field for all of it', () => {
  for (const seed of SEEDS) {
    for (const terms of randomTerms(seed)) {
      expect(thereAndBack(terms)).toEqual(terms)
      expect([seed, kept(terms)]).toEqual([seed, []])
    }
  }
})

const ODD: readonly unknown[] = [
  ...[null, true, 0, 1.5, -1, '', ' ', 'a,b', '"', 'a\nb', '\ud800', '1,000', '007', '-0', '1.125'],
  ...[
    '5 %',
    [],
    {},
    [[]],
    [''],
    ['a, b', 'a'],
    ['b', 'a', 'b'],
    ['x\r\n'],
    [1],
    { min: '5' },
    [{}],
  ],
  ...[{ constructor: 1 }, JSON.parse('{"__proto__": 5}'), 'minus', '2026-02-31', '1e5', '٣'],
]

/** Returns JSON in which some values are others, missing or added. */
function spoil(from: Source, value: unknown): unknown {
  if (from.oneIn(12)) return from.pick(ODD)
  if (Array.isArray(value)) {
    const items = value.map((one) => spoil(from, one))
    return from.oneIn(12) ? [...items, from.pick(ODD)] : items
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, one]) =>
    from.oneIn(20) ? [] : [[name, spoil(from, one)] as const],
  )
  const more = from.oneIn(8)
    ? [
        [
          from.pick(['extra', 'when', 'kept', 'rules', 'tiers', '__proto__', 'a/b']),
          from.pick(ODD),
        ] as const,
      ]
    : []
  return Object.fromEntries([...entries, ...more])
}

test('a plan that the API would refuse becomes a form and the same plan again', () => {
  for (const seed of SEEDS) {
    const from = randomSource(seed)
    for (const terms of randomTerms(seed)) {
      const spoilt = spoil(from, terms)
      if (typeof spoilt !== 'object' || spoilt === null || Array.isArray(spoilt)) continue
      expect(thereAndBack(spoilt)).toEqual({ rules: [], ...spoilt })
    }
  }
})

test('what the form has no field for is kept with the rule or the plan', () => {
  const rule = { id: 'a', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '1', bonus: 5 }
  const terms = { name: 'A', colour: 'red', rules: [rule, { kind: 'other', x: 1 }] }
  expect(kept(terms)).toEqual([
    ['rules/0/kept', '{"bonus":5}'],
    ['rules/1/kept', '{"kind":"other","x":1}'],
    ['kept', '{"colour":"red"}'],
  ])
  expect(formOf(['a'])).toBeNull()
})

/** Returns what a form reads if somebody types a text into one field of a rule. */
function typed(name: string, text: string, others: Json = {}) {
  const rule = { id: 'a', kind: 'share', percent: '10', base: [{ activity: 'spread_cost' }] }
  const texts = new Map(formOf({ currency: 'EUR', rules: [{ ...rule, ...others }] }))
  const { terms, problems } = termsOf(valuesOf(texts.set(`rules/0/${name}`, text)))
  return { rule: (terms.rules as Json[])[0], problems }
}

test('a condition without a value is a problem of its row', () => {
  const { problems } = typed('when/0', '', { when: { countries: ['DE'] } })
  expect(problems).toEqual([
    { pointer: '/rules/0/when/0', message: expect.stringContaining('at least one value') },
  ])
})

test('an exact value is no longer kept once its text is changed', () => {
  expect(typed('max', '1.125', { max: '1.125' })).toMatchObject({
    rule: { max: '1.125' },
    problems: [],
  })
  expect(typed('max', '1.25', { max: '1.125' }).rule).toMatchObject({ max: '1.25' })
})

test('a list is written with commas, and with quotation marks where an item has some', () => {
  expect(listItems('DE, AT ,, "a, b", "say ""x""", 5" disk')).toEqual([
    ...['DE', 'AT', 'a, b', 'say "x"', '5" disk'],
  ])
})

test('rows are added and removed at any place', () => {
  const rules = ['a', 'b', 'c'].map((id) => ({
    ...{ id, kind: 'unit', amount: '1' },
    when: { countries: [id], kyc: ['1'] },
  }))
  const values = valuesOf(formOf({ rules }) ?? new Map())
  const idsOf = (found: typeof values) => (termsOf(found).terms.rules as Json[]).map(({ id }) => id)

  expect(termsOf(withoutRow(values, 'rules', 1)).terms).toEqual({ rules: [rules[0], rules[2]] })
  const one = withoutRow(values, 'rules/2/when', 0)
  expect(termsOf(one).terms.rules).toEqual([
    ...[rules[0], rules[1], { ...rules[2], when: { kyc: ['1'] } }],
  ])
  const added = withRow(values, 'rules', { '/kind': 'once', '/id': 'd' })
  expect(idsOf(added)).toEqual(['a', 'b', 'c', 'd'])
  // What a removed row had does not come back with a new one.
  const again = withRow(withoutRow(values, 'rules', 2), 'rules', { '/kind': 'unit' })
  expect(termsOf(again).terms).toEqual({ rules: [rules[0], rules[1], { kind: 'unit' }] })
  const many = valuesOf(
    formOf({ rules: Array.from({ length: 11 }, (_, i) => ({ id: `${i}`, kind: 'unit' })) }) ??
      new Map(),
  )
  expect(idsOf(withRow(withoutRow(many, 'rules', 1), 'rules')).length).toBe(11)
})
