import { resolve } from 'node:path'
import { buildPeer } from '../../bench/build.ts'
import { workflowBindings } from '../../bench/commissions/service.ts'
import { type Running, start } from '../../bench/worker.ts'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'

/** Bundles the service whose Workflow asks a barrier. */
export const buildGated = (): Promise<string> =>
  buildPeer('stress/kill-runs/worker.ts', resolve('src/index.ts'))

/** The service with its Workflow. */
export interface RunService extends Running {
  /** Kills workerd without warning, as a power cut would. */
  readonly kill: () => Promise<void>
  /** Runs the job of every minute, some minutes from now. */
  readonly runCron: (minutes: number) => Promise<void>
}

/** Starts the service on the state of a folder. */
export async function serveRuns(
  script: string,
  state: string,
  barrier: string,
): Promise<RunService> {
  const running = await start(script, state, await workflowBindings({ BARRIER: barrier }))
  return {
    ...running,
    async kill() {
      // Miniflare restarts workerd unless it is disposed of first.
      const ended = running.end()
      for (const pid of running.pids) process.kill(pid, 'SIGKILL')
      await ended
    },
    async runCron(minutes) {
      const worker = await running.miniflare.getWorker()
      const scheduledTime = new Date(Date.now() + minutes * 60_000)
      await worker.scheduled({ cron: CRON_SCHEDULES.propagate, scheduledTime })
    },
  }
}
