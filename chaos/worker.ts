import { MOVE_LIMITS } from '../src/accounts/move/move-steps.ts'
import service, { StatementRun as Run } from '../src/index.ts'
import { CRON_SCHEDULES } from '../src/jobs/crons.ts'

// The service with paths of its own: they let databases fail, run a cron, for which Miniflare would stop the program
// that asks until it has ended, count rows and calls of databases, and set the clock. The old copy of a move is deleted at once.

MOVE_LIMITS.keptMs = 0

/** The bindings of the databases that fail. workerd runs everything in one isolate, so all share this list. */
let failing: readonly string[] = []

const fail = async (): Promise<never> => {
  throw new Error('D1_ERROR: Network connection lost.')
}
const statement = { bind: () => statement, all: fail, run: fail, raw: fail, first: fail }
const broken: Record<string, unknown> = {
  prepare: () => statement,
  batch: fail,
  withSession: () => broken,
}

const withFaults = (name: string, database: D1Database) =>
  new Proxy(database, {
    get(real, method: string) {
      if (failing.includes(name)) return broken[method]
      const value = Reflect.get(real, method)
      return typeof value === 'function' ? value.bind(real) : value
    },
  })

const NOTHING = { read: 0, written: 0, calls: 0 }
let rows = { ...NOTHING }
let isCounting = false

const counted = <R extends D1Result>(result: R): R => {
  rows.read += result.meta.rows_read
  rows.written += result.meta.rows_written
  return result
}

/** Lets all statements count their rows. `first` and `raw` do not report them, so they go through `all`. */
function countRows(database: D1Database): void {
  isCounting = true
  const statements: D1PreparedStatement = Object.getPrototypeOf(database.prepare('select 1'))
  const { all } = statements
  Object.assign(statements, {
    async all() {
      rows.calls += 1
      return counted(await all.call(this as never))
    },
    async first(column?: string) {
      const [row] = (await statements.all.call(this as never)).results
      return (column ? Object(row)[column] : row) ?? null
    },
    async raw() {
      const { results } = await statements.all.call(this as never)
      return results.map((row) => Object.values(Object(row)))
    },
  })
  statements.run = statements.all
  // That of the database calls that of a session.
  const sessions: D1DatabaseSession = Object.getPrototypeOf(database.withSession())
  const { batch } = sessions
  Object.assign(sessions, {
    async batch(list: D1PreparedStatement[]) {
      rows.calls += 1
      return (await batch.call(this as never, list)).map(counted)
    },
  })
}

const RealDate = Date

/** Makes the clock of the isolate run by so many milliseconds ahead. */
function shiftClock(ms: number): void {
  const now = () => RealDate.now() + ms
  globalThis.Date = class extends RealDate {
    static override now = now
    constructor(...args: [] | [string | number]) {
      super(...((args.length > 0 ? args : [now()]) as [number]))
    }
  } as DateConstructor
}

/** Returns bindings whose databases can fail. */
const surround = <E>(env: E): E =>
  Object.fromEntries(
    Object.entries(env as object).map(([name, binding]) => [
      name,
      /^DB(_\d+)?$/.test(name) ? withFaults(name, binding as D1Database) : binding,
    ]),
  ) as E

type Class = new (context: never, env: never) => object

const faulty = <C extends Class>(Real: C): C =>
  class extends (Real as Class) {
    constructor(context: unknown, env: unknown) {
      super(context as never, surround(env) as never)
    }
  } as C

const real = service as unknown as Required<ExportedHandler>

export { ClientGate, ErasureJournal, TokenGate } from '../src/index.ts'
/** Classes that use databases. */
export const StatementRun = faulty(Run)
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url)
    if (pathname === '/_chaos/failing') {
      failing = await request.json<string[]>()
    } else if (pathname === '/_chaos/rows') {
      if (!isCounting) countRows(env.DB)
      const taken = rows
      rows = { ...NOTHING }
      return Response.json(taken)
    } else if (pathname === '/_chaos/clock') {
      shiftClock((await request.json<number>()) - RealDate.now())
    } else if (pathname === '/_chaos/cron') {
      const { job, time } = await request.json<{ job: keyof typeof CRON_SCHEDULES; time: number }>()
      const event = { cron: CRON_SCHEDULES[job], scheduledTime: time, noRetry() {} }
      await real.scheduled(event as never, surround(env), context)
    } else return real.fetch(request, surround(env), context)
    return Response.json(null)
  },
  queue: (batch, env, context) => real.queue(batch, surround(env), context),
} satisfies ExportedHandler<Env>
