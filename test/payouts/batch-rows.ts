import { env } from 'cloudflare:workers'

import { type DetailsKey, encryptDetails } from '../../src/payouts/details.ts'
import type { Details, Party, StoredDetails } from '../../src/payouts/model.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { earning, headOf, idOf, storeRows } from '../books/book-rows.ts'
import { storeCases } from '../fraud/stored-cases.ts'
import { askAdmin, json } from '../partner.ts'
import { ADA, MAIN as PAYER } from './payee-rows.ts'

/** The address of the account. */
export const PATH = 'accounts/acme-forex'

/** A day after all statements are payable, on which a batch may be executed. */
export const EXECUTE_ON = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)

/** Valid details of a person who is paid by SEPA. */
export const SEPA: Details = ADA

/** Valid details of a payer. */
export const MAIN: Details = { ...PAYER, kind: 'company', method: 'bank', bic: 'AIBKIE2DXXX' }

const insert = (db: D1Database, table: string, row: object) => {
  const names = Object.keys(row)
  return db
    .prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
    .bind(...Object.values(row))
}

/** Returns the statement that stores a version of details, approved long ago unless `more` says otherwise. */
async function versionOf(
  db: D1Database,
  owner: Omit<DetailsKey, 'version'>,
  details: Details,
  more: object = {},
) {
  const of = { ...owner, version: 1, ...more }
  const said = { state: 'approved', method: details.method, entered_by: 'eve', entered_at: 1 }
  const encrypted = await encryptDetails(env, of, details)
  return insert(db, 'payees', { ...said, payable_from: 1, ...of, ...encrypted })
}

/** Stores a version of details, approved long ago unless `more` says otherwise. */
export const enter = async (
  party: Party,
  id: string,
  details: Details,
  more: Partial<Pick<StoredDetails, 'version' | 'state' | 'payable_from' | 'entered_at'>> = {},
) => (await versionOf(env.DB, { account: 'acme-forex', party, id }, details, more)).run()

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
  storeCases({ id: `case_${affiliate}`, affiliate, action: 'hold' })

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

const STATEMENT = 'stm_00000000000000000000000b'

/** What confirms the preview. */
export const CONFIRMED = {
  hash: 'b071f165cbbbcb0d653df8ca4ded3f9c9fd33b36baffb8f20bfd78d0bad93cb3',
  total: '2.00',
}

/** Returns the rows of a payer and a payee, who are approved, with a confirmed batch and a preview. */
export const batchRows = async (db: D1Database, account: string) => {
  const batch = (id: string, more: object) =>
    insert(db, 'payout_batches', {
      ...{ account, id, payer: 'spare', method: 'sepa', currency: 'EUR', execute_on: '2040-12-15' },
      ...{ payer_version: 1, created_by: 'eve', created_at: Date.now(), ...more },
    })
  const of = { id: STATEMENT, affiliate: 'aff-8', plan: 'lined', period: '2024-08' }
  const sums = { lines_sum: '2.00', total: '2.00', payable: '2.00', payable_on: '2024-09-14' }
  return [
    await versionOf(db, { account, party: 'payer', id: 'spare' }, MAIN),
    await versionOf(db, { account, party: 'payee', id: 'aff-8' }, SEPA),
    insert(db, 'statements', {
      ...{ account, period: of.period, affiliate_id: 'aff-8', plan: of.plan, id: STATEMENT },
      ...{ status: 'approved', hash: 'b'.repeat(64), digest: 'b'.repeat(64), payable: '2.00' },
      ...{ closing: '0', statement: JSON.stringify(headOf(of, sums)), lines: '[]', parts: 1 },
      ...{ state: '{}', read_at: 0, computed_at: '2024-10-01T09:00:00.000Z', previous: '' },
      ...{ approval: 'approval', approved_at: 1 },
    }),
    batch(PREVIEW_ID, {}),
    batch(BATCH_ID, { hash: 'c'.repeat(64), total: '2.00', confirmed_by: 'eve' }),
    insert(db, 'transfers', {
      ...{ account, id: 'T00000000B', batch: BATCH_ID, affiliate_id: 'aff-8', payee_version: 1 },
      ...{ currency: 'EUR', amount: '2.00', statements: '[]', state: 'created', changed_at: 1 },
    }),
  ]
}
