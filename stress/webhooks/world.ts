import { type CRON_SCHEDULES, CRON_SCHEDULES as CRONS } from '../../src/admin/crons.ts'
import { expectBody } from '../ask.ts'
import { type Service, WORKER } from '../service.ts'
import type { Receiver } from './receiver.ts'

/** Creates a webhook of an account at a path of the receiver, which learns its secret. Returns its id. */
export async function newWebhook(
  { admin }: Service,
  receiver: Receiver,
  account: string,
  path: string,
  events?: readonly string[],
): Promise<string> {
  const body = { url: `${receiver.url}${path}`, ...(events && { events }) }
  const created = await expectBody(201, admin('POST', `accounts/${account}/webhooks`, { body }))
  receiver.secrets.set(path, created.secret)
  return created.id
}

/** Runs a job of the cron as it would run at a time (milliseconds). */
export async function runCron(
  { miniflare }: Service,
  job: keyof typeof CRON_SCHEDULES,
  time = Date.now(),
): Promise<void> {
  const worker = await miniflare.getWorker(WORKER)
  await worker.scheduled({ cron: CRONS[job], scheduledTime: new Date(time) })
}

/** Waits until a condition holds, for at most `seconds`. Returns whether it does. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  seconds = 30,
): Promise<boolean> {
  const deadline = Date.now() + seconds * 1000
  while (Date.now() < deadline) {
    if (await holds()) return true
    await new Promise((done) => setTimeout(done, 200))
  }
  return holds()
}
