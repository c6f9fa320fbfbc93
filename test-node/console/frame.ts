import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, Cookie, Page } from 'playwright-core'
import { skip } from '../browser/chromium.ts'
import { DESKTOP } from '../browser/viewports.ts'
import type { Demo } from '../service.ts'

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

export const SIGN_IN = '/console/sign-in'

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

/** Fills in the form that takes a key, and sends it. */
export async function sendKey(page: Page, key: string): Promise<void> {
  await page.getByText('Sign in with the service’s key').click()
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Sign in with the key' }).click()
}

/** Signs in by the form on the page, which then leads to an address. */
async function signIn({ base, key, page }: Shared, address: string): Promise<void> {
  await sendKey(page, key)
  await page.waitForURL(base + address)
  sessions.set(page, await page.context().cookies())
}

/** A report. */
const BY_DAY = '/console/accounts/demo-forex/reports?from=2026-03-01&to=2026-03-31&group_by=day'

/** Defines the tests of the console that hold for every page. */
export function frameTests(shared: () => Shared): void {
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
      /The root key created the account\s+Name: Demo Casino/,
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
