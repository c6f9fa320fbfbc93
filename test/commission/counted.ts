import { env } from 'cloudflare:workers'
import { watchDatabase } from '../ingest/watched.ts'

/** Runs a task and counts the rows that its statements wrote, by D1's own count. */
export async function countWrites<T>(task: (counted: Env) => Promise<T>) {
  let written = 0
  let read = 0
  let trips = 0
  const DB = watchDatabase(env.DB, (answers) => {
    trips += 1
    for (const { meta } of answers) {
      written += meta.rows_written
      read += meta.rows_read
    }
  })
  const value = await task({ ...env, DB } as Env)
  return { value, written, read, trips }
}
