import { join } from 'node:path'
import { computeReport } from '../src/reports/compute.ts'
import type { ReportQuery } from '../src/reports/report.ts'
import { type Chapter, formatInteger, formatTenths } from './chapter.ts'
import { ACCOUNT, fillAccount, sizeOf } from './commissions/fill.ts'
import { measureLimit } from './commissions/limit.ts'
import { buildMetered, startMetered } from './commissions/service.ts'
import { median } from './figures.ts'
import { execute, type Running } from './worker.ts'
import type { World } from './world.ts'

const MONTH = { from: '2026-03-01', to: '2026-03-31' }
const HALF = { from: '2026-03-01', to: '2026-03-15' }
const WEEK = { from: '2026-03-01', to: '2026-03-07' }

/** The reports that are measured: their days, groups and currency. */
const REPORTS: readonly (readonly [string, Omit<ReportQuery, 'metrics'>])[] = [
  ['seven days by day', { ...WEEK, groups: ['day'], currency: 'USD' }],
  ['a month', { ...MONTH, groups: [], currency: 'USD' }],
  ['a month by affiliate', { ...MONTH, groups: ['affiliate_id'], currency: 'USD' }],
  ['a month by day', { ...MONTH, groups: ['day'], currency: 'USD' }],
  ['a month by country', { ...MONTH, groups: ['country_code'], currency: 'USD' }],
  ['15 days by country', { ...HALF, groups: ['country_code'], currency: 'USD' }],
  ['a month by instrument and day', { ...MONTH, groups: ['instrument', 'day'], currency: 'EUR' }],
]

const ROUNDS = 3

/** Measures reports of all metrics of a forex account. */
export async function reports({ folder, scale }: World): Promise<Chapter> {
  const script = await buildMetered(folder)
  const rows: string[][] = []
  for (const wanted of [Math.ceil(scale.facts / 10), scale.facts]) {
    const size = sizeOf(wanted)
    const state = join(folder, `reports-${wanted}`)
    const running = await startMetered(script, state, false)
    await fillAccount(running, size)
    const limit = measureLimit(state)
    for (const [name, query] of REPORTS) {
      const cost = await measure(running, { ...query, metrics: null })
      rows.push([
        `${name}, ${formatInteger(size.facts)} facts`,
        formatInteger(cost.ms),
        formatInteger(cost.rowsRead),
        formatTenths(cost.rowsRead / size.facts),
        formatInteger(cost.batches),
        formatInteger(cost.longestMs),
        formatTenths(cost.ms / limit.ms),
      ])
    }
    await running.end()
  }
  return {
    title: 'Reports',
    notes:
      'All metrics of an account whose facts are transactions and trading activity of March 2026; every tenth of them is a customer. The plain SQL is one pass over both tables in `node:sqlite`, on the same file, that adds up the amounts by affiliate, type or instrument, and currency.',
    tables: [
      [
        ['report', 'ms', 'rows read', 'rows read a fact', 'batches', 'longest, ms', '÷ plain SQL'],
        ...rows,
      ],
    ],
  }
}

/** What reports cost. */
interface Cost {
  ms: number
  rowsRead: number
  batches: number
  /** The time that D1 says it took for the longest batch. */
  longestMs: number
}

/** Returns the median time of a report, and what it reads. */
async function measure({ database, ...running }: Running, query: ReportQuery): Promise<Cost> {
  const account = { account: ACCOUNT, vertical: 'forex' }
  const times: number[] = []
  const cost = { rowsRead: 0, batches: 0, longestMs: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    // A long report is followed by a pause.
    await execute({ database, ...running }, ['delete from totals_leases'])
    Object.assign(cost, { rowsRead: 0, batches: 0 })
    const started = performance.now()
    let preparingMs = 0
    const session = counting(
      database,
      (rows, ms) => {
        cost.rowsRead += rows
        cost.batches += 1
        cost.longestMs = Math.max(cost.longestMs, ms)
      },
      (ms) => {
        preparingMs += ms
      },
    )
    await computeReport({ session, directory: session }, account, query, Date.now())
    times.push(performance.now() - started - preparingMs)
  }
  return { ms: median(times), ...cost }
}

/**
 * Returns a database that reports the rows that each batch reads, and its time. `prepared` gets the time
 * of preparing statements: this binding asks another process for each, which no Worker does.
 */
function counting(
  database: Running['database'],
  count: (rows: number, ms: number) => void,
  prepared: (ms: number) => void,
): D1DatabaseSession & D1Database {
  const counted = {
    prepare: (sql: string) => ({
      bind: (...values: readonly unknown[]) => {
        const started = performance.now()
        const statement = database.prepare(sql).bind(...values)
        prepared(performance.now() - started)
        return statement
      },
    }),
    async batch(statements: Parameters<typeof database.batch>[0]) {
      const results = await database.batch(statements)
      const sum = (of: 'rows_read' | 'duration') =>
        results.reduce((total, { meta }) => total + meta[of], 0)
      count(sum('rows_read'), sum('duration'))
      return results
    },
  }
  // computeReport uses no other methods.
  return counted as unknown as D1DatabaseSession & D1Database
}
