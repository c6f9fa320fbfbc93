import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import Fastify from 'fastify'
import postgres from 'postgres'
import { MIGRATIONS } from '../../chaos/workerd.ts'
import { PER_BULK, type Transaction } from '../records.ts'
import { MEMBERS, timeAndDay, upsertFrom } from './upsert.ts'

// A carefully written server with PostgreSQL, which runs inside `pg_virtualenv`. It validates against our published
// schema, compiled by Ajv, and stores a bulk by one prepared statement, committed to disk before the response. It has
// no authentication, checks no references and logs no deliveries. It prints its address, and ends with its input.

const schema = JSON.parse(readFileSync('schemas/v1/forex/transaction.json', 'utf8'))
const ajv = new Ajv2020({ allErrors: true, keywords: ['x-key', 'x-rules'] })
formats.default(ajv)
ajv.addSchema(schema)

/** The same table for PostgreSQL, with the same columns, key and indexes. */
const TABLE = MIGRATIONS.filter((sql) =>
  /^create (table|(unique )?index) transactions(_|\b)/i.test(sql),
).map((sql) =>
  sql
    .replace(/\) strict, without rowid$/i, ')')
    .replace(/\breal\b/gi, 'double precision')
    .replace(/\binteger\b/gi, 'bigint'),
)
const TYPES: Record<string, string> = {
  amount_currency: 'double precision',
  transaction_date: 'bigint',
  day: 'bigint',
}
const names = [...MEMBERS, 'day']
const columns = names.map((name) => `${name} ${TYPES[name] ?? 'text'}`)
const text = upsertFrom(
  `select $1, ${names.join()}, idx, 0, 'fastify', 1
   from rows from (json_to_recordset($2::text::json) as (${columns.join()})) with ordinality
     as r (${names.join()}, idx)`,
)

// pg_virtualenv names the server by variables of the environment.
const sql = postgres({ max: 8 })
await sql.unsafe(TABLE.join(';'))
const [server] = await sql`select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid`

const app = Fastify({ bodyLimit: 8 * 1024 * 1024 })
app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
type Query = { account: string }
const body = { type: 'array', minItems: 1, maxItems: PER_BULK, items: { $ref: schema.$id } }
app.post<{ Body: Transaction[]; Querystring: Query }>(
  '/',
  { schema: { body } },
  async (request) => {
    const rows = request.body.map((one) => ({ ...one, ...timeAndDay(one.transaction_date) }))
    const values = [request.query.account, JSON.stringify(rows)]
    await sql.unsafe(text, values, { prepare: true })
    return { received: rows.length }
  },
)
app.get<{ Querystring: Query }>('/', async ({ query }) => {
  const [counted] = await sql`select count(*)::int as n from transactions
    where account = ${query.account} and status = 'approved' and revision = 2`
  return counted
})
process.stdin.resume().once('end', () => process.exit())
const address = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(JSON.stringify({ address, pid: process.pid, postgres: Number(server?.pid) }))
