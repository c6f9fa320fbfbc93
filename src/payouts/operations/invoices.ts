import type { Context } from 'hono'
import * as v from 'valibot'
import { listInvoices as readInvoices } from '../../books/db/invoices.ts'
import { currency } from '../../books/operations/ledger.ts'
import { readProfiles } from '../../platform/directory/affiliates.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { writeDocument } from '../invoice-document.ts'
import * as invoices from '../invoices.ts'

const text = v.string()

const listed = component('ListedInvoice', () => ({
  number: member(text, 'Its number: `{series}-{payee number}-{year}-{0001}`.'),
  affiliate_id: member(text, 'The affiliate, who sells.'),
  statement_id: member(text, 'The id of its statement.'),
  plan: text,
  period: text,
  issued_on: member(day, 'When it was written.'),
  currency,
  net: member(money, 'Without VAT. Negative in a correction, as the other sums.'),
  vat: money,
  total: member(money, 'What is to be paid.'),
  treatment: member(
    v.picklist(['domestic', 'exempt', 'reverse_charge', 'outside']),
    'How VAT applies.',
  ),
  exempt_reason: nullable(text, 'Why there is none, or null.'),
  rate: nullable(v.number(), 'The rate of VAT in percent, or null.'),
  taxable: nullable(money, 'What the rate is of, or null.'),
  agreement: member(text, 'The version of the agreement under which it was written.'),
  corrects: nullable(text, 'The invoice that it takes back; null: it is no correction.'),
  corrected_by: nullable(text, 'The correction that takes it back, or null.'),
}))

const whole = component('Invoice', () => {
  const party = v.object({ name: text, address: v.record(text, text), vat_id: v.nullable(text) })
  const line = v.object({
    kind: v.picklist(invoices.LINE_KINDS),
    amount: money,
    text: nullable(text, 'The reason of a manual entry, another plan, or the invoice taken back.'),
  })
  const message = v.object({
    at: time,
    from: v.picklist(['affiliate', 'team']),
    text: nullable(text, 'Null once it is erased.'),
  })
  return {
    ...listed.entries,
    lines: member(v.array(line), 'What it is for. `transferred` is without VAT.'),
    seller: nullable(party, 'The affiliate: masked but for approvers. Null once it is erased.'),
    buyer: nullable(party, 'The account.'),
    objections: member(
      v.array(message),
      'What was written about its statement, if the affiliate began within 14 days.',
    ),
  }
})

/** Returns what the operations on one invoice share. */
const ofInvoice = (verb = '') =>
  ({
    topic: 'payouts',
    path: `/invoices/{number}${verb}`,
    params: { number: member(text, said('The number of the invoice.', 'SB-1-2026-0001')) },
  }) as const

export const listInvoices = list({
  topic: 'payouts',
  id: 'listInvoices',
  shows: 'affiliate',
  path: '/invoices',
  params: { affiliate_id: optional(text, said('Only those of this affiliate.', 'IB-07')) },
  words: described(() => ({
    description:
      'Lists the invoices that the account has written for its affiliates, and their corrections, the latest first.',
    answer: listed,
    command: {
      name: 'invoices list',
      columns: ['number', 'affiliate_id', 'issued_on', 'currency', 'net', 'vat', 'total'],
    },
  })),
  async list({ db, account }, { affiliate_id = null }, page) {
    const found = await readInvoices(db, account.id, affiliate_id, page)
    return { ...found, data: found.data.map(invoices.presentInvoice) }
  },
})

/** Responds with the document of an invoice, in the language of the affiliate. */
async function respondDocument(c: Context, call: Call, { number }: { readonly number: string }) {
  const invoice = await invoices.readInvoice(call, number)
  const id = invoice.affiliate_id
  const language = (await readProfiles(call.db, call.account.id, [id])).get(id)?.language ?? 'en'
  return c.html(writeDocument(invoice, language))
}

export const getInvoice = operation({
  ...ofInvoice(),
  id: 'getInvoice',
  shows: 'affiliate',
  method: 'GET',
  words: described(() => ({
    description:
      'Returns an invoice. `Accept: text/html` returns its document in the language of the affiliate, which a browser prints to PDF.',
    answer: whole,
    files: { 'text/html': {} },
    command: { name: 'invoices show' },
  })),
  run: (call, { number }) => invoices.readInvoice(call, number),
  files: { 'text/html': respondDocument },
})

export const correctInvoice = operation({
  ...ofInvoice('/correct'),
  id: 'correctInvoice',
  shows: 'account',
  method: 'POST',
  body: { reason: member(f.reason, said('Why.', 'The address has changed.')) },
  words: described(() => ({
    description:
      'Takes an invoice back as a whole by a correction, and writes a new one by the details, treatment and settings that hold now. If one of these is missing, the statement waits again. What is paid, or under way, is corrected if the VAT stays the same.',
    answer: whole,
    errors: ['conflict', 'same_person'],
    command: { name: 'invoices correct' },
  })),
  async run(call, { number, reason }) {
    await invoices.correctInvoice(call, number, reason)
    return invoices.readInvoice(call, number)
  },
})

/** The operations on invoices. */
export const INVOICE_OPERATIONS = [listInvoices, getInvoice, correctInvoice]
