import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { KEY_WORLD, signedIn } from './console/browser.ts'
import { EXPORT_ID, exportRows, storeExport } from './export-rows.ts'
import { emptyBucket } from './exported.ts'
import { askAdmin, issuedPartner as partner } from './partner.ts'

// The pages of an account that show its files for a warehouse, and move it to another database.

beforeEach(emptyBucket)

const AT = '/console/accounts/acme'
const TEXT = 'PAR1 of a test'
const VIEWER = 'v'.repeat(40)

async function withFile() {
  await partner('forex', { account: 'acme' })
  await askAdmin('accounts/acme', 'PATCH', { exports: 'without_personal_data' })
  await env.DB.batch(exportRows(env.DB, 'acme'))
  await storeExport('acme')
}

test('an account without files says where they are turned on', async () => {
  await partner('forex', { account: 'acme' })
  const text = await (await (await signedIn()).get(`${AT}/files`)).text()
  expect(text).toContain('The account writes no files.')
  expect(text).toContain(`<a href="${AT}/account">settings</a>`)
  expect(text).not.toContain('Write the files now')
})

test('the files of an account are listed in words, and downloaded byte for byte', async () => {
  await withFile()
  const browser = await signedIn()
  const text = await (await browser.get(`${AT}/files`)).text()
  expect(text).toContain(`href="${AT}/files?file=${EXPORT_ID}"`)
  expect(text).toMatch(/Transactions[\s\S]*October 2026/)
  const file = await browser.get(`${AT}/files?file=${EXPORT_ID}`)
  expect([file.status, new TextDecoder().decode(await file.arrayBuffer())]).toEqual([200, TEXT])
  expect(file.headers.get('Content-Type')).toBe('application/vnd.apache.parquet')
  expect(file.headers.get('Content-Disposition')).toMatch(/^attachment; filename="acme-/)
  expect(file.headers.get('Cache-Control')).toBe('no-store')
})

test('the files of a resource and a month are found, and those of no other account', async () => {
  await withFile()
  await partner('forex', { account: 'other' })
  const browser = await signedIn()
  const read = async (path: string) => (await browser.get(`/console/accounts/${path}`)).text()
  expect(await read('acme/files?resource=transactions&month=2026-10')).toContain(EXPORT_ID)
  expect(await read('acme/files?resource=ledger')).toContain('There are no such files.')
  expect((await browser.get(`/console/accounts/other/files?file=${EXPORT_ID}`)).status).toBe(404)
  expect((await browser.get(`${AT}/files?file=..`)).status).toBe(404)
})

test('managers have the files written, and viewers only read them', async () => {
  await withFile()
  const browser = await signedIn()
  const at = `${AT}/files`
  const started = await browser.post(at, { csrf: await browser.csrf(at), change: 'start' })
  expect(started.status).toBe(303)
  const world = {
    ...KEY_WORLD,
    ADMIN_KEYS: JSON.stringify({ vic: { key: VIEWER, role: 'viewer' } }),
  }
  const text = await (await (await signedIn(world as Env, undefined, VIEWER)).get(at)).text()
  expect(text).toContain(EXPORT_ID)
  expect(text).toContain('Only the role manager can do this.')
})

/** Has moves stay at their first step. One that went on would move accounts of the tests that follow. */
async function holdMoves() {
  const moves = await introspectWorkflow(env.ACCOUNT_MOVES)
  onTestFinished(() => moves.dispose())
  await moves.modifyAll((modifier) => modifier.mockStepResult({ name: 'step 1' }, 86_400))
}

test('an approver moves the account to another database of its jurisdiction', async () => {
  await holdMoves()
  await partner('forex', { account: 'acme' })
  const browser = await signedIn()
  const at = `${AT}/account`
  const page = async () => (await browser.get(at)).text()
  const text = await page()
  expect(text).toContain('<option value="DB_2">DB_2, 0 accounts</option>')
  expect(text).not.toContain('<option value="DB">')
  const csrf = await browser.csrf(at)
  const move = async (to: string) => browser.post(at, { csrf, change: 'start_move', to })
  const refused = await move('DB_9')
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('The value is not one of'),
  ])
  expect((await move('DB_2')).status).toBe(303)
  // It moves already.
  expect(await page()).toMatch(/Move from[\s\S]*DB_2/)
  expect(await page()).not.toContain('Move the account to another database')
})
