import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import Fastify from 'fastify'
import { PER_BULK, type Transaction } from '../records.ts'
import { timeAndDay } from './upsert.ts'

/** A validated record as it is stored. */
export type Row = Omit<Transaction, 'transaction_date'> &
  ReturnType<typeof timeAndDay> & { amount_usd?: number; note?: string }

const schema = JSON.parse(readFileSync('schemas/v1/forex/transaction.json', 'utf8'))
const ajv = new Ajv2020({ allErrors: true, keywords: ['x-key', 'x-rules'] })
formats.default(ajv)
ajv.addSchema(schema)

/**
 * A carefully written server. It validates against our published schema, compiled by Ajv, and stores a
 * bulk in one transaction. It has no authentication, checks no references and logs no deliveries. It
 * sends its address to the process that forked it, and ends with that process.
 */
export async function serve(store: (rows: readonly Row[]) => unknown) {
  const app = Fastify({ bodyLimit: 8 * 1024 * 1024 })
  app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
  const body = { type: 'array', minItems: 1, maxItems: PER_BULK, items: { $ref: schema.$id } }
  app.post<{ Body: Transaction[] }>('/', { schema: { body } }, async ({ body }) => {
    await store(body.map(toRow))
    return { received: body.length }
  })
  process.once('disconnect', () => process.exit())
  process.send!(await app.listen({ host: '127.0.0.1', port: 0 }))
}

const toRow = (record: Transaction): Row => ({ ...record, ...timeAndDay(record.transaction_date) })
