import { describe, expect, test } from 'vitest'
import { comparedWith } from '../src/console/pages/reports.tsx'
import { changeWords } from '../src/console/parts/report.tsx'
import { groupText, groupTitle, metricTitle } from '../src/console/parts/report-words.ts'
import { groupsOf, metricsOf } from '../src/reports/report.ts'
import { signedIn } from './console/browser.ts'
import { ada, deposit, issuedPartner } from './partner.ts'

// The reports of the console in words.

const VERTICALS = ['forex', 'prop-trading', 'igaming']

describe.each(VERTICALS)('%s', (vertical) => {
  test('each metric has its own title', () => {
    const titles = metricsOf(vertical).map(({ name }) => metricTitle(name))

    expect(titles.filter((title) => !/^[A-Z][A-Za-z, ]+$/.test(title))).toEqual([])
    expect(new Set(titles).size).toBe(titles.length)
  })

  test('each group has its own title', () => {
    const titles = groupsOf(vertical).map(groupTitle)

    expect(titles.filter((title) => !/^[A-Z][A-Za-z\d ]+$/.test(title))).toEqual([])
    expect(new Set(titles).size).toBe(titles.length)
  })
})

test.each([
  ['deposit_amount', 'Deposits'],
  ['deposit_unapproved_count', 'Number of deposits, not approved'],
  ['first_deposit_amount', 'Amount of first deposits'],
  ['ib_rebate_amount', 'IB rebates'],
  ['DailyStats.count', 'DailyStats: number'],
  ['Daily\\.Stats.unapproved.net_win', 'Daily.Stats: net win, not approved'],
])('%s is called “%s”', (name, title) => {
  expect(metricTitle(name)).toBe(title)
})

test.each([
  ['day', '2026-10-05', '5 Oct 2026'],
  ['week', '2026-W41', 'Week 41 of 2026'],
  ['country_code', 'DE', 'Germany'],
  ['country_code', '??', '??'],
  ['transaction_type', 'ib_rebate', 'IB rebates'],
  ['affiliate_id', null, 'none'],
] as const)('the %s %s is written as “%s”', (name, value, text) => {
  expect(groupText(name, value)).toBe(text)
})

test.each([
  [120, 100, '20 % more'],
  [99.5, 100, '0.5 % less'],
  [-50, -100, '50 % more'],
  [5, 5, 'the same'],
  [5, 0, 'none before'],
  [5000, 1, 'more than ten times as much'],
  [null, 5, null],
  [5, null, null],
] as const)('%s after %s is “%s”', (now, before, words) => {
  expect(changeWords(now, before)).toBe(words)
})

/** Returns the page of a report of a broker with a deposit of 250 EUR, as text. */
async function readReport(query: string): Promise<string> {
  const acme = await issuedPartner('forex', { account: 'acme' })
  await acme.post('customers', { ...ada, country_code: 'DE' })
  const at = '2026-10-05T10:00:00Z'
  await acme.post('transactions', {
    ...deposit,
    amount_currency: 250,
    currency: 'EUR',
    transaction_date: at,
  })
  const response = await (await signedIn()).get(`/console/accounts/acme/reports?${query}`)
  expect(response.status).toBe(200)
  return response.text()
}

const OCTOBER = 'from=2026-10-01&to=2026-10-31&metrics=deposit_amount,deposit_count'

test('an amount without a rate is shown in its own currency, and never as 0', async () => {
  const text = await readReport(`${OCTOBER}&group_by=country_code&currency=USD`)

  expect(text).toMatch(/250 EUR<\/data> <small>no rate/)
  expect(text).not.toMatch(/<data value="0"/)
})

test('a report by country has bars, its days in words and the change since the days before', async () => {
  const text = await readReport(`${OCTOBER}&group_by=country_code&currency=EUR`)

  expect(text).toContain('1 Oct 2026 to 31 Oct 2026, in EUR')
  expect(text).toContain('Compared with 1 Sept 2026 to 30 Sept 2026, the month before.')
  expect(text).toMatch(/<section class="bar-list" aria-label="Deposits \(EUR\)">[\s\S]*?Germany/)
  expect(text).toMatch(/<rect[^>]*width="100%"/)
  expect(text).toContain('none before')
  expect(text).not.toContain('data-chart')
})

test('a report by day is a line that has the days without records, too', async () => {
  const text = await readReport(`${OCTOBER}&group_by=day&currency=EUR`)

  expect(text).toContain('data-chart')
  expect(text.match(/<th scope="row">\d+ Oct 2026<\/th>/g)).toHaveLength(31)
})

test('presets lead to reports', async () => {
  const text = await readReport('')
  const links = [...text.matchAll(/<a href="(\/console[^"]*reports\?[^"]*group_by=[^"]*)">By /g)]
  const browser = await signedIn()

  expect(links).toHaveLength(3)
  for (const [, href = ''] of links) {
    const response = await browser.get(href.replaceAll('&amp;', '&'))
    expect(await response.text()).toMatch(/, in USD<\/caption>|No records from \d/)
  }
})

test.each([
  ['2026-10-01', '2026-10-31', '2026-09-01', '2026-09-30', 'the month before'],
  ['2026-01-01', '2026-03-31', '2025-10-01', '2025-12-31', 'the 3 months before'],
  ['2026-01-01', '2026-11-20', '2025-01-01', '2025-11-20', 'the same days of last year'],
  ['2026-10-06', '2026-10-07', '2026-10-04', '2026-10-05', 'the days before'],
])('%s to %s is compared with %s to %s', (from, to, first, last, words) => {
  const compared = comparedWith({ from, to }, Date.parse('2026-11-20T08:00:00Z'))

  expect(compared).toEqual({ days: { from: first, to: last }, words })
})

test('a missing or wrong first day and a wrong currency keep the form', async () => {
  const text = await readReport('to=2026-03-01&metrics=signups')
  expect(text).toContain('name="from" type="date" value="2026-01-31"')
  const browser = await signedIn()
  const at = '/console/accounts/acme/reports'

  const wrong = await (await browser.get(`${at}?to=2026-03-01&from=2026-02-31`)).text()
  expect(wrong).toMatch(/name="to" type="date" value="2026-03-01"/)
  expect(wrong).toMatch(/id="filter-from-about"[^>]*><strong>“2026-02-31” is not a day/)
  const currency = await (await browser.get(`${at}?currency=XXX1`)).text()
  expect(currency).toMatch(
    /id="filter-currency-about"[^>]*><strong>“XXX1” is not a currency\. Write/,
  )
})
