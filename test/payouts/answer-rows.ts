import { env } from 'cloudflare:workers'
import { referenceOf } from '../../src/payouts/reference.ts'
import { ask, askAdmin, json, ORIGIN, register } from '../partner.ts'
import { asTeam } from '../requests.ts'
import { due, enter, enterPayer, PATH, SEPA } from './batch-rows.ts'

/** The hash of what `answerRows` stores: an answer that says of a transfer of `batchRows` whose account it is. */
export const ANSWER_HASH = 'e'.repeat(64)

/** Returns the statement that stores an answer that is previewed. */
export function answerRows(db: D1Database, account: string) {
  const [transfer, becomes, reason] = ['T00000000B', 'checked', 'close match: Ada King']
  const summary = {
    ...{ format: 'pain.002', rows: 2, unchanged: 0, unmatched: 1 },
    booked: [{ becomes, count: 1, amount: '2.00', currency: 'EUR' }],
    transfers: [],
    unmatched_rows: [{ row: 2, states: '2026-11-27 9.90 EUR', detail: 'It names no transfer.' }],
  }
  const entries = [{ row: 1, transfer, becomes, day: null, code: null, reason }]
  return db
    .prepare(`insert into payout_answers values (?, ?, ?, ?, 1767225600000, null)`)
    .bind(account, ANSWER_HASH, JSON.stringify(entries), JSON.stringify(summary))
}

/** A transfer of the world of a test. */
export interface Sent {
  readonly id: string
  readonly batch: string
  readonly affiliate: string
  readonly amount: string
}

/** Registers an account whose affiliates `a` to `e` have payees, and its payer `main`. */
export async function firm() {
  const affiliates = ['a', 'b', 'c', 'd', 'e']
  await register('forex', { affiliates })
  await enterPayer()
  for (const id of affiliates) await enter('payee', id, SEPA)
}

/** Stores a batch that is exported. Returns its transfers by affiliate: each pays an amount of one statement. */
export async function sent<K extends string>(
  name: string,
  amounts: Record<K, string>,
  currency = 'EUR',
): Promise<Record<K, Sent>> {
  const batch = await referenceOf('B', name)
  const rows = await Promise.all(
    Object.entries<string>(amounts).map(async ([affiliate, amount]) => {
      const id = await referenceOf('T', `${batch} ${affiliate}`)
      const period = `20${10 + (name.length % 80)}-0${1 + (name.charCodeAt(0) % 9)}`
      const statement = await due(affiliate, amount, period, { currency })
      return { id, batch, affiliate, amount, statement }
    }),
  )
  await env.DB.batch([
    env.DB.prepare(
      `insert into payout_batches (account, id, payer, payer_version, method, currency, execute_on,
         created_by, created_at, confirmed_by)
       values ('acme-forex', ?, 'main', 1, 'sepa', ?, '2026-11-26', 'eve', 1, 'eve')`,
    ).bind(batch, currency),
    ...rows.flatMap(({ id, affiliate, amount, statement }) => [
      env.DB.prepare(
        `insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount,
           statements, state, changed_at)
         values ('acme-forex', ?, ?, ?, 1, ?, ?, ?, 'exported', 1)`,
      ).bind(id, batch, affiliate, currency, amount, JSON.stringify([statement])),
      env.DB.prepare(`update statements set transfer = ? where id = ?`).bind(id, statement),
    ]),
  ])
  const stored: Record<string, Sent> = Object.fromEntries(rows.map((one) => [one.affiliate, one]))
  return stored as Record<K, Sent>
}

/** Sends a file as the answer of a bank. */
export const send = (file: string | Uint8Array, query = '') =>
  ask(`/admin/v1/${PATH}/payouts/answers${query}`, {
    ...{ method: 'POST', headers: asTeam(), body: file },
  })

/** Returns the request that books an answer. */
export const applyRequest = (hash: string) =>
  new Request(`${ORIGIN}/admin/v1/${PATH}/payouts/answers/apply`, {
    ...{ method: 'POST', headers: { ...asTeam(), 'Content-Type': 'application/json' } },
    body: JSON.stringify({ hash }),
  })

/** Books an answer. */
export const apply = (hash: string) =>
  json(askAdmin(`${PATH}/payouts/answers/apply`, 'POST', { hash }))

/** Sends and books a file. Returns its preview. */
export async function book(file: string | Uint8Array, query = '') {
  const preview = await json(send(file, query))
  if (preview.hash) await apply(preview.hash)
  return preview
}

/** Returns the states of all transfers, by their references. */
export async function states(): Promise<Record<string, string>> {
  const rows = await env.DB.prepare('select id, state from transfers').raw()
  return Object.fromEntries(rows)
}

/** Returns what is booked: payments, returns, the ledger, and the states of transfers, statements and payees. */
export async function books() {
  const read = async (sql: string) => (await env.DB.prepare(sql).raw()).map(String).sort()
  return {
    payments: await read('select reference, affiliate_id, currency, amount, paid_on from payments'),
    returns: await read('select payment, returned_on, reason from payment_returns'),
    ledger: await read('select affiliate_id, kind, statement, currency, amount from ledger'),
    transfers: await read('select id, state, code, reason, name_check from transfers'),
    statements: await read('select id, status, payment, returned from statements'),
    payees: await read(`select id, version, state, reason from payees`),
  }
}
