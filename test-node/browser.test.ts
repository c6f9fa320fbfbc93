import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath, skip } from './browser/chromium.ts'
import { findingsOf, findingsOfPages } from './browser/findings.ts'
import { HEADER_AND_COPY, OPEN_DETAILS } from './browser/page.ts'
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
import { teamTests } from './console/team.ts'
import { portalPageTests } from './portal/pages.ts'
import { startService } from './service.ts'

// The documentation in a browser, with the service behind it and no other network.

const ADDRESSES = [
  '/',
  '/docs/reference',
  // All pages of the reference are made in the same way, and so are those of the guide.
  '/docs/reference/affiliate-api',
  '/docs/start',
  '/docs/errors',
]
const GUIDE = readdirSync('docs/guide').map((file) => `/docs/${file.replace(/\.md$/, '')}`)

describe('in a browser', { timeout: 900_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  /** The page of all tests. A new page takes Chromium five times as long as a navigation. */
  let page: Page
  const complaints: string[] = []

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
      const { origin } = new URL(request.url())
      const isOwn = origin.replace('localhost', '127.0.0.1') === service.demo.base_url
      if (!isOwn) note(`asks ${request.url()}`)
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

  test('/docs and trailing slashes lead to the overview', { skip }, async () => {
    await open('/docs')
    for (const address of ['/docs', '/docs/', '/docs/reference', '/docs/reference/']) {
      await page.goto(service.demo.base_url + address)
      assert.equal(await page.locator('h1').innerText(), 'API reference', address)
    }
    await page.goto(`${service.demo.base_url}/docs/reference/webhooks/`)
    assert.equal(await page.locator('h1').innerText(), 'Webhooks')
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

  test('on a phone the header is one line without key hints, and Copy covers no code', {
    skip,
  }, async () => {
    for (const address of ['/', '/docs/start', '/docs/reference/webhooks']) {
      await open(address, PHONE)
      await page.getByRole('button', { name: 'Search' }).waitFor()
      const found = await page.evaluate(HEADER_AND_COPY)
      assert.deepEqual(found, { rows: 1, covered: 0, keys: 0 }, address)
    }
    await page.locator('.menu summary').click()
    await page.locator('.menu a[href="#schemas"]').click()
    assert.equal(await page.locator('.menu nav').isVisible(), false)
  })

  test('a page of the reference is folded, and a link opens the operation or schema that it names', {
    skip,
  }, async () => {
    await open('/docs/reference/forex-records', PHONE)
    const folded = page.locator('.folded[open]')
    for (const id of ['listForexTransactions', 'schema-Problem']) {
      assert.equal(await folded.count(), 0)
      await page.evaluate(`location.hash = '${id}'`)
      await folded.locator(`#${id}`).waitFor()
      await page.reload()
      await folded.locator(`#${id}`).waitFor()
      await folded.locator('summary').first().click()
    }
  })

  const shared = () => {
    const { base_url, admin_key: key } = service.demo
    // The console sends browsers to the host that has passkeys.
    const base = base_url.replace('127.0.0.1', 'localhost')
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
    teamTests(shared)
  })

  describe('the portal', () => portalPageTests(shared))

  // They close periods of demo accounts.
  describe('the tasks of a manager', () => taskTests(shared))

  describe('axe finds nothing, and no page scrolls sideways', () => {
    test('on any page, on a desktop or on a phone', { skip }, async () => {
      const findings = await findingsOfPages(page, ADDRESSES, async (address) => {
        await page.goto(service.demo.base_url + address)
      })
      for (const address of GUIDE.filter((one) => !ADDRESSES.includes(one))) {
        await open(address, PHONE)
        const width = await page.evaluate<number>(OPEN_DETAILS)
        if (width > PHONE.width) findings.push(`${address} is ${width} pixels wide`)
      }
      assert.deepEqual(findings, [])
    })

    test('the search on a phone', { skip }, async () => {
      await open('/', PHONE)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('searchbox').fill('currency')
      await page.locator('.results a').first().waitFor()
      assert.deepEqual(await findingsOf(page), [])
    })
  })

  test('no page logged an error or contacted another origin', { skip }, () => {
    assert.deepEqual(complaints, [])
  })
})
