import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { ALL_PAGES, addressOf, PAGES } from '../scripts/docs/site/reference/pages.ts'
import { injectAxe } from './browser/axe.ts'
import { ARGUMENTS, executablePath, skip } from './browser/chromium.ts'
import { findingsOfPages, findingsOnDesktop } from './browser/findings.ts'
import {
  clickHidden,
  fieldValue,
  keepOperations,
  openHidden,
  operationIds,
  setFields,
  show,
  trySample,
} from './browser/page.ts'
import { DESKTOP, PHONE } from './browser/viewports.ts'
import { accountTests } from './console/account.ts'
import { caseTests } from './console/cases.ts'
import { dataTests } from './console/data.ts'
import { frameTests } from './console/frame.ts'
import { fraudRuleTests } from './console/fraud-rules.ts'
import { moneyTests } from './console/money.ts'
import { oddTests } from './console/odd.ts'
import { portalTests } from './console/portal.ts'
import { taskTests } from './console/tasks.ts'
import { portalPageTests } from './portal/pages.ts'
import { startService } from './service.ts'

// The documentation in a browser, with the service behind it and no other network.

const REFERENCE = ALL_PAGES.map(addressOf)

const ADDRESSES = [
  '/',
  '/docs/reference',
  ...REFERENCE,
  ...readdirSync('docs/guide').map((file) => `/docs/${file.replace(/\.md$/, '')}`),
]

/** The operations that need the hash of a draft, or a statement that is approved or paid. */
const BOOKINGS = new Set(['approveStatement', 'payStatement', 'returnPayment', 'importPayouts'])

describe('in a browser', { timeout: 900_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  /** The page of all tests. A new page takes Chromium five times as long as a navigation. */
  let page: Page
  const complaints: string[] = []
  /** The key of an affiliate of the forex account, which no demo credential is. */
  let affiliateKey = ''

  /** Records the errors of a page and its requests to other origins. */
  function watch(watched: Page) {
    const note = (text: string) => complaints.push(`${watched.url()}: ${text}`)
    watched.on('console', (message) => {
      // A form or a filter that is refused is shown again, with the status of the refusal.
      const isRefusal = / status of 4(?:00|09|22) /.test(message.text())
      const isOwn = message.location().url === watched.url()
      if (message.type() === 'error' && !(isRefusal && isOwn)) note(message.text())
    })
    watched.on('pageerror', (error) => note(String(error)))
    watched.on('request', (request) => {
      // The page does not follow a redirect, but Chromium announces its target.
      if (request.redirectedFrom()) return
      if (!request.url().startsWith(`${service.demo.base_url}/`)) note(`asks ${request.url()}`)
    })
  }

  before(async () => {
    if (!executablePath) return
    ;[service, browser] = await Promise.all([
      startService(),
      chromium.launch({ executablePath, args: ARGUMENTS }),
    ])
    page = await browser.newPage()
    watch(page)
  })
  // A page that is shared must carry nothing from one test to the next.
  beforeEach(async () => {
    if (!executablePath) return
    await page.context().clearCookies()
    if (page.url().startsWith('http'))
      await page.evaluate('localStorage.clear(); sessionStorage.clear()')
    await page.goto('about:blank')
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Opens an address in the page of all tests. */
  async function open(address: string, viewport = DESKTOP): Promise<void> {
    await page.setViewportSize(viewport)
    await page.goto(service.demo.base_url + address)
  }

  /**
   * Opens a page of the reference with only some of its operations. With all of them Chromium would lay
   * out a page of a megabyte for each click.
   */
  async function openOperations(
    name: string,
    ids: readonly string[],
    viewport = DESKTOP,
  ): Promise<void> {
    await page.setViewportSize(viewport)
    await openHidden(page, `${service.demo.base_url}/docs/reference/${name}`)
    await keepOperations(page, ids)
    await show(page)
  }

  const account = (vertical: string) => {
    const found = service.demo.accounts.find((one) => one.vertical === vertical)
    assert.ok(found)
    return found
  }

  /** Returns the credentials that a page asks for, by the ids of its fields. */
  function credentials(vertical: string) {
    const { client_id, client_secret, brand_token } = account(vertical)
    const { admin_key } = service.demo
    return { client_id, client_secret, brandToken: brand_token, adminKey: admin_key, affiliateKey }
  }

  /** Fills in the credentials that a page asks for. */
  async function authenticate(vertical: string) {
    for (const [id, value] of Object.entries(credentials(vertical)))
      if ((await fieldValue(page, id)) !== undefined) await page.locator(`#${id}`).fill(value ?? '')
    if ((await fieldValue(page, 'oauth')) === undefined) return
    await page.getByRole('button', { name: 'Get a token' }).click()
    await tokenOnPage()
  }

  /** Waits for the token that the page has asked for. */
  async function tokenOnPage() {
    for (let i = 0; i < 250 && (await fieldValue(page, 'oauth')) === ''; i++) await sleep(20)
  }

  /** Opens a page that stays hidden, with the credentials of an account. */
  async function openHiddenAs(vertical: string, address: string) {
    await openHidden(page, service.demo.base_url + address)
    await setFields(page, credentials(vertical))
    await getHiddenToken()
  }

  async function getHiddenToken() {
    if ((await fieldValue(page, 'oauth')) === undefined) return
    await setFields(page, { oauth: '' })
    await clickHidden(page, 'Get a token')
    await tokenOnPage()
  }

  /** Opens the form of an operation, fills fields in, sends it and returns the shown response. */
  async function tryIt(section: Locator, fields: Record<string, string> = {}): Promise<string> {
    await section.locator('summary', { hasText: 'Try it' }).click()
    for (const [name, value] of Object.entries(fields)) {
      await section.locator(`form [name="${name}"]`).fill(value)
    }
    await section.getByRole('button', { name: 'Send' }).click()
    await section.locator('.answer p').waitFor()
    return section.locator('.answer').innerText()
  }

  test('/docs and trailing slashes lead to the overview', { skip }, async () => {
    await open('/docs')
    for (const address of ['/docs', '/docs/', '/docs/reference', '/docs/reference/']) {
      await page.goto(service.demo.base_url + address)
      assert.equal(await page.locator('h1').innerText(), 'API reference', address)
    }
    await page.goto(`${service.demo.base_url}/docs/reference/documents/`)
    assert.equal(await page.locator('h1').innerText(), 'Public documents')
    await page.goto(`${service.demo.base_url}/docs#getStart`)
    await page.locator('#getStart a').click()
    assert.match(page.url(), /\/docs\/reference\/documents#getStart$/)
  })

  test('without a script every sample of a page can be opened and read', { skip }, async () => {
    const page = await browser.newPage({ viewport: DESKTOP, javaScriptEnabled: false })
    watch(page)
    await page.goto(`${service.demo.base_url}/docs/reference/forex-records`)
    const request = page.locator('#sendForexCustomers .request')
    assert.equal(await request.locator('pre:visible').count(), 1)
    await request.locator('summary', { hasText: 'Python' }).click()
    assert.match(await request.locator('pre:visible').innerText(), /^import json/)
    await page.close()
  })

  test('a reader finds pages by the search', { skip }, async () => {
    await open('/docs/start')
    await page.keyboard.press('/')
    const input = page.getByRole('searchbox')
    const status = page.locator('#search-status')
    await input.fill('withdrawn')
    await status.filter({ hasText: /\d results?/ }).waitFor()
    assert.match(await page.locator('.results').innerText(), /withdrawn_currency/)
    await input.fill('qqqqzz')
    await status.filter({ hasText: 'No results for “qqqqzz”.' }).waitFor()
    assert.equal(await page.locator('.results li').count(), 0)
    await input.fill('validation_failed')
    await page.locator('.results a', { hasText: 'validation_failed' }).first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/validation_failed/)
  })

  test('the chosen language of samples is remembered on other pages', { skip }, async () => {
    await openOperations('forex-records', ['sendForexCustomers', 'listForexHeld'])
    const tab = (id: string, name: string) =>
      page.locator(`#${id} .tabs`).getByRole('button', { name })
    await tab('sendForexCustomers', 'Python').click()
    assert.equal(await tab('listForexHeld', 'Python').getAttribute('aria-pressed'), 'true')
    await openOperations('brands-records', ['listIgamingHeld'])
    assert.equal(await tab('listIgamingHeld', 'Python').getAttribute('aria-pressed'), 'true')
    const shown = page.locator('#listIgamingHeld .request pre:visible')
    assert.match(await shown.innerText(), /^import json/)
  })

  test('a test starts without the stored state of the test before', { skip }, async () => {
    await openHidden(page, `${service.demo.base_url}/docs/reference/forex-records`)
    assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0)
    assert.deepEqual(await page.context().cookies(), [])
    assert.equal(await fieldValue(page, 'client_secret'), '')
  })

  test('the side bar marks the operation on the screen', { skip }, async () => {
    await open('/docs/reference/forex-records')
    const marked = page.locator('.side .operations [aria-current]')
    for (const id of ['listForexTransactions', 'sendForexCustomers']) {
      await page.locator(`#${id} h3`).evaluate((heading) => heading.scrollIntoView())
      await page.locator(`.side [href="#${id}"][aria-current="location"]`).waitFor()
      assert.equal(await marked.count(), 1)
    }
  })

  test('the response hides an issued token, and a text response is never markup', {
    skip,
  }, async () => {
    await openOperations('forex-records', [])
    await authenticate('forex')
    const token = (await fieldValue(page, 'oauth')) ?? ''
    assert.match(token, /^ey/)
    assert.ok(!(await page.locator('#credentials').innerText()).includes(token))

    await openOperations('brands-records', ['sendIgamingCustomers', 'getIgamingCustomers'], PHONE)
    await authenticate('igaming')
    const body =
      '[{"customerId": "P-browser", "access_token": "x", "note": "<img src=x onerror=alert(1)>"}]'
    const sent = await tryIt(page.locator('#sendIgamingCustomers'), { body })
    assert.match(sent, /Status 200[\s\S]*"created": 1,/)
    const read = page.locator('#getIgamingCustomers')
    assert.match(await tryIt(read, { id: 'P-browser' }), /onerror/)
    assert.equal(await page.locator('.answer img').count(), 0)
    await read.locator('form [name="id"]').fill('..')
    await read.getByRole('button', { name: 'Send' }).click()
    await read.locator('.answer', { hasText: 'cannot contain' }).waitFor()
  })

  const shared = () => {
    const { base_url: base, admin_key: key } = service.demo
    return { base, key, browser, page, demo: service.demo }
  }

  describe('the console', () => {
    // They send the refused records that the pages then show.
    dataTests(shared)
    frameTests(shared)
    moneyTests(shared)
    fraudRuleTests(shared)
    oddTests(shared)
    accountTests(shared)
    caseTests(shared)
    portalTests(shared)
  })

  describe('the portal', () => portalPageTests(shared))

  test('an administrator types the key and a new account, and clicks', { skip }, async () => {
    await openOperations('accounts', ['createAccount'])
    await page.locator('#adminKey').click()
    await page.keyboard.type(service.demo.admin_key)
    const section = page.locator('#createAccount')
    await section.locator('summary', { hasText: 'Try it' }).click()
    await section.locator('form [name="body"]').click()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('{"account": "typed", "name": "Typed", "vertical": "forex"}')
    await section.getByRole('button', { name: 'Send' }).click()
    await section.locator('.answer p').waitFor()
    const shown = await section.locator('.answer').innerText()
    assert.match(shown, /Status 201[\s\S]*"account": "typed"/)
    assert.ok(!shown.includes(service.demo.admin_key))
  })

  async function askTeam<T>(method: string, path: string, body?: object): Promise<T> {
    const { base_url, admin_key } = service.demo
    const response = await fetch(`${base_url}/admin/v1/accounts/${path}`, {
      method,
      headers: { Authorization: `Bearer ${admin_key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${answer}`)
    return JSON.parse(answer) as T
  }

  /** Returns the id of a line of the first statement of the demo account. */
  async function lineOf(vertical: string): Promise<string> {
    const at = `${account(vertical).account}/statements`
    const { data } = await askTeam<{ data: { id: string }[] }>('GET', `${at}?period=2026-03`)
    const { lines } = await askTeam<{ lines: { id: string }[] }>('GET', `${at}/${data[0]!.id}`)
    return lines[0]!.id
  }

  /** Returns the id under which the affiliate sees a line of their first statement. */
  async function shownLine(): Promise<string> {
    const ask = async <T>(path: string): Promise<T> => {
      const url = new URL(`/affiliate/v1/statements${path}`, service.demo.base_url)
      const response = await fetch(url, { headers: { Authorization: `Bearer ${affiliateKey}` } })
      return (await response.json()) as T
    }
    const { data } = await ask<{ data: { id: string }[] }>('?period=2026-03')
    const { lines } = await ask<{ lines: { id: string }[] }>(`/${data[0]!.id}`)
    return lines[0]!.id
  }

  /** Computes a draft that pays something: the tests of the console approve those of the demo. */
  async function addDraft(): Promise<void> {
    await askTeam('POST', 'demo-forex/manual-entries', {
      affiliate_id: 'IB-07',
      plan: 'demo-ib',
      // More than the least that the plan pays.
      amount: '50.00',
      reason: 'A bonus',
      reference: 'browser-test',
    })
    const { id } = await askTeam<{ id: string }>('POST', 'demo-forex/periods/2026-04/run')
    for (let status = 'running'; status === 'running'; await sleep(100)) {
      ;({ status } = await askTeam<{ status: string }>('GET', `demo-forex/runs/${id}`))
    }
  }

  /** Returns the first statement of the demo account with a status that pays something. */
  async function statementWith(status: string): Promise<{ id: string; hash: string }> {
    type Listed = { id: string; hash: string; payable: string }
    const path = `demo-forex/statements?per_page=100&status=${status}`
    const { data } = await askTeam<{ data: Listed[] }>('GET', path)
    return data.find(({ payable }) => /[1-9]/.test(payable))!
  }

  /** Returns the values for an operation that books: no sample can have the state of the demo. */
  async function bookingValues(id: string): Promise<Record<string, string>> {
    if (id === 'approveStatement') {
      await addDraft()
      const { id: statement_id, hash } = await statementWith('draft')
      return { statement_id, body: JSON.stringify({ hash, leave_out_holds: true }) }
    }
    if (id === 'returnPayment') return { statement_id: (await statementWith('paid')).id }
    if (id === 'payStatement') return { statement_id: (await statementWith('approved')).id }
    const { data } = await askTeam<{ data: Record<string, string>[] }>(
      'GET',
      'demo-forex/payouts?status=paid',
    )
    const { affiliate_id, currency, amount, reference, paid_on } = data[0]!
    return { body: JSON.stringify([{ affiliate_id, currency, amount, reference, paid_on }]) }
  }

  /** Returns the id of a new webhook: the demo has none, and no sample can have one. */
  async function webhookValues(): Promise<Record<string, string>> {
    const terms = { url: 'http://127.0.0.1:9/hooks', events: ['statement.paid'] }
    return { webhook_id: (await askTeam<{ id: string }>('POST', 'demo-forex/webhooks', terms)).id }
  }

  /** Returns the id of a new postback: the demo has none, and no sample can have one. */
  async function postbackValues(id: string): Promise<Record<string, string>> {
    const ofTeam = /^(pausePostback|listAffiliatePostbacks)$/.test(id) && { affiliate_id: 'IB-07' }
    if (/^(listPostbacks|createPostback|listAffiliatePostbacks)$/.test(id)) return { ...ofTeam }
    const { base_url } = service.demo
    const headers = { Authorization: `Bearer ${affiliateKey}`, 'Content-Type': 'application/json' }
    const listed = await fetch(`${base_url}/affiliate/v1/postbacks`, { headers })
    const { data } = (await listed.json()) as { data: { id: string }[] }
    // An affiliate has at most five.
    for (const one of data.slice(4)) {
      const url = `${base_url}/affiliate/v1/postbacks/${one.id}`
      await fetch(url, { method: 'DELETE', headers })
    }
    const response = await fetch(`${base_url}/affiliate/v1/postbacks`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({ url: 'http://127.0.0.1:9/p', events: ['signup'] }),
    })
    const { id: postback_id } = (await response.json()) as { id: string }
    return { ...ofTeam, postback_id }
  }

  /** Returns the id of a case of the demo account: it is derived, so that no sample can have it. */
  async function caseValues(id: string, vertical: string): Promise<Record<string, string>> {
    const own = account(vertical).account
    // Of the demo accounts only the broker has cases.
    const rule =
      vertical === 'forex'
        ? { kind: 'lot_churn', parameters: { percent: '1' } }
        : {
            kind: 'commission_over_revenue',
            parameters: { periods: 1, percent: '0.1', min: '0' },
          }
    await askTeam('PUT', `${own}/fraud-rules/any`, {
      ...{ name: 'Any', effective_from: '2026-01-01', severity: 'low' },
      ...rule,
    })
    for (let isDone = false; !isDone; ) {
      isDone = (await askTeam<{ done: boolean }>('POST', `${own}/fraud-rules/run`)).done
    }
    const query = id === 'decideFraudCase' ? 'cases?status=open' : 'cases'
    const { data } = await askTeam<{ data: { case_id: string }[] }>('GET', `${own}/${query}`)
    const { case_id } = data[0]!
    if (id !== 'decideFraudCase') return { case_id }
    return { case_id, body: JSON.stringify({ decision: 'dismissed', reason: 'A campaign' }) }
  }

  /** Returns the id of a file of the demo account, which is exported first. */
  async function exportValues(id: string, vertical: string): Promise<Record<string, string>> {
    const own = account(vertical).account
    await askTeam('PATCH', own, { exports: 'without_personal_data' })
    if (id === 'startExport') return {}
    await askTeam('POST', `${own}/exports`, {})
    for (;;) {
      const { data } = await askTeam<{ data: { id: string }[] }>('GET', `${own}/exports`)
      if (data[0]) return { export_id: data[0].id }
      await sleep(500)
    }
  }

  /** Returns the values of operations with keys of an affiliate and with invitations, which the demo has not. */
  async function accessValues(id: string): Promise<Record<string, string>> {
    const affiliate_id = 'IB-07'
    if (/^inviteAffiliate/.test(id)) return { affiliate_id, body: '{}' }
    const made = /^end/.test(id) ? (/^endInvitation/.test(id) ? 'invitations' : 'keys') : null
    if (made === null) return { body: JSON.stringify({ name: 'Tracker', scope: 'read' }) }
    const terms = made === 'keys' ? { name: 'Ended', scope: 'read' } : {}
    const at = `demo-forex/affiliates/${affiliate_id}/${made}`
    const one = await askTeam<{ id: string }>('POST', at, terms)
    return made === 'keys'
      ? { affiliate_id, key_id: one.id }
      : { affiliate_id, invitation_id: one.id }
  }

  /** Returns the values of operations on questions: a new one about a statement of the affiliate. */
  async function questionValues(id: string): Promise<Record<string, string>> {
    const { data } = await askTeam<{ data: { id: string }[] }>(
      ...(['GET', 'demo-forex/statements?affiliate_id=IB-07'] as const),
    )
    const body = JSON.stringify({ statement: data[0]?.id, text: 'Why is this less?' })
    if (id === 'askQuestion') return { body }
    const headers = { Authorization: `Bearer ${affiliateKey}`, 'Content-Type': 'application/json' }
    const url = new URL('/affiliate/v1/questions', service.demo.base_url)
    const made = await fetch(url, { method: 'POST', headers, body })
    const { id: question_id } = (await made.json()) as { id: string }
    return { question_id }
  }

  /** Returns the values of operations on links of an affiliate: the demo allows no page. */
  async function ownLinkValues(id: string): Promise<Record<string, string>> {
    const landing_page = 'https://acme.example/start'
    await askTeam('PATCH', 'demo-forex', { landing_pages: [landing_page] })
    if (id === 'createOwnLink') return { body: JSON.stringify({ landing_page }) }
    const terms = { affiliate_id: 'IB-07', landing_page }
    const { link_id } = await askTeam<{ link_id: string }>('POST', 'demo-forex/links', terms)
    return { link_id, ...(id === 'changeOwnLink' && { body: JSON.stringify({ name: 'Spring' }) }) }
  }

  /** Returns the values that a reader types, because no sample can have them. */
  async function typedValues(id: string, vertical: string): Promise<Record<string, string>> {
    if (id === 'followLink') return { link_id: account(vertical).link_id }
    if (/OwnLink$/.test(id)) return ownLinkValues(id)
    if (/AffiliateLine/.test(id)) return { line_id: await shownLine() }
    if (/Explanation$|^listLine/.test(id)) return { line_id: await lineOf(vertical) }
    if (/^deleteAffiliate/.test(id)) {
      await askTeam('PUT', 'demo-forex/affiliates', [{ affiliate_id: id }])
      return { affiliate_id: id }
    }
    if (BOOKINGS.has(id)) return bookingValues(id)
    if (/Question$/.test(id)) return questionValues(id)
    if (
      /^(make|end)AffiliateKey|Invitation(ById)?$|^inviteAffiliate(ById)?$/.test(id) &&
      !/^list/.test(id)
    )
      return accessValues(id)
    if (/^get\w*Export$|^startExport$/.test(id)) return exportValues(id, vertical)
    if (/FraudCase(Note)?$|FraudEvidence$/.test(id)) return caseValues(id, vertical)
    if (/Postback/.test(id)) return postbackValues(id)
    if (/Webhook/.test(id) && !/^(create|list)Webhooks?$/.test(id)) return webhookValues()
    if (id === 'getActivityEarnings') return { account: 'demo-brand', id: 'e dep-3501' }
    if (id === 'withdrawPlanVersion') {
      // The first version stays, because the sample of assignments names its plan.
      const terms = JSON.parse(readFileSync('examples/plans/ib-per-lot.json', 'utf8'))
      const later = { ...terms, effective_from: '2099-01-01' }
      await askTeam('PUT', 'demo-forex/plans/standard-ib', later)
      return { version: '2' }
    }
    if (id !== 'getRun') return {}
    const run = await askTeam<{ id: string }>('POST', 'demo-forex/periods/2026-03/run')
    return { run_id: run.id }
  }

  /** What the demo has none of: a member has a passkey, and a hold of the demo has not ended. */
  const ABSENT = new Set([
    ...['removeMember', 'removeMemberById', 'acknowledgeEndedHold'],
    // It has one database.
    ...['moveAccount', 'getMove', 'cancelMove', 'confirmMove'],
    // None of its months is so old.
    ...['archiveMonth', 'archiveDue'],
  ])

  /** Sends the form of every operation once. Returns the failures. */
  async function tryAll(ids: readonly string[], vertical: string): Promise<string[]> {
    const failures: string[] = []
    for (const id of ids.filter((one) => !ABSENT.has(one))) {
      const shown = await trySample(page, id, await typedValues(id, vertical))
      if (!/^(Status 2\d\d|Redirected)/.test(shown)) failures.push(`${id}: ${shown}`)
      if (id === 'revokeToken') await getHiddenToken()
    }
    return failures
  }

  // In reverse order: after the sample records are sent, no operation depends on another.
  for (const [name, vertical] of [
    ['prop-trading', 'prop-trading'],
    ['forex', 'forex'],
    ['brands', 'igaming'],
  ] as const) {
    test(`${name}: the first try of every operation succeeds`, { skip }, async () => {
      await openHiddenAs(vertical, `/docs/reference/${name}-records`)
      await clickHidden(page, 'Send the sample records')
      const results = page.locator('.records .answer li')
      await results.nth(vertical === 'igaming' ? 1 : 2).waitFor({ state: 'attached' })
      for (const result of await results.allTextContents()) assert.match(result, /Status 20[01]\./)
      const ids = (await operationIds(page)).reverse()
      assert.deepEqual(await tryAll(ids, vertical), [])
      await openHiddenAs(vertical, `/docs/reference/${name}-commissions`)
      assert.deepEqual(await tryAll(await operationIds(page), vertical), [])
    })
  }

  const OTHERS = PAGES.filter(({ name }) => !/^(prop-trading|forex|brands)-/.test(name))

  test('other pages: the first try of every operation succeeds', { skip }, async () => {
    const { affiliate_key } = await askTeam<{ affiliate_key: string }>(
      ...(['POST', 'demo-forex/affiliates/IB-07/keys'] as const),
      { name: 'Browser', scope: 'read links' },
    )
    affiliateKey = affiliate_key
    for (const { name } of OTHERS) {
      await openHiddenAs('forex', `/docs/reference/${name}`)
      assert.deepEqual(await tryAll(await operationIds(page), 'forex'), [])
    }
  })

  // They close periods of demo accounts, and what the pages above try would be refused then.
  describe('the tasks of a manager', () => taskTests(shared))

  describe('axe finds nothing, and no page scrolls sideways', () => {
    test('every kind of element, on a desktop and on a phone', { skip }, async () => {
      const findings = await findingsOfPages(page, ADDRESSES, (address) =>
        openHidden(page, service.demo.base_url + address),
      )
      assert.deepEqual(findings, [])
    })

    for (const viewport of [DESKTOP, PHONE]) {
      test(`the search, ${viewport.width} pixels wide`, { skip }, async () => {
        await open('/', viewport)
        await page.getByRole('button', { name: 'Search' }).click()
        await page.getByRole('searchbox').fill('currency')
        await page.locator('.results a').first().waitFor()
        await injectAxe(page)
        assert.deepEqual(await findingsOnDesktop(page), [])
      })
    }
  })

  test('no page logged an error or contacted another origin', { skip }, () => {
    assert.deepEqual(complaints, [])
  })
})
