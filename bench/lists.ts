import { MAX_DEPTH, type Page } from '../src/db/paginate.ts'
import { type Filter, listStoredRecords } from '../src/db/records/list.ts'
import { type Chapter, formatInteger, formatTenths } from './chapter.ts'
import { timeRoute } from './compete.ts'
import { median } from './figures.ts'
import { fill, PER_CUSTOMER } from './fill.ts'
import { expectOk } from './http.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { recorder } from './recorder.ts'
import { transactions } from './resource.ts'
import type { World } from './world.ts'

const PER_PAGE = 50

/** Measures a page of a long list. */
export async function lists({ us, scale }: World): Promise<Chapter> {
  const url = new URL('/api/v1/forex/transactions', us.running.url)
  const at = (query: string) => new URL(`?${query}`, url)
  await us.renew()
  const found = new Map<string, string[]>()
  let stored = 0
  for (const size of scale.stored) {
    await fill(us.running, { from: stored, to: size - 1, firstDay: '2024-01-01', days: 1000 })
    stored = size
    const skipped = Math.min(size / 2, MAX_DEPTH)
    const customer = `CU-${Math.floor(size / 2 / PER_CUSTOMER)}`
    const before = await expectOk(at(`page=${skipped / PER_PAGE}`), { headers: us.authorization() })
    const { meta } = JSON.parse(before)
    if (meta.total !== size) throw new Error(`The list has ${meta.total} of ${size} records.`)
    const first = { number: 1, size: PER_PAGE, after: null }
    const later = { ...first, after: [`TX-${String(skipped - 1).padStart(9, '0')}`] }
    const ways: [string, string, Filter, Page][] = [
      ['page 1', 'page=1', {}, first],
      [
        `by cursor, after half of them, but at most ${formatInteger(MAX_DEPTH)}`,
        `cursor=${meta.next_cursor}`,
        {},
        later,
      ],
      [
        `one customer, ${PER_CUSTOMER} records`,
        `customer_id=${customer}`,
        { customer_id: customer },
        first,
      ],
    ]
    for (const [way, query, filter, page] of ways) {
      const { rounds } = await timeRoute(us, scale.requests, at(query), us.authorization())
      const rows = await rowsRead(us.running, filter, page)
      found.set(way, [
        ...(found.get(way) ?? [way]),
        `${rows} rows, ${formatTenths(median(rounds.flat()))} ms`,
      ])
      // A token allows 1000 requests a minute.
      await us.renewToken()
    }
  }
  return {
    title: 'Lists',
    notes: `Pages of ${PER_PAGE} transactions over HTTP, the median of ${scale.requests} requests one after the other; the rows that D1 reports as read.`,
    tables: [[['records stored', ...scale.stored.map(formatInteger)], ...found.values()]],
  }
}

/** Returns the number of rows that D1 reads for one page. */
async function rowsRead(running: World['us']['running'], filter: Filter, page: Page) {
  let rows = 0
  const session = recorder(running, transactions.recordTable, (_, cost) => {
    rows += cost.rowsRead
  })
  const { data } = await listStoredRecords(session, transactions, ACCOUNT, filter, page)
  if (data.length !== page.size)
    throw new Error(`The page has ${data.length} records: ${JSON.stringify([filter, page])}`)
  return rows
}
