import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { archive, keepTotals, monthOf, restore, restoreWanted } from './archive-steps.ts'
import { KEY_WORLD, signedIn } from './console/browser.ts'
import { ada, deposit, partner, traded } from './partner.ts'

// The page of an account that shows its archived months, and brings one back.

const AT = '/console/accounts/acme/archive'
const VIEWER = 'v'.repeat(40)

/** Returns a firm whose deposits of the first month are archived, and how to read and change the page. */
async function open() {
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  await acme.post('customers', [ada])
  for (const month of ['2024-01', '2024-02', '2024-03']) {
    const transaction_date = `${month}-05T09:30:00.000Z`
    await acme.post('transactions', [
      { ...deposit, transaction_id: `t-${month}`, transaction_date },
      { ...deposit, transaction_id: `u-${month}`, transaction_date },
    ])
  }
  await acme.post('trading-activity', [{ ...traded, date: '2024-03-07' }])
  await keepTotals('acme', 'forex', '2024-01-01', '2024-03-31')
  await archive(monthOf('acme', 'transactions', '2024-01'))
  const browser = await signedIn()
  const page = async () =>
    (await (await browser.get(AT)).text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  const change = async (fields: Record<string, string>) =>
    browser.post(AT, { csrf: await browser.csrf(AT), ...fields })
  return { page, change, browser }
}

test('the page says what is in the archive, and which older months stay for which reason', async () => {
  const { page } = await open()
  const text = await page()
  expect(text).toMatch(/January 2024 2 transactions [\d.]+ KB in the archive/)
  expect(text).toContain('Records leave after 13 months')
  expect(text).toContain('February 2024 transactions They leave soon')
  expect(text).toMatch(/March 2024 (transactions, records of|records of [\w ]+, tran)/)
})

test('months one after another with the same records and reason are one row', async () => {
  const { page } = await open()
  await env.DB.prepare(`delete from activity`).run()
  expect(await page()).toContain('February 2024 to March 2024 transactions')
})

test('a month in the archive lies between the rows of its neighbours', async () => {
  const { page } = await open()
  await env.DB.prepare(`delete from activity`).run()
  await archive(monthOf('acme', 'transactions', '2024-02'))
  await restore(monthOf('acme', 'transactions', '2024-01'))
  await env.DB.prepare('delete from retired_archives').run()
  const text = await page()
  expect(text).toContain('January 2024 transactions They leave soon')
  expect(text).toContain('March 2024 transactions They leave soon')
})

test('a month is brought back from the page', async () => {
  const { page, change } = await open()
  expect(await page()).toContain('January 2024: 2 transactions')
  const done = await change({ change: 'restore', month: '2024-01' })
  expect(done.status).toBe(303)
  expect(await page()).toMatch(/January 2024 2 transactions [\d.]+ KB comes back/)
  expect(await restoreWanted()).toBe(1)
  const text = await page()
  expect(text).toContain('No month is in the archive.')
  expect(text).toContain('January 2024 transactions Its records came back less than 30 days ago.')
  expect((await change({ change: 'restore', month: '..' })).status).toBe(404)
})

test('a month that stays says why on the page', async () => {
  const { change } = await open()
  const refused = await change({ change: 'archive', month: '2026-10' })
  expect([refused.status, await refused.text()]).toEqual([
    409,
    expect.stringContaining('stay in the database'),
  ])
  expect((await change({ change: 'archive', month: '2024-02' })).status).toBe(303)
})

test('a damaged file is named with what to do, until somebody asks again', async () => {
  const { page, change } = await open()
  await env.DB.prepare(`update archived_months set fault = 'archive/acme/x', wanted_at = 1`).run()
  expect(await page()).toMatch(/damaged A file is damaged or missing.*runbook.* archive\/acme\/x /)
  await change({ change: 'restore', month: '2024-01' })
  expect(await page()).toMatch(/January 2024 2 transactions [\d.]+ KB comes back/)
})

test('a month whose files have other sums than its days is said to stay', async () => {
  const { page } = await open()
  await env.DB.prepare(
    `update archived_months set state = 'writing', fault = 'control totals'`,
  ).run()
  const text = await page()
  expect(text).toContain('Its files do not have the sums of its days')
  expect(text).not.toContain('damaged')
})

test('viewers see the archive, and change nothing', async () => {
  await open()
  const world = {
    ...KEY_WORLD,
    ADMIN_KEYS: JSON.stringify({ vic: { key: VIEWER, role: 'viewer' } }),
  }
  const text = await (await (await signedIn(world as Env, undefined, VIEWER)).get(AT)).text()
  expect(text).toContain('in the archive')
  expect(text).toContain('Only the role manager can do this.')
})

test('the settings change after how many months records leave, or that they stay', async () => {
  const { page, browser } = await open()
  const at = '/console/accounts/acme/account'
  const save = async (archive_after: string, was: string) => {
    const fields = { archive_after, 'was:archive_after': was, change: 'save' }
    return (await browser.post(at, { csrf: await browser.csrf(at), ...fields })).status
  }
  expect(await save('24', '13')).toBe(303)
  expect(await page()).toContain('Records leave after 24 months')
  expect(await save('12', '24')).toBe(422)
  expect(await save('', '24')).toBe(303)
  const text = await page()
  expect(text).toContain('Records leave after never')
  expect(text).not.toContain('In the database at least from')
  expect(await (await browser.get(at)).text()).toContain('name="was:archive_after" value=""')
})

test('a report that needs the records says so, and leads to itself', async () => {
  const { browser } = await open()
  const at = '/console/accounts/acme/reports?from=2024-01-01&to=2024-01-31'
  const read = async () => (await browser.get(at)).text()
  const text = await read()
  expect(text).toContain('Records of January 2024 are in the archive, and come back from it now.')
  expect(text).toContain(`Try again in a minute. <a href="${at.replaceAll('&', '&amp;')}">Try`)
  expect(text).not.toContain('Repeat the same request')
  // The style hides what was the status of the computation.
  expect(text).toMatch(/role="alert"><p>Records of/)
  await restoreWanted()
  expect(await read()).not.toContain('Try again')
})
