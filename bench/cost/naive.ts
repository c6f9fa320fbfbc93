import type { D1Database } from '@cloudflare/workers-types'
import { sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import { drizzle } from 'drizzle-orm/d1'
import { Hono } from 'hono'
import { z } from 'zod'
import { activity, customers, events, transactions } from '../../src/db/schema.ts'
import { DAY_MS } from '../../src/durations.ts'
import { ACCOUNT } from '../peers/upsert.ts'
import { withMeter } from './meter.ts'

// The naive design has the same tables and indexes. It looks tokens up in D1, counts requests in a row
// of D1, and upserts records with Drizzle in chunks of one batch, setting all columns. It checks no
// references, holds and logs nothing, counts no lists, and stores a click before the response.

const text = z.string().min(1).max(500)
const instant = z.iso.datetime({ offset: true })
const stored = { account: ACCOUNT, delivery: 'naive', revision: 1 }
const dayOf = (time: string) => time.slice(0, 10)

/** The schema of each resource, and how a record becomes a row. */
const RESOURCES = {
  customers: {
    table: customers,
    key: [customers.account, customers.customer_id],
    schema: z.strictObject({
      customer_id: text,
      signup_date: instant,
      last_modified_date: instant,
      affiliate_id: text,
      tracking_data: text,
      country_code: text,
      email: z.email(),
    }),
    row: (record: Record<string, string>) => ({ ...record, day: dayOf(record.signup_date!) }),
  },
  transactions: {
    table: transactions,
    key: [transactions.account, transactions.transaction_id],
    schema: z.strictObject({
      transaction_id: text,
      customer_id: text,
      transaction_type: z.enum(['deposit', 'withdrawal']),
      amount_currency: z.number(),
      currency: z.string().regex(/^[A-Z]{3}$/),
      transaction_date: instant,
      status: text,
    }),
    row: (record: Record<string, string>) => ({
      ...record,
      day: dayOf(record.transaction_date!),
      held: 0,
    }),
  },
  'trading-activity': {
    table: activity,
    key: [
      activity.account,
      activity.date,
      activity.customer_id,
      activity.instrument,
      activity.currency,
    ],
    schema: z.strictObject({
      customer_id: text,
      date: z.iso.date(),
      instrument: text,
      currency: z.string().regex(/^[A-Z]{3}$/),
      lots_traded: z.number().min(0),
      pnl: z.number(),
    }),
    row: (record: Record<string, string>) => ({ ...record, held: 0 }),
  },
  players: {
    table: customers,
    key: [customers.account, customers.customer_id],
    schema: z.looseObject({ customerId: text, regtime: text, country: text }),
    row: ({ customerId, regtime, country, ...extras }: Record<string, string>) => ({
      customer_id: customerId,
      regtime,
      country_code: country,
      extras: JSON.stringify(extras),
      day: dayOf(regtime!),
    }),
  },
  activities: {
    table: events,
    key: [events.account, events.id],
    schema: z.looseObject({ eventname: text, customerid: text, eventid: text, createtime: text }),
    row: (record: Record<string, string>) => ({
      id: record.eventid,
      eventname: record.eventname,
      customer_id: record.customerid,
      eventid: record.eventid,
      createtime: record.createtime,
      amount: Number(record.Value),
      currency: record.Currency,
      record: JSON.stringify(record),
      day: dayOf(record.createtime!),
      first_day: dayOf(record.createtime!),
      held: 0,
    }),
  },
} as const

/** D1 allows 100 bound parameters per statement. */
const PARAMETERS = 100

const app = new Hono<{ Bindings: { DB: D1Database } }>()

app.get('/go/:link', async (c) => {
  const link_id = c.req.param('link')
  const link = await c.env.DB.prepare('select account, landing_page from links where link_id = ?')
    .bind(link_id)
    .first<{ account: string; landing_page: string }>()
  if (!link) return c.notFound()
  const now = Date.now()
  await c.env.DB.prepare(
    'insert into clicks (account, day, link_id, click_id, clicked_at) values (?, ?, ?, ?, ?)',
  )
    .bind(link.account, Math.floor(now / DAY_MS), link_id, crypto.randomUUID(), now)
    .run()
  return c.redirect(link.landing_page)
})

app.use('/records/*', async (c, next) => {
  const token = c.req.header('Authorization') ?? ''
  const known = await c.env.DB.prepare('select account from tokens where token = ?')
    .bind(token)
    .first()
  if (!known) return c.json({ error: 'unauthorized' }, 401)
  const used = await c.env.DB.prepare(
    `insert into token_requests (token, minute, requests) values (?, ?, 1)
     on conflict do update set requests = requests + 1 returning requests`,
  )
    .bind(token, Math.floor(Date.now() / 60_000))
    .first<{ requests: number }>()
  if (used!.requests > 1000) return c.json({ error: 'too many requests' }, 429)
  return next()
})

for (const [name, { table, key, schema, row }] of Object.entries(RESOURCES)) {
  app.post(`/records/${name}`, async (c) => {
    const parsed = z
      .array(schema)
      .min(1)
      .max(1000)
      .safeParse(await c.req.json())
    if (!parsed.success) return c.json({ errors: parsed.error.issues }, 422)

    const rows = parsed.data.map((record, idx) => ({
      ...row(record as unknown as Record<string, string>),
      ...stored,
      idx,
    }))
    const columns = Object.keys(rows[0]!)
    const changed = columns.filter((column) => !key.some(({ name }) => name === column))
    const set = Object.fromEntries(changed.map((column) => [column, sql.raw(`excluded.${column}`)]))
    const db = drizzle(c.env.DB)
    const size = Math.floor(PARAMETERS / columns.length)
    const upserts: BatchItem<'sqlite'>[] = []
    for (let i = 0; i < rows.length; i += size) {
      upserts.push(
        db
          .insert(table)
          .values(rows.slice(i, i + size) as never)
          .onConflictDoUpdate({ target: [...key], set }),
      )
    }
    await db.batch(upserts as [BatchItem<'sqlite'>, ...typeof upserts])
    return c.json({ received: rows.length })
  })
}

export default withMeter(app as never)
