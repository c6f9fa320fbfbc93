import type { Miniflare, MiniflareOptions } from 'miniflare'
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS } from './build.ts'
import { children, cpuOf } from './cpu.ts'

type Config = MiniflareOptions['workers'][number]['config']

/** The classes of the service's Durable Objects and Workflows, by binding. */
export const OBJECTS = {
  TOKEN_GATE: 'TokenGate',
  CLIENT_GATE: 'ClientGate',
  ERASURE_JOURNAL: 'ErasureJournal',
  BACKGROUND_JOBS: 'BackgroundJob',
}
export const WORKFLOWS = { STATEMENT_RUNS: 'StatementRun', ACCOUNT_MOVES: 'AccountMove' }

/** Returns an object with the same names and other values. */
export const mapped = <V, R>(from: Record<string, V>, make: (value: V) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, make(value)]))

/** Optional parts of a Worker besides its script and database. */
export type WorkerOptions = Partial<
  Pick<Config, 'env' | 'exports' | 'triggers' | 'assets'> & {
    inspected: boolean
    /** Receives each line of the log. */
    log: (line: string) => void
  }
>

/** A Worker in its own workerd, with a database on disk. */
export interface Running {
  url: URL
  database: Awaited<ReturnType<Miniflare['getD1Database']>>
  /** Returns the CPU time used so far in milliseconds, or null if it is not known. */
  cpu: () => number | null
  /** Miniflare, and the processes that it started. */
  miniflare: Miniflare
  pids: readonly number[]
  /** Returns the address of the inspector, if it was enabled. */
  inspector: () => Promise<URL>
  end: () => Promise<void>
}

/** Starts a Worker on a free port, with its state in a folder. */
export async function start(
  script: string,
  state: string,
  options: WorkerOptions = {},
): Promise<Running> {
  const { inspected, log, ...own } = options
  const before = children()
  const { Miniflare } = await import('miniflare')
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    ...(inspected && { inspectorHost: '127.0.0.1', inspectorPort: 0 }),
    resourcePersistencePath: state,
    logRequests: false,
    handleStructuredLogs: ({ message }) => log?.(message),
    workers: [
      {
        config: {
          name: 'bench',
          type: 'worker',
          compatibilityDate: COMPATIBILITY_DATE,
          compatibilityFlags: COMPATIBILITY_FLAGS,
          manifest: {
            mainModule: 'index.js',
            modules: { 'index.js': { type: 'esm', contents: script } },
          },
          ...own,
          env: { ...own.env, DB: { type: 'd1', id: 'DB' } },
        },
      },
    ],
  })
  const url = await miniflare.ready
  const pids = [...children()].filter((pid) => !before.has(pid))
  return {
    url,
    database: await miniflare.getD1Database('DB'),
    cpu: () => cpuOf(pids),
    miniflare,
    pids,
    inspector: () => miniflare.getInspectorURL(),
    end: () => miniflare.dispose(),
  }
}

/** Runs statements in one call. D1 reads a statement a line; Miniflare takes 10 ms to prepare one. */
export async function execute(
  { database }: Pick<Running, 'database'>,
  statements: readonly string[],
) {
  await database.exec(statements.map((sql) => sql.replaceAll('\n', ' ')).join('\n'))
}
