import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { askAda, digestOf, earning, idOf, rowsOf, storeRows } from '../books/book-rows.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { addFinding, changeCase, storeCases, storeRule } from '../fraud/stored-cases.ts'
import { askAdmin, json, register } from '../partner.ts'
import { KEY_WORLD, openBrowser, signedIn } from './browser.ts'

// The pages of cases: from the list to the records and the decision, and where payouts name them.

const ACCOUNT = 'acme-forex'
const AT = `/console/accounts/${ACCOUNT}`
const CASE = `${AT}/cases/case_1`
const DAY = 20_000

const KEYS = { viewer: 'v'.repeat(32), manager: 'm'.repeat(32) }

/** Returns a browser in which a member with a role is signed in. */
async function signedInAs(role: keyof typeof KEYS) {
  const keys = JSON.stringify({ vi: { key: KEYS[role], role } })
  const browser = openBrowser({ ...KEY_WORLD, ADMIN_KEYS: keys } as Env)
  await browser.signIn(KEYS[role])
  return browser
}

/** Returns the text of a page, without its tags. */
async function read(path: string, browser?: Awaited<ReturnType<typeof signedIn>>) {
  const response = await (browser ?? (await signedIn())).get(path)
  const html = await response.text()
  return { status: response.status, html, text: textOf(html) }
}

const textOf = (html: string): string =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,:;”])/g, '$1')
    .replaceAll('“ ', '“')

/** Sends a form of a page, and returns the page that it leads to. */
async function send(path: string, fields: Record<string, string>) {
  const browser = await signedIn()
  const response = await browser.post(path, { csrf: await browser.csrf(), ...fields })
  const to = response.headers.get('Location')
  return to ? read(to, browser) : { status: response.status, text: textOf(await response.text()) }
}

beforeEach(async () => {
  await register('forex', { affiliates: ['a', 'b'] })
  await storePlan(ACCOUNT, 'ib', monthly([]))
  await assign(ACCOUNT, 'ib')
  await storeRule()
  await storeCases({ id: 'case_1', lastDay: DAY, openedFor: DAY })
  await addFinding(DAY, [
    ['t-1', 'c-1'],
    ['t-2', 'c-2'],
  ])
  await changeCase(
    'case_1',
    'figures',
    JSON.stringify([
      {
        name: 'customers_who_qualified',
        value: '15',
        comparison: 'at_least',
        threshold: '10',
        unit: 'customers',
      },
      {
        name: 'share_at_the_minimum',
        value: '80',
        comparison: 'at_least',
        threshold: '60',
        unit: 'percent',
      },
      {
        ...{ name: 'earned', value: '1234.5', comparison: 'more_than', threshold: '1000' },
        ...{ unit: 'EUR', threshold_is: '100 % of the net revenue' },
      },
      {
        ...{ name: 'earned', value: '1234.5', comparison: 'at_least', threshold: '900' },
        unit: 'EUR',
      },
      {
        name: 'growth_of_the_share',
        value: '45.5',
        comparison: 'less_than',
        threshold: '40',
        unit: 'points',
      },
    ]),
  )
})

/** Approves what an affiliate has earned in June 2024. */
async function approve(affiliate: string, amount: string) {
  const row = earning(affiliate, '2024-06', amount)
  await storeRows([row])
  const to = `accounts/${ACCOUNT}/statements/${idOf(row)}/approve`
  expect((await askAdmin(to, 'POST', { hash: digestOf(row) })).status).toBe(200)
  return `${AT}/statements/${idOf(row)}`
}

describe('the list of cases', () => {
  test('a manager evaluates the rules, and reads what that has done', async () => {
    const { text } = await send('/console/accounts/acme-forex/cases', { change: 'run' })

    expect(text).toMatch(/Evaluated until \d+ \w+ \d{4}\. \d+ cases? opened\./)
  })
})

describe('a case', () => {
  test('§17 shows records to the second, which of them its figures rest on, and what a threshold is', async () => {
    await addFinding(DAY - 30, [['t-0', 'c-1']])
    await changeCase('case_1', 'since', String(DAY))
    const statement = earning('a', '2024-10', '1710', { earned: '1710', total: '1660' })
    await storeRows([statement])
    await env.DB.prepare(
      `insert into fraud_evidence values (?, 'case_1', 9, 'statements', ?, ?, null, null)`,
    )
      .bind(ACCOUNT, idOf(statement), DAY)
      .run()
    await env.DB.prepare(
      `insert into transactions (account, transaction_id, customer_id, transaction_type, amount_currency,
         currency, transaction_date, status, day, delivery, idx, revision, held)
       values (?, 't-1', 'c-1', 'deposit', 5, 'EUR', 1728000007000, 'approved', ?, 'dlv_1', 0, 1, 0)`,
    )
      .bind(ACCOUNT, DAY)
      .run()
    const { text } = await read(CASE)
    expect(text).toContain('4 Oct 2024, 00:00:07 UTC')
    expect(text).toContain('Status draft Earned 1,710.00 EUR')
    expect(text.match(/Not in these figures/g)).toHaveLength(1)
    expect(text).toMatch(/t-0 Not in these figures/)
    expect(text).toContain('more than 1,000.00 EUR (100 % of the net revenue)')
  })

  test('is confirmed with a reason, and its customers are refused from a day on', async () => {
    const { text } = await send(CASE, {
      ...{ change: 'decide', decision: 'confirmed', reason: ' One device ', refuse1: 'c-2' },
      ...{ from: '2024-11-01', keep_hold: 'yes' },
      shown: '2',
    })

    expect(text).toMatch(/The case is decided\./)
    expect(text).toMatch(/confirmed the case: “One device”/)
    expect(text).toMatch(/The payouts stay held\. Refused from 1 Nov 2024: c-2/)
    expect(await rowsOf('customer_refusals')).toMatchObject([{ customer_id: 'c-2', day: 20_028 }])
    expect((await read(`${AT}/audit-log`)).text).toMatch(
      /decided a fraud case ?Case: .*Decision: confirmed.*Refused: 1/,
    )
  })

  test('that dismisses it and refuses customers is refused in the words of the form', async () => {
    const fields = { change: 'decide', decision: 'dismissed', reason: 'A campaign', refuse0: 'c-1' }
    const { text } = await send(CASE, fields)
    expect(text).toMatch(/“Refuse customers” cannot be used here: a dismissed case refuses nobody/)
    expect(text).not.toContain('`')
  })

  test('ends the hold that its decision has kept, with a reason', async () => {
    const decision = { change: 'decide', decision: 'confirmed', reason: 'One device' }
    expect((await send(CASE, { ...decision, keep_hold: 'yes' })).text).toMatch(/End the hold/)
    const { text } = await send(CASE, { change: 'release', reason: 'Paid back' })

    expect(text).toMatch(/The hold is ended\./)
    expect(text).toMatch(/The admin key ended the hold: “Paid back”/)
    expect(text).toMatch(/The admin key confirmed the case: “One device”/)
    expect(text).not.toMatch(/End the hold/)
    expect(await rowsOf('fraud_cases')).toMatchObject([{ status: 'confirmed', keep_hold: 0 }])
  })

  describe('where two persons decide, the second one', () => {
    const proposal = {
      ...{ decision: 'confirmed', reason: 'One device', keep_hold: true },
      ...{ refuse: ['c-1', 'c-2'], from: '2024-10-01' },
    }
    beforeEach(async () => {
      await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { approvals: 2 })
      const decided = await askAda(`accounts/${ACCOUNT}/cases/case_1/decide`, 'POST', proposal)
      expect(decided.status).toBe(202)
    })
    test('sees what the first one has proposed, and agrees with one button', async () => {
      const { html, text } = await read(CASE)
      expect(text).toMatch(
        /ada@\S+ proposed this on .{1,30}\. Once another person records the same/,
      )
      const form = html.slice(html.indexOf('id="change-decide"'))
      expect(form).toMatch(/<option value="confirmed" selected="">/)
      expect(form).toMatch(/name="keep_hold" value="yes" checked=""/)
      expect(form.match(/checked="" aria-label="Refuse/g)).toHaveLength(2)
      expect(form).toMatch(/name="from"[^>]* value="2024-10-01"/)
      expect(form).toContain('One device')
      const fields = {
        ...{ change: 'decide', decision: 'confirmed', keep_hold: 'yes', reason: 'One device' },
        ...{ refuse0: 'c-1', refuse1: 'c-2', from: '2024-10-01', shown: '2' },
      }
      expect((await send(CASE, fields)).text).toMatch(/The case is decided\./)
      expect(await rowsOf('fraud_cases')).toMatchObject([{ status: 'confirmed', keep_hold: 1 }])
      expect((await rowsOf('customer_refusals')).map((row) => [row.customer_id, row.day])).toEqual([
        ['c-1', 19_997],
        ['c-2', 19_997],
      ])
    })

    test('can decide otherwise, which another person must agree to', async () => {
      const fields = { change: 'decide', decision: 'dismissed', reason: 'A campaign' }
      expect((await send(CASE, fields)).text).toMatch(/A second person must agree before it takes/)
    })

    test('agrees to end a hold that was kept', async () => {
      await askAdmin(`accounts/${ACCOUNT}/cases/case_1/decide`, 'POST', proposal)
      const release = { decision: 'confirmed', reason: 'Paid back' }
      await askAda(`accounts/${ACCOUNT}/cases/case_1/decide`, 'POST', release)
      expect((await read(CASE)).text).toMatch(/proposed this on /)
      const { text } = await send(CASE, { change: 'release', reason: 'Paid back' })
      expect(text).toMatch(/The hold is ended\./)
    })
  })

  test('shows no form to a viewer and a manager', async () => {
    const viewer = await read(CASE, await signedInAs('viewer'))
    expect(viewer.html).not.toMatch(/id="change-/)
    expect(viewer.text).toMatch(
      /Only an approver can do this: decide the case\. Your role is viewer\./,
    )

    const manager = await read(CASE, await signedInAs('manager'))
    expect(manager.html).not.toMatch(/id="change-/)
  })
})

describe('a payout that a case holds', () => {
  test('needs two persons once the settings of the account say so', async () => {
    const { text } = await send(`${AT}/account`, {
      change: 'save',
      'was:approvals': '1',
      approvals: '2',
    })

    expect(text).toContain('The settings are saved.')
    expect(await json(askAdmin(`accounts/${ACCOUNT}`))).toMatchObject({ approvals: 2 })
  })

  test('has no tick, and leads to the case', async () => {
    const page = await approve('a', '40.50')
    const { html, text } = await read(`${AT}/payouts`)

    expect(html).toMatch(
      /<a href="[^"]*\/cases\?affiliate_id=a&amp;status=all">Held by the fraud review</,
    )
    expect(html).not.toMatch(/<input type="checkbox"/)
    expect(text).toMatch(/Held by the fraud review: 40\.50 EUR of 1 payee/)
    expect((await read(CASE)).text).toMatch(
      /Customers with records in this case; refuse others on their pages/,
    )
    expect((await read(AT)).text).toMatch(/Payable now Nothing Held by the fraud review: 40\.50 EUR of 1 payee/)
    const shown = await read(page)
    expect(shown.text).toMatch(/1 open case of the fraud review, which holds payouts\./)
  })
})

test('a statement and its affiliate name the confirmed cases that hold on', async () => {
  const page = await approve('a', '40.50')
  await changeCase('case_1', 'status', 'confirmed')
  const ended = await read(page)
  expect(ended.text).not.toContain('of the fraud review')
  expect(ended.text).toContain('It stands in To pay')

  await changeCase('case_1', 'keep_hold', 1)
  const held = await read(page)
  expect(held.text).toContain(
    '1 confirmed case of the fraud review, which holds payouts until an approver ends the hold.',
  )
  expect(held.html).toContain(`href="${CASE}"`)
  expect((await read(`${AT}/affiliates/a`)).text).toContain('1 confirmed case of the fraud review')
})

test('the approval of a period tells sums, cases and the largest changes of all drafts, and asks once', async () => {
  await storeCases(
    { id: 'case_2', affiliate: 'b', action: 'flag' },
    { id: 'case_3', affiliate: 'z', severity: 'low', action: 'flag' },
  )
  const many = Array.from({ length: 60 }, (_, i) => earning(`0${i}`, '2024-06', '1.00'))
  await storeRows([
    ...many,
    earning('a', '2024-06', '40.50'),
    earning('z', '2024-06', '2.00'),
    earning('z', '2024-05', '900.00'),
  ])
  const list = await read(`${AT}/statements?period=2024-06`)
  expect(list.html).not.toContain('value="approve"')
  const [, next = ''] = /href="([^"]*approve=yes[^"]*)"/.exec(list.html) ?? []
  const { html, text } = await read(next.replaceAll('&amp;', '&'))
  expect(text).toMatch(/62 drafts of June 2024 .*102\.50 EUR/)
  expect(text).toContain('2 open cases')
  expect(html).toContain('cases?draft_of=2024-06"')
  const changes = html.slice(html.indexOf('The largest changes against May 2024'))
  const named = [...changes.matchAll(/<bdi>(\w)<\/bdi>/g)].map(([, id]) => id)
  expect(named.slice(0, 2)).toEqual(['z', 'a'])
  expect(html.match(/value="approve"/g)).toHaveLength(1)
})
