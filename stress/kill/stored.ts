import type { DatabaseSync } from 'node:sqlite'
import { type Bulk, TABLES } from './bulks.ts'

/** The stored records of one bulk. */
interface Trace {
  mark: string
  delivery: string
  count: number
  held: number
  least: number
  most: number
}

/** A row of `deliveries`. */
interface Line {
  id: string
  resource: string
  received: number
  created: number
  written: number
  held: number
  refused: number
}

/** The content of a database that is compared with what was sent. */
export interface Stored {
  traces: Map<string, Trace[]>
  lines: Map<string, Line>
  /** The rows of `totals`, and the counts that they should have, by account and resource. */
  totals: string[]
  counted: string[]
  /** The delivery of each Idempotency-Key. */
  keys: Map<string, string>
  /** The number of deliveries and records, by `arrivals` and by `deliveries`. */
  arrived: string
  logged: string
}

/** Reads the tables. */
export function readStored(database: DatabaseSync): Stored {
  const all = <T>(sql: string) => database.prepare(sql).all() as unknown as T[]
  const tables = Object.entries(TABLES)
  const traces = tables.flatMap(([table, { mark, held }]) =>
    all<Trace>(
      `select ${mark} as mark, delivery, count(*) as count, sum(${held}) as held,
         min(revision) as least, max(revision) as most
       from ${table} where ${mark} is not null group by 1, 2`,
    ),
  )
  const counted = tables.map(
    ([table, { resource, held }]) =>
      `select account, '${resource}' as resource, count(*) as total from ${table}
       where ${held} = 0 group by account`,
  )
  const one = (sql: string) => JSON.stringify(all(sql))
  return {
    traces: Map.groupBy(traces, ({ mark }) => mark),
    lines: new Map(all<Line>('select * from deliveries').map((line) => [line.id, line])),
    totals: all('select account, resource, total from totals where total <> 0').map(text).sort(),
    counted: all(counted.join(' union all ')).map(text).sort(),
    keys: new Map(
      all<{ key: string; delivery: string }>('select key, delivery from idempotency_keys').map(
        ({ key, delivery }) => [key, delivery],
      ),
    ),
    arrived: one('select sum(deliveries) as deliveries, sum(received) as received from arrivals'),
    logged: one('select count(*) as deliveries, sum(received) as received from deliveries'),
  }
}

const text = (row: unknown) => JSON.stringify(row)

/** The result of checking one bulk. `problems` describe anything that is only partly stored. */
export interface BulkResult {
  isStored: boolean
  problems: string[]
}

/**
 * Checks one bulk: all of its records, its row of `deliveries` and its key are stored, or nothing is.
 * `freed` is true if the customers of its held records are stored.
 */
export function validateBulk(stored: Stored, bulk: Bulk, freed: boolean): BulkResult {
  const { mark, records, outcome, headers } = bulk
  const size = records.length
  const traces = stored.traces.get(mark) ?? []
  const key = headers['Idempotency-Key']
  const bound = key === undefined ? undefined : stored.keys.get(key)
  const [trace] = traces
  if (!trace)
    return { isStored: false, problems: bound ? [`bulk ${mark} is absent, its key is bound`] : [] }

  const problems: string[] = []
  const expect = (what: string, is: unknown, should: unknown) => {
    if (is !== should) problems.push(`bulk ${mark} (${outcome}): ${what} is ${is}, not ${should}`)
  }
  expect('the number of deliveries that brought it', traces.length, 1)
  expect('the number of its records', trace.count, size)
  expect('the least revision', trace.least, outcome === 'updated' ? 2 : 1)
  expect('the greatest revision', trace.most, outcome === 'updated' ? 2 : 1)
  expect('the number of held records', trace.held, outcome === 'held' && !freed ? size : 0)
  if (key !== undefined) expect('the delivery of its key', bound, trace.delivery)
  const line = stored.lines.get(trace.delivery)
  expect('its line in the log', line === undefined ? 'missing' : 'present', 'present')
  expect('what its line received', line?.received, size)
  expect('what its line has written', line?.written, size)
  expect('what its line has created', line?.created, outcome === 'created' ? size : 0)
  expect('what its line has held', line?.held, outcome === 'held' ? size : 0)
  expect('what its line has refused', line?.refused, 0)
  return { isStored: true, problems }
}
