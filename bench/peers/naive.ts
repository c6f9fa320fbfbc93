import type { D1Database } from '@cloudflare/workers-types'
import { sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import { Hono } from 'hono'
import { z } from 'zod'
import { transactions } from '../../src/platform/db/schema.ts'
import { CURRENCIES } from '../../src/platform/validation/iso-4217.ts'

const text = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\0\ud800-\udfff]*$/u)
const Body = z
  .array(
    z.strictObject({
      transaction_id: text,
      customer_id: text,
      transaction_type: z.enum([
        'deposit',
        'withdrawal',
        'bonus',
        'adjustment',
        'ib_rebate',
        'other',
      ]),
      amount_currency: z.number().min(-1e15).max(1e15),
      currency: z.enum([...CURRENCIES]),
      transaction_date: z.iso.datetime({ offset: true }),
      status: text,
      transaction_subtype: text.optional(),
    }),
  )
  .min(1)
  .max(1000)

/** D1 allows 100 bound parameters per statement, and a row has 14. */
const ROWS = 7

/** The columns that are compared and updated. */
const SENT = [...Object.keys(Body.element.shape).slice(1), 'day']
const sent = (write: (name: string) => string) => sql.raw(SENT.map(write).join())
const changed = Object.fromEntries(
  [...SENT, 'idx'].map((name) => [name, sql.raw(`excluded.${name}`)]),
)
const differs = sql`(${sent((name) => `excluded.${name}`)}) is not (${sent((name) => `transactions.${name}`)})`

/**
 * A carefully written Worker that was never measured. It validates records, and upserts changed ones in
 * chunks of one batch. It has no authentication, checks no references and logs no deliveries.
 */
const app = new Hono<{ Bindings: { DB: D1Database } }>()

app.post('/', async (c) => {
  const parsed = Body.safeParse(await c.req.json())
  if (!parsed.success) return c.json({ errors: parsed.error.issues }, 422)

  const account = c.req.query('account')!
  const rows = parsed.data.map((record, idx) => {
    const transaction_date = new Date(record.transaction_date).toISOString()
    const day = transaction_date.slice(0, 10)
    const ours = { account, held: 0, delivery: 'naive', idx, revision: 1 }
    return { ...record, ...ours, transaction_date, day }
  })
  const db = drizzle(c.env.DB)
  const upserts: BatchItem<'sqlite'>[] = []
  for (let i = 0; i < rows.length; i += ROWS) {
    upserts.push(
      db
        .insert(transactions)
        .values(rows.slice(i, i + ROWS))
        .onConflictDoUpdate({
          target: [transactions.account, transactions.transaction_id],
          set: { ...changed, revision: sql`${transactions.revision} + 1` },
          setWhere: differs,
        }),
    )
  }
  await db.batch(upserts as [BatchItem<'sqlite'>, ...typeof upserts])
  return c.json({ received: rows.length })
})

export default app
