import { DurableObject } from 'cloudflare:workers'
import { HELD_LIMITS, pendingReleases } from '../ingest/db/release.ts'
import { resolveDatabase } from '../platform/db/database.ts'
import { within, workOff } from '../platform/db/steps.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { errorName } from '../platform/errors.ts'
import { queueSoon } from '../webhooks/causes.ts'

/** A job of one account. */
export interface Job {
  /** `release`: releases the held records that deliveries left. `webhooks`: queues the events that are due. */
  readonly name: 'release' | 'webhooks'
  readonly account: string
  /** The D1 binding of the account's records when the job was asked for; the account may have moved since. */
  readonly binding: string
}

/** The least time from the end of a run to the beginning of the next one, in milliseconds. */
const PAUSES_MS = { release: 5000, webhooks: 1000 } as const

/**
 * The object of one job, which runs in its alarm, one run at a time. Whoever asks for the job during a run
 * gets another run after it, so nothing that was stored before the request is missed, also when the isolate
 * of the request ends.
 *
 * Storage key: `job` (Job).
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
    const { binding } = (await findAccount(this.env.DB, job.account)) ?? job
    const isFinished = await JOBS[job.name](this.env, { ...job, binding })
    this.#ended = Date.now()
    if (!isFinished) await this.request(job)
  }
}

/** Each job of an account. It returns whether nothing is left to do; a cron does what fails. */
const JOBS: Record<Job['name'], (env: Env, job: Job) => Promise<boolean>> = {
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
