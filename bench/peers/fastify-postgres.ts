import { Pool } from 'pg'
import { serve } from './fastify.ts'
import { ACCOUNT, ALL, upsertFrom } from './upsert.ts'

// Fastify and Ajv with PostgreSQL behind its socket: one prepared statement per bulk, committed to disk
// before the response, which is the default of PostgreSQL.

const pool = new Pool({ host: process.argv[2], user: 'bench', database: 'postgres', max: 8 })
const types = {
  amount_currency: 'double precision',
  amount_usd: 'double precision',
  transaction_date: 'bigint',
  day: 'bigint',
}
const columns = [...ALL, 'day'].map(
  (name) => `${name} ${types[name as keyof typeof types] ?? 'text'}`,
)
const text = upsertFrom(
  `select $1, ${[...ALL, 'day'].join()}, idx, 0, 'fastify', 1
   from rows from (json_to_recordset($2::json) as (${columns.join()})) with ordinality
     as r (${[...ALL, 'day'].join()}, idx)`,
  ALL,
)

await serve((rows) => pool.query({ name: 'upsert', text, values: [ACCOUNT, JSON.stringify(rows)] }))
