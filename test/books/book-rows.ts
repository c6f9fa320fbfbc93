import { env } from 'cloudflare:workers'
import { bookPayments, bookReturn } from '../../src/books/db/pay.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { decimal, sum } from '../../src/platform/money/decimal.ts'
import { moneyText } from '../../src/platform/money/money.ts'
import { askAs, memberKey } from '../members.ts'
import { ask, askAdmin } from '../partner.ts'
import { ofTheTeam } from '../team.ts'

/** What a stored row of a statement has; the rest has its default. */
export interface StatementRow {
  account?: string
  period: string
  affiliate: string
  plan?: string
  id?: string
  status?: 'draft' | 'approved' | 'paid'
  /** Null if something is carried without a statement. */
  head?: Record<string, unknown> | null
  previous?: string
  digest?: string
  hash?: string
  approved_at?: number
  read_at?: number
}

/** Returns 64 hexadecimal digits that a text determines. */
export function digits(text: string): string {
  let digits = ''
  for (let i = 0; i < 8; i++) {
    let hash = 0x811c9dc5 + i
    for (const one of text) hash = Math.imul(hash ^ one.codePointAt(0)!, 0x01000193)
    digits += (hash >>> 0).toString(16).padStart(8, '0')
  }
  return digits
}

/** Returns the digest of a row of `storeRows` that names none. */
export const digestOf = ({ period, affiliate, plan = 'ib' }: StatementRow) =>
  digits(`${plan} ${affiliate} ${period}`)

/** Returns the id of a row of `storeRows` that names none. */
export const idOf = ({ period, affiliate, plan = 'ib' }: StatementRow) =>
  `stm_${digits(`${affiliate} ${plan} ${period}`).slice(-24)}`

const ZERO = '0.00'
const HOUR = 3_600_000

/** Returns the head of a statement whose figures are 0 unless `sums` has others. */
export function headOf(row: StatementRow, sums: Record<string, unknown> = {}) {
  const { period, affiliate, plan = 'ib' } = row
  return {
    id: row.id ?? idOf(row),
    affiliate_id: affiliate,
    plan,
    period,
    currency: 'EUR',
    opening: ZERO,
    lines_sum: ZERO,
    adjustments_sum: ZERO,
    earned: sums.total ?? ZERO,
    manual_sum: ZERO,
    total: ZERO,
    payable: ZERO,
    closing: ZERO,
    dropped: ZERO,
    transferred: null,
    received: [],
    holds: [],
    manual: [],
    lines_total: 0,
    adjustments_total: 0,
    payable_on: '2024-11-14',
    ...sums,
  }
}

/** A position behind which nothing is marked: what a test stores before and after is not newer than its statements. */
const LAST_POSITION = 1e15

/** Stores rows of statements as a run stores them. */
export const storeRows = (rows: readonly StatementRow[]) =>
  env.DB.batch([
    ...rows.map(({ period, account }) =>
      runOf(`rows_${period}`, period, account, '2000-01-01T00:00:00.000Z'),
    ),
    ...rows.map((row) => {
      const { account = 'acme-forex', period, affiliate, plan = 'ib', status = 'draft' } = row
      const head = row.head === null ? null : headOf(row, row.head)
      const digest = row.digest ?? digestOf(row)
      return env.DB.prepare(
        `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
           payable, closing, statement, lines, parts, state, read_at, computed_at, previous,
           approval, approved_at)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', 1, '{}', ?, '2026-11-01T06:00:00.000Z', ?,
           ?, ?)`,
      ).bind(
        account,
        period,
        affiliate,
        plan,
        row.id ?? idOf(row),
        status,
        head ? (row.hash ?? digest) : '',
        digest,
        head?.payable ?? '0',
        head?.closing ?? '0',
        head && JSON.stringify(head),
        // A run computed it just now: nothing that the test has stored before is newer.
        row.read_at ?? Date.now() + HOUR,
        row.previous ?? '',
        row.approved_at ? `apr_${row.approved_at}` : null,
        row.approved_at ?? null,
      )
    }),
  ])

/** A statement that earned an amount, all of which is payable. */
export const earning = (affiliate: string, period: string, amount: string, more: object = {}) => ({
  affiliate,
  period,
  head: { lines_sum: amount, total: amount, payable: amount, ...more },
})

const runOf = (id: string, period: string, account = 'acme-forex', at: string) =>
  env.DB.prepare(
    `insert or ignore into statement_runs (account, id, period, status, started_at, position)
     values (?, ?, ?, 'done', ?, ${LAST_POSITION})`,
  ).bind(account, `run_${id}`, period, at)

/** Stores a run of a period that is done and began long after it. */
export const storeRun = (period: string, account = 'acme-forex', at = '2026-06-01T00:00:00.000Z') =>
  runOf(period, period, account, at).run()

const statementAt = (row: StatementRow) => `accounts/acme-forex/statements/${idOf(row)}`

/** Stores and approves statements of `acme-forex`. */
export async function approve(...rows: StatementRow[]): Promise<void> {
  await storeRows(rows)
  for (const row of rows) {
    const { status } = await askAdmin(`${statementAt(row)}/approve`, 'POST', {
      hash: digestOf(row),
    })
    if (status !== 200) throw new Error(`The approval is answered ${status}.`)
  }
}

/** The day of payments. */
export const PAID_ON = '2024-12-01'

const authorIn = async (account: string, action: string) => ({
  account: (await findAccount(env.DB, account))!,
  ...{ actor: 'root-key', action, details: {}, now: Date.now() },
})

/** Books a payment of statements, as a transfer that pays them does. Returns whether it can be. */
export async function bookPaid(
  ids: readonly string[],
  reference: string,
  paid_on = PAID_ON,
  account = 'acme-forex',
): Promise<boolean> {
  const { results } = await env.DB.prepare(
    `select affiliate_id, payable, statement ->> 'currency' as currency from statements
     where account = ? and id in (select value from json_each(?)) and payable glob '*[1-9]*'`,
  )
    .bind(account, JSON.stringify(ids))
    .all<Record<'affiliate_id' | 'payable' | 'currency', string>>()
  const [first] = results
  if (!first || results.length < ids.length) return false
  const amount = moneyText(sum(results.map(({ payable }) => decimal(payable))), first.currency)
  const made = { ...first, reference, paid_on, amount, ids }
  return bookPayments(env.DB, await authorIn(account, 'batch.pay'), [made])
}

/** Books that the payment of a statement came back. Returns whether it can be. */
export async function bookBack(
  id: string,
  returned_on = '2024-12-03',
  account = 'acme-forex',
): Promise<boolean> {
  const payment = await env.DB.prepare(
    'select payment from statements where account = ? and id = ?',
  )
    .bind(account, id)
    .first<string>('payment')
  const returned = { payment: payment ?? '', returned_on, reason: 'Account closed' }
  return bookReturn(env.DB, await authorIn(account, 'transfers.move'), returned)
}

/** Sends a request as a person whom Cloudflare Access has let through. */
export async function askAda(path: string, method: string, body: unknown) {
  return ask(`/admin/v1/${path}`, {
    method,
    headers: { 'Cf-Access-Jwt-Assertion': await ofTheTeam(), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** Sends a request as another approver: where two decide, the root key is nobody. */
export const askBen = async (path: string, method: string, body: unknown) =>
  askAs(await memberKey({ name: 'ben', role: 'approver' }), path, method, body)

/** The accounts of the journal of a firm. */
export const JOURNAL_ACCOUNTS = {
  ...{ payable: '3300', earned: '6770', adjusted: '6771', manual: '6775', dropped: '6780' },
  ...{ transferred: '1360', bank: '1200', fees: '6855', vat: '1406' },
}

/** Returns the rows of a table. */
export const rowsOf = async (table: string) =>
  (await env.DB.prepare(`select * from ${table}`).all<Record<string, unknown>>()).results
