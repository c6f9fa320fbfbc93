import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { archive, keepTotals, monthOf } from './archive-steps.ts'
import { signedIn } from './console/browser.ts'
import { ada, deposit, partner } from './partner.ts'

// Pages of records that are in the archive.

const AT = '/console/accounts/acme'

/** Returns a firm with an archived deposit, and how to read a page. */
async function open() {
  const acme = await partner('forex', { account: 'acme' })
  await acme.post('customers', ada)
  await acme.post('transactions', deposit)
  await keepTotals('acme', 'forex', '2026-10-01', '2026-10-31')
  const browser = await signedIn()
  const read = async (path: string) => {
    const page = await browser.get(`${AT}${path}`)
    return { status: page.status, headers: page.headers, text: await page.text() }
  }
  return { acme, read }
}

test('a page of a record, and a list, say that their records are in the archive', async () => {
  const { read } = await open()
  const pages = [
    '/records/transactions/t-1',
    '/customers/c-1',
    '/customers/c-1?resource=transactions',
  ]
  for (const path of pages) expect((await read(path)).text).not.toContain('in the archive')
  await archive(monthOf('acme', 'transactions'))
  const [record, ...lists] = await Promise.all(pages.map(read))
  expect(record!.text).toContain('October 2026 is in the archive: this page takes a little longer.')
  expect(record!.text).toContain('100.25')
  for (const { status, text } of lists) {
    expect(status).toBe(200)
    expect(text).toContain('Some of these records are in the archive')
    expect(text).toContain('/records/transactions/t-1')
  }
})

test('a page that must wait for archived records says so in a sentence, and when to try again', async () => {
  const { read } = await open()
  await archive(monthOf('acme', 'transactions'))
  const path = '/reports?from=2026-10-01&to=2026-10-31&metrics=deposit_amount'
  const { text } = await read(path)
  expect(text).toContain(
    'Records of October 2026 are in the archive, and come back from it now. Try again in a minute.',
  )
  expect(text).toContain(`<a href="${AT}${path.replaceAll('&', '&amp;')}">Try again</a>`)
  expect(text).not.toMatch(/Repeat the same request|2026-10 are archived/)
})

test('a page whose records are damaged names the file, and what to do', async () => {
  const { read } = await open()
  await archive(monthOf('acme', 'transactions'))
  const [{ key }] = (await env.ARCHIVE.list()).objects as [R2Object]
  await env.ARCHIVE.delete(key)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const { status, headers, text } = await read('/customers/c-1?resource=transactions')
  expect([status, headers.get('Retry-After')]).toEqual([503, '60'])
  expect(text).toContain('These records are in the archive')
  expect(text).toContain(`<a href="${AT}/customers/c-1?resource=transactions">Try again</a>`)
  expect(text).toContain(
    `a file of it is damaged or missing: <code>${key}</code>. Tell the engineers`,
  )
})
