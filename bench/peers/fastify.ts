import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import Fastify from 'fastify'
import postgres from 'postgres'
import { PER_BULK, type Transaction } from '../records.ts'
import { ACCOUNT, ALL, timeAndDay, upsertFrom } from './upsert.ts'

// A carefully written server with PostgreSQL behind its socket. It validates against our published schema,
// compiled by Ajv, and stores a bulk by one prepared statement, committed to disk before the response. It has
// no authentication, checks no references and logs no deliveries. It sends its address to the process that
// forked it, and ends with that process.

const schema = JSON.parse(readFileSync('schemas/v1/forex/transaction.json', 'utf8'))
const ajv = new Ajv2020({ allErrors: true, keywords: ['x-key', 'x-rules'] })
formats.default(ajv)
ajv.addSchema(schema)

const sql = postgres({ host: process.argv[2]!, user: 'bench', database: 'postgres', max: 8 })
const types: Record<string, string> = {
  amount_currency: 'double precision',
  amount_usd: 'double precision',
  transaction_date: 'bigint',
  day: 'bigint',
}
const names = [...ALL, 'day']
const columns = names.map((name) => `${name} ${types[name] ?? 'text'}`)
const text = upsertFrom(
  `select $1, ${names.join()}, idx, 0, 'fastify', 1
   from rows from (json_to_recordset($2::text::json) as (${columns.join()})) with ordinality
     as r (${names.join()}, idx)`,
  ALL,
)

const app = Fastify({ bodyLimit: 8 * 1024 * 1024 })
app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
const body = { type: 'array', minItems: 1, maxItems: PER_BULK, items: { $ref: schema.$id } }
app.post<{ Body: Transaction[] }>('/', { schema: { body } }, async ({ body }) => {
  const rows = body.map((record) => ({ ...record, ...timeAndDay(record.transaction_date) }))
  await sql.unsafe(text, [ACCOUNT, JSON.stringify(rows)], { prepare: true })
  return { received: body.length }
})
process.once('disconnect', () => process.exit())
process.send!(await app.listen({ host: '127.0.0.1', port: 0 }))
