import { readTotals } from '../src/db/records/totals.ts'
import { type Chapter, formatInteger, formatTenths } from './chapter.ts'
import { timeRoute } from './compete.ts'
import { median } from './figures.ts'
import { fill } from './fill.ts'
import { expectOk } from './http.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { recorder } from './recorder.ts'
import { transactions } from './resource.ts'
import type { World } from './world.ts'

const FROM = '2026-08-01'
const TO = '2026-08-31'
const DAYS = 31

/** Measures control totals, which are summed on request along the index by day. */
export async function totals({ us, scale }: World): Promise<Chapter> {
  const { summed } = scale
  const url = new URL(`/api/v1/forex/totals?from=${FROM}&to=${TO}`, us.running.url)
  await us.renew()
  const rows: string[][] = []
  const outside = { firstDay: '2020-01-01', days: 1000 }
  const inside = { firstDay: FROM, days: DAYS }
  for (const [inDays, others, filling] of [
    [summed, 0, { from: 1, to: summed, ...inside }],
    [summed, summed, { from: summed + 1, to: 2 * summed, ...outside }],
  ] as const) {
    await fill(us.running, filling)
    const { data } = JSON.parse(await expectOk(url, { headers: us.authorization() }))
    const counted = data
      .filter(({ resource }: { resource: string }) => resource === transactions.name)
      .reduce((sum: number, { count }: { count: number }) => sum + count, 0)
    if (counted !== inDays) throw new Error(`The totals count ${counted} records.`)
    const requests = Math.ceil(scale.requests / 30)
    const { rounds } = await timeRoute(us, requests, url, us.authorization())
    let read = 0
    const session = recorder(us.running, transactions.recordTable, (_, cost) => {
      read += cost.rowsRead
    })
    await readTotals(session, [transactions], ACCOUNT, FROM, TO, async () => {})
    rows.push([
      `${formatInteger(inDays)} of these days, ${formatInteger(others)} of others`,
      formatInteger(median(rounds.flat())),
      formatInteger(read),
      formatTenths(read / inDays),
    ])
  }
  return {
    title: `Control totals over ${DAYS} days`,
    notes:
      'Sums are computed from the records on request, so they cannot drift. The cost depends on the requested days.',
    tables: [[['transactions stored', 'ms', 'rows read', 'rows read a record'], ...rows]],
  }
}
