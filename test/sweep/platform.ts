import { env } from 'cloudflare:workers'
import { overriding, overridingSessions } from '../ingest/watched.ts'

/** A call to the platform, by a name that its retries share. */
export interface Call {
  name: string
  /** The SQL of a call to D1. */
  sql: string
  /** The database of the call, if it has one. */
  db?: D1Database
  /** The object of the call, if it has one. */
  stub?: DurableObjectStub
}

/** Intercepts a call to the platform: `act` makes it. */
export type Around = (call: Call, act: () => Promise<unknown>) => Promise<unknown>

/** The bindings of all databases. */
const DATABASES = ['DB', 'DB_2'] as const

/** Returns the platform with every call intercepted. */
export function surrounded(around: Around): Env {
  return {
    ...env,
    ...Object.fromEntries(DATABASES.map((name) => [name, database(name, env[name], around)])),
    TOKEN_GATE: objects('TOKEN_GATE', env.TOKEN_GATE, around),
    CLIENT_GATE: objects('CLIENT_GATE', env.CLIENT_GATE, around),
    ERASURE_JOURNAL: objects('ERASURE_JOURNAL', env.ERASURE_JOURNAL, around),
    EXPORTS: bucket(env.EXPORTS, around),
    CLICKS: overriding(env.CLICKS, {
      send: (body: unknown) =>
        around({ name: 'CLICKS.send', sql: '' }, () => env.CLICKS.send(body)),
    }),
    WEBHOOKS: overriding(env.WEBHOOKS, {
      sendBatch: (messages: Iterable<MessageSendRequest>) =>
        around({ name: 'WEBHOOKS.sendBatch', sql: '' }, () => env.WEBHOOKS.sendBatch(messages)),
    }),
    ASSETS: overriding(env.ASSETS, {
      fetch: (at: URL) => around({ name: 'ASSETS.fetch', sql: '' }, () => env.ASSETS.fetch(at)),
    }),
  } as Env
}

function database(binding: string, db: D1Database, around: Around): D1Database {
  const known = new WeakMap<object, { real: D1PreparedStatement; sql: string }>()
  const statement = (real: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const intercept = (method: 'all' | 'first' | 'raw' | 'run') => () =>
      around({ name: `${binding} ${sql}`, sql, db }, () =>
        (real[method] as () => Promise<unknown>).call(real),
      )
    const intercepted = overriding(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values), sql),
      all: intercept('all'),
      first: intercept('first'),
      raw: intercept('raw'),
      run: intercept('run'),
    })
    known.set(intercepted, { real, sql })
    return intercepted
  }
  const methods = (real: Pick<D1Database, 'prepare' | 'batch'>) => ({
    prepare: (text: string) => statement(real.prepare(text), text.replace(/\s+/g, ' ').trim()),
    batch: (list: D1PreparedStatement[]) => {
      const all = list.map((statement) => known.get(statement)!)
      // Named by its first statement: a retry may have more statements.
      const name = `${binding} ${all[0]!.sql}`
      return around({ name, sql: all.map(({ sql }) => sql).join(';'), db }, () =>
        real.batch(all.map(({ real }) => real)),
      )
    },
  })
  return overridingSessions(db, methods)
}

function bucket(real: R2Bucket, around: Around): R2Bucket {
  const intercept =
    (method: 'head' | 'get' | 'put' | 'delete') =>
    (...values: unknown[]) =>
      around({ name: `EXPORTS.${method}`, sql: '' }, () =>
        (real[method] as (...values: unknown[]) => Promise<unknown>).apply(real, values),
      )
  return overriding(real, {
    head: intercept('head'),
    get: intercept('get'),
    put: intercept('put'),
    delete: intercept('delete'),
  })
}

function objects<T extends Rpc.DurableObjectBranded | undefined>(
  binding: string,
  namespace: DurableObjectNamespace<T>,
  around: Around,
): DurableObjectNamespace<T> {
  const stub = (real: DurableObjectStub<T>) =>
    new Proxy(real, {
      get:
        (_, method) =>
        (...args: unknown[]) =>
          around({ name: `${binding}.${String(method)}`, sql: '', stub: real }, async () =>
            (Reflect.get(real, method, real) as (...args: unknown[]) => unknown)(...args),
          ),
    })
  return overriding(namespace, { getByName: (name: string) => stub(namespace.getByName(name)) })
}
