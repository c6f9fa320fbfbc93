import { describe, expect, test } from 'vitest'
import { membersOf, typedRule, valuesForTerms } from '../../src/console/fraud/form.ts'
import { checkShape } from '../../src/fraud/check-rule.ts'
import { kindsOf } from '../../src/fraud/kinds.ts'
import type { Role } from '../../src/platform/auth/roles.ts'
import { storeWorld } from '../commission/stored-world.ts'
import { WORLD as FEES } from '../fraud/fees.ts'
import { keyOfRole } from '../members.ts'
import { askAdmin, json } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'
import { type Fields, fieldsOf } from './form-fields.ts'

// The pages of fraud rules: rules in words, the form of a version, and the back-test.

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
async function open(path: string, role: Role = 'approver') {
  const browser = await signedIn(KEY_WORLD, undefined, await keyOfRole(role))
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
    ...{ names: true, seconds: 49, times: '1.234', lots: '0.001', share_percent: '61.5' },
    by_challenge_type: [
      { challenge_type: 'rapid', daily: '3.5' },
      { challenge_type: 'a/b~c, "d"', total: '7', daily: '2' },
    ],
    events: { deposits: ['FTD', 'Top up, card'], withdrawals: ['Out'], bets: ['Spin'] },
  }

  test.each(kinds)('shows rules without loss: $name', ({ vertical, kind }) => {
    const members = membersOf(kind, vertical, true)
    const base = { kind: kind.kind, name: 'A “rule”', effective_from: '2026-12-01' }
    const own = Object.entries(OTHERS).filter(
      ([name]) =>
        Object.hasOwn(kind.parameters.entries, name) &&
        (name !== 'events' || vertical === 'igaming'),
    )
    const versions = [
      { ...base, severity: 'low' },
      {
        ...{ ...base, severity: 'high', action: 'hold' },
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
      ...{ 'parameters/percent': '80', 'parameters/days': '30', rule: 'lot-churn-2' },
      ...{ effective_from: TODAY, severity: 'medium', action: 'flag' },
    })
    const typed = {
      name: 'Churn of IB-07',
      'scope/affiliates': 'IB-07',
      'parameters/percent': '120,5',
    }
    const shown = await pressed(first, 'show', typed)
    expectPlain(shown)
    expect(words(shown)).toContain('than 120.5 % of the spread and commission charged')
    expect(words(shown)).toContain('It only reads the records of IB-07.')
    expect(await read('/lot-churn')).toMatchObject({ in_force: 1 })

    const saved = await press(shown, 'save')
    expect([saved.status, saved.headers.get('Location')]).toEqual([303, `${RULES}/lot-churn-2`])
    expect((await read('/lot-churn-2')).versions[0].terms).toMatchObject({
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
      [`${limits}/0/challenge_type`]: 'rapid',
      [`${limits}/0/daily`]: '0',
    })
    const wrong = await pressed(two, 'save', {
      ...{ name: '', 'parameters/daily': 'five', 'parameters/grace_days': '31' },
      ...{ 'scope/affiliates': 'A, A' },
    })
    expectPlain(wrong)
    const beside = (name: string) =>
      new RegExp(`id="${name}-about"[^>]*>([\\s\\S]*?)</p>`).exec(wrong)?.[1] ?? ''
    expect(beside('parameters/daily')).toContain('“five” is not a percentage')
    expect(beside('parameters/grace_days')).toContain('30')
    expect(beside('name')).toContain('is required')
    expect(beside(`${limits}/1/challenge_type`)).toContain('is required')
    // What was typed stays.
    expect(fieldsOf(wrong)).toMatchObject({
      'parameters/daily': 'five',
      'scope/affiliates': 'A, A',
    })
    const removed = await pressed(wrong, `remove ${limits}/1`, {
      ...{ name: 'D', 'parameters/daily': '5', 'parameters/grace_days': '2' },
      ...{ effective_from: '2026-02-28' },
    })
    const rest = await pressed(await pressed(removed, `remove ${limits}/1`), 'show')
    expect(words(rest)).toContain('greater than 0')
    const last = await pressed(rest, 'show', { [`${limits}/0/daily`]: '4' })
    expect(words(last)).not.toContain('greater than 0')
    expectPlain(last)
  })

  test('tells the second of two editors, and keeps what they typed', async () => {
    await create('prop-trading')
    await put('resets')
    const { page, pressed, press } = await open(`${RULES}/resets?edit=next`)
    const mine = await page()
    await put('resets', { effective_from: '2026-08-02', parameters: { count: 8 } })
    const refused = await pressed(mine, 'save', { 'parameters/count': '9' })
    expect(words(refused)).toContain('What you typed is still here. Save it again')
    expectPlain(refused)
    expect(fieldsOf(refused)).toMatchObject({ 'parameters/count': '9', after: '3' })
    const saved = await press(refused, 'save')
    expect([saved.status, (await read('/resets')).versions.length]).toEqual([303, 4])
  })
})

describe('the pages of rules', () => {
  test('versions say what they changed, and are ended', async () => {
    await create('prop-trading')
    await put('own')
    await put('own', { effective_from: TODAY, parameters: { count: 7 } })
    const { page, browser } = await open(`${RULES}/own`)
    const text = await page()
    expect(text).toMatch(/<ins>[^/]*at least 7 fees/)
    expect(words(text)).toContain('Version 2 is in force since')
    expectPlain(text)
    const csrf = await browser.csrf(`${RULES}/own`)
    expect((await browser.post(`${RULES}/own`, { csrf, change: 'disable' })).status).toBe(303)
    expect(await read('/own')).toMatchObject({ disabled: true })
    expect(words(await page())).toContain('It is disabled since')
    expect(words(await (await open(RULES)).page())).toContain('disabled')
  })
})

describe('a back-test of what is typed', () => {
  const DAY_MS = 86_400_000
  const shift = Math.floor((Date.now() - Date.parse('2026-09-20')) / DAY_MS) * DAY_MS

  /** Stores the world of fees as if they had been paid in the last weeks. */
  const storeFees = (more: object = {}) =>
    storeWorld(
      {
        ...FEES,
        transactions: FEES.transactions.map((one) => ({ ...one, at: one.at + shift, ...more })),
      },
      'acme',
    )

  test('shows cases as sentences, with links to customers and affiliates', async () => {
    await storeFees()
    await put('resets', { parameters: { count: 3, days: 3 } })
    const page = await (await open(`${RULES}/resets?edit=next`)).page()
    expect(words(page)).toMatch(/From .* it would have opened \d cases? \./)
    expect(words(page)).toContain('The customer paid 3 fees for challenges and resets in 3 days.')
    for (const link of ['affiliates/a', 'customers/c-a']) {
      expect(page).toContain(`href="/console/accounts/acme/${link}"`)
    }
  })

  test('names the affiliate whom a case is about', async () => {
    await storeFees({ status: 'reversed' })
    await put('reversals', { kind: 'reversals', parameters: { min_count: 3 } })
    const { page } = await open(`${RULES}/reversals?edit=next`)
    expect(words(await page())).toMatch(/20\d\d a \d fees and deposits were reversed/)
  })

  test('finds nothing by other parameters', async () => {
    await storeFees()
    await put('resets')
    const { page } = await open(`${RULES}/resets?edit=next`)
    expect(words(await page())).toMatch(/From .* it would have opened no case \./)
  })
})

test('the list says which rules are in force', async () => {
  await create('prop-trading')
  const effective_from = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10)
  expect((await put('early', { effective_from })).status).toBeLessThan(300)
  const { page } = await open(RULES)
  const rows = (await page()).split('<tr').map((row) => row.replace(/<[^>]+>/g, ' '))
  expect(rows.filter((row) => row.includes('not in force'))).toHaveLength(1)
  expect(rows.filter((row) => /\s(?<!not )in force/.test(row)).length).toBeGreaterThan(1)
})
