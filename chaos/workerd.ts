import { readdirSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'
import type { Miniflare, MiniflareOptions } from 'miniflare'
import { WORKER_OPTIONS } from '../scripts/bundle.ts'

type Config = MiniflareOptions['workers'][number]['config']

/** The name of each Worker, which identifies its objects. */
export const WORKER = 'bench'

const CONFIG = readFileSync('wrangler.toml', 'utf8')

/** Returns the statements of all migrations of a folder, in order. A trigger contains statements, up to its `end`. */
export const migrationsIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => readFileSync(`${folder}/${name}`, 'utf8').replace(/--.*/g, ''))
    .flatMap((file) => file.match(/\s*create trigger[\s\S]*?\bend\b|[^;]+/gi) ?? [])
    .map((statement) => statement.trim())
    .filter(Boolean)

export const MIGRATIONS = migrationsIn('migrations')

/** Bundles the Worker of a file. */
export async function bundle(path: string): Promise<string> {
  const { outputFiles } = await build({ ...WORKER_OPTIONS, entryPoints: [path] })
  return outputFiles[0]!.text
}

/** Optional parts of a Worker besides its script and database. */
export type WorkerOptions = Partial<Pick<Config, 'assets' | 'env' | 'exports' | 'triggers'>> & {
  /** Receives each line of the log. */
  readonly log?: (line: string) => void
}

/** A Worker in its own workerd, with a database on disk. */
export interface Running {
  readonly url: URL
  readonly database: Awaited<ReturnType<Miniflare['getD1Database']>>
  /** Miniflare, and the processes that it started. */
  readonly miniflare: Miniflare
  readonly pids: readonly number[]
  readonly end: () => Promise<void>
}

/** Starts a Worker on a free port, with its state in a folder. */
export async function start(
  script: string,
  state: string,
  { log, ...own }: WorkerOptions = {},
): Promise<Running> {
  const before = children()
  const { Miniflare } = await import('miniflare')
  const config: Config = {
    name: WORKER,
    type: 'worker',
    compatibilityDate: /^compatibility_date = "(.+)"$/m.exec(CONFIG)![1]!,
    compatibilityFlags: JSON.parse(/^compatibility_flags = (\[.+\])$/m.exec(CONFIG)![1]!),
    manifest: {
      mainModule: 'index.js',
      modules: { 'index.js': { type: 'esm', contents: script } },
    },
    ...own,
    env: { ...own.env, DB: { type: 'd1', id: 'DB' } },
  }
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    resourcePersistencePath: state,
    logRequests: false,
    handleStructuredLogs: ({ message }: { message: string }) => log?.(message),
    workers: [{ config }],
  })
  return {
    url: await miniflare.ready,
    database: await miniflare.getD1Database('DB'),
    miniflare,
    pids: children().filter((pid) => !before.includes(pid)),
    end: () => miniflare.dispose(),
  }
}

/** Runs statements in one call. D1 reads a statement a line; Miniflare takes 10 ms to prepare one. */
export async function execute(
  { database }: Pick<Running, 'database'>,
  statements: readonly string[],
): Promise<void> {
  await database.exec(statements.map((sql) => sql.replaceAll('\n', ' ')).join('\n'))
}

/** Returns the child processes of a process, by default of this one. Empty without /proc. */
export function children(of: number = process.pid): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => fieldsOf(pid)[1] === String(of))
}

/** Returns the user and system time of processes in milliseconds: the kernel reports ticks of 10 ms. */
export const cpuOf = (pids: readonly number[]): number =>
  pids
    .flatMap((pid) => fieldsOf(pid).slice(11, 15))
    .reduce((sum, ticks) => sum + 10 * Number(ticks), 0)

/** Returns the resident memory of processes in MiB: what they have now, and the most that each has had. */
export function memoryOf(pids: readonly number[]): { now: number; most: number } {
  const status = pids.map((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'))
  const sum = (field: RegExp) =>
    status.reduce((all, text) => all + Number(field.exec(text)?.[1]) / 1024, 0)
  return { now: sum(/^VmRSS:\s*(\d+)/m), most: sum(/^VmHWM:\s*(\d+)/m) }
}

/** Returns the fields after the name, which may contain spaces; none of a process that has ended. @see proc_pid_stat(5) */
function fieldsOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
