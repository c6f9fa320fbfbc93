import { DurableObject } from 'cloudflare:workers'
import { HELD_LIMITS, pendingReleases } from '../ingest/db/release.ts'
import { resolveDatabase } from '../platform/db/database.ts'
import { within, workOff } from '../platform/db/steps.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import { queueSoon } from '../webhooks/causes.ts'
import { lastFiring } from './local-crons.ts'
import { ALL_CRONS, runCron } from './run-cron.ts'

/** A job of one account. */
interface AccountJob {
  /** `release`: releases the held records that deliveries left. `webhooks`: queues the events that are due. */
  readonly name: 'release' | 'webhooks'
  readonly account: string
  /** The D1 binding of the account's records when the job was asked for; the account may have moved since. */
  readonly binding: string
}

/** A job in the form in which its object stores it. `crons`, in development only, runs the crons. */
export type Job = AccountJob | { readonly name: 'crons' }

/** The least time from the end of a run to the beginning of the next one, in milliseconds. */
const PAUSES_MS = { release: 5000, webhooks: 1000, crons: 0 } as const

/**
 * The object of one job, which runs in its alarm, one run at a time. Whoever asks for the job during a run
 * gets another run after it, so nothing that was stored before the request is missed, also when the isolate
 * of the request ends.
 *
 * Storage keys: `job` (Job), `fired` (milliseconds; up to when the crons have run).
 */
export class BackgroundJob extends DurableObject<Env> {
  /** When the last run ended, in milliseconds. */
  #ended = 0

  /** Runs the job soon: now, or after the pause that follows its last run. */
  async request(job: Job): Promise<void> {
    const { storage } = this.ctx
    // During a run there is no alarm, unless another request has set it.
    if ((await storage.getAlarm()) !== null) return
    storage.kv.put('job', job)
    await storage.setAlarm(Math.max(Date.now(), this.#ended + PAUSES_MS[job.name]))
  }

  /** Runs the job. */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx
    const job = storage.kv.get<Job>('job')
    if (!job) return
    if (job.name === 'crons') {
      await this.#runCrons(Date.now())
      return storage.setAlarm((Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS)
    }
    const { binding } = (await findAccount(this.env.DB, job.account)) ?? job
    const isFinished = await JOBS[job.name](this.env, { ...job, binding })
    this.#ended = Date.now()
    if (!isFinished) await this.request(job)
  }

  /** Runs the crons whose times have passed since the last run, each once. */
  async #runCrons(now: number): Promise<void> {
    const { kv } = this.ctx.storage
    const fired = kv.get<number>('fired') ?? now - MINUTE_MS
    kv.put('fired', now)
    const due = ALL_CRONS.flatMap((cron) => {
      const time = lastFiring(cron, fired, now)
      return time === null ? [] : { cron, time }
    })
    await Promise.all(
      due.map(({ cron, time }) =>
        runCron(cron, this.env, time).catch((error) =>
          console.error(JSON.stringify({ fault: errorName(error), cron })),
        ),
      ),
    )
  }
}

/** Each job of an account. It returns whether nothing is left to do; a cron does what fails. */
const JOBS: Record<AccountJob['name'], (env: Env, job: AccountJob) => Promise<boolean>> = {
  async release(env, { account, binding }) {
    const db = resolveDatabase(env, binding)
    const fail = (error: unknown) =>
      console.error(JSON.stringify({ fault: errorName(error), not_released: account }))
    try {
      const readWorks = () => pendingReleases(db, account)
      return await workOff(readWorks, within(HELD_LIMITS.releaseMs), fail)
    } catch (error) {
      fail(error)
      return true
    }
  },
  async webhooks(env, { account, binding }) {
    await queueSoon(env, binding, account)
    return true
  },
}
