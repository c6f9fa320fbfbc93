import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Cookie, Page } from 'playwright-core'
import { skip } from '../browser/chromium.ts'
import { findingsOfPages } from '../browser/findings.ts'
import { DESKTOP, PHONE } from '../browser/viewports.ts'
import type { Demo } from '../service.ts'
import { demoCase } from './demo-case.ts'
import { pageAddresses } from './pages.ts'
import { sendRefused } from './refused.ts'

/** What the tests in a browser share: the service with its demo accounts, and one page. */
export interface Shared {
  readonly base: string
  readonly key: string
  readonly browser: Browser
  readonly page: Page
  readonly demo: Demo
}

/** The cookies of the page of all tests once it has signed in: each test starts without cookies. */
const sessions = new WeakMap<Page, Cookie[]>()

const SIGN_IN = '/console/sign-in'

/** Opens an address of the console. Signs in by the form unless the page has done so before. */
export async function openSignedIn(
  shared: Shared,
  address: string,
  viewport = DESKTOP,
): Promise<void> {
  const { base, page } = shared
  const session = sessions.get(page)
  if (session) await page.context().addCookies(session)
  await page.setViewportSize(viewport)
  await page.goto(base + address)
  if (page.url().includes(SIGN_IN)) await signIn(shared, address)
}

/** Signs in by the form on the page, which then leads to an address. */
async function signIn({ base, key, page }: Shared, address: string): Promise<void> {
  await page.getByLabel('Admin key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(base + address)
  sessions.set(page, await page.context().cookies())
}

/** Returns the id of the latest delivery with refused records. */
async function refusedDelivery({ base, key }: Shared): Promise<string> {
  const url = `${base}/admin/v1/accounts/demo-forex/deliveries?status=refused&per_page=1`
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
  const { data } = (await answer.json()) as { data: { delivery_id: string }[] }
  assert.ok(data[0])
  return data[0].delivery_id
}

/** Creates a webhook that is sent nothing, and returns its id. */
async function newWebhook({ base, key }: Shared): Promise<string> {
  const answer = await fetch(`${base}/admin/v1/accounts/demo-forex/webhooks`, {
    method: 'POST',
    body: JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['feed.late'] }),
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  })
  return ((await answer.json()) as { id: string }).id
}

/** Asks a question about a statement of the demo account, and returns its id. */
async function newQuestion({ base, key }: Shared): Promise<string> {
  const at = `${base}/admin/v1/accounts/demo-forex`
  const team = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const made = await fetch(`${at}/affiliates/IB-07/keys`, {
    ...{ method: 'POST', headers: team },
    body: JSON.stringify({ name: 'Questions', scope: 'read links' }),
  })
  const { affiliate_key, id } = (await made.json()) as { affiliate_key: string; id: string }
  const response = await fetch(`${base}/affiliate/v1/questions`, {
    ...{ method: 'POST', headers: { ...team, Authorization: `Bearer ${affiliate_key}` } },
    body: JSON.stringify({ statement: 'stm_06d9848e0c96f1d466c5108e', text: 'Why is it less?' }),
  })
  await fetch(`${at}/affiliates/IB-07/keys/${id}`, { method: 'DELETE', headers: team })
  const question = (await response.json()) as { id: string }
  assert.ok(question.id)
  return question.id
}

/** A report. */
const BY_DAY = '/console/accounts/demo-forex/reports?from=2026-03-01&to=2026-03-31&group_by=day'

/** Defines the tests of the console that hold for every page. */
export function frameTests(shared: () => Shared): void {
  test('axe finds nothing on any page of the console', { skip }, async () => {
    const { base, page, demo } = shared()
    await sendRefused(demo, ['T-refused-1'])
    const addresses = await pageAddresses({
      delivery_id: await refusedDelivery(shared()),
      webhook_id: await newWebhook(shared()),
      case_id: (await demoCase(shared())).case_id,
      question_id: await newQuestion(shared()),
    })
    assert.ok(addresses.length >= 4)
    const found = await findingsOfPages(page, [SIGN_IN, ...addresses], async (address) => {
      if (address !== SIGN_IN) return openSignedIn(shared(), address, PHONE)
      await page.context().clearCookies()
      await page.goto(base + SIGN_IN)
    })
    assert.deepEqual(found, [])
  })

  test('a member signs in, finds an account and signs out', { skip }, async () => {
    const { base, page } = shared()
    await page.setViewportSize(DESKTOP)
    await page.goto(`${base}/console`)
    await signIn(shared(), '/console')
    await page.getByRole('link', { name: 'Demo Forex' }).click()
    await page.waitForURL(`${base}/console/accounts/demo-forex`)
    assert.equal(await page.locator('h1').innerText(), 'Demo Forex')
    await page.locator('.side').getByRole('link', { name: 'Accounts', exact: true }).click()
    await page.locator('main').getByRole('link', { name: 'Demo Casino' }).click()
    await page.waitForURL(`${base}/console/accounts/demo-brand`)
    await page.locator('.side').getByRole('link', { name: 'Audit log' }).first().click()
    await page.waitForURL(`${base}/console/accounts/demo-brand/audit-log`)
    assert.match(
      await page.locator('main').innerText(),
      /The admin key created account\s+Name: Demo Casino/,
    )
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${base}/console/sign-in`)
    await page.goto(`${base}/console`)
    assert.match(page.url(), /\/console\/sign-in\?next=%2Fconsole$/)
  })

  test('the console works without a script, and by the keyboard', { skip }, async () => {
    const { base, key, browser, demo } = shared()
    const page = await browser.newPage({ javaScriptEnabled: false, viewport: DESKTOP })
    try {
      await openSignedIn({ base, key, browser, page, demo }, BY_DAY)
      // Throws if it does not become visible.
      await page.getByRole('table').first().waitFor()
      await page.keyboard.press('Tab')
      // The first stop is the link that skips the navigation.
      await page.keyboard.press('Enter')
      assert.match(page.url(), /#main$/)
    } finally {
      await page.close()
    }
  })
}
