import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { Conditions, PlanTerms, Rule } from '../../src/commission/engine/plan.ts'
import {
  conditionWords,
  customerWords,
  ruleWords,
  termsWords,
} from '../../src/commission/engine/plan-words.ts'
import type { Cause } from '../../src/commission/statements/cause.ts'
import { causeEvidence, correctionWords } from '../../src/commission/statements/cause-words.ts'
import { SETTING_ACTIONS } from '../../src/commission/statements/causes.ts'
import type { Adjustment } from '../../src/commission/statements/draft.ts'
import type { Message } from '../../src/commission/words/message.ts'
import { type Language, MESSAGES, wordsOf } from '../../src/commission/words/words.ts'
import { randomWorld } from './worlds.ts'

const LANGUAGES = Object.keys(MESSAGES) as Language[]
const OTHERS = LANGUAGES.filter((one) => one !== 'en')

const formsOf = (message: Message) =>
  typeof message === 'string' ? [message] : Object.values(message)

/** The names in braces of a message, in alphabetical order. */
const namesOf = (message: Message) =>
  [...new Set(formsOf(message).flatMap((text) => text.match(/\w+(?=\})/g) ?? []))].sort()

/** The English nouns of `min` are always plural; those of other languages follow the number. */
const sameNames = (names: string[]) => names.map((name) => (name === 'nouns' ? 'noun' : name))

test.each(LANGUAGES)(
  'each message of %s has the names in braces of the English one',
  (language) => {
    const places = (own: Language) =>
      Object.entries(MESSAGES[own]).map(([name, message]) => [name, sameNames(namesOf(message))])
    expect(places(language).sort()).toEqual(places('en').sort())
    for (const text of Object.values(MESSAGES[language]).flatMap(formsOf)) {
      expect(text.replaceAll(/\{(?:de )?\w+\}/g, 'x')).not.toMatch(/[{}]|undefined|^\s|\s$/)
    }
  },
)

const wordsIn = (text: string) =>
  text
    .replaceAll(/\{(?:de )?\w+\}/g, ' ')
    .toLowerCase()
    .split(/[^\p{L}’]+/u)
    .filter((word) => word.length > 1)

const vocabularyOf = (language: Language) =>
  new Set(Object.values(MESSAGES[language]).flatMap(formsOf).flatMap(wordsIn))

/** Words that no other language has: a message that was left in English has some of them. */
const ENGLISH = (
  'the with of and from by at least most is not has have does only each that this when who ' +
  'customer customers affiliate affiliates rule record records month week day days deposit deposits ' +
  'amount since changed after before signup what whether'
).split(' ')

/** The words that only English has. */
const englishOnly = (language: Language) => {
  const own = vocabularyOf(language)
  return new Set([...ENGLISH, ...[...vocabularyOf('en')].filter((word) => !own.has(word))])
}

/** A text without the names that accounts give, which stand in quotation marks. */
const withoutNames = (text: string) => text.replaceAll(/[„«“][^“”»]*[“”»]/g, '')

const VALUES = ['raw_spread', 'b']

/** Every condition with a value, and with the names of values that the API has. */
const CONDITIONS: Required<Conditions> = {
  ...{ account_types: VALUES, not_account_types: VALUES },
  ...{ challenge_types: VALUES, not_challenge_types: VALUES },
  ...{ kyc: VALUES, not_kyc: VALUES, sales: VALUES, not_sales: VALUES },
  ...{ links: VALUES, not_links: VALUES, instruments: VALUES, not_instruments: VALUES },
  ...{ products: VALUES, not_products: VALUES, subtypes: VALUES, not_subtypes: VALUES },
  ...{ currencies: ['USD'], not_currencies: ['USD', 'CHF'] },
  ...{ countries: ['DE', 'AT'], not_countries: ['US'] },
  ...{ phases: ['phase_1', 'phase_2', 'funded', 'failed'], not_phases: ['phase_1'] },
  account_size: { min: '1000', max: '2000' },
}

test.each(Object.entries(CONDITIONS))('the condition %s has words', (name, value) => {
  const { only, not } = conditionWords({ [name]: value })
  expect([...only, ...not]).toHaveLength(1)
  const isOfFact = /instruments|products|currencies|subtypes/.test(name)
  expect(customerWords({ [name]: value }) === '').toBe(isOfFact)
})

const TYPES = [
  ...['deposit', 'withdrawal', 'bonus', 'adjustment', 'ib_rebate', 'challenge_fee', 'payout'],
  ...['reset_fee', 'refund', 'other'],
]

/** Rules that name every type of transactions, every field of activity and every condition. */
const RULES = [
  ...TYPES.flatMap((type) => [
    { kind: 'once', trigger: { transactions: [type], min: '5' }, amount: '1' },
    { kind: 'unit', unit: { count: { transactions: [type] } }, each: '10', amount: '5' },
  ]),
  ...['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission'].map((activity) => ({
    ...{ kind: 'share', percent: '10', base: [{ activity }] },
  })),
  ...Object.entries(CONDITIONS).flatMap(([name, value]) => [
    { kind: 'share', percent: '10', base: [{ activity: 'pnl', when: { [name]: value } }] },
    { kind: 'unit', unit: { activity: 'lots_traded' }, amount: '5', when: { [name]: value } },
    {
      ...{ kind: 'once', trigger: { signup: true }, amount: '1' },
      qualify: [{ customer: { [name]: value } }],
    },
  ]),
]

/** Returns the sentences of rules and terms, and of those of random plans. */
function sentencesOf(language: Language): string[] {
  const words = wordsOf(language)
  const found = new Set<string>()
  const add = (rule: object, plan: Pick<PlanTerms, 'currency' | 'period'>) => {
    const { pays, limits } = ruleWords({ id: 'r', ...rule } as unknown as Rule, plan, words)
    for (const sentence of [pays, ...limits]) found.add(sentence)
  }
  for (const rule of RULES) add(rule, { currency: 'EUR', period: 'month' })
  for (let seed = env.SEED; seed < env.SEED + 200; seed++) {
    for (const { versions } of randomWorld(seed).plans) {
      for (const { terms } of versions) {
        const plan = terms as unknown as PlanTerms
        for (const rule of plan.rules) add(rule, plan)
        for (const sentence of termsWords(plan, words)) found.add(sentence)
      }
    }
  }
  return [...found]
}

const RECORD = { kind: 'record', id: 'a|b|EURUSD', customer_id: '7', day: '2026-10-05' } as const

/** Every kind of cause. */
const CAUSES = [
  ...(['customers', 'transactions', 'trading-activity', 'activities'] as const).map((resource) => ({
    ...{ ...RECORD, resource, delivery_id: '1' },
  })),
  { kind: 'affiliation', customer_id: '7', audit_id: '2' },
  { kind: 'corrected_early', customer_id: '7', delivery_id: '1' },
  { kind: 'refusal', customer_id: '7', audit_id: '2' },
  { kind: 'rate', currency: 'USD' },
  { kind: 'tree', affiliate_id: '9', audit_id: '2' },
  ...SETTING_ACTIONS.map((action) => ({
    ...({ kind: 'setting', action, at: '2026-10-05T10:00:00Z', audit_id: '2' } as const),
  })),
] satisfies Cause[]

const correction = (own: object) =>
  ({
    ...{ id: '1', of: { period: '2026-09', line: 'l', dropped_in: null }, rule: 'r', version: 1 },
    ...{ scope: 'affiliate', occurrence: 0, amount: '1', causes: [], causes_total: 0, ...own },
  }) as unknown as Adjustment

const CORRECTIONS = [
  ...['affiliate', 'customer:7', 'product:7', 'affiliate:7'].map((scope) => correction({ scope })),
  correction({ of: { period: '2026-09', line: null, dropped_in: '2026-W41' } }),
  correction({ causes: CAUSES.slice(0, 3), causes_total: 9 }),
]

describe.each(OTHERS)('the sentences of %s', (language) => {
  test('of rules, conditions, causes and corrections have no English and no names of the API', () => {
    const words = wordsOf(language)
    const english = englishOnly(language)
    const sentences = [
      ...sentencesOf(language),
      ...CAUSES.map((cause) => causeEvidence(cause, words)),
      ...CORRECTIONS.map((one) => correctionWords(one, '5', words)),
    ]
    expect(sentences.length).toBeGreaterThan(500)
    for (const sentence of sentences) {
      expect(sentence).not.toMatch(/undefined|null|NaN|[{}[\]`]| {2}|\.\.$/)
      const own = withoutNames(sentence)
      expect(own).not.toMatch(/_|trading-activity/)
      // Names of days and countries are those of the locale.
      expect([sentence, wordsIn(own).filter((word) => english.has(word))]).toEqual([sentence, []])
    }
  })
})
