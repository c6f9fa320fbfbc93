import { execFileSync } from 'node:child_process'
import { Miniflare } from 'miniflare'
import { configOf } from '../config.ts'

/** One D1 database, and a way to ask it. */
export interface Database {
  binding: string
  name: string
  bytes: number
  /** Rows that it wrote in the last day, indexes included, where that is known. */
  writtenToday: number | null
  ask: <Row>(sql: string) => Promise<Row[]>
}

/** As much as we look at of what `wrangler d1 info --json` prints. */
interface Info {
  database_size?: number
  /** What it is called where it is 0: only then it keeps this name. */
  file_size?: number
  /** Left out where the analytics do not answer. */
  rows_written_24h?: number
}

/** The size of a database and what it wrote today, as `wrangler d1 info --json` prints them. */
export function infoOf(printed: string): Pick<Database, 'bytes' | 'writtenToday'> {
  const { database_size, file_size, rows_written_24h = null } = JSON.parse(printed) as Info
  const bytes = database_size ?? file_size
  if (typeof bytes !== 'number') throw new Error(`wrangler tells no size: ${printed}`)
  return { bytes, writtenToday: rows_written_24h }
}

/** The databases of a deployed environment, asked through wrangler. */
export function remoteDatabases(env: string): Database[] {
  const wrangler = (...args: string[]) =>
    execFileSync('node_modules/.bin/wrangler', [...args, '--json', '--env', env], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  return configOf(env).d1_databases.map(({ binding, database_name }) => ({
    binding,
    name: database_name,
    ...infoOf(wrangler('d1', 'info', binding)),
    ask: async <Row>(sql: string) => {
      const printed = wrangler('d1', 'execute', binding, '--remote', '--command', sql)
      const [answer] = JSON.parse(printed) as { results: Row[] }[]
      return answer!.results
    },
  }))
}

/** The databases of `npm run dev`, as wrangler keeps them in a folder. */
export async function localDatabases(state: string) {
  const bindings = configOf(undefined).d1_databases
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
      ask: async <Row>(sql: string) => (await database.prepare(sql).all<Row>()).results,
    }
  })
  return { databases: await Promise.all(databases), end: () => miniflare.dispose() }
}
