import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core'
import { AUDIENCES, addressOf } from '../scripts/docs/site/reference/audiences.ts'
import { startService } from './service.ts'

// The documentation in a browser, with the service behind it and no other network.

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium of this machine: the one in `CHROMIUM`, or one in the path. */
const executablePath = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  ...(process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name))),
].find((path) => path !== '' && existsSync(path))

const skip = executablePath ? false : 'Chromium is not installed'

const REFERENCE = AUDIENCES.map(addressOf)

const ADDRESSES = [
  '/',
  '/docs/reference',
  ...REFERENCE,
  ...readdirSync('docs/guide').map((file) => `/docs/${file.replace(/\.md$/, '')}`),
  '/problems/validation_failed',
  '/problems/invalid_scope',
]

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/** All rules that are on by default, and the target size of WCAG 2.2. */
const ALL_RULES = { rules: { 'target-size': { enabled: true } } }

const WITHOUT_CONTRAST = { rules: { ...ALL_RULES.rules, 'color-contrast': { enabled: false } } }

/** The only rule whose findings depend on the color scheme. */
const CONTRAST = { runOnly: ['color-contrast'] }

/** Returns the findings of axe. Its legacy mode is fast and sufficient, since there are no frames. */
async function findingsOf(page: Page, options: object): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await axe.options({ ...options, resultTypes: ['violations'] }).analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html.slice(0, 200)}`),
  )
}

/** Returns the findings of axe: of all rules, and of contrast in both color schemes. */
async function violations(page: Page, withContrast = true): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await findingsOf(page, withContrast ? ALL_RULES : WITHOUT_CONTRAST)
  if (!withContrast) return light
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await findingsOf(page, CONTRAST)
  return [...light, ...dark.map((finding) => `dark: ${finding}`)]
}

describe('in a browser', { timeout: 400_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  const complaints: string[] = []

  before(async () => {
    if (!executablePath) return
    const args = ['--no-sandbox', '--disable-dev-shm-usage']
    ;[service, browser] = await Promise.all([
      startService(),
      chromium.launch({ executablePath, args }),
    ])
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** Opens a page. Records its errors and its requests to other origins. */
  async function open(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await browser.newPage({ viewport: DESKTOP, ...options })
    const note = (text: string) => complaints.push(`${address}: ${text}`)
    page.on('console', (message) => message.type() === 'error' && note(message.text()))
    page.on('pageerror', (error) => note(String(error)))
    page.on('request', (request) => {
      // The page does not follow a redirect, but Chromium announces its target.
      if (request.redirectedFrom()) return
      if (!request.url().startsWith(`${service.demo.base_url}/`)) note(`asks ${request.url()}`)
    })
    await page.goto(service.demo.base_url + address)
    return page
  }

  const account = (vertical: string) => {
    const found = service.demo.accounts.find((one) => one.vertical === vertical)
    assert.ok(found)
    return found
  }

  /** Fills in the credentials that a page asks for. */
  async function authenticate(page: Page, vertical: string) {
    const { client_id, client_secret, brand_token } = account(vertical)
    const values = {
      client_id,
      client_secret,
      brandToken: brand_token,
      adminKey: service.demo.admin_key,
    }
    for (const [id, value] of Object.entries(values)) {
      const field = page.locator(`#${id}`)
      if ((await field.count()) > 0) await field.fill(value ?? '')
    }
    if ((await page.locator('#oauth').count()) > 0) await getToken(page)
  }

  async function getToken(page: Page): Promise<string> {
    await page.locator('#oauth').fill('')
    await page.getByRole('button', { name: 'Get a token' }).click()
    for (let i = 0; i < 100 && (await page.locator('#oauth').inputValue()) === ''; i++) {
      await page.waitForTimeout(50)
    }
    return page.locator('#oauth').inputValue()
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
    const page = await open('/docs')
    for (const address of ['/docs', '/docs/', '/docs/reference', '/docs/reference/']) {
      await page.goto(service.demo.base_url + address)
      assert.equal(await page.locator('h1').innerText(), 'API reference', address)
    }
    await page.goto(`${service.demo.base_url}/docs/reference/forex/`)
    assert.equal(await page.locator('h1').innerText(), 'Forex')
    await page.goto(`${service.demo.base_url}/docs#sendForexCustomers`)
    await page.locator('#sendForexCustomers a').click()
    assert.match(page.url(), /\/docs\/reference\/forex#sendForexCustomers$/)
    await page.close()
  })

  test('without a script every sample of a page can be opened and read', { skip }, async () => {
    const page = await open('/docs/reference/forex', { javaScriptEnabled: false })
    const request = page.locator('#sendForexCustomers .request')
    assert.equal(await request.locator('pre:visible').count(), 1)
    await request.locator('summary', { hasText: 'Python' }).click()
    assert.match(await request.locator('pre:visible').innerText(), /^import json/)
    await page.close()
  })

  test('a reader finds pages by the search', { skip }, async () => {
    const page = await open('/docs/start')
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
    await page.locator('.results a', { hasText: 'validation_failed:' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/validation_failed/)
    await page.close()
  })

  test('the chosen language of samples is remembered on other pages', { skip }, async () => {
    const page = await open('/docs/reference/forex')
    const tab = (id: string, name: string) =>
      page.locator(`#${id} .tabs`).getByRole('button', { name })
    await tab('sendForexCustomers', 'Python').click()
    assert.equal(await tab('listForexHeld', 'Python').getAttribute('aria-pressed'), 'true')
    await page.goto(`${service.demo.base_url}/docs/reference/brands`)
    assert.equal(await tab('listIgamingHeld', 'Python').getAttribute('aria-pressed'), 'true')
    const shown = page.locator('#listIgamingHeld .request pre:visible')
    assert.match(await shown.innerText(), /^import json/)
    await page.close()
  })

  test('the side bar marks the operation on the screen', { skip }, async () => {
    const page = await open('/docs/reference/forex')
    const marked = page.locator('.side .operations [aria-current]')
    for (const id of ['listForexTransactions', 'sendForexCustomers']) {
      await page.locator(`#${id} h3`).evaluate((heading) => heading.scrollIntoView())
      await page.locator(`.side [href="#${id}"][aria-current="location"]`).waitFor()
      assert.equal(await marked.count(), 1)
    }
    await page.close()
  })

  test('the response hides an issued token, and a text response is never markup', {
    skip,
  }, async () => {
    const page = await open('/docs/reference/forex')
    await authenticate(page, 'forex')
    const token = await page.locator('#oauth').inputValue()
    assert.match(token, /^ey/)
    assert.ok(!(await page.locator('#credentials').innerText()).includes(token))
    await page.close()

    const brandPage = await open('/docs/reference/brands', { viewport: PHONE })
    await authenticate(brandPage, 'igaming')
    const body =
      '[{"customerId": "P-browser", "access_token": "x", "note": "<img src=x onerror=alert(1)>"}]'
    const sent = await tryIt(brandPage.locator('#sendIgamingCustomers'), { body })
    assert.match(sent, /Status 200[\s\S]*"created": 1,/)
    const read = brandPage.locator('#getIgamingCustomers')
    assert.match(await tryIt(read, { id: 'P-browser' }), /onerror/)
    assert.equal(await brandPage.locator('.answer img').count(), 0)
    await read.locator('form [name="id"]').fill('..')
    await read.getByRole('button', { name: 'Send' }).click()
    await read.locator('.answer', { hasText: 'cannot contain' }).waitFor()
    await brandPage.close()
  })

  /** Sends the form of every operation once, without changing its values. Returns the failures. */
  async function tryAll(page: Page, ids: readonly string[], vertical: string): Promise<string[]> {
    const failures: string[] = []
    for (const id of ids) {
      const { link_id } = account(vertical)
      const shown = await tryIt(page.locator(`#${id}`), id === 'followLink' ? { link_id } : {})
      if (!/^(Status 2\d\d|Redirected)/.test(shown)) failures.push(`${id}: ${shown}`)
      if (id === 'revokeToken') await getToken(page)
    }
    return failures
  }

  const operationIds = (page: Page) =>
    page.locator('section.operation').evaluateAll((sections) => sections.map(({ id }) => id))

  // In reverse order: after the sample records are sent, no operation depends on another.
  for (const [name, vertical] of [
    ['prop-trading', 'prop-trading'],
    ['forex', 'forex'],
    ['brands', 'igaming'],
  ] as const) {
    test(`${name}: the first try of every operation succeeds`, { skip }, async () => {
      const page = await open(`/docs/reference/${name}`)
      await authenticate(page, vertical)
      await page.getByRole('button', { name: 'Send the sample records' }).click()
      const results = page.locator('.records .answer li')
      await results.nth(vertical === 'igaming' ? 1 : 2).waitFor()
      for (const result of await results.allInnerTexts()) assert.match(result, /Status 20[01]\./)
      const ids = (await operationIds(page)).reverse()
      assert.deepEqual(await tryAll(page, ids, vertical), [])
      await page.close()
    })
  }

  test('documents and administration: the first try of every operation succeeds', {
    skip,
  }, async () => {
    for (const name of ['documents', 'administration']) {
      const page = await open(`/docs/reference/${name}`)
      await authenticate(page, 'forex')
      assert.deepEqual(await tryAll(page, await operationIds(page), 'forex'), [])
      await page.close()
    }
  })

  /** Opens all forms and samples, and the menu on a phone. */
  const openAll = (page: Page) =>
    page.locator('details:visible').evaluateAll((all) => {
      for (const details of all) details.toggleAttribute('open', true)
    })

  describe('axe finds nothing, and no page scrolls sideways', { concurrency: 2 }, () => {
    for (const viewport of [DESKTOP, PHONE]) {
      test(`${viewport.width} pixels wide, every page`, { skip }, async () => {
        const findings: string[] = []
        const page = await open('/', { viewport })
        for (const address of ADDRESSES) {
          await page.goto(service.demo.base_url + address)
          // One page of the reference is checked with all forms and samples open: they are alike.
          const isLarge = REFERENCE.includes(address) && address !== REFERENCE[2]
          if (!isLarge) await openAll(page)
          const width = await page.locator('html').evaluate((root) => root.scrollWidth)
          if (width > viewport.width) findings.push(`${address}: is ${width} wide`)
          // Colors do not depend on the width, and all pages of the reference have the same.
          const found = await violations(page, viewport === DESKTOP && !isLarge)
          findings.push(...found.map((finding) => `${address}: ${finding}`))
        }
        assert.deepEqual(findings, [])
        await page.close()
      })

      test(`${viewport.width} pixels wide, the search`, { skip }, async () => {
        const page = await open('/', { viewport })
        await page.getByRole('button', { name: 'Search' }).click()
        await page.getByRole('searchbox').fill('currency')
        await page.locator('.results a').first().waitFor()
        assert.deepEqual(await violations(page), [])
        await page.close()
      })
    }
  })

  test('no page logged an error or contacted another origin', { skip }, () => {
    assert.deepEqual(complaints, [])
  })
})
