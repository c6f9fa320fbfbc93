import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deposited, eve } from '../brand.ts'
import { isSendable, mangled, singleEdits } from '../fuzz/edits.ts'
import { holds, PATIENCE } from '../fuzz/runs.ts'
import { brandOf, partnerOf, type Sender, send } from '../fuzz/send.ts'
import { ada } from '../partner.ts'

// Generated queries and headers that are almost valid.

const post = async (sender: Sender, path: string, body: unknown, headers = {}) =>
  send(sender.at(path), {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { ...(await sender.credentials()), 'Content-Type': 'application/json', ...headers },
  })

const get = async (sender: Sender, path: string) =>
  send(sender.at(path), { headers: await sender.credentials() })

describe('a query', () => {
  test('an edited cursor gets 400 that names the parameter', { timeout: PATIENCE }, async () => {
    const firm = await partnerOf('forex')
    await post(firm, 'customers', [ada, { ...ada, customer_id: 'c-2' }])
    const first = JSON.parse((await get(firm, 'customers?per_page=1')).text)
    const { next_cursor } = first.meta
    const readPage = (cursor: string) => get(firm, `customers?cursor=${encodeURIComponent(cursor)}`)
    expect((await readPage(next_cursor)).status).toBe(200)

    const accepted: string[] = []
    for (const cursor of [...new Set(singleEdits(next_cursor))].filter((_, i) => i % 8 === 0)) {
      const { status, text } = await readPage(cursor)
      const { code, detail } = JSON.parse(text)
      if (status !== 400 || code !== 'invalid_query' || !/^`cursor` /.test(detail))
        accepted.push(cursor)
    }
    expect(accepted).toEqual([])
    await holds(30, mangled(next_cursor), async (cursor) => {
      if (cursor !== next_cursor) expect((await readPage(cursor)).status).toBe(400)
    })
  })

  const NAMES = [
    ...['page', 'per_page', 'cursor', 'from', 'to', 'customer_id', 'customerid', 'dry_run'],
    ...['Page', '__proto__', 'toString', '', 'page[]', 'account', 'x'.repeat(300)],
  ]
  const VALUES = [
    ...['', '0', '1', '2', '500', '501', '-1', '1.5', '1e2', '01', ' 1', '1000001', '99999999999'],
    ...['2026-10-01', '2026-02-30', '0000-01-01', '9999-12-31', '2026-10-01T00:00:00Z', 'null'],
    ...['c-1', '%', '%00', '%zz', '%ed%a0%80', "' or 1=1 --", 'x'.repeat(3000), '\u{1f600}'],
  ]
  const raw = fc.oneof(fc.constantFrom(...VALUES), fc.string({ maxLength: 12 }))
  const pair = fc
    .tuple(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...NAMES) }, fc.string()), raw)
    .map(([name, value]) => `${name.replaceAll(/[&#]/g, '')}=${value.replaceAll(/[&#]/g, '')}`)
  const query = fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&'))

  const PATHS = {
    forex: [
      ...['customers', 'transactions', 'trading-activity', 'customers/c-1', 'transactions/%00'],
      ...['account', 'deliveries', 'deliveries/dlv_x', 'totals', 'held', 'feed', 'customers/%ff'],
    ],
    igaming: ['customers', 'activities', 'account', 'deliveries', 'totals', 'held', 'feed'],
  }

  test.each(['forex', 'igaming'] as const)(
    'any query of %s on any path gets 200, 400 or 404',
    { timeout: PATIENCE },
    async (vertical) => {
      const sender = vertical === 'igaming' ? await brandOf() : await partnerOf(vertical)
      await post(sender, 'customers', vertical === 'igaming' ? eve : ada)
      const requests = fc.tuple(fc.constantFrom(...PATHS[vertical]), query)
      await holds(30, requests, async ([path, search]) => {
        const { status, text } = await get(sender, `${path}?${search}`)
        expect([200, 400, 404]).toContain(status)
        if (status === 400) expect(JSON.parse(text).code).toBe('invalid_query')
      })
    },
  )
})

async function gzipped(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

describe('headers', () => {
  const header = (name: string, valid: readonly string[]) =>
    fc
      .oneof(
        { weight: 3, arbitrary: fc.constantFrom(...valid) },
        fc.constantFrom(...valid).chain(mangled),
        fc.string({ maxLength: 20 }),
      )
      .filter(isSendable)
      .map((value) => [name, value] as const)
  const anyHeader = fc.oneof(
    header('Content-Type', [
      'application/json',
      'APPLICATION/JSON; charset=UTF-8',
      'text/plain',
      '',
    ]),
    header('Content-Encoding', ['gzip', 'GZIP', 'identity', 'br', 'gzip, gzip', 'deflate', '']),
    header('Content-Length', ['0', '1', '-1', '99999999999', 'abc', '8388609']),
    header('Prefer', [
      'return=minimal',
      'handling=lenient',
      'handling="lenient"; x=y, wait=10',
      ',;=',
    ]),
    header('Idempotency-Key', ['a', 'x'.repeat(255), 'x'.repeat(256), '']),
    header('Accept', ['*/*', 'text/html', 'application/problem+json;q=0']),
    header('X-Request-Id', ['mine', 'x'.repeat(5000)]),
    header('X-HTTP-Method-Override', ['DELETE']),
    header('CF-Connecting-IP', ['::1', '1.2.3.4', '::ffff:1.2.3.4', '[', ':::']),
    header('Transfer-Encoding', ['chunked']),
  )
  const variations = fc.record({
    headers: fc.array(anyHeader, { maxLength: 4 }),
    zipped: fc.boolean(),
    flip: fc.option(fc.nat(400), { freq: 4, nil: null }),
    dry_run: fc.option(fc.constantFrom('true', 'false', 'TRUE', '1', ''), { freq: 5, nil: null }),
  })

  /** The path that reads the record with this id. */
  const READ_PATHS = {
    forex: (id: string) => `customers/${id}`,
    igaming: (id: string) => `activities?customerid=${id}`,
  }

  test.each(['forex', 'igaming'] as const)(
    'with any headers, %s deliveries are stored unchanged or not at all',
    { timeout: PATIENCE },
    async (vertical) => {
      const isBrand = vertical === 'igaming'
      const sender = isBrand ? await brandOf() : await partnerOf(vertical)
      let turn = 0
      await holds(25, variations, async ({ headers, zipped, flip, dry_run }) => {
        turn += 1
        // Twice, so that a flipped bit cannot produce the id of another turn.
        const id = `n-${turn}-${turn}`
        const record = isBrand
          ? { ...deposited, eventid: id, customerid: id }
          : { ...ada, customer_id: id }
        if (isBrand) await post(sender, 'customers', { ...eve, customerId: id })
        const text = JSON.stringify(record)
        const body = zipped ? await gzipped(text) : new TextEncoder().encode(text)
        if (flip !== null) body[flip % body.length]! ^= 4
        const requestHeaders = new Headers({ 'Content-Type': 'application/json' })
        if (zipped) requestHeaders.set('Content-Encoding', 'gzip')
        for (const [name, value] of headers) requestHeaders.set(name, value)
        for (const [name, value] of Object.entries(await sender.credentials()))
          requestHeaders.set(name, value)
        const search = dry_run === null ? '' : `?dry_run=${dry_run}`
        const path = sender.at(`${isBrand ? 'activities' : 'customers'}${search}`)
        const { status } = await send(path, { method: 'POST', body, headers: requestHeaders })

        expect([200, 201, 207, 400, 413, 415, 422]).toContain(status)
        const read = await get(sender, READ_PATHS[vertical](id))
        const found = isBrand
          ? JSON.parse(read.text).data
          : read.status === 200
            ? [JSON.parse(read.text)]
            : []
        // A flipped bit may change a value. A refused request or a dry run stores nothing.
        if (flip === null) {
          expect(found).toEqual(status < 300 && dry_run !== 'true' ? [record] : [])
        } else if (status >= 300) expect(found).toEqual([])
      })
    },
  )
})
