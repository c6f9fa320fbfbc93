import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { HOUR_MS } from '../../src/platform/durations.ts'
import { randomSource } from '../commission/worlds.ts'
import { askAdmin, json, register } from '../partner.ts'

const ZONE = 'America/New_York'
const PATH = 'accounts/acme-forex'

/** Returns the day of an instant in New York, as the runtime says it. */
const dayOf = (at: string) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, dateStyle: 'short' }).format(new Date(at))

test('§20.6 balances are what was booked until the end of a day of the books', async () => {
  await register('forex', { book_zone: ZONE })
  const from = randomSource(env.SEED)
  // The clock is set back on 1 November.
  const start = Date.parse('2026-10-31T00:00:00Z')
  const entries = Array.from({ length: 60 }, (_, i) => ({
    affiliate: `a-${from.below(4)}`,
    id: `entry-${String(i).padStart(5, '0')}`,
    currency: from.pick(['EUR', 'EUR', 'JPY']),
    cents: from.between(-500, 5000),
    at: new Date(start + from.below(60 * 4) * (HOUR_MS / 4)).toISOString(),
  }))
  const textOf = (cents: number, currency: string) =>
    currency === 'JPY' ? String(cents) : (cents / 100).toFixed(2)
  await env.DB.batch(
    entries.map(({ affiliate, id, currency, cents, at }) =>
      env.DB.prepare(
        `insert into ledger values ('acme-forex', ?, ?, 'earned', 'ib', '2026-10', 's', ?, ?, null, 'ada', ?)`,
      ).bind(affiliate, id, currency, textOf(cents, currency), at),
    ),
  )
  for (const on of ['2026-10-30', '2026-10-31', '2026-11-01', '2026-11-02', '2026-12-31']) {
    const sums = new Map<string, number>()
    for (const { affiliate, currency, cents, at } of entries) {
      if (dayOf(at) > on) continue
      const key = `${affiliate},${currency}`
      sums.set(key, (sums.get(key) ?? 0) + cents)
    }
    const expected = [...sums]
      .map(([key, cents]) => `${key},${textOf(cents, key.slice(-3))}`)
      .sort()
    const rows: string[] = []
    for (let cursor = ''; cursor !== null; ) {
      const page = `per_page=1${cursor && `&cursor=${cursor}`}`
      const { data, meta } = await json(askAdmin(`${PATH}/balances?on=${on}&${page}`))
      for (const { affiliate_id, balances } of data) {
        for (const one of balances) rows.push(`${affiliate_id},${one.currency},${one.balance}`)
      }
      cursor = meta.next_cursor
    }
    expect(rows.sort(), on).toEqual(expected)
    const csv = askAdmin(`${PATH}/balances?on=${on}`, 'GET', undefined, { Accept: 'text/csv' })
    const lines = (await (await csv).text()).trim().split('\r\n')
    expect(lines.slice(1).sort(), on).toEqual(expected)
  }
})
