import { DAY_MS } from '../../src/durations.ts'
import { newDeliveryId } from '../../src/ingest/delivery-id.ts'
import { ACCOUNT, type Size } from '../commissions/fill.ts'
import { adminOf } from '../cost/parties.ts'
import { expectOk, send } from '../http.ts'
import { execute, type Running } from '../worker.ts'

const BULK = 1000
/** The days over which the deliveries are spread: the log keeps 30. */
const DAYS = 29

/**
 * Logs a delivery for each 1000 facts, spread over the last days, and sends a delivery whose 100 records
 * are all refused. Returns the id of the latter.
 */
export async function fillLog(running: Running, size: Size): Promise<string> {
  const count = Math.ceil(size.facts / BULK)
  const now = Date.now()
  const rows = Array.from({ length: count }, (_, n) => {
    const at = Math.floor(now - DAYS * DAY_MS * ((count - n) / count))
    const resource = ['customers', 'transactions', 'trading-activity'][n % 3]
    return [newDeliveryId(at), at, resource]
  })
  await execute(running, [
    `insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient, received,
       errors_total, rejected, refused, held, stale, created, listed, written, reused, yesterday, today)
     select '${ACCOUNT}', value ->> 0, 1, value ->> 1, value ->> 2, 'array', 0, 0, ${BULK},
       0, 0, 0, 0, 0, ${BULK}, ${BULK}, ${BULK}, 0, 1, 0
     from json_each('${JSON.stringify(rows)}')`,
  ])
  return refuse(running)
}

/** Sends 100 transactions of an unknown type as the partner. */
async function refuse(running: Running): Promise<string> {
  const admin = adminOf(running)
  const { client_id, client_secret } = await admin('POST', `accounts/${ACCOUNT}/clients`, {})
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const text = await expectOk(new URL('/oauth/token', running.url), {
    body: String(new URLSearchParams(form)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  const records = Array.from({ length: 100 }, (_, n) => ({
    transaction_id: `TX-refused-${n}`,
    customer_id: 'CU-000001',
    transaction_type: 'gift',
    amount_currency: 5,
    currency: 'EUR',
    status: 'approved',
    transaction_date: '2026-03-20T10:00:00Z',
  }))
  const answer = await send(new URL('/api/v1/forex/transactions', running.url), {
    body: JSON.stringify(records),
    headers: {
      Authorization: `Bearer ${JSON.parse(text).access_token}`,
      'Content-Type': 'application/json',
    },
  })
  return JSON.parse(answer.text).delivery_id
}
