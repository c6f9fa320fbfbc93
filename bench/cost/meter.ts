import type {
  D1Database,
  D1PreparedStatement,
  D1Result,
  DurableObjectState,
  ExecutionContext,
  ExportedHandler,
  MessageBatch,
  Queue,
  R2Bucket,
} from '@cloudflare/workers-types'
import { type Usage, ZERO_USAGE } from '../../scripts/capacity/prices.ts'

/** The path at which a metered Worker returns its counts and resets them. */
export const METER_PATH = '/_meter'

/** The usage, and the rows that D1 wrote by table. */
export interface Counts {
  usage: Usage
  written: Record<string, number>
}

// Here the Worker and its objects share an isolate, and so these counts.
let usage: Usage = { ...ZERO_USAGE }
let written: Record<string, number> = {}

/** Wraps an object: the given methods come first, and call the real ones. */
const before = <T extends object>(target: T, own: Record<string, unknown>): T =>
  new Proxy(target, {
    get(_, name) {
      const value = own[String(name)] ?? Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Wraps a Worker so that everything the platform bills is counted. */
export const withMeter = (worker: ExportedHandler): ExportedHandler => ({
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === METER_PATH) return Response.json(takeCounts()) as never
    usage.requests += 1
    return worker.fetch!(request, watched(env as object), context)
  },
  // Cloudflare does not list queue batches as billed requests; counting them errs on the high side.
  async queue(batch: MessageBatch, env: unknown, context: ExecutionContext) {
    usage.requests += 1
    await worker.queue!(watchBatch(batch), watched(env as object), context)
  },
})

function takeCounts(): Counts {
  const counted = { usage, written }
  usage = { ...ZERO_USAGE }
  written = {}
  return counted
}

/** Wraps each binding of a Worker. */
export function watched(env: object): object {
  const { DB, DB_2, CLICKS, TOKEN_GATE, CLIENT_GATE, ARCHIVE } = env as Record<
    string,
    object | undefined
  >
  return {
    ...env,
    DB: watchDatabase(DB as D1Database),
    ...(DB_2 && { DB_2: watchDatabase(DB_2 as D1Database) }),
    ...(CLICKS && { CLICKS: watchQueue(CLICKS as Queue) }),
    ...(TOKEN_GATE && { TOKEN_GATE: watchObjects(TOKEN_GATE) }),
    ...(CLIENT_GATE && { CLIENT_GATE: watchObjects(CLIENT_GATE) }),
    ...(ARCHIVE && { ARCHIVE: watchBucket(ARCHIVE as R2Bucket) }),
  }
}

/** D1 reports the rows that each statement read and wrote. */
function watchDatabase(database: D1Database): D1Database {
  const real = new WeakMap<object, { statement: D1PreparedStatement; table: string }>()
  const count = (table: string, { meta }: D1Result) => {
    usage.rowsRead += meta.rows_read
    usage.rowsWritten += meta.rows_written
    if (meta.rows_written > 0) written[table] = (written[table] ?? 0) + meta.rows_written
  }
  const watch = (statement: D1PreparedStatement, table: string): D1PreparedStatement => {
    const all = async () => {
      const result = await statement.all()
      count(table, result)
      return result
    }
    const watching = before(statement, {
      bind: (...values: unknown[]) => watch(statement.bind(...values), table),
      all,
      run: all,
      first: async (column?: string) => {
        const row = (await all()).results[0] as Record<string, unknown> | undefined
        return (column ? row?.[column] : row) ?? null
      },
      // `raw` itself does not report what it read.
      raw: async () => (await all()).results.map((row) => Object.values(row as object)),
    })
    real.set(watching, { statement, table })
    return watching
  }
  const methods = (to: Pick<D1Database, 'prepare' | 'batch'>) => ({
    prepare: (text: string) => watch(to.prepare(text), tableOf(text)),
    batch: async (list: D1PreparedStatement[]) => {
      const known = list.map((statement) => real.get(statement)!)
      const answers = await to.batch(known.map(({ statement }) => statement))
      for (const [i, answer] of answers.entries()) count(known[i]!.table, answer)
      return answers
    },
  })
  return before(database, {
    ...methods(database),
    withSession: (bookmark: string) => {
      const session = database.withSession(bookmark)
      return before(session, methods(session))
    },
  })
}

/** Returns the table that a statement writes. */
const tableOf = (text: string) => /\b(?:insert into|update)\s+"?(\w+)/i.exec(text)?.[1] ?? ''

/** Counts each call of a method as a request to the object. */
const watchObjects = (namespace: object): object =>
  before(namespace, {
    getByName: (name: string) =>
      new Proxy((namespace as { getByName(name: string): object }).getByName(name), {
        get(stub, method) {
          usage.objectRequests += 1
          return Reflect.get(stub, method, stub)
        },
      }),
  })

/** Counts each call of a bucket. Deletions are free. */
function watchBucket(bucket: R2Bucket): R2Bucket {
  const counted = (meter: 'r2Writes' | 'r2Reads', name: 'put' | 'list' | 'get' | 'head') => ({
    [name]: (...values: unknown[]) => {
      usage[meter] += 1
      return Reflect.apply(bucket[name], bucket, values)
    },
  })
  return before(bucket, {
    ...counted('r2Writes', 'put'),
    ...counted('r2Writes', 'list'),
    ...counted('r2Reads', 'get'),
    ...counted('r2Reads', 'head'),
  })
}

/** Counts a message as written; delivery counts as read, and acknowledgement as deleted. */
const watchQueue = (queue: Queue): Queue =>
  before(queue, {
    send: (message: unknown) => {
      usage.queueOperations += 1
      return queue.send(message)
    },
  })

function watchBatch(batch: MessageBatch): MessageBatch {
  const messages = batch.messages.map((message) => {
    usage.queueOperations += 1
    const ack = () => {
      usage.queueOperations += 1
      message.ack()
    }
    return before(message, { ack })
  })
  return before(batch, { messages })
}

/** Wraps the state of an object: each get and put by key is a row, and so is an alarm. */
export function countRowsOf(state: DurableObjectState): DurableObjectState {
  const { storage } = state
  const reads = (method: (key: string) => unknown) => (key: string) => {
    usage.objectRowsRead += 1
    return method.call(storage.kv, key)
  }
  const writes =
    <A extends unknown[]>(target: object, method: (...args: A) => unknown) =>
    (...args: A) => {
      usage.objectRowsWritten += 1
      return method.apply(target, args)
    }
  const kv = before(storage.kv, {
    get: reads(storage.kv.get),
    put: writes(storage.kv, storage.kv.put),
    delete: writes(storage.kv, storage.kv.delete),
  })
  return before(state, {
    storage: before(storage, { kv, setAlarm: writes(storage, storage.setAlarm) }),
  })
}
