import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

// Reports what tests send, log and store to test-node/secrecy.ts, which searches it for secrets and
// personal values.

/** The id of the test file. */
export const WORLD = crypto.randomUUID()

/** The number of characters of a body that are searched. */
const LOOKED_INTO = 65_536

/** Whether the test has sent anything: otherwise there is nothing to search for. */
let heardAny = false

/** Returns the headers and the body of a request, as far as it is text. */
export function saidBy({ headers, body }: Pick<RequestInit, 'headers' | 'body'>) {
  heardAny = true
  const isText = typeof body === 'string' || body instanceof URLSearchParams
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body) : isText ? String(body) : ''
  return {
    headers: Object.fromEntries(new Headers(headers)),
    body: text.slice(0, LOOKED_INTO),
  }
}

/** One request of many, its response, and the lines that were logged meanwhile. */
interface Overheard {
  path: string
  asked: ReturnType<typeof saidBy>
  status: number
  body: string
  printed: string[]
  /** Whether the tables are searched for its names, too. */
  isNaming: boolean
}

/** The number of requests in one report: one by one the reports would take longer than the requests. */
const TOLD_AT_ONCE = 500

const overheard: Overheard[] = []

/** Forbidden values that were found so far. */
const leaks: string[] = []

async function tellOverheard() {
  if (overheard.length === 0) return
  const body = JSON.stringify({ world: WORLD, overheard: overheard.splice(0) })
  const answer = await fetch('http://secrecy.local/overheard', { method: 'POST', body })
  const leak = await answer.text()
  if (leak) leaks.push(leak)
}

/** Sends one request of many, which are reported together. */
export async function overhear<A extends { status: number; text: string }>(
  { url, ...request }: Pick<RequestInit, 'headers' | 'body'> & { url: string },
  ask: () => Promise<A>,
  isNaming = false,
): Promise<A> {
  const from = printed.length
  const answer = await ask()
  overheard.push({
    path: new URL(url).pathname,
    asked: saidBy(request),
    status: answer.status,
    body: answer.text.slice(0, LOOKED_INTO),
    printed: printed.splice(from).map(({ line }) => line),
    isNaming,
  })
  if (overheard.length >= TOLD_AT_ONCE) await tellOverheard()
  return answer
}

/** The lines that were logged since the test began. */
const printed: { level: string; line: string }[] = []

/** Returns the logged lines of one level. */
export const printedAs = (level: (typeof LEVELS)[number]) =>
  printed.filter((one) => one.level === level).map(({ line }) => line)

const LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const

const textOf = (value: unknown): string => {
  if (value instanceof Error) return `${value.stack} ${value.message} ${textOf(value.cause)}`
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** What test files share that run in one process. */
const shared = globalThis as {
  terminalLog?: typeof console.log
  requestedObjects?: Map<DurableObjectId, DurableObjectNamespace>
}
// The first file finds the console as it was.
shared.terminalLog ??= console.log
const { terminalLog } = shared

/** Prints a line to the terminal although `keepPrinted` has replaced the console. */
export const aloud = (line: string) => terminalLog(line)

/** Removes and returns the logged lines. */
export const forgetPrinted = () => printed.splice(0)

/** Collects logged lines for tests to read, instead of printing them. */
export function keepPrinted(): void {
  for (const level of LEVELS) {
    console[level] = (...values: unknown[]) => {
      printed.push({ level, line: values.map(textOf).join(' ') })
    }
  }
}

/** The number of tables that the migrations create. */
const TABLES = env.MIGRATIONS.flatMap(({ queries }) => queries).filter((query) =>
  /\bcreate table\b/i.test(query),
).length

/** Returns all rows of all tables of a database. */
async function tablesOf(db: D1Database): Promise<Record<string, unknown[]>> {
  const { results } = await db
    .prepare("select name from sqlite_schema where type = 'table' and name not glob '_cf*'")
    .all<{ name: string }>()
  if (results.length === 0) return {}
  const all = await db.batch(results.map(({ name }) => db.prepare(`select * from "${name}"`)))
  return Object.fromEntries(results.map(({ name }, i) => [name, all[i]!.results]))
}

/**
 * Records every object that is asked for, with its namespace. `listDurableObjectIds` also lists the
 * objects of earlier tests, and waking all of them again after each test takes longer than the tests.
 */
function recordObjects() {
  const requestedObjects = new Map<DurableObjectId, DurableObjectNamespace>()
  const prototype = Object.getPrototypeOf(env.TOKEN_GATE)
  for (const method of ['get', 'getByName'] as const) {
    const original = prototype[method]
    prototype[method] = function (this: DurableObjectNamespace, ...args: unknown[]) {
      const stub = original.apply(this, args)
      requestedObjects.set(stub.id, this)
      return stub
    }
  }
  return requestedObjects
}
shared.requestedObjects ??= recordObjects()
const { requestedObjects } = shared

/** Returns the name and the storage of every object that the test has asked for. */
async function objectsOfTest() {
  const byId = new Map(
    [...requestedObjects].map(([id, namespace]) => [String(id), { id, namespace }]),
  )
  return Promise.all(
    [...byId.values()].map(({ id, namespace }) =>
      runInDurableObject(namespace.get(id), (_, { storage, id: { name } }) => ({
        name,
        stored: [...storage.kv.list()],
      })),
    ),
  )
}

/** Whether the databases are migrated and empty, no object was asked for and no request was sent. */
let untouched = false
export const isUntouched = () => untouched

/** Fails if a test logged or stored a secret, or a personal value where it does not belong. */
export async function keepSecret(): Promise<void> {
  const { DB, DB_2 } = env
  await tellOverheard()
  const [first, second, objects] = await Promise.all([
    tablesOf(DB),
    tablesOf(DB_2),
    heardAny ? objectsOfTest() : [],
  ])
  const rows = [first, second].map((tables) => Object.values(tables))
  untouched =
    !heardAny &&
    requestedObjects.size === 0 &&
    rows.every((tables) => tables.length === TABLES && tables.every(({ length }) => length === 0))
  heardAny = false
  requestedObjects.clear()
  const left = {
    world: WORLD,
    printed: forgetPrinted().map(({ line }) => line),
    databases: [first, second],
    objects,
  }
  const answer = await fetch('http://secrecy.local/', {
    method: 'POST',
    body: JSON.stringify(left),
  })
  leaks.push(await answer.text())
  const leak = leaks.splice(0).find(Boolean)
  if (leak) throw new Error(`A secret, or what is personal, is where it must not be: ${leak}`)
}
