import { expect, test } from 'vitest'
import { askAdmin, json } from '../partner.ts'
import { signedIn } from './browser.ts'

// The page of exchange rates.

const AT = '/console/accounts/acme/rates'
const CSV = 'Date,USD,GBP,\n2026-10-05,1.1000,0.8500,\n'

const openAccount = () =>
  askAdmin('accounts', 'POST', { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' })

/** Uploads a file as a browser does. */
async function upload(file: Blob, name: string) {
  const browser = await signedIn()
  const form = new FormData()
  form.set('csrf', await browser.csrf())
  form.set('change', 'upload')
  form.set('file', new File([file], name))
  return browser.postForm(AT, form)
}

const rateOf = async (currency: string) =>
  (await json(askAdmin('fx-rates?day=2026-10-05'))).rates.find(
    (one: { currency: string }) => one.currency === currency,
  )?.rate

test('the file of the European Central Bank is stored', async () => {
  await openAccount()
  expect((await upload(new Blob([CSV]), 'eurofxref.csv')).status).toBe(303)
  expect(await rateOf('USD')).toBe('1.1')
})

test('a file that cannot be read says why', async () => {
  await openAccount()
  const archive = await upload(new Blob([new Uint8Array(40)]), 'eurofxref.zip')
  expect([archive.status, await archive.text()]).toEqual([
    422,
    expect.stringContaining('Unpack an archive'),
  ])
  const wrong = await (await upload(new Blob(['Date,USD,\n2026-10-05,x,\n']), 'a.csv')).text()
  expect(wrong).toContain('<strong>Rows › 1 › USD:</strong>')
})

test('a file of its own adds a currency that the European Central Bank does not publish', async () => {
  await openAccount()
  const own = (rate: string) => upload(new Blob([`Date,AED\n2026-10-05,${rate}\n`]), 'aed.csv')
  expect((await own('4.2901')).status).toBe(303)
  expect(await rateOf('AED')).toBe('4.2901')
  const other = (await (await own('4.3')).text()).replaceAll(/<[^>]+>/g, '')
  expect(other).toContain('Choose “Replace it; the former rate is kept beside it” to replace')
})
