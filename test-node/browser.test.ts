import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, chromium, type Page, type ViewportSize } from 'playwright-core'
import { startService } from './service.ts'

// What a reader sees and does in a browser, with the service behind it and no other network.

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** A Chromium of this machine: the one that is named, or one in the path. */
const found = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  ...(process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name))),
].find((path) => path !== '' && existsSync(path))

const skip = found ? false : 'there is no Chromium here: nothing was looked at in a browser'

const ADDRESSES = [
  '/',
  '/docs',
  ...readdirSync('docs/guide').map((file) => `/docs/${file.replace(/\.md$/, '')}`),
  '/problems/validation_failed',
  '/problems/invalid_scope',
]

const SCREENS = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
] as const

/** All rules that are on by themselves, and that of WCAG 2.2; only what is wrong is told in full. */
const RULES = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations' as const] }

/** What is wrong with a page, a line each. Its mode is the fast one: there are no frames here. */
async function violations(page: Page): Promise<string[]> {
  const axe = new AxeBuilder({ page }).options(RULES).setLegacyMode()
  const { violations } = await axe.analyze()
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html.slice(0, 200)}`),
  )
}

describe('in a browser', { timeout: 300_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  const trouble: string[] = []

  before(async () => {
    if (skip) return
    const args = ['--no-sandbox', '--disable-dev-shm-usage']
    ;[service, browser] = await Promise.all([
      startService(),
      chromium.launch({ executablePath: found!, args }),
    ])
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  /** A page of its own; whatever it complains of, or asks of others, is trouble. */
  async function open(address: string, viewport: ViewportSize = SCREENS[0]): Promise<Page> {
    const page = await browser.newPage({ viewport })
    const note = (text: string) => trouble.push(`${address}: ${text}`)
    page.on('console', (message) => message.type() === 'error' && note(message.text()))
    page.on('pageerror', (error) => note(String(error)))
    page.on('request', (request) => {
      if (!request.url().startsWith(`${service.demo.base_url}/`)) note(`asks ${request.url()}`)
    })
    await page.goto(service.demo.base_url + address)
    return page
  }

  const account = (vertical: string) =>
    service.demo.accounts.find((account) => account.vertical === vertical)!

  /** Opens the form of an operation, fills it in, sends it; what it shows. */
  async function tryIt(page: Page, id: string, fields: Record<string, string>) {
    const section = page.locator(`#${id}`)
    await section.locator('summary', { hasText: 'Try it' }).click()
    for (const [name, value] of Object.entries(fields)) {
      await section.locator(`form [name="${name}"]`).fill(value)
    }
    await section.getByRole('button', { name: 'Send' }).click()
    await section.locator('.answer pre').waitFor()
    return section.locator('.answer').innerText()
  }

  test('the reference shows each operation', { skip }, async () => {
    const page = await open('/docs')
    const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
    const expected = Object.entries<Record<string, { operationId: string; summary: string }>>(paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(
          ([method, { operationId, summary }]) =>
            `${operationId}: ${summary}, ${method.toUpperCase()} ${path}`,
        ),
      )
      .sort()
    const shown = await page.locator('section.operation').evaluateAll((sections) =>
      sections
        .filter((section) => section.checkVisibility())
        .map((section) => {
          const [title, address] = ['h3', '.address'].map((of) => section.querySelector(of))
          return `${section.id}: ${title?.textContent}, ${address?.textContent}`
        }),
    )
    assert.ok(expected.length > 90)
    assert.deepEqual(shown.sort(), expected)
    await page.close()
  })

  test('the list of operations shows those that are looked for', { skip }, async () => {
    const page = await open('/docs')
    await page.getByRole('searchbox').fill('control totals')
    const names = await page.locator('.side ul ul li:visible').allInnerTexts()
    assert.deepEqual([...new Set(names)], ['GET Control totals'])
    await page.getByRole('searchbox').fill('/tracking/events/held')
    assert.deepEqual(await page.locator('.side ul ul li:visible').allInnerTexts(), [
      'GET List what is held',
    ])
    await page.close()
  })

  test('a firm gets a token and sends a customer', { skip }, async () => {
    const page = await open('/docs')
    const { client_id, client_secret } = account('forex')
    await page.locator('#client_id').fill(client_id)
    await page.locator('#client_secret').fill(client_secret)
    await page.getByRole('button', { name: 'Get a token' }).click()
    await page.locator('#credentials .answer', { hasText: 'Status 200' }).waitFor()
    const token = await page.locator('#oauth').inputValue()
    assert.match(token, /^ey/)
    assert.ok(!(await page.locator('#credentials .answer').innerText()).includes(token))

    const body = JSON.stringify({
      customer_id: 'C from a browser',
      signup_date: '2026-10-02T08:30:00Z',
      affiliate_id: 'IB-07',
      tracking_data: 'click-42',
    })
    const dry = await tryIt(page, 'sendPropTradingCustomers', { body })
    assert.match(dry, /Status 403[\s\S]*"wrong_vertical"/)
    assert.match(await tryIt(page, 'sendForexCustomers', { body }), /Status 201[\s\S]*"created"/)
    const shown = await tryIt(page, 'getForexCustomers', { id: 'C from a browser' })
    assert.match(shown, /Status 200[\s\S]*"click-42"/)

    const at = `${service.demo.base_url}/api/v1/forex/customers/C%20from%20a%20browser`
    const answer = await fetch(at, { headers: { Authorization: `Bearer ${token}` } })
    assert.equal(answer.status, 200)
    await page.close()
  })

  test('a brand sends a customer with its token', { skip }, async () => {
    const page = await open('/docs', SCREENS[1])
    const { brand_token } = account('igaming')
    await page.locator('#brandToken').fill(brand_token)
    // What a record says is shown, and no more: an access_token of its own is nobody's token here.
    const body =
      '[{"customerId": "P-browser", "access_token": "x", "note": "<img src=x onerror=alert(1)>"}]'
    assert.match(await tryIt(page, 'sendIgamingCustomers', { body }), /Status 200[\s\S]*"created"/)

    const at = `${service.demo.base_url}/tracking/events/customers/P-browser`
    const answer = await fetch(at, { headers: { 'x-api-key': brand_token } })
    assert.equal(answer.status, 200)
    assert.match(await tryIt(page, 'getIgamingCustomers', { id: 'P-browser' }), /onerror/)
    assert.equal(await page.locator('#oauth').inputValue(), '')
    assert.equal(await page.locator('.answer img').count(), 0)
    const again = page.locator('#getIgamingCustomers')
    await again.locator('form [name="id"]').fill('..')
    await again.getByRole('button', { name: 'Send' }).click()
    await again.locator('.answer', { hasText: 'cannot name' }).waitFor()
    await page.close()
  })

  describe('axe finds nothing, and no page scrolls sideways', { concurrency: 2 }, () => {
    for (const screen of SCREENS) {
      test(`${screen.width} wide, light and dark`, { skip }, async () => {
        const wrong: string[] = []
        const page = await open('/', screen)
        for (const address of ADDRESSES) {
          await page.goto(service.demo.base_url + address)
          // All that can be opened is open: forms to try, answers, the menu of a phone.
          await page.locator('details > summary:visible').evaluateAll((all) => {
            for (const summary of all) summary.click()
          })
          const width = await page.locator('html').evaluate((root) => root.scrollWidth)
          if (width > screen.width) wrong.push(`${address}: is ${width} wide`)
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme })
            const found = await violations(page)
            wrong.push(...found.map((what) => `${address}, ${colorScheme}: ${what}`))
          }
        }
        assert.deepEqual(wrong, [])
        await page.close()
      })
    }
  })

  test('no page complained, or asked anything of another origin', { skip }, () => {
    // The refusal that was tried above is told by the browser, too.
    const others = trouble.filter((line) => !line.includes('responded with a status of 403'))
    assert.deepEqual(others, [])
  })
})
