import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { articleOf, type Letter } from '../src/commission/export/article.ts'
import { pageHeaders, pageOf } from '../src/commission/export/page.ts'
import type { Part, Presented } from '../src/commission/export/read.ts'
import { wordsOf } from '../src/commission/words/words.ts'
import { CONTRAST, findingsOf, injectAxe, RULES } from './browser/axe.ts'
import { ARGUMENTS, executablePath, skip } from './browser/chromium.ts'

// The printable page of statements in a browser, with its own headers and style sheet.

const ZERO = '0.00'

const statement = (n: number): Presented => ({
  id: `stm_${n}`,
  affiliate_id: `IB-0${n} <b>&amp;`,
  plan: 'standard-ib',
  period: '2026-10',
  currency: 'EUR',
  opening: ZERO,
  lines_sum: '410.00',
  adjustments_sum: '-12.00',
  manual_sum: '25.00',
  total: '423.00',
  payable: '423.00',
  closing: ZERO,
  dropped: '-1.00',
  transferred: { to: 'other', period: '2026-11', amount: '1.00' },
  received: [{ from: 'other', period: '2026-09', amount: '3.00' }],
  holds: [
    { rule: 'spread', version: 1, reason: 'fx_missing', currency: 'XAG', count: 2, sum: '7.5' },
  ],
  manual: [
    {
      id: 'man_1',
      amount: '25.00',
      reason: 'Bonus for October',
      reference: 'B-17',
      at: '2026-11-02T09:00:00.000Z',
    },
  ],
  lines_total: 4,
  adjustments_total: 1,
  payable_on: '2026-11-14',
  status: 'paid',
  hash: 'ab'.repeat(32),
  computed_at: '2026-11-01T06:00:00.000Z',
  approved_at: '2026-11-03T10:00:00.000Z',
  returned: null,
  paid: { reference: 'PAY-17', paid_on: '2026-11-16' },
})

const line = (n: number): Part['lines'][number] => ({
  id: `lin_${String(n).repeat(40)}`,
  rule: `majors-${n}`,
  version: 1,
  kind: 'unit',
  scope: `customer:C-100${n}`,
  base: null,
  units: '82',
  measure: '82',
  rate: null,
  step: [
    { from: '0', part: '50', rate: '5' },
    { from: '50', part: '32', rate: '6.5' },
  ],
  amount: '410.00',
  carried_in: '-2.50',
  carried_out: ZERO,
  capped: ZERO,
  recouped: ZERO,
  deficit: ZERO,
  fence: null,
  fx: [],
})

/** A part with so many lines, and an adjustment. */
const partOf = (lines: number): Part => ({
  hash: 'a'.repeat(64),
  lines: Array.from({ length: lines }, (_, i) => line(i)),
  adjustments: [
    {
      id: 'adj_1',
      of: { period: '2026-09', line: `lin_${'9'.repeat(40)}`, dropped_in: null },
      rule: 'majors-9',
      version: 1,
      scope: 'affiliate',
      occurrence: 0,
      amount: '-12.00',
      causes: [{ kind: 'rate', currency: 'USD' }],
      causes_total: 3,
    },
  ],
  part: 1,
  parts: 1,
})

async function* only(part: Part) {
  yield part
}

const letter: Letter = {
  sender: 'Acme Markets',
  address: ['Acme Markets Ltd', '1 High Street', 'London EC1A 1BB'],
  words: wordsOf('en-GB'),
  receiverOf: (affiliate) => (affiliate.startsWith('IB-01') ? 'Ada Partners' : null),
  termsOf: (_, version) => ({
    ...{ name: 'Standard IB', currency: 'EUR', period: 'month', effective_from: '2026-01-01' },
    ...{ terms: 'signup', negative: 'carry', minimum_payout: '0', hold_days: version * 14 },
    rules: [
      { id: 'majors-0', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '5.00' },
      { id: 'majors-1', kind: 'unit', unit: { activity: 'volume_usd' }, amount: '6.00' },
    ],
  }),
  nameOf: () => 'Standard IB',
}

/** Returns the page of a statement with so many lines. */
const written = async (lines: number, origin: string): Promise<string> =>
  pageOf(
    origin,
    'Statement of IB-01',
    'en',
    await articleOf(statement(1), only(partOf(lines)), letter),
  )

let browser: Browser
let page: Page
let origin: string
const complaints: string[] = []

const server = createServer(async ({ url = '' }, response) => {
  const [, lines] = /^\/statements\/(\d+)$/.exec(url) ?? []
  if (lines !== undefined) {
    response.writeHead(200, pageHeaders(origin))
    response.end(await written(Number(lines), origin))
  } else if (url === '/assets/statement.css') {
    response.writeHead(200, { 'Content-Type': 'text/css' })
    response.end(readFileSync('public/assets/statement.css'))
  } else response.writeHead(url === '/assets/favicon.svg' ? 204 : 404).end()
})

before(async () => {
  if (!executablePath) return
  await once(server.listen(0, '127.0.0.1'), 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await chromium.launch({ executablePath, args: ARGUMENTS })
  page = await browser.newPage()
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
})
after(async () => {
  await browser?.close()
  server.close()
})

const open = async (lines: number, width: number) => {
  await page.setViewportSize({ width, height: 900 })
  await page.goto(`${origin}/statements/${lines}`)
}

/** Prints the page. Returns the number of its sheets, and the text that print shows. */
async function print() {
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true })
  const sheets = pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length
  await page.emulateMedia({ media: 'print' })
  const text = await page.locator('body').innerText()
  await page.emulateMedia({ media: 'screen' })
  return { sheets, text: text.replaceAll(/\s/g, '') }
}

test('a statement prints with all its text', { skip }, async () => {
  await open(2, 1280)
  const { sheets, text } = await print()
  assert.equal(sheets, 2)
  for (const shown of [
    'IB-01 <b>&amp;',
    'Standard IB',
    'Ada Partners',
    'Acme Markets Ltd',
    'London EC1A 1BB',
    'Number 2026-10-1',
    '5.00 EUR for each lot traded.',
    'Customer C-1001',
    '50 at 5.00 EUR, 32 at 6.50 EUR',
    'carried in -2.50 EUR',
    '423.00 EUR',
    'Bonus for October',
    'Paid on 16 Nov 2026, reference PAY-17',
    'September 2026: -12.00 EUR by the rule majors-9, since the exchange rate of USD',
    'XAG',
  ]) {
    assert.ok(text.includes(shown.replaceAll(' ', '')), shown)
  }
  assert.ok(!text.includes('StatementofIB-01'), 'the title is not printed')
})

test('a long statement repeats the header of its table on each sheet', { skip }, async () => {
  await open(60, 1280)
  const { sheets = 0 } = await print()
  const display = await page.evaluate(`getComputedStyle(document.querySelector('thead')).display`)
  assert.deepEqual([sheets > 1, display], [true, 'table-header-group'])
})

test('print is black on white, also for a reader of dark pages', { skip }, async () => {
  await open(4, 1280)
  const colors = () =>
    page.evaluate(
      `(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))`,
    )
  await page.emulateMedia({ colorScheme: 'dark', media: 'screen' })
  assert.deepEqual(await colors(), ['rgb(221, 230, 232)', 'rgb(15, 22, 24)'])
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
  assert.deepEqual(await colors(), ['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
  await page.emulateMedia({ colorScheme: 'light', media: 'screen' })
})

for (const width of [1280, 390]) {
  test(`axe finds nothing, and nothing scrolls sideways, ${width} pixels wide`, {
    skip,
  }, async () => {
    await open(4, width)
    await injectAxe(page)
    assert.deepEqual(await findingsOf(page, RULES), [])
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.deepEqual(await findingsOf(page, CONTRAST), [])
    await page.emulateMedia({ colorScheme: 'light' })
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width)
  })
}

test('the page needs nothing that its policy refuses', { skip }, () => {
  assert.deepEqual(complaints, [])
})
