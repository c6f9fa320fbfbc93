import { DurableObject } from 'cloudflare:workers'
import { findAccount } from '../platform/directory/accounts.ts'
import { queueSoon } from '../webhooks/causes.ts'

/** An account whose webhook events are due. */
interface Job {
  readonly account: string
  /** The D1 binding of the account's records when the job was asked for; the account may have moved since. */
  readonly binding: string
}

/** The least time from the end of a run to the beginning of the next one, in milliseconds. */
const PAUSE_MS = 1000

/**
 * Queues the due webhook events of one account in its alarm, one run at a time. Whoever asks for it during a run
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
    await storage.setAlarm(Math.max(Date.now(), this.#ended + PAUSE_MS))
  }

  /** Runs the job. */
  override async alarm(): Promise<void> {
    const job = this.ctx.storage.kv.get<Job>('job')
    if (!job) return
    const { binding } = (await findAccount(this.env.DB, job.account)) ?? job
    await queueSoon(this.env, binding, job.account)
    this.#ended = Date.now()
  }
}
