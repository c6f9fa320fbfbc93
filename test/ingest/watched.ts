import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { fetchWith } from '../checked-fetch.ts'
import { overriding, overridingSessions } from '../overriding.ts'
import { ORIGIN } from '../partner.ts'

export { overriding, overridingSessions }

/** The calls of one request to the platform, with its own counts. */
export interface CallCounts {
  response: Response
  /** Round trips to D1, and the rows that they read and wrote. */
  trips: number
  rowsRead: number
  rowsWritten: number
  /** Calls to Durable Objects, by method. */
  calls: string[]
}

interface Answer {
  meta: { rows_read: number; rows_written: number }
}

/** Sends a request to the service and counts its calls to the platform. */
export async function countCalls(path: string, init: RequestInit): Promise<CallCounts> {
  const seen = { trips: 0, rowsRead: 0, rowsWritten: 0, calls: [] as string[] }
  const count = (answers: Answer[]) => {
    seen.trips += 1
    for (const { meta } of answers) {
      seen.rowsRead += meta.rows_read
      seen.rowsWritten += meta.rows_written
    }
  }
  const context = createExecutionContext()
  const world = {
    ...env,
    DB: watchDatabase(env.DB, count),
    TOKEN_GATE: watchObjects(env.TOKEN_GATE, (method) => seen.calls.push(method)),
    CLIENT_GATE: watchObjects(env.CLIENT_GATE, (method) => seen.calls.push(method)),
  } as Env
  const response = await fetchWith(world, new Request(new URL(path, ORIGIN), init), context)
  await waitOnExecutionContext(context)
  return { response, ...seen }
}

/** Returns a database that hands the answers of each round trip to `count`. */
export function watchDatabase(db: D1Database, count: (answers: Answer[]) => void): D1Database {
  const statements = new WeakMap<object, D1PreparedStatement>()
  const watchStatement = (real: D1PreparedStatement): D1PreparedStatement => {
    const all = async () => {
      const result = await real.all()
      count([result])
      return result
    }
    const watching = overriding(real, {
      bind: (...values: unknown[]) => watchStatement(real.bind(...values)),
      all,
      run: all,
      first: async () => (await all()).results[0] ?? null,
      // `raw` has no counts of rows: only the trip is counted.
      raw: async () => {
        count([])
        return real.raw()
      },
    })
    statements.set(watching, real)
    return watching
  }
  const methods = (real: Pick<D1Database, 'prepare' | 'batch'>) => ({
    prepare: (text: string) => watchStatement(real.prepare(text)),
    batch: async (list: D1PreparedStatement[]) => {
      const answers = await real.batch(list.map((statement) => statements.get(statement)!))
      count(answers)
      return answers
    },
  })
  return overridingSessions(db, methods)
}

function watchObjects<T extends Rpc.DurableObjectBranded | undefined>(
  namespace: DurableObjectNamespace<T>,
  called: (method: string) => void,
): DurableObjectNamespace<T> {
  return overriding(namespace, {
    getByName: (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) =>
      new Proxy(namespace.getByName(name, options), {
        get(stub, method) {
          called(String(method))
          return Reflect.get(stub, method, stub)
        },
      }),
  })
}
