import { DatabaseSync } from 'node:sqlite'
import { serve } from './fastify.ts'
import { ACCOUNT, ALL, upsertFrom } from './upsert.ts'

// Fastify and Ajv with a database in the same process, as durable as a local D1. A prepared statement
// per row is the fastest here, since no row crosses a process boundary.

const database = new DatabaseSync(process.argv[2]!)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
const upsert = database.prepare(
  upsertFrom(`values (?, ${ALL.map(() => '?').join()}, ?, ?, 0, 'fastify', 1)`, ALL),
)

await serve((rows) => {
  database.exec('begin immediate')
  try {
    for (const [idx, row] of rows.entries())
      upsert.run(ACCOUNT, ...ALL.map((name) => row[name as keyof typeof row] ?? null), row.day, idx)
    database.exec('commit')
  } catch (error) {
    database.exec('rollback')
    throw error
  }
})
