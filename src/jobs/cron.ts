import { noteAttention } from '../accounts/attention-notice.ts'
import { measureDatabases } from '../accounts/databases.ts'
import { pendingResets } from '../accounts/db/reset.ts'
import { pendingErasures } from '../accounts/erasure/erasures.ts'
import { advanceMove } from '../accounts/move/move-steps.ts'
import { queuePostbacks, readPostbackCauses } from '../affiliates/postback-causes.ts'
import { fetchRates } from '../commission/rates/import-rates.ts'
import { failStalledRuns, startMorningRuns } from '../commission/run/runs.ts'
import { queueMorningExport } from '../exports/admin-operations.ts'
import { runExport } from '../exports/run.ts'
import { LATE_CHANGES_MS } from '../ingest/db/late-changes.ts'
import { deleteExpired } from '../ingest/db/retention.ts'
import { ALARM_SHARE, readUsage } from '../ingest/db/storage.ts'
import { DELIVERY_LOG_MS, firstIdAt } from '../ingest/delivery-id.ts'
import { readFeeds } from '../ingest/operations/feeds.ts'
import { resourcesOf } from '../ingest/verticals.ts'
import { tendDetails } from '../payouts/payees.ts'
import { deleteUnproved } from '../people/db/applications.ts'
import { propagateSettings } from '../platform/auth/propagate.ts'
import { accountDatabase, resolveDatabase } from '../platform/db/database.ts'
import { CRON_QUERIES, limitQueries, runWithin } from '../platform/db/query-limit.ts'
import { isMoving } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { type Step, within, workOff } from '../platform/db/steps.ts'
import { isLocal } from '../platform/development.ts'
import { listMoving } from '../platform/directory/account-moves.ts'
import {
  accountsToPropagate,
  findAccount,
  findAccounts,
  listBindings,
  listPlaces,
} from '../platform/directory/accounts.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import {
  type Job,
  type ListJob,
  type MorningJob,
  PAGE_ACCOUNTS,
  type PageJob,
  pagesOf,
  type RoundJob,
  sendJobs,
  spread,
} from '../platform/jobs.ts'
import { logFailure, logFault } from '../platform/log-failure.ts'
import { noteLateFeeds, queueDue } from '../webhooks/causes.ts'
import { oldestOfWebhooks } from '../webhooks/oldest.ts'
import { CRON_SCHEDULES } from './crons.ts'

/** Logs an account that stores much of its quota. */
async function reportFullAccount(env: Env, account: Account): Promise<void> {
  const { id, binding, storage_quota: quota } = account
  const bytes = await readUsage(accountDatabase(env, account), id)
  if (bytes < quota * ALARM_SHARE) return
  console.warn(JSON.stringify({ storage_alarm: 'account', account: id, binding, bytes, quota }))
}

/** How long one message resets accounts of a database, in milliseconds. */
const STEPS_MS = 30_000

/** How long messages of one cron follow each other while steps are left, in milliseconds. */
const ROUNDS_MS = 50_000

/** How many messages of one cron delete expired rows of a database. */
const MOST_ROUNDS = 4

/** The work that is done in steps, with the most queries of each kind that one message makes. */
const WORKS: readonly (readonly [
  queries: number,
  pending: (env: Env, binding: string) => Promise<readonly Step[]>,
])[] = [
  [80, pendingErasures],
  [130, (env, binding) => pendingResets(resolveDatabase(env, binding))],
]

/** The most queries by which one message deletes expired rows. */
const EXPIRE_QUERIES = 450

/** The accounts that one message lists. */
const LISTED = 1000

/** The accounts whose settings one message sends to their tokens. */
const PROPAGATED = 20

/** How long a morning's run waits for others of its database before it looks again, in seconds. */
const WAIT_SECONDS = 60

/** From how long after the cron on a run that waits is logged, and given up, in milliseconds. */
const LATE_MS = 3 * HOUR_MS
const GIVEN_UP_MS = 18 * HOUR_MS

/**
 * Runs a cron that was due at `now` (milliseconds). What visits accounts or databases is left to the queue:
 * - `propagate`: settings that live tokens have not received, moves of accounts, and what each database needs every
 *   minute.
 * - `expire`: expired rows of each database.
 * - `storage`: measures databases.
 * - `rates`: fetches exchange rates.
 * - `report`: has feeds reported, and statement runs started.
 */
export async function runCron(cron: string, unlimited: Env, now: number): Promise<void> {
  const env = withQueries(unlimited, { cron })
  switch (cron) {
    case CRON_SCHEDULES.propagate:
      // A failure of one does not stop the other.
      await logFailure('DB', () => queuePropagation(env, now))
      await logFailure('DB', () => queueMoves(env, now))
      return forEachDatabase(env, (binding) => [{ job: 'minute', binding, round: 1, at: now }])
    case CRON_SCHEDULES.expire:
      return forEachDatabase(env, (binding) => [{ job: 'expire', binding, round: 1, at: now }])
    case CRON_SCHEDULES.storage:
      return measureDatabases(env)
    case CRON_SCHEDULES.rates:
      return fetchRates(env, now)
    default:
      // Feeds are due by now.
      return sendJobs(env, [{ job: 'list', after: '', at: now }])
  }
}

const forEachDatabase = async (env: Env, jobsOf: (binding: string) => Job[]): Promise<void> =>
  sendJobs(env, (await listBindings(env.DB)).flatMap(jobsOf))

async function queuePropagation(env: Env, at: number): Promise<void> {
  const pages = pagesOf(await accountsToPropagate(env.DB), PROPAGATED)
  await sendJobs(
    env,
    pages.map((accounts) => ({ job: 'propagate', accounts, at })),
  )
}

const queueMoves = async (env: Env, at: number): Promise<void> =>
  sendJobs(
    env,
    (await listMoving(env.DB)).map((account) => ({ job: 'move', account, at })),
  )

/** How a job of the queue is done, and what becomes of one that fails. */
interface Work<One extends Job> {
  /** A later cron repeats it soon. Messages of all others are delivered again after a failure. */
  readonly isTransient?: true
  run(env: Env, job: One): Promise<unknown>
}

/** The jobs of the queue. */
const JOBS: { readonly [Name in Job['job']]: Work<Extract<Job, { job: Name }>> } = {
  list: { run: listAccounts },
  feeds: { run: reportFeeds },
  morning: { run: beginMorning },
  export: { run: (env, job) => runExport(env, job, resourcesOf) },
  postbacks: { isTransient: true, run: readPostbackCauses },
  propagate: {
    isTransient: true,
    async run(env, job) {
      for (const id of job.accounts) await propagateSettings(env, id)
    },
  },
  move: {
    isTransient: true,
    async run(env, job) {
      const goesOn = (await advanceMove(env, job.account)) && Date.now() <= job.at + ROUNDS_MS
      if (goesOn) await sendJobs(env, [job])
    },
  },
  minute: {
    isTransient: true,
    async run(env, job) {
      const { binding, at } = job
      if (job.round === 1) {
        // First: the other work of a database takes longer.
        await logFailure(binding, () => queuePostbacks(env, binding, at))
        await logFailure(binding, () => queueDue(env, binding, null, at))
      }
      await finishSteps(env, job)
    },
  },
  expire: { isTransient: true, run: expire },
}

/** Returns an environment with the queries of an invocation. If they do not suffice, the log says so. */
const withQueries = (env: Env, names: object) =>
  limitQueries(env, CRON_QUERIES, () =>
    console.error(JSON.stringify({ fault: 'too_many_queries', ...names, limit: CRON_QUERIES })),
  )

/** The first pause after a failure and the longest, in seconds. With 40 retries they last 18 hours. */
const PAUSE_SECONDS = { first: 60, longest: 1800 }

/**
 * Does the jobs of a queue batch. A job that fails is delivered again, or is left to the next cron. A batch has
 * one message, so that each has the queries of an invocation.
 */
export async function runJobs(batch: MessageBatch<Job>, env: Env): Promise<void> {
  for (const message of batch.messages) {
    const { job, binding, account }: Named = message.body
    // One of a later version of the Worker is not known.
    const work: Work<Job> | undefined = JOBS[job]
    try {
      if (!work) throw new Error('A later version of the Worker has sent this job.')
      await work.run(withQueries(env, { job, binding, account }), message.body)
      message.ack()
    } catch (error) {
      console.error(JSON.stringify({ fault: errorName(error), job, binding, account }))
      const { first, longest } = PAUSE_SECONDS
      if (work?.isTransient) message.ack()
      else message.retry({ delaySeconds: Math.min(first * message.attempts, longest) })
    }
  }
}

/** What the log says of a job: its database and its account, if it has one. */
interface Named {
  readonly job: Job['job']
  readonly binding?: string
  readonly account?: string
}

/**
 * Lists accounts after an id, and puts the jobs of each on the queue; the next message goes on behind them. If
 * the Worker is stopped in between, the queue delivers the message again.
 */
async function listAccounts(env: Env, { after, at }: ListJob): Promise<void> {
  const places = await listPlaces(env.DB, after, LISTED)
  const pages = [...Map.groupBy(places, ({ binding }) => binding)].flatMap(([binding, found]) =>
    pagesOf(
      found.map(({ id }) => id),
      PAGE_ACCOUNTS,
    ).map((accounts) => ({ binding, accounts })),
  )
  await sendJobs(
    env,
    pages.map((page) => ({ job: 'feeds', at, ...page })),
  )
  const mornings = places.map(({ id, binding }): MorningJob => {
    return { job: 'morning', binding, account: id, at }
  })
  await sendJobs(env, mornings, ({ account }) => (isLocal(env) ? 0 : spread(account)))
  const last = places.at(-1)
  if (last && places.length === LISTED) {
    await sendJobs(env, [{ job: 'list', after: last.id, at }])
  }
}

/** Starts the runs of an account; if too many run in its database, again later. Then does what a day needs. */
async function beginMorning(env: Env, job: MorningJob): Promise<void> {
  const account = await findAccount(env.DB, job.account)
  if (!account) return
  const isStarted = await startMorningRuns(env, account, {
    at: job.at,
    planned: job.at + spread(account.id) * 1000,
    now: Date.now(),
  })
  if (!isStarted) return waitForRuns(env, job)
  await reportFullAccount(env, account)
  await queueMorningExport(env, account, job.at)
  await logFailure(account.binding, () => noteAttention(env, account), isMoving)
  const db = accountDatabase(env, account)
  // A key that is gone must not begin the morning again and again.
  await logFailure(account.binding, () => tendDetails(env, db, account, job.at), isMoving)
}

async function waitForRuns(env: Env, job: MorningJob): Promise<void> {
  const { account, binding, at } = job
  const late = Date.now() - at
  if (late > LATE_MS) {
    const minutes = Math.floor(late / MINUTE_MS)
    console.warn(JSON.stringify({ late_run: account, binding, minutes }))
  }
  // The next morning's run computes the same statements.
  if (late > GIVEN_UP_MS) return
  const delaySeconds = WAIT_SECONDS * (late > LATE_MS ? 10 : 1)
  await env.ACCOUNT_JOBS.send(job, { delaySeconds })
}

/** Goes on with what is done in steps. If some are left, another message goes on at once. */
async function finishSteps(env: Env, job: RoundJob<'minute'>): Promise<void> {
  const { binding, at } = job
  const mayBegin = within(STEPS_MS)
  let isDone = true
  for (const [queries, pending] of WORKS) {
    const work = (limited: Env) =>
      workOff(
        () => pending(limited, binding),
        mayBegin,
        (error) => logFault(binding, error),
      )
    await logFailure(binding, async () => {
      if (!(await runWithin(env, queries, work))) isDone = false
    })
  }
  if (job.round === 1) {
    await logFailure(binding, () => failStalledRuns(resolveDatabase(env, binding), at))
  }
  if (isDone || Date.now() > at + ROUNDS_MS) return
  await sendJobs(env, [{ ...job, round: job.round + 1 }])
}

/** Deletes expired rows of a database. Another message goes on if some are left, unless enough came before. */
async function expire(env: Env, job: RoundJob<'expire'>): Promise<void> {
  const { binding, at, round } = job
  const oldest = at - DELIVERY_LOG_MS
  const limits = {
    deliveries: firstIdAt(oldest),
    // Only a retry of the same request reads them.
    clicks: Math.floor(oldest / DAY_MS),
    arrivals: Math.floor(oldest / HOUR_MS),
    late_changes: at - LATE_CHANGES_MS,
    ...oldestOfWebhooks(at),
  }
  if (round === 1) {
    await logFailure(binding, () => deleteUnproved(resolveDatabase(env, binding), at))
  }
  const isDone = await runWithin(env, EXPIRE_QUERIES, (limited) =>
    deleteExpired(resolveDatabase(limited, binding), limits),
  )
  if (!isDone && round < MOST_ROUNDS) await sendJobs(env, [{ ...job, round: round + 1 }])
}

/** Logs each feed whose activity of yesterday is missing; an alarm can watch for these lines. */
async function reportFeeds(env: Env, { accounts, at }: PageJob<'feeds'>): Promise<void> {
  // An account may have moved since the message was sent.
  const placed = Map.groupBy(await findAccounts(env.DB, accounts), ({ binding }) => binding)
  for (const [binding, own] of placed) {
    const note = async () => {
      const read = await readFeeds(env, own, at)
      await noteLateFeeds(env, binding, read, at)
      for (const feeds of read) logLateFeeds(feeds)
    }
    // The queue delivers the message again once the account has moved.
    await logFailure(binding, note, isMoving)
  }
}

function logLateFeeds({ account, feeds }: Awaited<ReturnType<typeof readFeeds>>[number]): void {
  for (const { resource, yesterday, last_delivery_at } of feeds) {
    if (yesterday !== 'missing') continue
    console.warn(JSON.stringify({ late_feed: resource, account, last_delivery_at }))
  }
}
