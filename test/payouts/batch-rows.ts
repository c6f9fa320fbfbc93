import { env } from 'cloudflare:workers'
import { encryptDetails } from '../../src/payouts/details.ts'
import type { Details, Party, StoredDetails } from '../../src/payouts/model.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { earning, headOf, idOf, storeRows } from '../books/book-rows.ts'
import { askAdmin, json } from '../partner.ts'

/** The address of the account. */
export const PATH = 'accounts/acme-forex'

/** A day after all statements are payable, in the future of every world. */
export const EXECUTE_ON = '2040-12-15'

/** Valid details of a person who is paid by SEPA. */
export const SEPA: Details = {
  name: 'Ada Lovelace',
  kind: 'person',
  method: 'sepa',
  address: { street: 'Hauptstraße', building: '1', city: 'Köln', country: 'DE' },
  iban: 'DE89370400440532013000',
}

/** Valid details of a payer. */
export const MAIN: Details = {
  name: 'Acme Ltd',
  kind: 'company',
  method: 'bank',
  address: { city: 'Dublin', country: 'IE' },
  iban: 'IE29AIBK93115212345678',
  bic: 'AIBKIE2DXXX',
  currency: 'EUR',
}

/** Stores a version of details, approved long ago unless `more` says otherwise. */
export async function enter(
  party: Party,
  id: string,
  details: Details,
  more: Partial<Pick<StoredDetails, 'version' | 'state' | 'payable_from' | 'entered_at'>> = {},
) {
  const row = { version: 1, state: 'approved', payable_from: 1, entered_at: 1, ...more }
  const of = { account: 'acme-forex', party, id, version: row.version }
  const { details: text, key_id, digest } = await encryptDetails(env, of, details)
  await env.DB.prepare(
    `insert into payees (account, party, id, version, state, method, details, key_id, digest,
       entered_by, entered_at, payable_from)
     values ('acme-forex', ?, ?, ?, ?, ?, ?, ?, ?, 'eve', ?, ?)`,
  )
    .bind(
      ...[party, id, row.version, row.state, details.method, text, key_id, digest],
      ...[row.entered_at, row.payable_from],
    )
    .run()
}

/** Stores the payer `main`, which pays in EUR unless `more` says otherwise. */
export const enterPayer = (more: Partial<Details> = {}) =>
  enter('payer', 'main', { ...MAIN, ...more })

/** Stores an approved statement, and returns its id. */
export async function due(
  affiliate: string,
  amount: string,
  period = '2024-10',
  head: object = {},
) {
  const row = earning(affiliate, period, amount, head)
  await storeRows([{ ...row, status: 'approved', approved_at: 1 }])
  return idOf(row)
}

/** Holds the payouts of an affiliate by a case. */
export const hold = (affiliate: string) =>
  env.DB.prepare(
    `insert into fraud_cases (account, id, affiliate_id, rule, subject, position, version, kind,
       severity, action, status, opened_for, opened_at, last_day, figures, sentence, evidence_count)
     values ('acme-forex', ?1, ?2, 'r', ?1, 0, 1, 'reversals', 'medium', 'hold', 'open', 20728,
       1790931600000, 20728, '[]', 'A sentence.', 1)`,
  )
    .bind(`case_${affiliate}`, affiliate)
    .run()

/** Previews a batch of the payer `main`. */
export const preview = (more: object = {}) =>
  askAdmin(`${PATH}/batches`, 'POST', {
    ...{ payer: 'main', method: 'sepa', execute_on: EXECUTE_ON, ...more },
  })

/** Confirms a batch as it was previewed. */
export const confirm = ({ id, hash, total }: { id: string; hash: string; total: string | null }) =>
  askAdmin(`${PATH}/batches/${id}/confirm`, 'POST', { hash, total })

/** Previews and confirms a batch. */
export const confirmed = async (more: object = {}) => json(confirm(await json(preview(more))))

/** Asks for the file of a batch. */
export const askFile = (id: string) => askAdmin(`${PATH}/batches/${id}/file`)

/** Changes a row of a table by SQL. */
export const change = (sql: string, ...values: (string | number | null)[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run()

/** The references of what `batchRows` stores: a batch to export, and a preview to confirm. */
export const BATCH_ID = 'B000000001'
export const PREVIEW_ID = 'B000000002'

const OTHER = 'spare'
const STATEMENT = 'stm_00000000000000000000000b'
const PAID = { affiliate_id: 'aff-8', payee_version: 1, amount: '2.00' }

/** What confirms the preview. */
export const CONFIRMED = {
  hash: await digest(
    JSON.stringify({
      ...{
        payer: OTHER,
        payer_version: 1,
        method: 'sepa',
        currency: 'EUR',
        execute_on: EXECUTE_ON,
      },
      paid: [{ ...PAID, statements: [STATEMENT] }],
    }),
  ),
  total: '2.00',
}

/** Returns the rows of a payer and a payee, who are approved, with a confirmed batch and a preview. */
export const batchRows = async (db: D1Database, account: string) => {
  const insert = (table: string, row: object) => {
    const names = Object.keys(row)
    return db
      .prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
      .bind(...Object.values(row))
  }
  const approved = async (party: Party, id: string, details: Details) => {
    const of = { account, party, id, version: 1 }
    const row = { ...of, state: 'approved', method: details.method, entered_by: 'eve' }
    const own = await encryptDetails(env, of, details)
    return insert('payees', { ...row, ...own, entered_at: 1, payable_from: 1 })
  }
  const batch = (id: string, more: object) =>
    insert('payout_batches', {
      ...{ account, id, payer: OTHER, method: 'sepa', currency: 'EUR', execute_on: EXECUTE_ON },
      ...{ created_by: 'eve', created_at: Date.now(), ...more },
    })
  const of = { id: STATEMENT, affiliate: 'aff-8', plan: 'lined', period: '2024-08' }
  const sums = { lines_sum: '2.00', total: '2.00', payable: '2.00', payable_on: '2024-09-14' }
  return [
    await approved('payer', OTHER, MAIN),
    await approved('payee', 'aff-8', SEPA),
    insert('statements', {
      ...{ account, period: of.period, affiliate_id: 'aff-8', plan: of.plan, id: STATEMENT },
      ...{ status: 'approved', hash: 'b'.repeat(64), digest: 'b'.repeat(64), payable: '2.00' },
      ...{ closing: '0', statement: JSON.stringify(headOf(of, sums)), lines: '[]', parts: 1 },
      ...{ state: '{}', read_at: 0, computed_at: '2024-10-01T09:00:00.000Z', previous: '' },
      ...{ approval: 'approval', approved_at: 1 },
    }),
    batch(PREVIEW_ID, { status: 'preview' }),
    batch(BATCH_ID, {
      ...{ status: 'confirmed', payer_version: 1, hash: 'c'.repeat(64), total: '2.00', count: 1 },
      ...{ confirmed_by: 'eve', confirmed_at: 1 },
    }),
    insert('transfers', {
      ...{ account, id: 'T00000000B', batch: BATCH_ID, currency: 'EUR', statements: '[]' },
      ...{ ...PAID, state: 'created', changed_at: 1 },
    }),
  ]
}
