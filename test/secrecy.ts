import { listDurableObjectIds, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

// What test-node/secrecy.ts is told, which searches it for secrets and for what is personal.

/** Where these tests live: one a file. */
export const WORLD = crypto.randomUUID()

/** So much of a body is looked into. */
const LOOKED_INTO = 65_536

/** Whether a test said anything: of what it did not say nothing can be found. */
let heardAny = false

/** What a request says, as far as it is text. */
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

/** One request of many, its answer, and what was printed meanwhile. */
interface Overheard {
  path: string
  asked: ReturnType<typeof saidBy>
  status: number
  body: string
  printed: string[]
  /** Whether its names are those of the test: then tables are searched for them, too. */
  isNaming: boolean
}

/** So many are told at once: each alone would take longer than its answer. */
const TOLD_AT_ONCE = 500

const overheard: Overheard[] = []

/** What of them was printed, and must not be. */
const leaks: string[] = []

async function tellOverheard() {
  if (overheard.length === 0) return
  const body = JSON.stringify({ world: WORLD, overheard: overheard.splice(0) })
  const answer = await fetch('http://secrecy.local/overheard', { method: 'POST', body })
  const leak = await answer.text()
  if (leak) leaks.push(leak)
}

/** Asks as one of many, one after the other; what is said and printed is searched with the others. */
export async function overhear<A extends { status: number; text: string }>(
  { url, ...said }: Pick<RequestInit, 'headers' | 'body'> & { url: string },
  ask: () => Promise<A>,
  isNaming = false,
): Promise<A> {
  const from = printed.length
  const answer = await ask()
  overheard.push({
    path: new URL(url).pathname,
    asked: saidBy(said),
    status: answer.status,
    body: answer.text.slice(0, LOOKED_INTO),
    printed: printed.splice(from).map(({ line }) => line),
    isNaming,
  })
  if (overheard.length >= TOLD_AT_ONCE) await tellOverheard()
  return answer
}

/** What was printed since the test began. */
const printed: { level: string; line: string }[] = []

/** The lines of one level. */
export const printedAs = (level: (typeof LEVELS)[number]) =>
  printed.filter((one) => one.level === level).map(({ line }) => line)

const LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const

const textOf = (value: unknown): string => {
  if (value instanceof Error) return `${value.stack} ${value.message} ${textOf(value.cause)}`
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

const { log } = console

/** Says something on the terminal, whatever is kept: what a run came to. */
export const aloud = (line: string) => log(line)

/** Forgets what was printed. */
export const forgetPrinted = () => printed.splice(0)

/** Keeps what is printed, for tests to read: nothing of it goes to the terminal. */
export function keepPrinted(): void {
  for (const level of LEVELS) {
    console[level] = (...values: unknown[]) => {
      printed.push({ level, line: values.map(textOf).join(' ') })
    }
  }
}

/** All rows of all tables of a database. */
async function tablesOf(db: D1Database): Promise<Record<string, unknown[]>> {
  const { results } = await db
    .prepare("select name from sqlite_schema where type = 'table' and name not glob '_cf*'")
    .all<{ name: string }>()
  if (results.length === 0) return {}
  const all = await db.batch(results.map(({ name }) => db.prepare(`select * from "${name}"`)))
  return Object.fromEntries(results.map(({ name }, i) => [name, all[i]!.results]))
}

/** The objects of tokens that were looked into: no later test has the same token. */
const looked = new Set<string>()

/** The name and the storage of all objects of a class; those of tokens but once. */
async function objectsOf(namespace: DurableObjectNamespace<never>, isToken = false) {
  const ids = await listDurableObjectIds(namespace)
  const left = ids.filter((id) => !looked.has(String(id)))
  if (isToken) for (const id of left) looked.add(String(id))
  return Promise.all(
    left.map((id) =>
      runInDurableObject(namespace.get(id), (_, { storage, id: { name } }) => ({
        name,
        stored: [...storage.kv.list()],
      })),
    ),
  )
}

async function allObjects() {
  const { TOKEN_GATE, CLIENT_GATE, ERASURE_JOURNAL } = env
  const each = await Promise.all([
    objectsOf(TOKEN_GATE as never, true),
    objectsOf(CLIENT_GATE as never),
    objectsOf(ERASURE_JOURNAL as never),
  ])
  return each.flat()
}

/** Fails where a test printed or stored what it must not. */
export async function keepSecret(): Promise<void> {
  const { DB, DB_2 } = env
  await tellOverheard()
  const [first, second, objects] = await Promise.all([
    tablesOf(DB),
    tablesOf(DB_2),
    heardAny ? allObjects() : [],
  ])
  heardAny = false
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
