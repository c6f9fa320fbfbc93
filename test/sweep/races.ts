import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { vi } from 'vitest'
import { type Call, surrounded } from './platform.ts'
import { asks, type Route } from './routes.ts'
import { LOGS, normalized, OMITTED, storedOf } from './state.ts'
import { prepare, type World } from './worlds.ts'

// Two requests meet: the first is stopped before it writes, the second runs, the first goes on. Answers and state
// are those of one of the two orders; or one of them is refused, and the state is that of the other alone.

/** Tables that requests of all kinds write: logs, marks and counts. They do not make requests meet. */
const ASIDE: readonly string[] = [...LOGS, ...OMITTED, 'totals']

const WRITTEN = /\b(?:insert (?:or \w+ )?into|update(?: or \w+)?|delete from) (?!set\b)(\w+)/gi

/** The last use of a key is noted beside the request, which does not wait for it. */
const NOTE = 'update affiliate_keys set last_used_on'

/** Returns the tables that a call to the platform writes. */
const writtenBy = ({ sql }: Call): string[] =>
  sql.startsWith(NOTE)
    ? []
    : [...sql.matchAll(WRITTEN)]
        .map(([, table]) => table!)
        .filter((table) => !ASIDE.includes(table))

/** Answers, in the order of the requests, and the rows that they left; both without what differs between runs. */
interface Outcome {
  answers: string[]
  rows: string[]
  /** The rows without logs: a refused request may have one. */
  lasting: string
}

/** A request, what it leaves if it is alone, and the calls that write: what they write, by their SQL. */
interface Alone extends Outcome {
  route: Route
  writes: Map<string, string[]>
}

/** Two requests that write a common table, and the SQL of the call at which the first one is stopped. */
interface Meeting {
  first: Alone
  second: Alone
  stop: string
}

/** Sends a request; `beforeCall` is awaited before each call to the platform. */
async function send(route: Route, world: World, beforeCall: (call: Call) => unknown = () => {}) {
  const platform = surrounded(async (call, act) => {
    await beforeCall(call)
    return act()
  })
  const context = createExecutionContext()
  const response = await asks(route, world, platform, context)
  const answer = normalized(await response.text(), world)
  await waitOnExecutionContext(context)
  return `${response.status} ${response.headers.get('Retry-After') ?? ''} ${answer}`
}

const REFUSED = /^(409|503 \d+) /

const worldFor = (first: Route, second: Route) =>
  prepare(first.vertical, true, { ...second, ...first })

async function outcomeOf(world: World, answers: string[]): Promise<Outcome> {
  const { all, lasting } = await storedOf(world)
  // What an entry of the audit log calls the state before it may be older.
  const rows = all
    .split('\n')
    .map((row) => row.replace(/("table":"audit_log".*),"details".*/, '$1'))
  return { answers, rows, lasting }
}

async function runAlone(route: Route): Promise<Alone> {
  const world = await worldFor(route, route)
  const writes: Alone['writes'] = new Map()
  const answer = await send(route, world, (call) => {
    const written = writtenBy(call)
    if (written.length > 0) writes.set(call.sql, written)
  })
  return { route, writes, ...(await outcomeOf(world, [answer])) }
}

async function runInOrder(before: Route, after: Route): Promise<Outcome> {
  const world = await worldFor(before, after)
  return outcomeOf(world, [await send(before, world), await send(after, world)])
}

async function runMeeting({ first, second, stop }: Meeting): Promise<Outcome> {
  const world = await worldFor(first.route, second.route)
  let meanwhile: string | undefined
  const answer = await send(first.route, world, async ({ sql }) => {
    if (sql === stop) meanwhile ??= await send(second.route, world)
  })
  if (meanwhile === undefined) throw new Error('The first request was not stopped.')
  return outcomeOf(world, [answer, meanwhile])
}

/** Returns what one outcome has and the other lacks, and the reverse. */
function differences(found: Outcome, expected: Outcome): string[] {
  const linesOf = ({ answers, rows }: Outcome) => [
    ...answers.map((text, i) => `${i}: ${text}`),
    ...rows,
  ]
  const [is, wanted] = [linesOf(found), linesOf(expected)]
  const without = (all: string[], others: string[]) => {
    const left = [...others]
    return all.filter((line) => {
      const at = left.indexOf(line)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
  }
  return [
    ...without(is, wanted).map((line) => `is    ${line}`),
    ...without(wanted, is).map((line) => `lacks ${line}`),
  ]
}

const nameOf = ({ id, way }: Route) => [id, way].filter(Boolean).join(', ')

/** Returns all pairs of requests that write a common table, once for each call at which the first can be stopped. */
export async function meetingsOf(routes: readonly Route[]): Promise<Meeting[]> {
  // Without randomness the retry of the service does not wait.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const all: Alone[] = []
  // What is done with records of unknown customers is a setting of both.
  for (const route of routes) if (route.writes && !route.policy) all.push(await runAlone(route))
  return all.flatMap((first) =>
    all.flatMap((second) => {
      const { vertical, binding } = first.route
      if (second.route.vertical !== vertical || second.route.binding !== binding) return []
      const written = new Set([...second.writes.values()].flat())
      return [...first.writes].flatMap(([stop, tables]) =>
        tables.some((table) => written.has(table)) ? [{ first, second, stop }] : [],
      )
    }),
  )
}

/** Returns how these meetings break the law. */
export async function breachesOf(meetings: readonly Meeting[]): Promise<string[]> {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const orders = new Map<string, Promise<Outcome>>()
  const inOrder = (before: Route, after: Route) => {
    const key = `${nameOf(before)} / ${nameOf(after)}`
    const outcome = orders.get(key) ?? runInOrder(before, after)
    orders.set(key, outcome)
    return outcome
  }
  const breaches: string[] = []
  for (const meeting of meetings) {
    const { first, second, stop } = meeting
    const found = await runMeeting(meeting)
    const [one, other] = found.answers as [string, string]
    if (REFUSED.test(one) && found.lasting === second.lasting && other === second.answers[0])
      continue
    if (REFUSED.test(other) && found.lasting === first.lasting && one === first.answers[0]) continue
    const reversed = await inOrder(second.route, first.route)
    const asSecond = differences(found, { ...reversed, answers: reversed.answers.toReversed() })
    if (asSecond.length === 0) continue
    const asFirst = differences(found, await inOrder(first.route, second.route))
    if (asFirst.length === 0) continue
    breaches.push(
      [
        `${nameOf(first.route)} before it writes ${first.writes.get(stop)!.join()}, ${nameOf(second.route)} meanwhile`,
        ...(asFirst.length < asSecond.length ? asFirst : asSecond),
      ].join('\n  '),
    )
  }
  return breaches
}
