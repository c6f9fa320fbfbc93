import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { encodeTrackingCode, newClickId } from '../../src/attribution/code.ts'
import { signedIn } from '../console/browser.ts'
import { ask, askAdmin, json, partner, resumed } from '../partner.ts'
import { builtOnce } from '../world.ts'
import { storeRules } from './evaluated-cases.ts'

// Cases by their routes: from deliveries and stored rules to lists, records, and back.

const DAY_MS = 86_400_000

/** Returns a day so many days ago. */
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

const signup = (customer_id: string, others: object = {}) => ({
  ...{ customer_id, affiliate_id: 'aff-7', tracking_data: `click-${customer_id}` },
  ...{ signup_date: `${ago(20)}T08:00:00.000Z`, ...others },
})

const fee = (transaction_id: string, customer_id: string, days: number) => ({
  ...{ transaction_id, customer_id, transaction_type: 'reset_fee', amount_currency: 99 },
  ...{ currency: 'EUR', transaction_date: `${ago(days)}T08:00:00.000Z`, status: 'approved' },
})

const RESETS = {
  ...{ rule: 'resets', version: 1, kind: 'resets' },
  parameters: { count: 2, days: 3 },
}
const TWINS = { rule: 'twins', version: 1, kind: 'shared_identity', parameters: { names: false } }

/** A firm with two customers of one e-mail, of whom the second has paid two fees. */
async function firm(account = 'acme-prop-trading') {
  const acme = await resumed('prop-trading', await builtOnce(account, () => build(account)))
  const stored = async (path: string, records: object[]) => {
    const response = await acme.post(path, records)
    expect(response.ok, await response.clone().text()).toBe(true)
  }
  const run = () => json(askAdmin(`accounts/${account}/fraud-rules/run`, 'POST'))
  const cases = async (query = '') =>
    (await json(askAdmin(`accounts/${account}/cases${query}`))).data as Listed[]
  return { ...acme, stored, run, cases }
}

async function build(account: string) {
  const acme = await partner('prop-trading', { account, unknown_customer: 'hold' })
  const signups = [
    signup('k1', { email: 'jo@firm.example' }),
    signup('k2', { email: 'JO+2@firm.example', signup_date: `${ago(10)}T08:00:00.000Z` }),
  ]
  expect((await acme.post('customers', signups)).ok).toBe(true)
  const fees = [fee('f1', 'k2', 6), fee('f2', 'k2', 5)]
  expect((await acme.post('transactions', fees)).ok).toBe(true)
  await storeRules(account, [
    { ...RESETS, effective_from: ago(30) },
    { ...TWINS, effective_from: ago(30) },
  ])
  return acme.firm
}

interface Listed {
  case_id: string
  opened_at: string
  rule: string
  subject: { customer_id?: string }
  status: string
  opened_for: string
  evidence_total: number
}

const rulesOf = (cases: Listed[]) => cases.map(({ rule }) => rule)

describe('an evaluation on request', () => {
  test('opens a case for each rule and subject, and a repeated one opens nothing', async () => {
    const { run, cases } = await firm()
    expect(await run()).toEqual({
      ...{ done: true, evaluated_through: ago(1), cases_opened: 2 },
    })
    const [first, second] = await cases()
    expect(first).toMatchObject({
      ...{ rule: 'resets', name: 'resets', version: 1, kind: 'resets', affiliate_id: 'aff-7' },
      ...{ subject: { customer_id: 'k2' }, status: 'open', action: 'flag', severity: 'low' },
      ...{ opened_for: ago(5), last_evidence_for: ago(5), evidence_total: 2, amount_held: [] },
      figures: [{ name: 'fees', value: '2', comparison: 'at_least', threshold: '2', unit: 'fees' }],
      sentence: 'The customer paid 2 fees for challenges and resets in 3 days.',
    })
    expect(first?.case_id).toMatch(/^case_[0-9a-f]{26}$/)
    expect(second).toMatchObject({ rule: 'twins', opened_for: ago(10) })
    expect(await run()).toMatchObject({ done: true, cases_opened: 0 })
    expect(await cases()).toEqual([first, second])
  })

  test('adds a late record to the open case, and names records that are corrected', async () => {
    const { run, cases, stored } = await firm()
    const records = async (rule: string) => {
      const [one] = await cases(`?rule=${rule}`)
      const at = `accounts/acme-prop-trading/cases/${one?.case_id}`
      const all = await json(askAdmin(`${at}/evidence`))
      const changed = all.data.filter((it: { changed: boolean }) => it.changed)
      return [changed.length, changed.map(({ id }: never) => id)]
    }
    await run()
    const [before] = await cases('?rule=resets')
    await stored('transactions', [fee('f3', 'k2', 7)])
    expect(await run()).toMatchObject({ cases_opened: 0 })
    const [after] = await cases('?rule=resets')
    expect(after).toMatchObject({
      ...{ case_id: before?.case_id, opened_for: before?.opened_for, evidence_total: 3 },
    })
    expect([await records('resets'), await records('twins')]).toEqual([
      [0, []],
      [0, []],
    ])
    await stored('transactions', [{ ...fee('f1', 'k2', 6), status: 'declined' }])
    await stored('customers', [signup('k1', { email: 'al@firm.example' })])
    expect(await run()).toMatchObject({ cases_opened: 0 })
    expect(rulesOf(await cases())).toEqual(['resets', 'twins'])
    expect([await records('resets'), await records('twins')]).toEqual([
      [1, ['f1']],
      [1, ['k1']],
    ])
  })

  test('no change of a rule, and no other affiliate of the customer, frees what is held', async () => {
    const { run, cases } = await firm()
    const changes = [
      { action: 'flag' },
      { disabled: true },
      { scope: { affiliates: ['aff-9'] } },
      { parameters: { ...RESETS.parameters, count: 50 } },
    ]
    const hold = { ...RESETS, effective_from: ago(150), action: 'hold' } as const
    await storeRules(
      'acme-prop-trading',
      changes.map((_, i) => ({ ...hold, rule: `wait-${i}` })),
    )
    await run()
    const held = async () =>
      (await cases('?affiliate_id=aff-7')).filter(({ rule }) => rule.startsWith('wait-'))
    const before = await held()
    expect(before).toMatchObject(changes.map(() => ({ action: 'hold', status: 'open' })))
    for (const [i, change] of changes.entries()) {
      const answer = await askAdmin(`accounts/acme-prop-trading/fraud-rules/wait-${i}`, 'PUT', {
        ...{ name: 'wait', kind: 'resets', severity: 'low', action: 'hold' },
        ...{ parameters: RESETS.parameters, effective_from: ago(149), ...change },
      })
      expect([change, answer.ok]).toEqual([change, true])
    }
    await run()
    expect(await held()).toEqual(before)
    const moved = await askAdmin('accounts/acme-prop-trading/customers/k2/affiliations', 'PUT', {
      ...{ reason: 'Wrong link', affiliations: [{ from: null, affiliate_id: 'aff-8' }] },
    })
    expect(moved.ok).toBe(true)
    await run()
    expect(await held()).toEqual(before)
  })

  test('logs each hold that it begins, once', async () => {
    const { run } = await firm()
    await storeRules('acme-prop-trading', [
      { ...RESETS, effective_from: ago(150), rule: 'wait', action: 'hold' },
    ])
    await run()
    await run()
    const { data } = await json(askAdmin('audit-log?action=fraud-case'))
    expect(data).toMatchObject([
      {
        ...{ actor: 'root-key', action: 'fraud-case.hold' },
        details: { affiliate_id: 'aff-7', rule: 'wait' },
      },
    ])
  })

  test('is for managers, and writes who asked for it', async () => {
    await firm()
    const path = '/admin/v1/accounts/acme-prop-trading/fraud-rules/run'
    expect((await ask(path, { method: 'POST' })).status).toBe(401)
    await askAdmin('accounts/acme-prop-trading/fraud-rules/run', 'POST')
    const { data } = await json(askAdmin('audit-log?account=acme-prop-trading'))
    expect(data[0]).toMatchObject({
      action: 'fraud-rule.run',
      details: { evaluated_through: ago(1), cases_opened: 2 },
    })
    expect((await askAdmin('accounts/none/fraud-rules/run', 'POST')).status).toBe(404)
  })
})

describe('lists of cases', () => {
  test('are narrowed by what a query names', async () => {
    const { run, cases } = await firm()
    await run()
    for (const [query, expected] of [
      ['?status=open', ['resets', 'twins']],
      ['?status=expired', []],
      ['?rule=twins', ['twins']],
      ['?severity=high', []],
      ['?affiliate_id=aff-7', ['resets', 'twins']],
      ['?affiliate_id=aff-8', []],
      ['?customer_id=k2', ['resets', 'twins']],
      ['?customer_id=k1', []],
      // Neither is of high severity or holds payouts.
      ['?needs=decision', []],
      ['?needs=second_person', []],
    ] as const) {
      expect([query, rulesOf(await cases(query))]).toEqual([query, expected])
    }
    for (const query of ['?status=closed', '?severity=huge', '?needs=money']) {
      const { status } = await askAdmin(`accounts/acme-prop-trading/cases${query}`)
      expect([query, status]).toEqual([query, 400])
    }
  })

  test('pages follow a cursor, the latest day first', async () => {
    const { run } = await firm()
    await run()
    const first = await json(askAdmin('accounts/acme-prop-trading/cases?per_page=1'))
    expect([rulesOf(first.data), first.meta.total]).toEqual([['resets'], 2])
    const query = `?cursor=${encodeURIComponent(first.meta.next_cursor)}`
    const second = await json(askAdmin(`accounts/acme-prop-trading/cases${query}`))
    expect([rulesOf(second.data), second.meta.next_cursor]).toEqual([['twins'], null])
  })

  test('an account reads its cases without who decided', async () => {
    const { run, cases, get } = await firm()
    await run()
    const [one] = await cases('?rule=resets')
    await env.DB.prepare(
      `insert into fraud_decisions values ('acme-prop-trading', ?, 0, 'confirmed', 'Farmed.', 1,
         '["k2"]', 20000, 1, 'ada', '2026-10-01T00:00:00.000Z')`,
    )
      .bind(one?.case_id)
      .run()
    expect((await json(get('cases?rule=resets'))).data).toEqual([one])
    expect((await get(`cases/${one?.case_id}`)).status).toBe(404)
    const decision = {
      ...{ decision: 'confirmed', reason: 'Farmed.', keep_hold: true, refuse: ['k2'] },
      ...{ from: '2024-10-04', at: '2026-10-01T00:00:00.000Z', ends_hold: false, waiting: false },
    }
    const whole = await json(askAdmin(`accounts/acme-prop-trading/cases/${one?.case_id}`))
    expect(whole).toEqual({
      ...one,
      decisions: [{ ...decision, evidence_total: 1, actor: 'ada' }],
      customers: ['k2'],
    })
  })
})

describe('the records of a case', () => {
  test('have their main values and their delivery', async () => {
    const { run, cases, get } = await firm()
    await run()
    const [one] = await cases('?rule=resets')
    const at = `accounts/acme-prop-trading/cases/${one?.case_id}/evidence`
    const { data, meta } = await json(askAdmin(at))
    expect(meta).toMatchObject({ total: 2, next_cursor: null })
    expect(data).toEqual(
      ['f1', 'f2'].map((id, i) => ({
        ...{ resource: 'transactions', id, customer_id: 'k2', day: ago(6 - i) },
        delivery_id: expect.stringMatching(/^dlv_/),
        changed: false,
        values: {
          ...{ transaction_type: 'reset_fee', amount_currency: 99, currency: 'EUR' },
          ...{ status: 'approved', transaction_date: `${ago(6 - i)}T08:00:00.000Z` },
        },
      })),
    )
    expect((await json(get(`cases/${one?.case_id}/evidence`))).data).toEqual(data)
    const first = await json(askAdmin(`${at}?per_page=1`))
    const second = await json(
      askAdmin(`${at}?cursor=${encodeURIComponent(first.meta.next_cursor)}`),
    )
    expect([...first.data, ...second.data]).toEqual(data)
    expect(second.meta.next_cursor).toBeNull()
    expect((await json(askAdmin(`${at}?per_page=1&page=2`))).data).toEqual([data[1]])
  })

  test('say of a signup when its click was', async () => {
    const { stored, run, cases } = await firm()
    const link = { link_id: 'abcdefgh', account: 'acme-prop-trading', affiliate_id: 'aff-7' }
    const click = newClickId(Date.parse(`${ago(2)}T07:59:53.000Z`))
    const tracking_data = await encodeTrackingCode(env.TRACKING_KEYS, link, click)
    const at = { tracking_data, signup_date: `${ago(2)}T08:00:00.000Z` }
    await stored('customers', [signup('k3', at), signup('k4', at)])
    const rule = { rule: 'fast', version: 1, kind: 'click_to_signup', effective_from: ago(30) }
    await storeRules(link.account, [
      { ...rule, parameters: { min_signups: 2, days: 7, share_percent: '50', seconds: 10 } },
    ])
    await run()
    const [one] = await cases('?rule=fast')
    const { data } = await json(askAdmin(`accounts/${link.account}/cases/${one?.case_id}/evidence`))
    expect(data[0].values).toEqual({
      ...{ signup_date: at.signup_date, clicked_at: `${ago(2)}T07:59:53.000Z` },
      ...{ affiliate_id: 'aff-7', country_code: null },
    })
    const browser = await signedIn()
    const page = await browser.get(`/console/accounts/${link.account}/cases/${one?.case_id}`)
    expect(await page.text()).toMatch(/Clicked <time datetime="[^"]+:53\.000Z">/)
  })
})

test('the erasure of a customer leaves their cases, which have only ids', async () => {
  const { run, cases } = await firm()
  await run()
  const { results } = await env.DB.prepare('select * from fraud_evidence').all()
  const found = await cases()
  expect(JSON.stringify([results, found]).toLowerCase()).not.toMatch(/firm\.example/)
  const erased = await askAdmin('accounts/acme-prop-trading/customers/k1/personal-data', 'DELETE')
  expect(erased.ok).toBe(true)
  expect(await run()).toMatchObject({ cases_opened: 0 })
  expect(await cases()).toEqual(found)
})

/** Runs the statements of the month of the last fee, and waits for the end. */
async function runStatements() {
  const runs = await introspectWorkflow(env.STATEMENT_RUNS)
  try {
    await runs.modifyAll((one) => one.disableRetryDelays())
    const period = ago(5).slice(0, 7)
    const started = await askAdmin(`accounts/acme-prop-trading/periods/${period}/run`, 'POST')
    expect(started.status).toBe(202)
    for (const instance of await runs.get()) await instance.waitForStatus('complete')
  } finally {
    await runs.dispose()
  }
}

test('a run of statements evaluates the rules after its last statement', async () => {
  const { cases } = await firm()
  await runStatements()
  expect(rulesOf(await cases())).toEqual(['resets', 'twins'])
})

test('the address of a case that does not exist is 404', async () => {
  const { get } = await firm()
  for (const path of ['cases/case_none', 'cases/case_none/evidence']) {
    expect((await get(path)).status).toBe(404)
    expect((await askAdmin(`accounts/acme-prop-trading/${path}`)).status).toBe(404)
  }
})
