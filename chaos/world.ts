import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Receiver } from '../test-node/receiver.ts'
import type { Answer, RequestSender } from './ask.ts'
import type { Ledger, SentRecord } from './ledger.ts'
import type { Firm, Place } from './parties.ts'
import type { Service } from './service.ts'

/** What can go wrong while the lanes send. */
export const FAULTS = ['kill', 'evict', 'heap', 'slow', 'move', 'database'] as const

/** One kind of fault. */
export type Fault = (typeof FAULTS)[number]

/** The accounts, and the database in which each begins. */
export const ACCOUNTS = { prop: 'DB_2', forex: 'DB_3', brand: 'DB' } as const

/** The three months whose records are sent, the oldest first. All of them are over. */
export const MONTHS = [3, 2, 1].map((ago) => {
  const now = new Date()
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
  return month.toISOString().slice(0, 'YYYY-MM'.length)
})

/** The month that leaves for the archive. */
export const OLD_MONTH = '2020-01'

/** How long a request may go without an answer, and how long it may be refused, in milliseconds. */
const PATIENCE_MS = 60_000
const REFUSED_MS = 120_000

/** A client of an account, with what it has stored: it sends one request after the other. */
export interface Lane {
  readonly name: string
  readonly account: keyof typeof ACCOUNTS
  /** The firm; null for a brand. */
  readonly firm: Firm | null
  readonly ask: RequestSender
  readonly ledger: Ledger
  /** The name of the object of its token, and how often that lost its memory. */
  readonly object: string
  readonly losses: number[]
  /** The requests with its token. */
  readonly sent: { readonly sentAt: number; answeredAt: number }[]
  readonly revoked: RequestSender[]
  readonly clicks: { readonly at: number; readonly isAnswered: boolean }[]
  /** The id of the link that its visitors follow. */
  readonly link: string
  /** The events that were sent with each Idempotency-Key. */
  readonly bulks: Map<string, SentRecord[]>
}

/** A run of the program. */
export interface World extends Place {
  /** The service, which is replaced after each kill. */
  service: Service
  /** Resolves once a service runs again. */
  restarted: Promise<unknown>
  readonly faults: ReadonlySet<Fault>
  /** The account whose database fails; null without that fault. */
  readonly struck: keyof typeof ACCOUNTS | null
  /** Returns a whole number from 0, below `n`, the same ones for the same seed. */
  readonly below: (n: number) => number
  /** Records a broken promise, described by `message`, unless `isKept` is true. */
  readonly check: (isKept: boolean, message: string) => void
  /** When the load begins and ends, in milliseconds. */
  readonly begins: number
  readonly ends: number
  /** The time of the last cron, which runs ahead of the clock, in milliseconds. */
  clock: number
  readonly lanes: Lane[]
  readonly receiver: Receiver
  /** Secrets and personal values, which no line of the log may have. */
  readonly sensitive: Set<string>
  /** When workerd was killed, in milliseconds. */
  readonly kills: number[]
  /** Whether all was checked. */
  isDone: boolean
  readonly counts: { requests: number; refused: number; unanswered: number }
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
const mayRefuse = ({ faults, struck }: World, account: string): boolean =>
  ['kill', 'heap', 'slow'].some((fault) => faults.has(fault as Fault)) ||
  account === struck ||
  (faults.has('move') && account === 'prop')

/** Returns whether processes run. */
const isAlive = (pids: readonly number[]): boolean =>
  pids.every((pid) => existsSync(`/proc/${pid}`))

/**
 * Sends a request of an account until it is answered by something else than 429 and 503. `isRepeated` tells
 * whether an earlier try may have taken effect.
 */
export async function insist(
  world: World,
  account: string,
  ask: RequestSender,
  [method, path, sent]: Parameters<RequestSender>,
): Promise<Answer & { isRepeated: boolean }> {
  const { counts, check, faults } = world
  const since = Date.now()
  for (let isRepeated = false; Date.now() < since + REFUSED_MS; isRepeated = true) {
    await world.restarted
    counts.requests += 1
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const answer = await ask(method, path, { ...sent, signal }).catch(() => null)
    if (!answer) {
      counts.unanswered += 1
      check(!signal.aborted, `${method} ${path} has no answer after ${PATIENCE_MS} ms`)
      // workerd also closes connections on which a busy program has sent nothing for five seconds.
      check(faults.has('kill') || isAlive(world.service.pids), 'workerd has ended')
    }
    if (answer && answer.status !== 503 && answer.status !== 429) return { ...answer, isRepeated }
    if (answer) {
      counts.refused += 1
      const isAllowed = answer.status === 503 && mayRefuse(world, account)
      const code = `${answer.status} ${answer.body?.code}`
      check(isAllowed, `${method} ${path} of ${account} is answered ${code}`)
      const after = Number(answer.headers.get('Retry-After'))
      check(after > 0, `${method} ${path}: ${code} without Retry-After`)
    }
    await wait(200 + world.below(300))
  }
  throw new Error(`${method} ${path} of ${account} was refused for ${REFUSED_MS} ms.`)
}

/** Sends a request of the team for an account until it has one of some statuses. Returns the body. */
export async function asTeam(
  world: World,
  account: keyof typeof ACCOUNTS,
  [method, path, sent]: Parameters<RequestSender>,
  statuses: readonly number[] = [200],
) {
  const full = `accounts/${account}${path}`
  const answer = await insist(world, account, world.admin, [method, full, sent ?? {}])
  const { status, body } = answer
  world.check(
    statuses.includes(status),
    `${method} ${full} is answered ${status}: ${JSON.stringify(body).slice(0, 300)}`,
  )
  return { status, body }
}
