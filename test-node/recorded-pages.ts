import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { ARGUMENTS, executablePath, skip } from './browser/chromium.ts'
import { demoCase } from './console/demo-case.ts'
import { openSignedIn, type Shared } from './console/frame.ts'
import { pageAddresses } from './console/pages.ts'
import { joinPortal } from './portal/member.ts'
import { startService } from './service.ts'

// What each page of the console and of the portal says on the demo, without figures, dates and ids.
// `node --test --test-global-setup=test-node/setup.ts test-node/recorded-pages.ts` compares, with `RECORD=1` it records
// anew: each difference must be meant.

const FILE = 'recorded/pages.json'

/** The texts of a page and of its fields, with the names and choices of these. */
const READ_PAGE = `(() => {
  const lines = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = walker.currentNode
    if (node.parentElement.closest('script, style, svg, canvas')) continue
    if (node.nodeType === Node.TEXT_NODE) lines.push(node.textContent)
    else if (node.matches('input, select, textarea') && node.name)
      lines.push(node.tagName.toLowerCase() + ' ' + node.name)
    for (const name of ['placeholder', 'aria-label', 'title', 'alt'])
      if (node.getAttribute?.(name)) lines.push(name + ': ' + node.getAttribute(name))
  }
  return lines
})()`

const hrefs = (links: object[]) => links.map((link) => (link as { href: string }).href)

const MONTHS =
  /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|January|February|March|April|June|July|August|September|October|November|December)\b/g
const WEEKDAYS = /\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b/g

/** The id of a link, which may have no figure, is no word. */
const LINK_ID = /^(?![A-Z]?[a-z]+$|[A-Z]+$)[\w-]{8}$/

/** Leaves out what is not the same on each day and in each demo. Lines that are then equal stand once, sorted. */
const withoutFigures = (lines: readonly string[]) =>
  [
    ...new Set(
      lines
        .map((line) =>
          line
            .replace(/\S*(?:\d\S*[A-Za-z]|[A-Za-z]\S*\d)\S*/g, '#')
            .replace(/[-−+]?\d[\d.,:\u00a0\u202f]*/g, '#')
            .replace(MONTHS, '#')
            .replace(WEEKDAYS, '#')
            .replace(/\s+/g, ' ')
            .trim(),
        )
        .filter((line) => /[A-Za-z]/.test(line) && !LINK_ID.test(line)),
    ),
  ].sort()

describe('recorded pages', { skip, timeout: 600_000 }, () => {
  let service: Awaited<ReturnType<typeof startService>>
  let browser: Browser
  before(async () => {
    if (!executablePath) return
    ;[service, browser] = await Promise.all([
      startService(),
      chromium.launch({ executablePath, args: ARGUMENTS }),
    ])
  })
  after(async () => {
    await browser?.close()
    await service?.stop()
  })

  test('each page of console and portal says what it said', async () => {
    const { base_url: base, admin_key: key } = service.demo
    const context = await browser.newContext()
    const page = await context.newPage()
    const shared: Shared = { base, key, browser, page, demo: service.demo }
    const { case_id } = await demoCase(shared)
    const { client_id } = service.demo.accounts.find(({ account }) => account === 'demo-forex')!
    const shown: Record<string, string[]> = {}
    const read = async (address: string, name: string, reader: Page) => {
      await reader.goto(address)
      shown[name] = withoutFigures(await reader.evaluate<string[]>(READ_PAGE))
    }
    await openSignedIn(shared, '/console')
    const named = await pageAddresses({ client: 'CLIENT', case_id: 'CASE' })
    for (const name of named)
      await read(base + name.replace('CLIENT', client_id).replace('CASE', case_id), name, page)

    const member = await browser.newContext()
    const own = await member.newPage()
    const portal = await joinPortal(shared, member, own)
    await read(portal, '/portal', own)
    await own.goto(portal)
    const places = await own.locator('nav a').evaluateAll(hrefs)
    await own.goto(`${portal}/statements`)
    const statements = await own.locator('tbody a').evaluateAll(hrefs)
    await own.goto(statements[0]!)
    const lines = await own.locator('main a.amount').evaluateAll(hrefs)
    await read(statements[0]!, '/portal/statement', own)
    await read(lines[0]!, '/portal/line', own)
    for (const place of places) await read(place, new URL(place).pathname, own)

    if (process.env.RECORD) writeFileSync(FILE, `${JSON.stringify(shown, null, 1)}\n`)
    assert.deepEqual(shown, JSON.parse(readFileSync(FILE, 'utf8')))
  })
})
