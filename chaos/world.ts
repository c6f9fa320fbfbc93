import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Receiver } from '../test-node/receiver.ts'
import type { Answer, RequestSender } from './ask.ts'
import type { Place } from './parties.ts'
import type { Service } from './service.ts'

/** What can go wrong while the lanes send. */
export const FAULTS = ['kill', 'evict', 'heap', 'slow', 'move', 'database'] as const

/** One kind of fault. */
export type Fault = (typeof FAULTS)[number]

/** The two accounts, and the databases between which each moves. It begins in the first. */
export const DATABASES_OF = { firm: ['DB_2', 'DB_3'], brand: ['DB'] } as const

/** One of the accounts: a firm that holds records of unknown customers, and a brand. */
export type Account = keyof typeof DATABASES_OF

/** The three months whose records are sent, the oldest first. All of them are over. */
export const MONTHS: readonly string[] = [3, 2, 1].map((ago) => {
  const now = new Date()
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
  return month.toISOString().slice(0, 'YYYY-MM'.length)
})

/** How long a request may go without an answer, and how long it may be refused, in milliseconds. */
const PATIENCE_MS = 60_000
const REFUSED_MS = 120_000

/** A client of an account: it sends one request after the other. No other lane writes its records. */
export interface Lane {
  readonly name: string
  readonly account: Account
  readonly ask: RequestSender
  readonly secrets: readonly string[]
  /** The name of the object of its token. */
  readonly object: string
  /** The requests that store records, in their order. Each was acknowledged. */
  readonly stored: Parameters<RequestSender>[]
}

/** A run of the program. */
export interface World extends Place {
  /** The service, which is replaced after each kill. */
  service: Service
  /** Resolves once a service runs again. */
  restarted: Promise<unknown>
  readonly faults: ReadonlySet<Fault>
  /** Returns a whole number from 0, below `n`, the same ones for the same seed. */
  readonly below: (n: number) => number
  /** Records a broken promise, described by `message`, unless `isKept` is true. */
  readonly check: (isKept: boolean, message: string) => void
  /** When the load begins and ends, in milliseconds. */
  begins: number
  ends: number
  lanes: readonly Lane[]
  readonly receiver: Receiver
  /** Secrets and personal values, which no line of the log may have. */
  readonly sensitive: Set<string>
  /** Whether all was checked. */
  isDone: boolean
  readonly counts: { requests: number; refused: number; unanswered: number; kills: number }
}

/** Draws one of a list. */
export const oneOf = <T>({ below }: Pick<World, 'below'>, list: readonly T[]): T =>
  list[below(list.length)]!

/** Returns whether the load is over. */
export const isOver = ({ ends }: World): boolean => Date.now() >= ends

/** Returns the index of the month whose records are sent now. */
export const currentMonth = ({ begins, ends }: World): number =>
  Math.max(0, Math.min(2, Math.floor((3 * (Date.now() - begins)) / (ends - begins))))

/** Returns whether a request of an account may be answered 503. */
const mayRefuse = ({ faults }: World, account: Account): boolean =>
  ['kill', 'heap', 'slow'].some((fault) => faults.has(fault as Fault)) ||
  (account === 'firm' && (faults.has('move') || faults.has('database')))

/** Sends a request of an account until it is answered by something else than 429 and 503. */
export async function insist(
  world: World,
  account: Account,
  ask: RequestSender,
  [method, path, sent]: Parameters<RequestSender>,
): Promise<Answer> {
  const { counts, check, faults } = world
  for (const since = Date.now(); Date.now() < since + REFUSED_MS; ) {
    await world.restarted
    counts.requests += 1
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await ask(method, path, { ...sent, signal }).catch(() => null)
    if (!answer) {
      counts.unanswered += 1
      check(!signal.aborted, `${method} ${path} has no answer after ${PATIENCE_MS} ms`)
      const isAlive = world.service.pids.every((pid) => existsSync(`/proc/${pid}`))
      check(faults.has('kill') || isAlive, 'workerd has ended')
    } else if (answer.status !== 503 && answer.status !== 429) {
      return answer
    } else {
      counts.refused += 1
      const isAllowed = answer.status === 503 && mayRefuse(world, account)
      const what = `${method} ${path} of ${account}: ${answer.status} ${answer.body?.code}`
      check(isAllowed, what)
      check(Number(answer.headers.get('Retry-After')) > 0, `${what} without Retry-After`)
    }
    await wait(200 + world.below(300))
  }
  throw new Error(`${method} ${path} of ${account} was refused for ${REFUSED_MS} ms.`)
}

/** Sends requests of the team for an account, to paths below it. Returns the body of the answer. */
export type Team = (...request: Parameters<RequestSender>) => ReturnType<typeof Object>

/** Returns the team of an account that insists, and expects success. */
export const teamOf =
  (world: World, account: Account): Team =>
  async (method, path, sent) => {
    const full = `accounts/${account}/${path}`
    const { status, body } = await insist(world, account, world.admin, [method, full, sent])
    const text = JSON.stringify(body).slice(0, 300)
    world.check(status < 300, `${method} ${full} is answered ${status}: ${text}`)
    return body
  }
