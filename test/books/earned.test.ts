import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { signedIn } from '../console/browser.ts'
import { askAdmin, json } from '../partner.ts'
import { signedInFor } from '../portal/join.ts'
import { bookFirm, payment } from './book-firm.ts'

const MONTH = '2030-12'

/** Returns the first amount below or beside each title of a page that begins with “Earned”. */
const earnedIn = (html: string): string[] =>
  [...html.matchAll(/(<[^<>]*[">])(?=(Earned.*))/g)].flatMap(([, tag = '', rest = '']) => {
    if (tag.includes('scope="col"')) return []
    const text = rest.replaceAll(/<[^>]*>/g, ' ').replaceAll(',', '')
    return /\d+\.\d\d(?= EUR)/.exec(text) ?? ['none']
  })

test('§20.7 “Earned” is lines and adjustments without manual entries, wherever it stands', async () => {
  const { post, run, approvePeriod, enter, path } = await bookFirm()
  const of = `affiliate_id=a-1&period=${MONTH}`
  await post('transactions', [payment(1, 1, '2030-11', 1000)])
  await run('2030-11')
  await approvePeriod('2030-11')
  const recent = { transaction_date: `${MONTH}-02T10:00:00Z` }
  await post('transactions', [
    payment(2, 1, '2030-11', -99.4),
    { ...payment(3, 1, MONTH, 17_198.8), ...recent },
  ])
  await run(MONTH)
  await enter('a-1', 'zero', '-50', 'r-1')
  await run(MONTH)

  const [statement] = (await json(askAdmin(`${path}/statements?${of}`))).data
  const { lines_sum, adjustments_sum, manual_sum, total } = statement
  expect([lines_sum, adjustments_sum, manual_sum, total]).toEqual([
    '1719.88',
    '-9.94',
    '-50.00',
    '1659.94',
  ])
  const csv = askAdmin(`${path}/statements?${of}`, 'GET', undefined, { Accept: 'text/csv' })
  const [titles = [], cells = []] = (await (await csv).text())
    .split('\r\n')
    .map((row) => row.split(','))
  const totals = await json(askAdmin(`${path}/statements/totals?${of}&status=draft`))
  const compared = await json(askAdmin(`${path}/statements?period=${MONTH}&order=change`))
  const next = await json(askAdmin(`${path}/statements?period=2030-11&order=change`))
  const periods = await json(askAdmin(`${path}/periods`))
  const figures = await json(askAdmin(`${path}/affiliates/figures?affiliate_id=a-1`))
  const ofMonth = <T extends { period: string }>(rows: T[]) =>
    rows.filter(({ period }) => period === MONTH)
  expect([
    statement.earned,
    cells[titles.indexOf('earned')],
    totals.data[0].earned,
    compared.data[0].earned,
    ofMonth<{ period: string; earned: string }>(periods.data)[0]?.earned,
    ofMonth<{ period: string; total: string }>(figures.data[0].earned)[0]?.total,
  ]).toEqual(Array(6).fill('1709.94'))
  expect([compared.data[0].earned_before, next.data[0].earned]).toEqual(['100.00', '100.00'])

  const browser = await signedIn()
  const portal = await signedInFor('acme-forex', 'a-1')
  const pages = [
    ...[
      `statements?${of}`,
      `statements/${statement.id}`,
      'affiliates?search=a-1',
      'affiliates/a-1',
    ].map((page) => [browser, `/console/${path}/${page}`] as const),
    ...['', `/statements/${statement.id}`].map(
      (page) => [portal, `/portal/acme-forex${page}`] as const,
    ),
  ]
  for (const [reader, page] of pages) {
    const found = earnedIn(await (await reader.get(page)).text())
    expect(found, page).toContain('1709.94')
    expect(found, page).not.toContain('1659.94')
  }
  // A month that is over: what waits is what it pays.
  const over = 'update statements set period = ? where id = ?'
  await env.DB.prepare(over).bind('2026-01', statement.id).run()
  const overview = await (await portal.get('/portal/acme-forex')).text()
  expect(overview).toContain('1,659.94 EUR of January 2026 waits for approval.')
})
