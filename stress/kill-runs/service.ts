import { resolve } from 'node:path'
import { buildPeer } from '../../bench/build.ts'
import { ADMIN_KEY } from '../../bench/cost/parties.ts'
import { type Running, start } from '../../bench/worker.ts'
import { newKeySet } from '../../scripts/keys.ts'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'

/** Bundles the service whose Workflow asks a gate. */
export const buildGated = (): Promise<string> =>
  buildPeer('stress/kill-runs/worker.ts', resolve('src/index.ts'))

/** The service with its Workflow. */
export interface RunService extends Running {
  /** Kills workerd without warning, as a power cut would. */
  readonly kill: () => Promise<void>
  /** Runs the job of every minute, some minutes from now. */
  readonly runCron: (minutes: number) => Promise<void>
}

const object = (exportName: string) =>
  ({ type: 'durable-object', exportName, worker: 'bench' }) as const
const sqlite = { type: 'durable-object', storage: 'sqlite' } as const
const text = (value: string) => ({ type: 'text', value }) as const

/** Starts the service on the state of a folder. */
export async function serveRuns(script: string, state: string, gate: string): Promise<RunService> {
  const running = await start(script, state, {
    env: {
      BASE_URL: text('http://127.0.0.1'),
      SIGNING_KEYS: text(await newKeySet()),
      ADMIN_KEY: text(ADMIN_KEY),
      GATE: text(gate),
      TOKEN_GATE: object('TokenGate'),
      CLIENT_GATE: object('ClientGate'),
      ERASURE_JOURNAL: object('ErasureJournal'),
      STATEMENT_RUNS: {
        type: 'workflow',
        name: 'statement-runs',
        worker: 'bench',
        exportName: 'StatementRun',
      },
    },
    exports: { TokenGate: sqlite, ClientGate: sqlite, ErasureJournal: sqlite },
  })
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
