import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { storedBrand } from '../brand.ts'
import { ask, askAdmin, json, partner } from '../partner.ts'
import { EXPORT_ID, exportRows, storeExport } from './export-rows.ts'
import { emptyBucket } from './exported.ts'

beforeEach(emptyBucket)

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
  const read = (headers: Record<string, string> = {}) => get(`exports/${EXPORT_ID}`, headers)
  return { account, get, read }
}

describe.each(Object.keys(CALLERS) as (keyof typeof CALLERS)[])('%s', (caller) => {
  test('reads a file as a whole, a range of it, or nothing if it has the file', async () => {
    const { read } = await withFile(caller)
    const whole = await read()
    const { headers } = whole
    expect([whole.status, await whole.text()]).toEqual([200, TEXT])
    const etag = headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"[\da-f]{64}"$/)
    expect(headers.get('Content-Length')).toBe(String(TEXT.length))
    for (const [range, part, place] of [
      ['bytes=0-3', 'PAR1', '0-3'],
      ['bytes=10-', 'test', '10-13'],
      ['bytes=-4', 'test', '10-13'],
      ['bytes=8-99', 'a test', '8-13'],
    ] as const) {
      const answer = await read({ Range: range })
      expect([answer.status, await answer.text()]).toEqual([206, part])
      expect(answer.headers.get('Content-Range')).toBe(`bytes ${place}/${TEXT.length}`)
    }
    for (const range of ['bytes=99-', 'bytes=3-2', 'bytes=-', 'bytes=0-1,3-4', 'items=0-1']) {
      expect((await read({ Range: range })).status).toBe(200)
    }
    expect((await read({ Range: 'bytes=0-3', 'If-Range': etag })).status).toBe(206)
    expect((await read({ Range: 'bytes=0-3', 'If-Range': '"other"' })).status).toBe(200)
    expect((await read({ 'If-None-Match': `"other", ${etag}` })).status).toBe(304)
    expect((await read({ 'If-None-Match': '*' })).status).toBe(304)
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

test('a file whose object is damaged is named and not sent', async () => {
  const { account, read } = await withFile('forex')
  const { objects } = await env.ARCHIVE.list({ prefix: `exports/${account}/` })
  await env.ARCHIVE.put(objects[0]?.key ?? '', 'PAR1 of b test')
  for (const headers of [{}, { Range: 'bytes=0-3' }]) {
    const answer = await read(headers)
    expect(answer.status).toBe(503)
    expect((await json(answer)).detail).toContain(EXPORT_ID)
  }
})

test('an account never reads the files of another', async () => {
  await withFile('team')
  const { get } = await CALLERS.propTrading()
  expect((await get(`exports/${EXPORT_ID}`)).status).toBe(404)
  expect((await json(get('exports'))).data).toEqual([])
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
