import { join } from 'node:path'
import { type Firm, newFirm } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, newSecrets, type Service, serve } from '../service.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { runCron, until } from './world.ts'

// A service that is killed again and again while it sends events to a receiver.

/** The time between two sweeps, in milliseconds. After it, what a kill interrupted is due again. */
const SWEEP_MS = 300_000

/** The progress of a program. `service` is replaced after each kill. */
export interface Progress {
  readonly setting: Setting
  readonly restart: () => Promise<Service>
  readonly receiver: Receiver
  readonly firm: Firm
  service: Service
  /** The time of the last sweep, in milliseconds. */
  clock: number
  /** How many kills left causes or events that were not sent. */
  hits: number
}

/** The firm of a program, and the folder of its service. */
interface World {
  readonly folder: string
  readonly account: string
  readonly unknownCustomer: 'hold' | 'reject'
}

/** Starts a service with a firm, and a receiver; runs a program with them, and ends both. */
export async function withReceiver(
  setting: Setting,
  { folder, account, unknownCustomer }: World,
  run: (progress: Progress) => Promise<void>,
): Promise<void> {
  const secrets = await newSecrets()
  const restart = () => serve(setting.script, join(setting.folder, folder), secrets)
  const receiver = await startReceiver()
  const service = await restart()
  await migrate(service)
  const firm = await newFirm(service, account, 'forex', unknownCustomer)
  const progress = { setting, restart, receiver, firm, service, hits: 0, clock: Date.now() }
  try {
    await run(progress)
  } finally {
    await progress.service.end()
    await receiver.stop()
  }
}

/** Runs the cron that queues what is due, and what was queued or being sent when a kill came. */
export async function sweep(progress: Progress): Promise<void> {
  progress.clock += SWEEP_MS
  await runCron(progress.service, 'propagate', progress.clock)
}

/** Kills the service after `moment` milliseconds of what goes on, and starts it again. Returns what is pending. */
export async function killAfter(
  progress: Progress,
  moment: number,
  goingOn: readonly Promise<unknown>[],
): Promise<number> {
  await new Promise((done) => setTimeout(done, moment))
  await progress.service.kill()
  await Promise.all(goingOn)
  progress.service = await progress.restart()
  return countPending(progress.service)
}

async function countPending({ database }: Service): Promise<number> {
  const sql = `select count(*) as n from webhook_messages where status = 'pending'`
  return Number(await database.prepare(sql).first('n'))
}

/** Runs the cron until a condition holds. If it never does, a promise is broken, in these words. */
export async function sweepUntil(
  progress: Progress,
  holds: () => Promise<boolean>,
  broken: string,
): Promise<void> {
  const isDone = async () => {
    await sweep(progress)
    return until(holds, 5)
  }
  progress.setting.check(await until(isDone, 300), broken)
}

/** Sends what is left. */
export const sendAll = (progress: Progress): Promise<void> =>
  sweepUntil(
    progress,
    async () => (await countPending(progress.service)) === 0,
    'some events are still pending',
  )

/** Checks that enough kills came while something was left to send. */
export function checkHits({ setting, hits }: Progress, times: number): void {
  setting.check(hits >= Math.floor(times / 2), `only ${hits} of ${times} kills left events`)
}

/** Reads rows of the database of the service. */
export const readRows = async ({ service }: Progress, sql: string) =>
  (await service.database.prepare(sql).all<Record<string, string>>()).results
