import { listQuestions } from '../affiliates/db/affiliate-questions.ts'
import * as rows from '../books/db/invoices.ts'
import { isAtLeast } from '../platform/auth/roles.ts'
import { compareText } from '../platform/compare-text.ts'
import { newAuditId, withAudit } from '../platform/directory/audit.ts'
import { DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import { notFound } from '../platform/http/read-fields.ts'
import { requirePerson } from '../platform/http/two-persons.ts'
import { quote } from '../platform/validation/quote.ts'
import { readPayers } from './db/answers.ts'
import { readParties } from './db/payees.ts'
import { decryptDetails, maskDetails } from './details.ts'
import type { Details } from './model.ts'
import type { Caller } from './payees.ts'

// Self-billing (§20.5): the invoices that the firm writes for its affiliates.

/** For how long what an affiliate writes about a statement is an objection to its invoice, in milliseconds. */
const OBJECTION_MS = 14 * DAY_MS

/** What a line of an invoice is. */
export const LINE_KINDS = [
  'carried',
  'earned',
  'adjusted',
  'manual',
  'transferred',
  'corrected',
] as const

/** What is stored of an invoice beside its parties and sums. */
interface Content {
  readonly plan: string
  readonly period: string
  readonly treatment: 'domestic' | 'exempt' | 'reverse_charge' | 'outside'
  readonly exempt_reason: string | null
  readonly rate: number | null
  /** What the rate is of; null without one. */
  readonly taxable: string | null
  /** The VAT number of the firm. */
  readonly vat_id: string
  readonly agreement: string
  readonly lines: readonly {
    readonly kind: (typeof LINE_KINDS)[number]
    readonly amount: string
    readonly text: string | null
  }[]
}

/** Returns an invoice as lists show it. */
export function presentInvoice(stored: rows.StoredInvoice) {
  const { number, affiliate_id, statement: statement_id, issued_on, currency } = stored
  const { net, vat, total, corrects, corrected_by } = stored
  const { lines: _lines, vat_id: _vat_id, ...content }: Content = JSON.parse(stored.content)
  const sums = { currency, net, vat, total, corrects, corrected_by }
  return { number, affiliate_id, statement_id, issued_on, ...sums, ...content }
}

const partyOf = ({ name, address, tax }: Details, vat_id = tax?.vat_id ?? null) => ({
  name,
  address: { ...address },
  vat_id,
})

/**
 * Reads what an affiliate has against an invoice, and what the firm answered: what both have written about its statement,
 * if the affiliate began within 14 days.
 */
async function readObjections(db: D1Database, account: string, invoice: rows.StoredInvoice) {
  const { affiliate_id, statement, at } = invoice
  const all = { number: 1, size: 100, after: null, counted: null }
  const { data } = await listQuestions(db, account, { affiliate_id, statement }, all)
  const ends = Date.parse(at) + OBJECTION_MS
  return data.flatMap(({ about, asked_at, messages }) =>
    about === 'statement' && asked_at >= at && Date.parse(asked_at) <= ends
      ? (JSON.parse(messages) as { at: string; from: 'affiliate' | 'team'; text: string | null }[])
      : [],
  )
}

/**
 * Returns an invoice with its lines, its parties and what was written about it. Who does not approve details reads those of
 * the affiliate masked; the affiliate, who has no role, reads all. With an affiliate, it must be theirs.
 *
 * @throws ApiError `not_found`
 */
export async function readInvoice(
  { env, account, db, role = 'approver' }: Pick<Caller, 'env' | 'account' | 'db' | 'role'>,
  number: string,
  affiliate_id?: string,
) {
  const stored = await rows.findInvoice(db, account.id, number)
  if (!stored || (affiliate_id ?? stored.affiliate_id) !== stored.affiliate_id)
    throw notFound('invoice', number)
  const { lines, vat_id }: Content = JSON.parse(stored.content)
  const [parties, objections] = await Promise.all([
    readParties(db, account.id, stored),
    readObjections(db, account.id, stored),
  ])
  const [payee, payer] = await Promise.all(
    parties.map((one) => decryptDetails(env, account.id, one)),
  )
  return {
    ...presentInvoice(stored),
    lines,
    seller: payee ? partyOf(isAtLeast(role, 'approver') ? payee : maskDetails(payee)) : null,
    buyer: payer ? partyOf(payer, vat_id) : null,
    objections: objections.map(({ at, from, text }) => ({ at, from, text })),
  }
}

/** An invoice with its lines and parties. */
export type Invoice = Awaited<ReturnType<typeof readInvoice>>

const refused = (detail: string, cause?: unknown) => new ApiError('conflict', { detail, cause })

/** Makes a change of invoices, with its entry in the audit log. */
function store(
  { db, account, actor }: Caller,
  action: string,
  details: Readonly<Record<string, unknown>>,
  statementsOf: (batch: rows.InvoiceBatch) => D1PreparedStatement[],
) {
  const audit = newAuditId()
  const entry = { actor, action, account: account.id, details }
  return withAudit(db, entry, statementsOf({ audit, actor, now: Date.now() }), audit)
}

/**
 * Refuses to begin with invoices while the account from which the firm pays, which says who buys, has no whole address.
 *
 * @throws ApiError `conflict`
 */
export async function requireBuyer({ env, db, account }: Pick<Caller, 'env' | 'db' | 'account'>) {
  const payers = await readPayers(db, account.id)
  const [first] = payers.sort((a, b) => compareText(a.id, b.id) || b.version - a.version)
  const details = first && (await decryptDetails(env, account.id, first))
  if (details && !details.address.street)
    throw refused(`The account ${quote(first.id)} to pay from needs a street or a post box first.`)
}

/**
 * Accepts the agreement of the account for an affiliate. What waited for it gets its invoice.
 *
 * @param version The version of the text that the member has read.
 * @throws ApiError `conflict` if there is no such text any more.
 */
export async function acceptAgreement(call: Caller, affiliate_id: string, version: string) {
  const offered = rows.offeredAgreement(call.account)
  if (offered?.version !== version) throw refused('The agreement has changed. Look at it again.')
  await store(call, 'agreement.accept', { affiliate_id, version }, (batch) =>
    rows.acceptAgreement(call.db, call.account, batch, { affiliate_id, ...offered }),
  )
}

/**
 * Takes an invoice back as a whole, and writes a new one by what holds now, or once it does. One that is taken back stays.
 *
 * @throws ApiError `not_found`, `conflict`, `same_person`; `unavailable` if another request came first
 */
export async function correctInvoice(call: Caller, number: string, reason: string): Promise<void> {
  const { db, account } = call
  await requirePerson(call)
  const found = await rows.findInvoice(db, account.id, number)
  if (!found) throw notFound('invoice', number)
  if (found.corrects !== null)
    throw refused('It is a correction itself. Correct the invoice after it.')
  if (found.corrected_by !== null) return
  await store(
    call,
    'invoice.correct',
    { number, affiliate_id: found.affiliate_id, reason },
    (batch) => rows.correctInvoice(db, account, found, batch),
  ).catch((cause) => {
    if (!rows.isOfPaid(cause)) throw cause
    const detail = `Its payment of ${found.total} ${found.currency} is booked or under way, and the new invoice would come to another sum, or cannot be written yet. Wait until it came back, or decide what the new invoice needs.`
    throw refused(detail, cause)
  })
}
