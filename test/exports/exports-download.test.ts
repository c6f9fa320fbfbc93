import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { storedBrand } from '../brand.ts'
import { ask, askAdmin, json, partner } from '../partner.ts'
import { EXPORT_ID, exportRows, storeExport } from './export-rows.ts'

const TEXT = 'PAR1 of a test'

/** Each caller with a request for a path below the exports of its account. */
const CALLERS = {
  async forex() {
    const { account, get } = await partner('forex', { account: 'acme-forex' })
    return { account, get }
  },
  async propTrading() {
    const { account, get } = await partner('prop-trading', { account: 'acme-prop' })
    return { account, get }
  },
  async brand() {
    const { account, get } = await storedBrand()
    return { account, get }
  },
  async team() {
    const { account } = await partner('forex', { account: 'acme-forex' })
    const get = (path: string, headers: Record<string, string> = {}) =>
      ask(`/admin/v1/accounts/${account}/${path}`, {
        headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, ...headers },
      })
    return { account, get }
  },
}

async function withFile(caller: keyof typeof CALLERS) {
  const { account, get } = await CALLERS[caller]()
  await env.DB.batch(exportRows(env.DB, account))
  await storeExport(account)
  const read = () => get(`exports/${EXPORT_ID}`)
  return { account, get, read }
}

describe.each(Object.keys(CALLERS) as (keyof typeof CALLERS)[])('%s', (caller) => {
  test('reads a file', async () => {
    const { read } = await withFile(caller)
    const whole = await read()
    const { headers } = whole
    expect([whole.status, await whole.text()]).toEqual([200, TEXT])
    expect(headers.get('ETag')).toMatch(/^"[\da-f]{64}"$/)
    expect(headers.get('Content-Length')).toBe(String(TEXT.length))
  })

  test('lists files by resource and month, and finds no others', async () => {
    const { get } = await withFile(caller)
    const idsOf = async (query: string) =>
      (await json(get(`exports${query}`))).data.map(({ id }: { id: string }) => id)
    expect(await idsOf('')).toEqual([EXPORT_ID])
    expect(await idsOf('?resource=transactions&month=2026-10')).toEqual([EXPORT_ID])
    expect(await idsOf('?month=2026-09')).toEqual([])
    expect(await idsOf('?resource=ledger')).toEqual([])
    expect((await get('exports?month=October')).status).toBe(400)
    expect((await get('exports/exp_nothing')).status).toBe(404)
  })
})

test('a file whose object is gone is named', async () => {
  const { account, read } = await withFile('forex')
  const { objects } = await env.EXPORTS.list({ prefix: `exports/${account}/` })
  await env.EXPORTS.delete(objects[0]?.key ?? '')
  const answer = await read()
  expect(answer.status).toBe(503)
  expect((await json(answer)).detail).toContain(EXPORT_ID)
})

describe('the start of an export', () => {
  test('is refused while the account is not exported, or is disabled', async () => {
    const { account } = await CALLERS.forex()
    const start = () => askAdmin(`accounts/${account}/exports`, 'POST', {})
    expect((await start()).status).toBe(409)
    await askAdmin(`accounts/${account}`, 'PATCH', { exports: 'without_personal_data' })
    expect((await start()).status).toBe(202)
    await askAdmin(`accounts/${account}`, 'PATCH', { disabled: true })
    expect((await start()).status).toBe(409)
  })
})
