import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import {
  formOf,
  termsOf,
  valuesOf,
  withoutRow,
  withRow,
} from '../../src/console/plans/form/form.ts'
import { randomWorld } from '../commission/worlds.ts'

type Json = Record<string, unknown>

/** Returns the terms of random plans. */
const randomTerms = (seed: number): Json[] =>
  randomWorld(seed).plans.flatMap(({ versions }) => versions.map(({ terms }) => terms as Json))

/** Returns the terms that a form has which shows terms. */
const thereAndBack = (terms: unknown) => termsOf(valuesOf(formOf(terms))).terms

const SEEDS = Array.from({ length: 100 }, (_, i) => env.SEED + i)

test('a plan becomes a form and the same plan again, and the form has a field for all of it', () => {
  for (const seed of SEEDS) {
    for (const terms of randomTerms(seed)) {
      expect(thereAndBack(terms)).toEqual(terms)
    }
  }
})

/** Returns what a form reads if somebody types a text into one field of a rule. */
function typed(name: string, text: string, others: Json = {}) {
  const rule = { id: 'a', kind: 'share', percent: '10', base: [{ activity: 'spread_cost' }] }
  const texts = new Map(formOf({ currency: 'EUR', rules: [{ ...rule, ...others }] }))
  const { terms, problems } = termsOf(valuesOf(texts.set(`rules/0/${name}`, text)))
  return { rule: (terms.rules as Json[])[0], problems }
}

test('an exact value is no longer kept once its text is changed', () => {
  expect(typed('max', '1.125', { max: '1.125' })).toMatchObject({
    rule: { max: '1.125' },
    problems: [],
  })
  expect(typed('max', '1.25', { max: '1.125' }).rule).toMatchObject({ max: '1.25' })
})

test('a list is written with commas, and with quotation marks where an item has some', () => {
  const { rule } = typed('when/countries', 'DE, AT ,, "a, b", "say ""x""", 5" disk')
  expect(rule?.when).toEqual({ countries: ['DE', 'AT', 'a, b', 'say "x"', '5" disk'] })
})

test('rows are added and removed at any place', () => {
  const rules = ['a', 'b', 'c'].map((id) => ({
    ...{ id, kind: 'unit', amount: '1' },
    when: { countries: [id], kyc: ['1'] },
  }))
  const values = valuesOf(formOf({ rules }))

  expect(termsOf(withoutRow(values, 'rules', 1)).terms).toEqual({ rules: [rules[0], rules[2]] })
  const added = withRow(values, 'rules', 'once')
  expect(termsOf(added).terms).toEqual({ rules: [...rules, { kind: 'once' }] })
  // What a removed row had does not come back with a new one.
  const again = withRow(withoutRow(values, 'rules', 2), 'rules', 'unit')
  expect(termsOf(again).terms).toEqual({ rules: [rules[0], rules[1], { kind: 'unit' }] })
  const many = valuesOf(
    formOf({ rules: Array.from({ length: 11 }, (_, i) => ({ id: `${i}`, kind: 'unit' })) }),
  )
  expect(termsOf(withRow(withoutRow(many, 'rules', 1), 'rules', 'unit')).terms.rules).toHaveLength(
    11,
  )
})
