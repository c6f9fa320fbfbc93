import { join } from 'node:path'
import { askInTurn, expectBody, type RequestSender } from '../ask.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, serveLimited } from '../service.ts'

/** How many requests are sent at once. */
const REQUESTS = 12

const DAYS = ['2026-10-02', '2026-10-03'] as const
const [FIRST, LAST] = DAYS
const CUSTOMER = 'P-1'
const many = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))

/** Stores customers of the maximal size: four parts of 16 KiB each. */
async function fillCustomers(ask: RequestSender) {
  for (const part of 'abcd') {
    const grown = (i: number) => ({ customerId: `L-${i}`, [part]: 'x'.repeat(15_900) })
    const body = many(500, grown)
    // A request rewrites the stored fields of at most 64 customers.
    for (let i = 0; i < body.length; i += 64) {
      await expectBody(200, ask('POST', 'customers', { body: body.slice(i, i + 64) }))
    }
  }
}

/** Stores events with distinct KPIs, so that one day has nearly the maximal number of sums. */
async function fillTotals(ask: RequestSender) {
  for (const [bulk, createtime] of [...DAYS, ...DAYS].entries()) {
    const kpis = (i: number) => Object.fromEntries(many(32, (k) => [`${bulk}-${i}-${k}`, '1.25']))
    const event = (i: number) => ({
      eventname: 'E',
      customerid: CUSTOMER,
      eventid: `${bulk}-${i}`,
      createtime,
      Currency: 'EUR',
      ...kpis(i),
    })
    await expectBody(200, ask('POST', 'activities', { body: many(750, event) }))
  }
}

/** Requests the largest responses many times at once. The isolate survives. */
export async function sendLargeResponses({ script, folder, print, check }: Setting): Promise<void> {
  const service = await serveLimited(script, join(folder, 'answers'))
  try {
    await migrate(service)
    const ask = asBrand(service, await newBrand(service, 'large'))
    await expectBody(200, ask('POST', 'customers', { body: [{ customerId: CUSTOMER }] }))
    await fillCustomers(ask)
    await fillTotals(ask)
    for (const [path, status] of [
      ['customers?per_page=500', 400],
      ['customers?per_page=30', 200],
      [`totals?from=${FIRST}&to=${LAST}`, 400],
      [`totals?from=${FIRST}&to=${FIRST}`, 200],
    ] as const) {
      const { status: first } = await askInTurn(ask, path)
      const answers = await Promise.all(many(REQUESTS, () => ask('GET', path)))
      // One computation of totals runs at a time; the others may be told to wait.
      const statuses = path.startsWith('totals') ? [status, 429] : [status]
      const statusesSeen = answers.map((answer) => answer.status)
      check(
        first === status && statusesSeen.every((seen) => statuses.includes(seen)),
        `${path}: had the statuses ${[first, ...statusesSeen].join(', ')}`,
      )
    }
    print(`Large pages and totals, ${REQUESTS} at once: sent or refused, and the isolate survived.`)
  } catch (error) {
    const { message, cause } = error as Error
    check(false, `large answers: ${message}${cause ? ` (${cause})` : ''}`)
  } finally {
    await service.end()
  }
}
