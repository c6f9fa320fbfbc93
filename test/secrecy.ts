import { env } from 'cloudflare:workers'
import type { TestContext } from 'vitest'
import { hasUsedObjects, takeObjects } from './objects.ts'
import {
  type Contents,
  contentsOfDatabases,
  emptyWorld,
  hasUsedDatabases,
  leaveEmptyWorld,
} from './world.ts'

// Reports what tests send, receive, log and store to vitest.config.ts, which compares responses with
// openapi.json and searches everything for secrets and personal values.

/** The id of the test file. */
const WORLD = crypto.randomUUID()

/** The number of characters of a body that are searched. */
const SEARCHED_CHARACTERS = 65_536

/** Whether the test has sent anything: otherwise there is nothing to search for. */
let hasSentRequest = false

/** Returns the headers and the body of a request, as far as it is text. */
function searchableParts({ headers, body }: Pick<RequestInit, 'headers' | 'body'>) {
  hasSentRequest = true
  const isText = typeof body === 'string' || body instanceof URLSearchParams
  const text =
    body instanceof Uint8Array ? new TextDecoder().decode(body) : isText ? String(body) : ''
  return {
    headers: Object.fromEntries(new Headers(headers)),
    body: text.slice(0, SEARCHED_CHARACTERS),
  }
}

/** A response that openapi.json describes. */
interface Described {
  method: string
  path: string
  status: number
  headers: Record<string, string>
  body: string
}

/** The responses that are not reported yet. Each report takes as long as a request. */
const responses: (Described & { request: ReturnType<typeof searchableParts> })[] = []

/** The number of characters of these responses, and the number from which they are reported at once. */
let pendingCharacters = 0
const REPORTED_CHARACTERS = 4_000_000

/** Reports a response to a request, at the end of the test or earlier. */
export async function reportResponse(
  request: Pick<RequestInit, 'headers' | 'body'>,
  response: Described,
): Promise<void> {
  responses.push({ ...response, request: searchableParts(request) })
  pendingCharacters += response.body.length
  if (pendingCharacters > REPORTED_CHARACTERS) await reportResponses()
}

async function reportResponses() {
  pendingCharacters = 0
  await report('responses', { world: WORLD, responses: responses.splice(0) })
}

/** Sends a report and keeps the fault that it answers with. */
async function report(kind: 'responses' | 'exchanges' | 'test', content: object) {
  const body = JSON.stringify(content)
  const fault = await (await fetch(`http://report.local/${kind}`, { method: 'POST', body })).text()
  if (fault) faults.push(fault)
}

/** One request of many, its response, and the lines that were logged meanwhile. */
interface Exchange {
  path: string
  request: ReturnType<typeof searchableParts>
  status: number
  body: string
  printed: string[]
  /** Whether the tables are searched for its names, too. */
  isNaming: boolean
}

/** The number of requests in one report: one by one the reports would take longer than the requests. */
const EXCHANGES_PER_REPORT = 500

const exchanges: Exchange[] = []

/** The faults that the reports of the test were answered with. */
const faults: string[] = []

async function reportExchanges() {
  await report('exchanges', { world: WORLD, exchanges: exchanges.splice(0) })
}

/** Sends one request of many, which are reported together. */
export async function reportExchange<A extends { status: number; text: string }>(
  { url, ...request }: Pick<RequestInit, 'headers' | 'body'> & { url: string },
  ask: () => Promise<A>,
  isNaming = false,
): Promise<A> {
  const from = printed.length
  const answer = await ask()
  exchanges.push({
    path: new URL(url).pathname,
    request: searchableParts(request),
    status: answer.status,
    body: answer.text.slice(0, SEARCHED_CHARACTERS),
    printed: printed.splice(from).map(({ line }) => line),
    isNaming,
  })
  if (exchanges.length >= EXCHANGES_PER_REPORT) await reportExchanges()
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
const shared = globalThis as { terminalLog?: typeof console.log }
// The first file finds the console as it was.
shared.terminalLog ??= console.log
const { terminalLog } = shared

/** Prints a line to the terminal although `keepPrinted` has replaced the console. */
export const printToTerminal = (line: string) => terminalLog(line)

/** Removes and returns the logged lines. */
export const takePrinted = () => printed.splice(0)

/** Collects logged lines for tests to read, instead of printing them. */
export function collectPrinted(): void {
  for (const level of LEVELS) {
    console[level] = (...values: unknown[]) => {
      printed.push({ level, line: values.map(textOf).join(' ') })
    }
  }
}

/** What the last test left in the databases that it used; null if no test of the file has ended. */
let contents: Contents | null = null

/** Whether something was logged, or the databases or objects were used, since the last empty world. */
const isWorldUsed = () => printed.length > 0 || hasUsedObjects() || hasUsedDatabases()

/** Makes the world of the next test: migrated databases without rows, and objects without storage. */
export async function prepareWorld(): Promise<void> {
  if (!contents) await emptyWorld()
  else if (isWorldUsed()) await leaveEmptyWorld(contents)
}

/**
 * Whether the rows that a test leaves are searched: those of a third of the tests, of other ones with
 * another day.
 */
const isSearched = (test: string) =>
  [...test].reduce((sum, one) => sum + one.charCodeAt(0), env.DAY) % 3 === 0

/**
 * Fails if openapi.json does not describe a response of the test, or if the test logged or stored a
 * secret, or a personal value where it does not belong.
 */
export async function failOnFaults({ task }: TestContext): Promise<void> {
  // Pure functions are tested in a few microseconds, to look at the databases takes milliseconds.
  if (contents && !hasSentRequest && !isWorldUsed()) return
  const isUsingObjects = hasUsedObjects()
  const [databases, objects] = await Promise.all([
    contentsOfDatabases(isSearched(task.name)),
    hasSentRequest ? takeObjects() : [],
  ])
  contents = databases
  const content = {
    world: WORLD,
    responses: responses.splice(0),
    exchanges: exchanges.splice(0),
    printed: takePrinted().map(({ line }) => line),
    databases: [...databases.values()].map(({ tables }) => tables),
    objects,
  }
  pendingCharacters = 0
  const hasStored = isUsingObjects || content.databases.some((one) => Object.keys(one).length > 0)
  // Each report takes longer than many a test. A test that did nothing has nothing to report.
  if (hasSentRequest || hasStored || content.printed.length > 0) await report('test', content)
  hasSentRequest = false
  const [fault] = faults.splice(0)
  if (fault) throw new Error(fault)
}
