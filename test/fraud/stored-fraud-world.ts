import { env } from 'cloudflare:workers'
import { encodeTrackingCode, newClickId } from '../../src/attribution/code.ts'
import { storeRates, storeWorld } from '../commission/stored-world.ts'
import type { FraudWorld } from './fraud-world.ts'

const ORIGIN = { link_id: 'AAAAAAAA', affiliate_id: 'a1' }

/** Stores a world with what only fraud rules read. Clicks are after 2026, as codes begin then. */
export async function storeFraudWorld(world: FraudWorld, account: string): Promise<void> {
  await storeWorld(world, account)
  await storeRates(world)
  const day = (date: string) => Date.parse(date) / 86_400_000
  const statements = [
    env.DB.prepare('update event_definitions set kpis = ? where account = ?').bind(
      JSON.stringify(world.kpis),
      account,
    ),
    ...world.activity.map((one) =>
      env.DB.prepare(
        `update activity set drawdown = ?, max_drawdown = ? where account = ? and date = ?
           and customer_id = ? and instrument = ? and currency = ?`,
      ).bind(
        one.drawdown ?? null,
        one.max_drawdown ?? null,
        account,
        day(one.date),
        one.customer_id,
        one.instrument,
        one.currency,
      ),
    ),
    ...(await Promise.all(
      Object.entries(world.clicks).map(async ([customer_id, clicked]) => {
        const origin = { ...ORIGIN, account }
        const code = await encodeTrackingCode(env.TRACKING_KEYS, origin, newClickId(clicked))
        return env.DB.prepare(
          `update customers set tracking_data = ?, verdict = 'attributed'
           where account = ? and customer_id = ?`,
        ).bind(code, account, customer_id)
      }),
    )),
    ...world.customers.map(({ customer_id }) => {
      const name = world.names[customer_id]
      return env.DB.prepare(
        `update customers set email = ?, first_name = ?, last_name = ?
         where account = ? and customer_id = ?`,
      ).bind(
        world.emails[customer_id] ?? null,
        name?.first_name ?? null,
        name?.last_name ?? null,
        account,
        customer_id,
      )
    }),
    ...Object.entries(world.contacts).map(([affiliate_id, email]) =>
      env.DB.prepare(
        'update affiliates set contact_email = ? where account = ? and affiliate_id = ?',
      ).bind(email, account, affiliate_id),
    ),
    ...world.payees.map(({ affiliate_id, version, account: number, at, state }) =>
      env.DB.prepare(
        `insert into payees (account, party, id, version, state, method, key_id, digest, entered_by, entered_at)
         values (?, 'payee', ?, ?, ?, 'sepa', '', ?, 'eve', ?)`,
      ).bind(account, affiliate_id, version, state, number, at),
    ),
    ...world.statements.map(({ id, affiliate_id, plan, period, currency, earned }) =>
      env.DB.prepare(
        `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
           payable, closing, statement, lines, parts, state, read_at, computed_at)
         values (?, ?, ?, ?, ?, 'draft', ?, ?, '0', '0', ?, '[]', 1, '{}', 0, '2026-01-01')`,
      ).bind(
        account,
        period,
        affiliate_id,
        plan,
        id,
        '0'.repeat(64),
        '0'.repeat(64),
        JSON.stringify({ currency, earned }),
      ),
    ),
  ]
  if (statements.length > 0) await env.DB.batch(statements)
}
