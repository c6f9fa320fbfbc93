import { describe, expect, test } from 'vitest'
import { membersOf, typedRule, valuesForTerms } from '../src/console/fraud/form.ts'
import { checkShape } from '../src/fraud/check-rule.ts'
import { kindsOf } from '../src/fraud/kinds.ts'
import { storeWorld } from './commission/stored-world.ts'
import { KEY_WORLD, signedIn } from './console/browser.ts'
import { type Fields, fieldsOf } from './console/form-fields.ts'
import { WORLD as FEES } from './fraud/fees.ts'
import { askAdmin, json } from './partner.ts'

// The pages of fraud rules: rules in words, the form of a version, and the back-test.

const KEYS = { viewer: 'v'.repeat(32), manager: 'm'.repeat(32), approver: 'a'.repeat(32) }
const WORLD = {
  ...KEY_WORLD,
  ADMIN_KEYS: JSON.stringify(
    Object.fromEntries(Object.entries(KEYS).map(([role, key]) => [`the ${role}`, { key, role }])),
  ),
} as Env

const RULES = '/console/accounts/acme/fraud-rules'
const TODAY = new Date().toISOString().slice(0, 10)

const create = (vertical = 'forex') =>
  askAdmin('accounts', 'POST', { account: 'acme', name: 'Acme', vertical, mode: 'test' })

const put = (rule: string, more: object = {}) =>
  askAdmin(`accounts/acme/fraud-rules/${rule}`, 'PUT', {
    ...{ name: 'Resets', kind: 'resets', effective_from: '2026-08-01', severity: 'low', ...more },
  })

const read = (path: string) => json(askAdmin(`accounts/acme/fraud-rules${path}`))

/** Opens a page as a member of a role. */
async function open(path: string, role: keyof typeof KEYS = 'approver') {
  const browser = await signedIn(WORLD, undefined, KEYS[role])
  const page = async () => (await browser.get(path)).text()
  const press = async (text: string, button: string, changed: Fields = {}) =>
    browser.post(path, { ...fieldsOf(text), ...changed, do: button })
  const pressed = async (...sent: Parameters<typeof press>) => (await press(...sent)).text()
  return { browser, page, press, pressed }
}

/** Returns the text of a page as people read it. */
const words = (page: string): string =>
  page
    .replace(/[\s\S]*<main[^>]*>/, '')
    .replace(/<(datalist|script)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',')

/** Expects a page without JSON, names of members and instants. */
function expectPlain(page: string) {
  expect(words(page)).not.toMatch(/[`{}]|\b[a-z]+_[a-z_]+\b|\d{4}-\d\d-\d\d|undefined|NaN/)
}

describe('the form of a rule', () => {
  const kinds = (['forex', 'igaming', 'prop-trading'] as const).flatMap((vertical) =>
    kindsOf(vertical).map((kind) => ({ vertical, kind, name: `${vertical} ${kind.kind}` })),
  )

  /** Other values of parameters, as people do not round them. */
  const OTHERS: Readonly<Record<string, unknown>> = {
    ...{ names: true, hours: 49, times: '1.234', lots: '0.001', share_percent: '61.5' },
    by_challenge_type: { rapid: { daily: '3.5' }, 'a/b~c, "d"': { total: '7', daily: '2' } },
    events: { deposits: ['FTD', 'Top up, card'], withdrawals: ['Out'], bets: ['Spin'] },
  }

  test.each(kinds)('shows rules without loss: $name', ({ vertical, kind }) => {
    const members = membersOf(kind, vertical, true)
    const base = { kind: kind.kind, name: 'A “rule”', effective_from: '2026-12-01' }
    const own = Object.entries(OTHERS).filter(
      ([name]) => kind.labels[name] && (name !== 'events' || vertical === 'igaming'),
    )
    const versions = [
      { ...base, severity: 'low' },
      {
        ...{ ...base, severity: 'high', action: 'hold', reserve_percent: '12.5' },
        scope: { affiliates: ['IB-07', 'a, b', '"c"'], not_affiliates: ['HOUSE'] },
        parameters: Object.fromEntries(own),
      },
    ]
    for (const version of versions) {
      const { output } = checkShape(version, vertical)
      expect(output).not.toBeNull()
      const { terms, problems } = typedRule(kind, members, valuesForTerms(members, output!))
      expect(problems).toEqual([])
      expect(checkShape(terms, vertical).output).toEqual(output)
    }
  })

  test('adds a rule with the usual parameters, from today on', async () => {
    await create()
    const { page, pressed, press } = await open(`${RULES}?new=lot_churn`)
    const first = await page()
    expectPlain(first)
    expect(fieldsOf(first)).toMatchObject({
      ...{ 'parameters/percent': '80 %', 'parameters/days': '30', rule: 'lot-churn-2' },
      ...{ effective_from: TODAY, severity: 'medium', action: 'flag' },
    })
    const typed = { name: 'Churn of IB-07', affiliates: 'IB-07', 'parameters/percent': '120,5' }
    const shown = await pressed(first, 'show', typed)
    expectPlain(shown)
    expect(words(shown)).toContain('than 120.5 % of the spread and commission charged')
    expect(words(shown)).toContain('It only reads the records of IB-07.')
    expect(await read('/lot-churn')).toMatchObject({ in_force: 1 })

    const saved = await press(shown, 'save')
    expect([saved.status, saved.headers.get('Location')]).toEqual([303, `${RULES}/lot-churn-2`])
    expect((await read('/lot-churn-2/versions/1')).terms).toMatchObject({
      ...{ name: 'Churn of IB-07', severity: 'medium', action: 'flag' },
      ...{ scope: { affiliates: ['IB-07'] }, parameters: { percent: '120.5', days: 30 } },
    })
  })

  test('shows errors beside their fields, in the words of the form', async () => {
    await create('prop-trading')
    const { page, pressed } = await open(`${RULES}?new=drawdown_breach`)
    const limits = 'parameters/by_challenge_type'
    const rows = await pressed(await page(), `add ${limits}`)
    expect(rows).not.toContain('role="alert"')
    const two = await pressed(await pressed(rows, `add ${limits}`), `add ${limits}`, {
      [`${limits}/0/type`]: 'rapid',
      [`${limits}/0/daily`]: '0',
      [`${limits}/1/type`]: 'rapid',
    })
    const wrong = await pressed(two, 'save', {
      ...{ name: '', 'parameters/daily': 'five', 'parameters/grace_days': '31' },
      ...{ affiliates: 'A, A', reserve_percent: '50', effective_from: '2026-02-31' },
    })
    expectPlain(wrong)
    const beside = (name: string) =>
      new RegExp(`id="${name}-about"[^>]*>([\\s\\S]*?)</p>`).exec(wrong)?.[1] ?? ''
    expect(beside('parameters/daily')).toContain('“five” is not a percentage')
    expect(beside('parameters/grace_days')).toContain('30')
    expect(beside('name')).toContain('This is missing.')
    expect(beside(`${limits}/1/type`)).toContain('This challenge has limits above.')
    expect(beside(`${limits}/2/type`)).toContain('Write the challenge')
    expect(wrong).toContain('href="#parameters/grace_days"')
    // What was typed stays.
    expect(fieldsOf(wrong)).toMatchObject({ 'parameters/daily': 'five', affiliates: 'A, A' })
    const removed = await pressed(wrong, `remove ${limits}/1`, {
      ...{ name: 'D', 'parameters/daily': '5', 'parameters/grace_days': '2' },
      ...{ effective_from: '2026-02-28' },
    })
    const rest = await pressed(await pressed(removed, `remove ${limits}/1`), 'show')
    expect(words(rest)).toContain('greater than 0')
    const last = await pressed(rest, 'show', { [`${limits}/0/daily`]: '4' })
    expect(words(last)).toContain('in this list')
    expect(words(last)).toContain('holds nothing')
    expectPlain(last)
  })

  test('says that a threshold never or always holds', async () => {
    await create()
    const { page, pressed, press, browser } = await open(`${RULES}?new=hedge_pair`)
    const typed = { 'parameters/days': '40', 'parameters/lots_percent': '100' }
    const shown = await pressed(await page(), 'show', typed)
    expectPlain(shown)
    expect(words(shown)).toContain(
      'Please check: “Fewest days with opposite trades” can never be reached. There are 30 days in “Days in which they are counted”.',
    )
    expect(words(shown)).toContain('Please check: “Lots differ by at most” is always reached.')
    const saved = await press(shown, 'save')
    const next = await (await browser.get(saved.headers.get('Location')!)).text()
    expect(words(next)).toContain('Please check: This threshold can never hold.')
    expectPlain(next)
  })

  test('says until when a back-dated version applies, and what applies then', async () => {
    await create('prop-trading')
    await put('own', { effective_from: '2026-10-01' })
    const { page, press, browser } = await open(`${RULES}/own?edit=next`)
    const typed = { action: 'hold', effective_from: '2026-09-01' }
    const saved = await press(await page(), 'save', typed)
    const next = await (await browser.get(saved.headers.get('Location')!)).text()
    expect(words(next)).toContain(
      'Version 2 is saved. It applies from 1 Sept 2026 to 30 Sept 2026; then version 1 applies, which only flags. If',
    )
    expectPlain(next)
  })

  test('shows the second of two editors what changed, and keeps what they typed', async () => {
    await create('prop-trading')
    await put('resets')
    const { page, pressed, press } = await open(`${RULES}/resets?edit=next`)
    const mine = await page()
    await put('resets', { effective_from: '2026-08-02', parameters: { count: 8 } })
    const refused = await pressed(mine, 'save', { 'parameters/count': '9' })
    expect(words(refused)).toContain('Version 3 was saved while you were typing')
    expect(refused).toMatch(/<ins>[^/]*at least 8 fees/)
    expect(refused).toMatch(/<del>[^/]*at least 5 fees/)
    expectPlain(refused)
    expect(fieldsOf(refused)).toMatchObject({ 'parameters/count': '9', after: '3' })
    const saved = await press(refused, 'save')
    expect([saved.status, (await read('/resets')).versions.length]).toEqual([303, 4])
  })
})

describe('the pages of rules', () => {
  test('each rule is a sentence, and each kind without a rule says what it sees', async () => {
    await create('prop-trading')
    const { page } = await open(RULES)
    const text = words(await page())
    expect(text).toContain('a customer paid at least 5 fees for challenges and resets in 14 days.')
    // A prop firm may have no rule that asks for a deposit, so that its set has none of this kind.
    expect(text).toContain('Patterns without a rule Deposits at the minimum Opens a case when 60 %')
    expectPlain(await page())
  })

  test('the page of each rule, and the list, say what a kind sees and what it cannot see', async () => {
    await create('prop-trading')
    const list = words(await (await open(RULES)).page())
    for (const { kind, sees, cannotSee } of kindsOf('prop-trading')) {
      const says = words(`It sees: ${sees} It cannot see: ${cannotSee}`)
      expect(list, kind).toContain(says)
      const rule = `own-${kind.replaceAll('_', '-')}`
      await put(rule, { kind, parameters: {} })
      expect(words(await (await open(`${RULES}/${rule}`)).page()), kind).toContain(says)
    }
  })

  test('versions say what they changed, and are ended by name', async () => {
    await create('prop-trading')
    await put('own')
    await put('own', { effective_from: TODAY, parameters: { count: 7 } })
    const { page, browser } = await open(`${RULES}/own`)
    const text = await page()
    expect(text).toMatch(/<ins>[^/]*at least 7 fees/)
    expect(words(text)).toContain('Version 2 is in force since')
    expectPlain(text)
    const send = async (change: string, more: Fields = {}) => {
      const csrf = await browser.csrf(`${RULES}/own`)
      return browser.post(`${RULES}/own`, { csrf, change, ...more })
    }
    expect(await (await send('disable', { confirm: 'other' })).text()).toContain('Type own')
    expect((await send('withdraw', { version: '2', confirm: 'own' })).status).toBe(303)
    expect(await read('/own')).toMatchObject({ in_force: 1, disabled: false })
    expect((await send('disable', { confirm: 'own' })).status).toBe(303)
    expect(await read('/own')).toMatchObject({ disabled: true })
    expect(words(await page())).toContain('It is disabled since')
    expect(words(await (await open(RULES)).page())).toContain('disabled')
  })

  test.each([
    ['viewer', { add: false, flag: false, hold: false, holdOption: false }],
    ['manager', { add: true, flag: true, hold: false, holdOption: false }],
    ['approver', { add: true, flag: true, hold: true, holdOption: true }],
  ] as const)('a %s is offered what they may do', async (role, may) => {
    await create('prop-trading')
    await put('holding', { action: 'hold' })
    const pageOf = async (path: string) => (await open(path, role)).page()
    const isEditable = async (rule: string) => {
      const page = await pageOf(`${RULES}/${rule}`)
      expect(page).toContain('What it would have found')
      const found = ['edit=next', 'Disable the rule'].map((one) => page.includes(one))
      expect(new Set(found).size).toBe(1)
      return found[0]
    }
    const form = await pageOf(`${RULES}?new=resets`)
    expect({
      add: (await pageOf(RULES)).includes('?new='),
      flag: await isEditable('resets'),
      hold: await isEditable('holding'),
      holdOption: form.includes('Opens a case and holds payouts'),
    }).toEqual(may)
    expect(form.includes('id="change-put"')).toBe(may.add)
    // A form that another page would send is refused all the same.
    const { browser } = await open(RULES, role)
    const sent = await browser.post(RULES, {
      ...{ csrf: await browser.csrf(), change: 'put', kind: 'resets', rule: 'forged', after: '0' },
      ...{ name: 'F', severity: 'low', action: 'hold', effective_from: TODAY },
    })
    expect(sent.status).toBe(may.hold ? 303 : 403)
  })

  test('a withdrawn version that would have held keeps no manager from the rule', async () => {
    await create('prop-trading')
    await put('own')
    await put('own', { action: 'hold', effective_from: '2099-01-01' })
    await askAdmin('accounts/acme/fraud-rules/own/versions/2', 'DELETE')
    const pageOf = async (path: string) => (await open(path, 'manager')).page()
    expect(await pageOf(`${RULES}/own`)).toContain('edit=next')
    expect(await pageOf(`${RULES}/own?edit=next`)).toContain('id="change-put"')
    expect(await pageOf(`${RULES}/own/simulate`)).toContain('edit=next')
  })

  test.each([
    ['a kind that does not exist', `${RULES}?new=hunch`, 200, 'Fraud rules'],
    ['a rule that does not exist', `${RULES}/none`, 404, ''],
    ['a back-test of none', `${RULES}/none/simulate`, 404, ''],
    ['an account that does not exist', '/console/accounts/none/fraud-rules', 404, ''],
    [
      'days in the wrong order',
      `${RULES}/resets/simulate?from=2026-09-02&to=2026-09-01`,
      400,
      'The first day is after the last day.',
    ],
    [
      'a day that does not exist',
      `${RULES}/resets/simulate?from=2026-02-31`,
      400,
      'is not a day of the calendar',
    ],
    [
      'a day that is not over',
      `${RULES}/resets/simulate?from=2026-09-01&to=2099-01-01`,
      200,
      'These days cannot be tested.',
    ],
    [
      'terms that are no rule',
      `${RULES}/resets/simulate?terms=%7B%22kind%22%3A%22hunch%22%7D`,
      200,
      'These days cannot be tested.',
    ],
    ['terms that are no JSON', `${RULES}/resets/simulate?terms=x`, 422, ''],
    ['a rule with a name of data', `${RULES}/%E2%80%AE%3Cb%3E`, 404, ''],
  ])('%s', async (_, path, status, text) => {
    await create('prop-trading')
    const { browser } = await open(RULES)
    const response = await browser.get(path)
    expect(response.status).toBe(status)
    expect(words(await response.text())).toContain(text)
  })
})

describe('a back-test', () => {
  test('shows cases by month and as sentences, with links to customers and records', async () => {
    await storeWorld(FEES, 'acme')
    await put('resets', { action: 'hold', parameters: { count: 3, days: 3 } })
    const at = `${RULES}/resets/simulate?from=2026-08-15&to=2026-09-30`
    const page = await (await open(at, 'viewer')).page()
    expectPlain(page)
    const text = words(page)
    expect(text).toContain(
      'From 15 Aug 2026 to 30 Sept 2026 it would have opened 1 case at 1 affiliate, of 3 affiliates that were tested. It would have held no payout. Nobody has decided it so far. Statements that nobody has approved yet are not counted.',
    )
    expect(text).toContain('August 2026 0 September 2026 1')
    expect(text).toContain('The customer paid 3 fees for challenges and resets in 3 days.')
    for (const link of ['affiliates/a', 'customers/c-a', 'records/transactions/t1']) {
      expect(page).toContain(`href="/console/accounts/acme/${link}"`)
    }
    await askAdmin('accounts/acme/fraud-rules/run', 'POST')
    const { data } = await json(askAdmin('accounts/acme/cases?customer_id=c-a'))
    const decision = { decision: 'dismissed', reason: 'A campaign' }
    await askAdmin(`accounts/acme/cases/${data[0].case_id}/decide`, 'POST', decision)
    const decided = words(await (await open(at)).page())
    expect(decided).toContain('Of these, your team has dismissed 1.')
    expect(decided).toContain('in 3 days. was dismissed')
    const one = words(await (await open(`${at}&affiliate_id=b`)).page())
    expect(one).toContain('it would have opened no case, of 1 affiliate that were tested')
  })

  test('tests the stored versions on their days, or one of them on all days', async () => {
    await storeWorld(FEES, 'acme')
    await put('resets', { effective_from: TODAY, parameters: { count: 3, days: 3 } })
    const at = `${RULES}/resets/simulate?from=2026-08-15&to=2026-09-30`
    expect(words(await (await open(at)).page())).toContain('The rule applied to no affiliate')
    expect(words(await (await open(`${at}&version=1`)).page())).toContain('opened 1 case')
  })

  test('tests what is typed before it is stored', async () => {
    await storeWorld(FEES, 'acme')
    await put('resets')
    const { page } = await open(`${RULES}/resets?edit=next`)
    const text = await page()
    expect(words(text)).toMatch(/From .* it would have opened no case, of 3 affiliates/)
    const [, href = ''] = /href="([^"]*simulate[^"]*terms=[^"]*)"/.exec(text) ?? []
    const chart = await (await open(href.replaceAll('&amp;', '&'))).page()
    expect(words(chart)).toContain('the cases that the terms that you typed would have opened')
    expectPlain(chart)
  })

  test('compares what is typed with the version in force, and marks what is new', async () => {
    await storeWorld(FEES, 'acme')
    await put('resets', { effective_from: TODAY, parameters: { count: 3, days: 3 } })
    const terms = JSON.stringify({ kind: 'resets', parameters: { count: 2, days: 3 } })
    const query = `from=2026-08-15&to=2026-09-30&terms=${encodeURIComponent(terms)}`
    const page = words(await (await open(`${RULES}/resets/simulate?${query}`)).page())
    expect(page).toContain(
      'Compared with version 1, which is in force: 2 cases instead of 1; 1 is the same; both would have held nothing.',
    )
    expect(page.match(/ in 3 days\. new /g)).toHaveLength(1)
  })
})
