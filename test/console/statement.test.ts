import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import cpa from '../../examples/plans/cpa.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import type { Adjustment, StatementLine } from '../../src/commission/run/draft.ts'
import { STATEMENT_ID, statementRows } from '../commission/statement-rows.ts'
import { storePlan } from '../commission/stored.ts'
import { issuedPartner as partner } from '../partner.ts'
import { signedIn, textOf } from './browser.ts'

// The page of a statement: what it pays for, and what two people do with it at once.

const AT = '/console/accounts/acme'
const PAGE = `${AT}/statements/${STATEMENT_ID}`

const line = (n: number, own: Partial<StatementLine> = {}): StatementLine => ({
  id: `lin_${STATEMENT_ID.slice('stm_'.length)}${String(n).padStart(16, '0')}`,
  rule: 'cpa',
  version: 1,
  kind: 'once',
  scope: `customer:C-${1000 + n}`,
  base: null,
  units: null,
  measure: null,
  step: null,
  rate: '100',
  amount: '100.00',
  carried_in: '0.00',
  carried_out: '0.00',
  capped: '0.00',
  recouped: '0.00',
  deficit: '0.00',
  fence: null,
  fx: [],
  ...own,
})

const lines = (count: number, own: (n: number) => Partial<StatementLine> = () => ({})) =>
  Array.from({ length: count }, (_, n) => line(n, own(n)))

/** Stores a statement with these parts of lines and corrections. */
async function storeStatement(parts: (readonly (StatementLine | Adjustment)[])[], head = {}) {
  const items = parts.flat()
  const sums = { lines_total: items.length, adjustments_total: 0, ...head }
  await env.DB.batch([
    ...statementRows(env.DB, 'acme'),
    env.DB.prepare(
      'update statements set statement = json_patch(statement, ?), lines = ?, parts = ?',
    ).bind(JSON.stringify(sums), JSON.stringify(parts[0]), parts.length),
    ...parts
      .slice(1)
      .map((part, i) =>
        env.DB.prepare(
          'insert into statement_lines (account, id, part, lines) values (?, ?, ?, ?)',
        ).bind('acme', STATEMENT_ID, i + 2, JSON.stringify(part)),
      ),
  ])
}

const TERMS = cpa as PlanTerms

/** Returns the terms of a plan with so many rules like the one that is named. */
const withRules = (...ids: readonly string[]): PlanTerms => ({
  ...TERMS,
  rules: ids.map((id) => ({ ...TERMS.rules[0]!, id })),
})

async function open(terms = TERMS) {
  await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  await storePlan('acme', 'standard-ib', terms)
  const browser = await signedIn()
  const read = async (query = '') => (await browser.get(`${PAGE}${query}`)).text()
  const change = async (fields: Record<string, string>) =>
    browser.post(PAGE, { csrf: await browser.csrf(PAGE), ...fields })
  return { read, change }
}

const SHAPES: [string, StatementLine[], string[]][] = [
  ['equal lines', lines(1000), ['cpa']],
  ['lines of one rule that all differ', lines(1000, (n) => ({ amount: `${n}.00` })), ['cpa']],
  [
    'lines of 40 rules',
    lines(1000, (n) => ({
      rule: `rule-${n % 40}`,
      base: `${n}`,
      amount: `${n}.00`,
      capped: '1.00',
    })),
    Array.from({ length: 40 }, (_, n) => `rule-${n}`),
  ],
]

test.each(SHAPES)('a statement of 1,000 %s is a page under 100 KB', async (_, items, rules) => {
  const { read } = await open(withRules(...rules))
  await storeStatement([items])
  const text = await read()

  expect(new TextEncoder().encode(text).length).toBeLessThan(100_000)
  expect(text.match(/<details class="rule-lines">/g)).toHaveLength(rules.length)
})

test('a draft that changed meanwhile is not approved, and is shown as it is now', async () => {
  const { read, change } = await open()
  await storeStatement([lines(1)], { payable: '100.00', lines_sum: '100.00' })
  const form = await read()
  const seen = Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="(hash)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  )
  await env.DB.prepare(
    `update statements set hash = ?, statement = json_set(statement, '$.payable', '1250.00', '$.lines_sum', '1250.00')`,
  )
    .bind('b'.repeat(64))
    .run()
  const response = await change({ change: 'approve', ...seen })
  const text = textOf(await response.text())

  expect(response.status).toBe(409)
  expect(text).toContain('The statement is not as it was reviewed, and nothing was approved.')
  expect(text).not.toMatch(/[0-9a-f]{64}/)
  expect(text).toContain('Approve 1,250.00 EUR')
})

test('a manual entry is read as people write amounts', async () => {
  const { change } = await open()
  await storeStatement([lines(1)])
  const entry = { change: 'enter', affiliate_id: 'aff-7', plan: 'standard-ib', currency: 'EUR' }
  const fields = { ...entry, reason: 'Bonus', reference: 'M-1' }
  const unclear = await change({ ...fields, amount: 'ten' })
  expect(unclear.status).toBe(422)
  expect(await unclear.text()).toContain('“ten” is not an amount. Write it as 1234.50.')

  // The plan is assigned to nobody, so the entry is refused, but not for its amount.
  const read = await (await change({ ...fields, amount: '1.234,50' })).text()
  expect(read).toContain('id="enter-amount"')
  expect(read).not.toContain('id="enter-amount-about"')
})
