import { execFileSync } from 'node:child_process'
import { configOf } from '../config.ts'

/** A D1 database and a function that queries it. */
export interface Database {
  binding: string
  name: string
  bytes: number
  /** Rows written in the last 24 hours, indexes included, or null if unknown. */
  writtenToday: number | null
  query: <Row>(sql: string) => Promise<Row[]>
}

/** The members of `wrangler d1 info --json` that we read. */
interface Info {
  database_size?: number
  /** The name that wrangler uses if the size is 0. */
  file_size?: number
  /** Absent if the analytics do not answer. */
  rows_written_24h?: number
}

/** Returns the size of a database and the rows that it wrote, from `wrangler d1 info --json`. */
export function parseInfo(printed: string): Pick<Database, 'bytes' | 'writtenToday'> {
  const { database_size, file_size, rows_written_24h = null } = JSON.parse(printed) as Info
  const bytes = database_size ?? file_size
  if (typeof bytes !== 'number') throw new Error(`wrangler d1 info reports no size: ${printed}`)
  return { bytes, writtenToday: rows_written_24h }
}

/** Returns the databases of a deployed environment, queried through wrangler. */
export function remoteDatabases(env: string): Database[] {
  const wrangler = (...args: string[]) =>
    execFileSync('node_modules/.bin/wrangler', [...args, '--json', '--env', env], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  return configOf(env).d1_databases.map(({ binding, database_name }) => ({
    binding,
    name: database_name,
    ...parseInfo(wrangler('d1', 'info', binding)),
    query: async <Row>(sql: string) => {
      const printed = wrangler('d1', 'execute', binding, '--remote', '--command', sql)
      const [result] = JSON.parse(printed) as { results: Row[] }[]
      return result!.results
    },
  }))
}

/** Opens the databases of `npm run dev` in the folder where wrangler keeps them. */
export async function localDatabases(state: string) {
  const bindings = configOf(undefined).d1_databases
  const { Miniflare } = await import('miniflare')
  const miniflare = new Miniflare({
    resourcePersistencePath: `${state}/v3`,
    workers: [
      {
        config: {
          name: 'capacity',
          type: 'worker',
          compatibilityDate: configOf(undefined).compatibility_date,
          manifest: {
            mainModule: 'nothing.js',
            modules: { 'nothing.js': { type: 'esm', contents: '' } },
          },
          env: Object.fromEntries(
            bindings.map(({ binding, database_id: id }) => [binding, { type: 'd1', id }]),
          ),
        },
      },
    ],
  })
  const databases = bindings.map(async ({ binding, database_name }): Promise<Database> => {
    const database = await miniflare.getD1Database(binding)
    const { meta } = await database.prepare('select 1').all()
    return {
      binding,
      name: `${database_name}, local`,
      bytes: meta.size_after,
      writtenToday: null,
      query: async <Row>(sql: string) => (await database.prepare(sql).all<Row>()).results,
    }
  })
  return { databases: await Promise.all(databases), end: () => miniflare.dispose() }
}
