import { Miniflare, type MiniflareOptions } from 'miniflare'
import { COMPATIBILITY_DATE } from './build.ts'
import { children, cpuOf } from './cpu.ts'

type Config = MiniflareOptions['workers'][number]['config']

/** What a Worker may have beside its script and a database. */
export type More = Partial<
  Pick<Config, 'env' | 'exports' | 'triggers' | 'assets'> & { inspected: boolean }
>

/** A Worker that runs in a workerd of its own, with a database on disk. */
export interface Running {
  url: URL
  database: Awaited<ReturnType<Miniflare['getD1Database']>>
  /** Milliseconds of processor time it has used so far, or null where nobody tells. */
  cpu: () => number | null
  /** What runs it, and the processes that were started for it. */
  miniflare: Miniflare
  pids: readonly number[]
  /** Where a debugger of the Worker listens, if that was asked for. */
  inspector: () => Promise<URL>
  end: () => Promise<void>
}

/** Starts a Worker at Miniflare's own port; its state is kept in a folder, as `wrangler dev` does. */
export async function start(script: string, state: string, more: More = {}): Promise<Running> {
  const { inspected, ...own } = more
  const before = children()
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    ...(inspected && { inspectorHost: '127.0.0.1', inspectorPort: 0 }),
    resourcePersistencePath: state,
    logRequests: false,
    handleStructuredLogs: () => {},
    workers: [
      {
        config: {
          name: 'bench',
          type: 'worker',
          compatibilityDate: COMPATIBILITY_DATE,
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

/** Runs statements in one batch. */
export async function execute({ database }: Running, statements: readonly string[]) {
  await database.batch(statements.map((sql) => database.prepare(sql)))
}
