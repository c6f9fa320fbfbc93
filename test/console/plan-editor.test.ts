import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import cpa from '../../examples/plans/cpa.json'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { formOf, termsOf, valuesOf } from '../../src/console/plans/form/form.ts'
import { brand } from '../brand.ts'
import { customerOf } from '../commission/build.ts'
import { statementRows } from '../commission/statement-rows.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { storeWorld } from '../commission/stored-world.ts'
import type { World } from '../commission/world.ts'
import { randomWorld } from '../commission/worlds.ts'
import { askAdmin, json, register } from '../partner.ts'
import { signedIn } from './browser.ts'
import { type Fields, fieldsOf } from './form-fields.ts'

type Json = Record<string, unknown>

/** Opens the editor of an account. */
async function open(path: string) {
  const browser = await signedIn()
  const at = `/console/accounts/acme${path}`
  const read = async () => (await browser.get(at)).text()
  /** Sends the form of a page with a button, and some fields changed. */
  const press = async (page: string, button: string, changed: Fields = {}) =>
    browser.post(at, { ...fieldsOf(page), ...changed, do: button })
  const pressed = async (...sent: Parameters<typeof press>) => (await press(...sent)).text()
  return { read, press, pressed, browser }
}

/** Returns the page of the form that shows terms. */
async function formOfTerms(terms: unknown) {
  const { read, press, pressed } = await open('/plans?new=empty')
  const page = await pressed(await read(), 'show', Object.fromEntries(formOf(terms)))
  return { page, press, pressed }
}

describe('the form of a plan', () => {
  test.each(['forex', 'igaming'])('shows plans of %s without loss', async (vertical) => {
    if (vertical === 'igaming') await brand({ account: 'acme' })
    else await register('forex', { account: 'acme' })
    const seeds = Array.from({ length: 300 }, (_, i) => env.SEED + i)
    const worlds = seeds.map((seed) => randomWorld(seed)).filter((one) => one.vertical === vertical)
    const all = worlds
      .slice(0, 6)
      .flatMap(({ plans }) => plans.map(({ versions }) => versions[0]!.terms))
    for (const terms of all) {
      const { page } = await formOfTerms(terms)
      expect(page).toContain('Rule 1')
      expect(termsOf(valuesOf(new Map(Object.entries(fieldsOf(page))))).terms).toEqual(terms)
    }
    expect(all.length).toBeGreaterThan(5)
  })

  test('adds and removes rules without storing anything', async () => {
    await register('forex', { account: 'acme' })
    const { read, pressed } = await open('/plans?new=empty')
    const empty = await read()
    // What nobody has typed is not wrong.
    expect(empty).not.toContain('role="alert"')
    const rule = await pressed(
      await pressed(empty, 'add rules unit'),
      'choose rules/0/unit activity',
    )
    const limited = await pressed(rule, 'show', {
      name: 'Lots',
      'rules/0/when/instruments': 'XAU*, EURUSD*',
      'rules/0/id': 'lots',
      'rules/0/amount': '5',
      'rules/0/unit/activity': 'lots_traded',
    })
    expect(limited).toContain('5.00 EUR for each lot traded.')
    expect(limited).toContain('Only for records on XAU* or EURUSD*.')

    expect(fieldsOf(limited)).toMatchObject({ name: 'Lots', 'rules/0/amount': '5', 'rules#': '1' })
    expect(fieldsOf(await pressed(limited, 'remove rules/0'))).toMatchObject({ 'rules#': '0' })
    expect((await json(askAdmin('accounts/acme/plans'))).data).toEqual([])
  })

  test('says what is wrong beside its field, in words, and keeps what was typed', async () => {
    await register('forex', { account: 'acme' })
    const { read, press } = await open('/plans?new=cpa')
    const page = await read()
    const sent = { 'rules/0/amount': '1,000', 'rules/0/max_count': 'many' }
    const response = await press(page, 'save', sent)
    const text = await response.text()

    expect(response.status).toBe(422)
    expect(text).toContain('Nothing was saved.')
    expect(text).toContain('<strong>Rules › 1 › Amount:</strong> “1,000” can be 1000')
    expect(text).toMatch(/id="rules\/0\/amount-about"[^>]*><strong>“1,000” can be/)
    expect(fieldsOf(text)).toMatchObject(sent)

    // The API refuses these, with pointers.
    const shape = await (await press(page, 'save', { hold_days: '999' })).text()
    expect(shape).toContain('<strong>Hold days:</strong> <code>999</code> is more than')
    const rate = await (await press(page, 'save', { 'rules/0/amount': '' })).text()
    expect(rate).toContain('Fill in exactly one of these.')
    for (const refused of [shape, rate]) expect(refused).not.toContain('`')

    const saved = await press(page, 'save', { 'rules/0/amount': '1,000.00' })
    expect([saved.status, saved.headers.get('Location')]).toEqual([
      303,
      '/console/accounts/acme/plans/cpa-with-qualification',
    ])
    const { versions } = await json(askAdmin('accounts/acme/plans/cpa-with-qualification'))
    expect(versions[0].terms.rules[0].amount).toBe('1000.00')
  })

  test('of a new plan never adds a version to a plan with the same short name', async () => {
    await register('forex', { account: 'acme' })
    await storePlan('acme', 'cpa', cpa as PlanTerms)
    const { read, press } = await open('/plans?new=ib-per-lot')
    const response = await press(await read(), 'save', { plan: 'cpa' })

    expect(response.status).toBe(409)
    expect(await response.text()).toContain('The name is taken')
    expect((await json(askAdmin('accounts/acme/plans/cpa'))).versions).toHaveLength(1)
    const wrong = await (await press(await read(), 'save', { plan: 'My plan!' })).text()
    const unnamed = await (await press(await read(), 'save', { name: 'План партнёра' })).text()
    expect(wrong).toMatch(/id="plan-about"[^>]*><strong>/)
    expect(unnamed).toContain('<code>plan</code> is required')
  })
})

test('a new plan is assigned as it is saved', async () => {
  await register('forex', { account: 'acme' })
  const { read, press } = await open('/plans?new=ib-per-lot')
  const sent = { affiliate_id: 'IB-1 \r\nIB-1\r\n*\r\n' }
  expect((await press(await read(), 'save', sent)).status).toBe(303)
  expect(await read()).toContain('Check these ids, which nobody has added: IB-1.')

  const { data } = await json(askAdmin('accounts/acme/assignments'))
  expect(data).toMatchObject([
    { affiliate_id: '*', plan: 'ib-per-lot', customers: 'all' },
    { affiliate_id: 'IB-1', plan: 'ib-per-lot', customers: 'all' },
  ])
  const wrong = { name: 'Other', plan: 'other', affiliate_id: 'I'.repeat(501) }
  const refused = await (await press(await read(), 'save', wrong)).text()
  expect(refused).toContain('Version 1 is saved.')
  expect(refused).toContain('It is assigned to nobody: ')
})

test('of two people who save the next version, the second is told so, and then saves', async () => {
  await register('forex', { account: 'acme' })
  await storePlan('acme', 'ib', perLot as PlanTerms)
  const { read, press } = await open('/plans/ib?edit=next')
  const page = await read()
  expect(fieldsOf(page)).toMatchObject({ after: '1', currency: 'USD' })
  const first = await press(page, 'save', { effective_from: '2099-01-01', hold_days: '7' })
  expect(first.status).toBe(303)

  // The day of the first one is taken, too.
  const taken = await (await press(page, 'save', { effective_from: '2099-01-01' })).text()
  expect(taken).toMatch(/id="effective_from-about"[^>]*><strong>/)

  const second = await press(page, 'save', { effective_from: '2099-02-01', minimum_payout: '75' })
  const text = await second.text()
  expect(second.status).toBe(409)
  expect(text).toContain('What you typed is still here. Save it again')
  expect(fieldsOf(text)).toMatchObject({ after: '2', minimum_payout: '75' })

  expect((await press(text, 'save')).status).toBe(303)
  const { versions } = await json(askAdmin('accounts/acme/plans/ib'))
  expect(versions.map(({ version }: Json) => version).sort()).toEqual([1, 2, 3])
})

test('a plan that begins later is assigned from its first day, and says that it governs earlier days', async () => {
  await register('forex', { account: 'acme' })
  await storePlan('acme', 'later', { ...perLot, effective_from: '2099-01-01' } as PlanTerms)
  const words = 'Version 1, from 1 Jan 2099; it also governs earlier days, as it is the first'
  const browser = await signedIn()
  const page = async (at: string) => (await browser.get(`/console/accounts/acme/${at}`)).text()
  expect(await page('plans/later')).toContain(words)
  const plans = await page('plans')
  expect(plans).toContain(words)
  expect(plans).toContain('or the first day of the plan if that is later')

  const csrf = /name="csrf" value="([^"]*)"/.exec(plans)?.[1] ?? ''
  const sent = { csrf, change: 'assign', affiliate_id: '*', plan: 'later', customers: 'all' }
  expect((await browser.post('/console/accounts/acme/plans', sent)).status).toBe(303)
  const { data } = await json(askAdmin('accounts/acme/assignments'))
  expect(data[0]).toMatchObject({ plan: 'later', from: '2099-01-01' })
})

const deposit = (transaction_id: string, customer_id: string, amount: number) => ({
  ...{ transaction_id, customer_id, transaction_type: 'deposit', amount_currency: amount },
  ...{ currency: 'EUR', at: Date.parse('2026-10-04T12:00:00Z'), status: 'approved' },
})

const share = (percent: string) => ({
  ...{ id: 'deposits', kind: 'share' as const, percent },
  base: [{ transactions: ['deposit'] }],
})

const WORLD: World = {
  vertical: 'forex',
  affiliates: ['a', 'b'].map((affiliate_id) => ({
    affiliate_id,
    parents: [{ from: null, parent: null }],
  })),
  status_map: {},
  customers: [customerOf('c-a', 'a'), customerOf('c-b', 'b')],
  transactions: [deposit('t1', 'c-a', 1000), deposit('t2', 'c-b', 250)],
  activity: [],
  events: [],
  rates: [],
  plans: [{ plan: 'ib', versions: [{ version: 1, terms: monthly([share('10')]) }] }],
  assignments: [{ affiliate_id: 'a', plan: 'ib', from: '2026-01-01', customers: 'new' }],
}

/** Returns the cells of the row of an affiliate in the figures of a page. */
const figuresOf = (page: string, affiliate: string): string[] => {
  const [, row = ''] =
    new RegExp(`affiliates/${affiliate}"[\\s\\S]*?</th>([\\s\\S]*?)</tr>`).exec(page) ?? []
  return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) =>
    cell.replace(/<[^>]*>/g, ''),
  )
}

describe('figures of the last period that ended', () => {
  /** Stores the world, and a statement of October. */
  async function world() {
    await storeWorld(WORLD, 'acme')
    await env.DB.batch(statementRows(env.DB, 'acme', 'a'))
  }

  test('show what the typed terms would have paid each affiliate, before they are saved', async () => {
    await world()
    const { read, pressed } = await open('/plans/ib?edit=next')
    const page = await read()
    expect(figuresOf(page, 'a')).toEqual(['100.00 EUR', '100.00 EUR', '0.00 EUR'])
    const typed = await pressed(page, 'show', { 'rules/0/percent': '12,5 %' })

    expect(typed).toContain('What October 2026 would have paid')
    expect(typed).toContain('12.5 % of deposits.')
    expect(figuresOf(typed, 'a')).toEqual(['100.00 EUR', '125.00 EUR', '25.00 EUR'])
    expect((await json(askAdmin('accounts/acme/plans/ib'))).versions).toHaveLength(1)

    const wrong = await pressed(page, 'show', { 'rules/0/percent': '' })
    expect(wrong).toContain('Once all fields are filled in')
  })
})
