import { join } from 'node:path'
import { type Chapter, formatInteger, formatTenths } from './chapter.ts'
import { ACCOUNT, fillAccount, sizeOf } from './commissions/fill.ts'
import { completeRun } from './commissions/runs.ts'
import { buildMetered, startMetered } from './commissions/service.ts'
import { type Address, addressesOf } from './console/addresses.ts'
import { fillLog } from './console/fill-log.ts'
import { COUNTED, TRIPS_PATH, type Trips } from './console/paths.ts'
import { METER_PATH } from './cost/meter.ts'
import { ADMIN_KEY } from './cost/parties.ts'
import { median } from './figures.ts'
import { expectOk, send } from './http.ts'
import { execute, type Running } from './worker.ts'
import type { World } from './world.ts'

/** Requests of each page after the first: enough for ticks of 10 ms to say something. */
const ROUNDS = 20
/** A page that is slower than this, in milliseconds, is requested fewer times. */
const SLOW_MS = 500
const SLOW_ROUNDS = 3

/** What one page costs. */
interface Cost {
  /** The status of the response: 422 if the page would have to read more than the service allows. */
  status: number
  /** Until the first part of the page arrives, and until its end. */
  shownMs: number
  ms: number
  cpuMs: number
  trips: Trips
  rowsRead: number
}

/** Measures each page of the console. */
export async function consolePages({ folder, scale }: World): Promise<Chapter> {
  const script = await buildMetered(folder, 'bench/console/metered.ts')
  const tables: string[][][] = []
  for (const wanted of [Math.ceil(scale.facts / 10), scale.facts]) {
    const size = sizeOf(wanted)
    const running = await startMetered(script, join(folder, `console-${wanted}`), false)
    await fillAccount(running, size)
    const delivery = await fillLog(running, size)
    await completeRun(running, ACCOUNT)
    const cookie = await signIn(running)
    const head = [`page, ${formatInteger(size.facts)} facts`]
    const rows = [[...head, 'shown, ms', 'trips', 'complete, ms', 'CPU-ms', 'trips', 'rows read']]
    for (const address of await addressesOf(running, delivery)) {
      const { status, shownMs, ms, cpuMs, trips, rowsRead } = await measure(
        running,
        address,
        cookie,
      )
      rows.push([
        status === 200 ? address.name : `${address.name} (${status})`,
        formatTenths(shownMs),
        formatInteger(trips.shown),
        ...[ms, cpuMs].map(formatTenths),
        ...[trips.all, rowsRead].map(formatInteger),
      ])
    }
    tables.push(rows)
    await running.end()
  }
  return {
    title: 'Console',
    notes:
      'Each page of an account whose facts are transactions and trading activity of March 2026, with a delivery in the log for each 1000 of them and the statements of the month. A page that computes from records sends its first part before it computes: this part is what is shown. The times are medians over HTTP, one request after the other; CPU is that of the whole local runtime for one request, the database included. Calls to D1 that are made at the same time are one round trip.',
    tables,
  }
}

/** Signs in with the admin key. Returns the cookie of the session. */
async function signIn({ url }: Running): Promise<string> {
  const { headers } = await send(new URL('/console/sign-in', url), {
    body: String(new URLSearchParams({ key: ADMIN_KEY, next: '/console' })),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
    },
  })
  return headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

/** Requests a page once to count its rows and round trips, and then several times to measure it. */
async function measure(running: Running, { path }: Address, cookie: string): Promise<Cost> {
  const url = new URL(path, running.url)
  const ask = async (headers: Record<string, string> = {}) => {
    // A long report is followed by a pause.
    await execute(running, ['delete from totals_leases'])
    const started = performance.now()
    const { status, firstAt } = await send(url, { headers: { Cookie: cookie, ...headers } })
    return { status, shownMs: firstAt - started, ms: performance.now() - started }
  }
  const read = async (at: string) => JSON.parse(await expectOk(new URL(at, running.url)))
  const { status } = await ask()
  await read(METER_PATH)
  const first = await ask({ [COUNTED]: 'yes' })
  const { usage } = await read(METER_PATH)
  const trips: Trips = await read(TRIPS_PATH)
  const before = running.cpu() ?? Number.NaN
  const samples: Awaited<ReturnType<typeof ask>>[] = []
  const rounds = first.ms > SLOW_MS ? SLOW_ROUNDS : ROUNDS
  for (let round = 0; round < rounds; round++) samples.push(await ask())
  const cpuMs = ((running.cpu() ?? Number.NaN) - before) / rounds
  const shownMs = median(samples.map((one) => one.shownMs))
  const ms = median(samples.map((one) => one.ms))
  return { status, shownMs, ms, cpuMs, trips, rowsRead: usage.rowsRead }
}
