import { expect, test } from 'vitest'
import { ada, deposit, issuedPartner } from '../partner.ts'
import { signedIn } from './browser.ts'

// The reports of the console in words.

/** Returns the page of a report of a broker with a deposit of 250 EUR, as text. */
async function readReport(query: string, status = 200): Promise<string> {
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
  expect(response.status).toBe(status)
  return response.text()
}

const OCTOBER = 'from=2026-10-01&to=2026-10-31&metrics=deposit_amount,deposit_count'

test('an amount without a rate is shown in its own currency, and never as 0', async () => {
  const text = await readReport(`${OCTOBER}&group_by=country_code&currency=USD`)

  expect(text).toMatch(/250 EUR<\/data> <small>no rate/)
  expect(text).not.toMatch(/<data value="0"/)
})

test('groups lead to reports', async () => {
  const text = await readReport('')
  const [, href = ''] = /<a href="([^"]*group_by=country_code[^"]*)"/.exec(text) ?? []
  const response = await (await signedIn()).get(href.replaceAll('&amp;', '&'))
  expect(await response.text()).toMatch(/, in USD<\/caption>|Nothing to show from \d/)
})

test.each(['', '&format=csv'])(
  'days that no report covers are refused beside their field, and the form keeps what it has%s',
  async (format) => {
    const query = 'from=2025-01-01&to=2026-10-31&group_by=country_code&affiliate_id=aff-7'
    const text = await readReport(query + format, 400)
    expect(text).toMatch(/id="filter-from-about"[^>]*><strong>.* at most 366 days/)
    for (const field of query.split('&')) {
      const [name, value] = field.split('=')
      expect(text).toMatch(new RegExp(`name="${name}"[^>]* value="${value}"`))
    }
  },
)

test('without a first day, a report has the 30 days before the last one', async () => {
  const text = await readReport('to=2026-03-01&metrics=signups')
  expect(text).toContain('name="from" type="date" value="2026-01-31"')
})
