import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun as ServiceStatementRun,
  TokenGate,
} from 'tributary:service'
import type {
  D1Database,
  D1PreparedStatement,
  D1Result,
  ExportedHandler,
  MessageBatch,
  Queue,
} from '@cloudflare/workers-types'

// The bundled service with a meter around it and its Workflow: it counts what the platform bills. `/_meter`
// returns the counts and resets them; `PUT /_clock` sets the clock.

/** What was used. */
export interface Counts {
  readonly requests: number
  readonly objectRequests: number
  readonly queueOperations: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

const ZERO: Counts = {
  requests: 0,
  objectRequests: 0,
  queueOperations: 0,
  rowsRead: 0,
  rowsWritten: 0,
}
// The Worker and its Workflow share an isolate, and so these counts.
let counts = { ...ZERO }

/** Wraps an object: the given methods come first, and call the real ones. */
const before = <T extends object>(target: T, own: Record<string, unknown>): T =>
  new Proxy(target, {
    get(_, name) {
      const value = own[String(name)] ?? Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** D1 reports the rows that each statement read and wrote. */
function watchDatabase(database: D1Database): D1Database {
  const real = new WeakMap<object, D1PreparedStatement>()
  const count = ({ meta }: D1Result) => {
    counts.rowsRead += meta.rows_read
    counts.rowsWritten += meta.rows_written
  }
  const watch = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = async () => {
      const result = await statement.all()
      count(result)
      return result
    }
    const watching = before(statement, {
      bind: (...values: unknown[]) => watch(statement.bind(...values)),
      all,
      run: all,
      first: async (column?: string) => {
        const row = (await all()).results[0] as Record<string, unknown> | undefined
        return (column ? row?.[column] : row) ?? null
      },
      // `raw` itself does not report what it read.
      raw: async () => (await all()).results.map((row) => Object.values(row as object)),
    })
    real.set(watching, statement)
    return watching
  }
  const methods = (to: Pick<D1Database, 'prepare' | 'batch'>) => ({
    prepare: (text: string) => watch(to.prepare(text)),
    batch: async (list: D1PreparedStatement[]) => {
      const answers = await to.batch(list.map((statement) => real.get(statement)!))
      for (const answer of answers) count(answer)
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

/** Counts each call of a method as a request to the object. */
const watchObjects = (namespace: object): object =>
  before(namespace, {
    getByName: (name: string) =>
      new Proxy((namespace as { getByName(name: string): object }).getByName(name), {
        get(stub, method) {
          counts.objectRequests += 1
          return Reflect.get(stub, method, stub)
        },
      }),
  })

/** Counts a message as written; its delivery counts as read and deleted. */
const watchQueue = (queue: Queue): Queue =>
  before(queue, {
    send: (message: unknown) => {
      counts.queueOperations += 1
      return queue.send(message)
    },
  })

/** Wraps the bindings of the Worker. */
function watched(env: unknown): object {
  const own = env as Record<'DB' | 'CLICKS' | 'TOKEN_GATE' | 'CLIENT_GATE', object>
  return {
    ...own,
    DB: watchDatabase(own.DB as D1Database),
    CLICKS: watchQueue(own.CLICKS as Queue),
    TOKEN_GATE: watchObjects(own.TOKEN_GATE),
    CLIENT_GATE: watchObjects(own.CLIENT_GATE),
  }
}

const realNow = Date.now.bind(Date)

async function setClock(text: string): Promise<Response> {
  const shift = Number(text) - realNow()
  Date.now = () => realNow() + shift
  return new Response()
}

function takeCounts(): Response {
  const taken = counts
  counts = { ...ZERO }
  return Response.json(taken)
}

/** The Workflow of a run, with the rows of its database counted. */
export class StatementRun extends ServiceStatementRun {
  constructor(context: unknown, env: object) {
    super(context, watched(env))
  }
}
export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, TokenGate }
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url)
    if (pathname === '/_clock') return (await setClock(await request.text())) as never
    if (pathname === '/_meter') return takeCounts() as never
    counts.requests += 1
    return service.fetch!(request, watched(env), context)
  },
  async queue(batch: MessageBatch, env, context) {
    counts.requests += 1
    counts.queueOperations += 2 * batch.messages.length
    await service.queue!(batch, watched(env), context)
  },
} satisfies ExportedHandler
