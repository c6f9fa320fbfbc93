import { env } from 'cloudflare:workers'
import { encryptDetails, fileDigest } from '../../src/payouts/details.ts'
import { fileOf } from '../../src/payouts/files/file.ts'
import {
  type Details,
  type Party,
  STOPPING,
  type StoredBatch,
  type StoredDetails,
} from '../../src/payouts/model.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { earning, headOf, idOf, storeRows } from '../books/book-rows.ts'
import { storeCases } from '../fraud/stored-cases.ts'
import { askAs, memberKey } from '../members.ts'
import { ask, askAdmin, json, ORIGIN, register } from '../partner.ts'
import { asTeam } from '../requests.ts'

/** The address of the account. */
export const PATH = 'accounts/acme-forex'

/** The approvers of the service. */
export const PEOPLE = ['mia', 'bob', 'eva'] as const

/** One of them. */
export type Person = (typeof PEOPLE)[number]

/** Returns the key of a person. */
export const keyOf = (name: Person) => memberKey({ name, role: 'approver' })

/** Sends a request as a person, or with the key of the service. */
export async function as(who: Person | 'root', path: string, method = 'GET', body?: object) {
  const key = who === 'root' ? env.ADMIN_KEY : await keyOf(who)
  return askAs(key, `${PATH}${path && `/${path}`}`, method, body)
}

/** A day after all statements are payable, on which a batch may be executed. */
export const EXECUTE_ON = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)

/** Valid details of a person who is paid by SEPA, as they are sent and stored. */
export const ADA = {
  name: 'Ada Lovelace',
  kind: 'person',
  method: 'sepa',
  address: { city: 'Berlin', country: 'DE' },
  iban: 'DE89370400440532013000',
} as const satisfies Details

/** Valid details of a payer, as they are sent. */
export const MAIN = {
  name: 'Acme Ltd',
  address: { city: 'Dublin', country: 'IE' },
  iban: 'IE29AIBK93115212345678',
  bic: 'AIBKIE2DXXX',
  currency: 'EUR',
} as const

/** The same, as they are stored. */
export const PAYER: Details = { ...MAIN, kind: 'company', method: 'bank' }

/** Another valid IBAN. */
export const OTHER_IBAN = 'FR1420041010050500013M02606'

const insert = (db: D1Database, table: string, row: object) => {
  const names = Object.keys(row)
  return db
    .prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
    .bind(...Object.values(row))
}

/** Returns a function that stores details in an account: a first version, approved long ago, unless `more` says otherwise. */
const versionIn =
  (db: D1Database, account: string) =>
  async (party: Party, id: string, details: Details, more: Partial<StoredDetails> = {}) => {
    const entered = { method: details.method, entered_by: 'eve', entered_at: Date.UTC(2026, 0) }
    const of = { account, party, id, version: 1, ...entered, state: 'approved', payable_from: 1 }
    const row = { ...of, ...more }
    return insert(db, 'payees', { ...row, ...(await encryptDetails(env, row, details)) })
  }

/** Stores details: a first version, approved long ago, unless `more` says otherwise. */
export const enter = async (...of: Parameters<ReturnType<typeof versionIn>>) =>
  (await versionIn(env.DB, 'acme-forex')(...of)).run()

/** Registers an account, whose affiliates have payees, and its payer `main`. */
export async function firm(affiliates: string[]) {
  await register('forex', { affiliates })
  await enter('payer', 'main', PAYER)
  for (const id of affiliates) await enter('payee', id, ADA)
}

let periods = 0

/** Returns another month of the past with each call. */
function nextPeriod() {
  const n = periods++ % 240
  return `${2000 + Math.floor(n / 12)}-${String(1 + (n % 12)).padStart(2, '0')}`
}

/** Stores an approved statement, and returns its id. */
export async function due(affiliate: string, amount: string, head: object = {}) {
  const row = earning(affiliate, nextPeriod(), amount, head)
  await storeRows([{ ...row, status: 'approved', approved_at: 1 }])
  return idOf(row)
}

/** Holds the payouts of an affiliate by a case. */
export const hold = (affiliate: string) =>
  storeCases({ id: `case_${affiliate}`, affiliate, action: 'hold' })

/** Changes rows of a table by SQL. */
export const change = (sql: string, ...values: (string | number | null)[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run()

/** Prepares a batch of the payer `main`: of what is ticked of its method, in EUR, unless `more` has rows. */
export const prepare = async (more: object = {}) => {
  const asked = { payer: 'main', method: 'sepa', execute_on: EXECUTE_ON, ...more }
  const rows = 'rows' in asked ? asked.rows : await tickedRows(asked.method)
  return askAdmin(`${PATH}/batches`, 'POST', { ...asked, rows })
}

/** Returns the rows in EUR that are ticked and paid by a method. */
const tickedRows = async (method: string) =>
  (await payable()).flatMap((row) =>
    row.ticked && row.method === method && row.currency === 'EUR' ? [{ id: row.id }] : [],
  )

/** Returns rows of a batch that pay affiliates in EUR, whatever the doubts. */
export const rowsOfEach = (affiliates: readonly string[]) =>
  affiliates.map((id) => ({ id: `${id}:EUR`, waive: STOPPING }))

/** Returns what is payable by the day of batches. */
export const payable = async () =>
  (await json(askAdmin(`${PATH}/payable?on=${EXECUTE_ON}`))).data as PayableRow[]

/** A row of what is payable, as far as tests read it. */
export interface PayableRow {
  readonly id: string
  readonly affiliate_id: string
  readonly amount: string
  readonly currency: string
  readonly method: string | null
  readonly statements: readonly { readonly id: string }[]
  readonly reasons: readonly string[]
  readonly doubts: readonly { readonly code: string; readonly detail: string }[]
  readonly ticked: boolean
}

/** Confirms a batch as it was prepared. */
export const confirm = ({ id, hash, total }: { id: string; hash: string; total: string | null }) =>
  askAdmin(`${PATH}/batches/${id}/confirm`, 'POST', { hash, total })

/** Prepares and confirms a batch. */
export const confirmed = async (more: object = {}) => json(confirm(await json(prepare(more))))

/** Returns a batch. */
export const show = (id: string) => json(askAdmin(`${PATH}/batches/${id}`))

/** Exports a batch. */
export const askExport = (id: string) => askAdmin(`${PATH}/batches/${id}/export`, 'POST')

/** Asks for the file of a batch. */
export const askFile = (id: string) => askAdmin(`${PATH}/batches/${id}/file`)

/** A transfer of the world of a test. */
export interface Sent {
  readonly id: string
  readonly batch: string
  readonly affiliate_id: string
  readonly amount: string
}

/** Exports a batch that pays a statement of each affiliate. Returns its transfers by affiliate. */
export async function sent<K extends string>(amounts: Record<K, string>): Promise<Record<K, Sent>> {
  const all = Object.entries<string>(amounts)
  await Promise.all(all.map(([affiliate, amount]) => due(affiliate, amount)))
  const { id: batch, transfers } = await confirmed({ rows: rowsOfEach(Object.keys(amounts)) })
  await askExport(batch)
  const own = transfers.map((one: Sent) => [one.affiliate_id, { ...one, batch }])
  return Object.fromEntries(own) as Record<K, Sent>
}

/** Sends a file as the answer of a bank. */
export const send = (file: string | Uint8Array, query = '') =>
  ask(`/admin/v1/${PATH}/payouts/answers${query}`, {
    ...{ method: 'POST', headers: asTeam(), body: file },
  })

/** Sends and books a file. Returns what was booked. */
export async function book(file: string | Uint8Array, query = '') {
  const { hash } = await json(send(file, query))
  return apply(hash)
}

/** Books by hand that a transfer was paid today, unless `more` says otherwise. */
export const bookByHand = (reference: string, more: object) =>
  askAdmin(`${PATH}/transfers/${reference}/book`, 'POST', {
    ...{ direction: 'paid', booked_on: EXECUTE_ON, ...more },
  })

/** Returns a request of the team: a POST if it has a body, otherwise a GET. */
export const requestOf = (path: string, body?: object) =>
  new Request(`${ORIGIN}/admin/v1/${PATH}/${path}`, {
    headers: { ...asTeam(), 'Content-Type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })

/** Books an answer that was previewed. */
export const apply = (hash: string) =>
  json(askAdmin(`${PATH}/payouts/answers/apply`, 'POST', { hash }))

/** What `payoutRows` stores: a batch to export, one to confirm, one to pay by hand, one that is exported, and an answer to book. */
export const BATCH_ID = 'B000000001'
export const PREPARED_ID = 'B000000002'
export const EXPORTED_ID = 'B000000003'
export const BY_HAND_ID = 'B000000004'
export const ANSWER_HASH = 'e'.repeat(64)
const EXPORTED_STATEMENT = 'stm_00000000000000000000000c'
const BY_HAND_STATEMENT = 'stm_0000000000000000000000d1'

/** What confirms the one that is prepared. */
export const CONFIRMED = {
  hash: 'cfef1149ce40c2d528106f442023bdf356b6b118d185c662249edd3e94d2db4e',
  total: '2.00',
}

/**
 * Returns rows of an account: details of `aff-7` and of the payer `main` that wait, those of `aff-8` and of the payer
 * `spare` that are approved, and what is paid to `aff-8`.
 */
export async function payoutRows(db: D1Database, account: string) {
  const asked = {
    ...{ payer: 'spare', method: 'sepa', currency: 'EUR', execute_on: '2040-12-15' },
    ...{ payer_version: 1, authors: '["eve"]', created_at: Date.now() },
    ...{ rows: '[{"id":"aff-8:EUR","waived":[],"note":null}]', ends_at: Date.UTC(2040, 0) },
  } as const
  const batch = (id: string, more: object) =>
    insert(db, 'payout_batches', { account, id, hash: '', total: '2.00', ...asked, ...more })
  const exported = { id: 'T00000000C', affiliate_id: 'aff-8', amount: '3.00' }
  const details = new Map(Object.entries({ 'payer spare': PAYER, 'payee aff-8': ADA }))
  const order = { id: EXPORTED_ID, ...asked } as unknown as StoredBatch
  const paid = { ...exported, payee_version: 1, statements: [{ period: '2024-07' }] }
  const text = fileOf(order, [paid], details)
  const files = JSON.stringify([{ rows: 1, hash: await fileDigest(env, text, null) }])
  const statement = (id: string, period: string, amount: string, transfer: string | null) => {
    const of = { id, affiliate: 'aff-8', plan: 'lined', period }
    const sums = { lines_sum: amount, total: amount, payable: amount, payable_on: '2024-09-14' }
    return insert(db, 'statements', {
      ...{ account, id, period, affiliate_id: of.affiliate, plan: of.plan, transfer },
      ...{ status: 'approved', hash: 'b'.repeat(64), digest: 'b'.repeat(64), payable: amount },
      ...{ closing: '0', statement: JSON.stringify(headOf(of, sums)), lines: '[]', parts: 1 },
      ...{ state: '{}', read_at: 0, computed_at: '2024-10-01T09:00:00.000Z', previous: '' },
      ...{ approval: 'approval', approved_at: 1 },
    })
  }
  const entry = { row: 1, transfer: 'T00000000B', becomes: 'checked', day: null, code: null }
  const none = { booked: [], transfers: [], doubts: 0, unmatched_rows: [] }
  const version = versionIn(db, account)
  return [
    await version('payee', 'aff-7', ADA, { state: 'entered', payable_from: null }),
    await version('payer', 'main', PAYER, { state: 'entered', payable_from: null }),
    await version('payee', 'aff-8', ADA),
    await version('payer', 'spare', PAYER),
    statement('stm_00000000000000000000000b', '2024-08', '2.00', null),
    statement(EXPORTED_STATEMENT, '2024-07', '3.00', exported.id),
    statement(BY_HAND_STATEMENT, '2024-06', '3.00', 'T00000000D'),
    batch(PREPARED_ID, {}),
    batch(BATCH_ID, { hash: 'c'.repeat(64), total: '2.00', confirmed_by: 'eve' }),
    batch(BY_HAND_ID, { method: 'manual', payer: '', confirmed_by: 'eve', files: '[]' }),
    batch(EXPORTED_ID, {
      ...{ hash: 'c'.repeat(64), total: '3.00', confirmed_by: 'eve', files },
      confirmed_at: Date.UTC(2026, 0),
    }),
    ...[
      {
        id: entry.transfer,
        batch: BATCH_ID,
        affiliate_id: 'aff-8',
        amount: '2.00',
        state: 'created',
        statements: '[]',
      },
      {
        ...{ ...exported, batch: EXPORTED_ID, state: 'exported' },
        statements: JSON.stringify([EXPORTED_STATEMENT]),
      },
      {
        ...{ ...exported, id: 'T00000000D', batch: BY_HAND_ID, state: 'exported' },
        statements: JSON.stringify([BY_HAND_STATEMENT]),
      },
    ].map((one) =>
      insert(db, 'transfers', {
        ...{ ...one, account, payee_version: 1, currency: 'EUR', changed_at: 1 },
      }),
    ),
    insert(db, 'invoices', {
      ...{ account, id: 'approval-v00001', number: 'SB-1-2026-0001', affiliate_id: 'aff-8' },
      ...{
        payee_number: 1,
        series: 'SB',
        year: '2026',
        sequence: 1,
        statement: 'stm_00000000000000000000000b',
      },
      ...{
        currency: 'EUR',
        issued_on: '2026-11-27',
        payee_version: 1,
        payer: 'spare',
        payer_version: 1,
      },
      ...{ net: '2.00', vat: '0.00', total: '2.00', actor: 'eve', at: '2026-11-27T09:00:00.000Z' },
      content: JSON.stringify({
        ...{ plan: 'lined', period: '2024-08', treatment: 'reverse_charge', exempt_reason: null },
        ...{ rate: null, taxable: null, vat_id: 'IE6388047V', agreement: '2026-11' },
        lines: [{ kind: 'earned', amount: '2.00', text: null }],
      }),
    }),
    insert(db, 'bank_movements', {
      ...{ account, reference: entry.transfer, direction: 'paid', day: '2026-11-27', n: 1 },
      ...{ other: '2.00', bank_reference: 'B-1', amount: '2.00', currency: 'EUR' },
      doubt: 'not_booked',
    }),
    insert(db, 'payout_answers', {
      ...{ account, hash: ANSWER_HASH, file: '', created_at: Date.UTC(2026, 0) },
      entries: JSON.stringify([{ ...entry, reason: 'close match: Ada King' }]),
      summary: JSON.stringify({ format: 'pain.002', rows: 1, unchanged: 0, unmatched: 0, ...none }),
    }),
  ]
}
