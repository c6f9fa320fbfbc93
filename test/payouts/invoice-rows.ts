import { env } from 'cloudflare:workers'
import { acceptAgreement } from '../../src/payouts/invoices.ts'
import type { Details } from '../../src/payouts/model.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { digestOf, idOf, type StatementRow, storeRows } from '../books/book-rows.ts'
import { askAdmin, register } from '../partner.ts'
import { ADA, enter, PATH, PAYER } from './payout-rows.ts'

/** All that invoices need of an account. */
export const INVOICING = {
  series: 'SB',
  vat_id: 'IE6388047V',
  rate: 19,
  agreement: { version: 'v1', text: 'You write our invoices.' },
  sample_seen: true,
}

/** Changes settings of the account. */
export const set = (settings: object) => askAdmin(PATH, 'PATCH', settings)

/** Details with the whole address, as invoices need it. */
export const whole = <D extends Pick<Details, 'address'>>(details: D) => ({
  ...details,
  address: { ...details.address, street: 'P.O. Box 7' },
})

/** Details of a payee for whom a treatment is proposed. */
export const taxed = (treatment: string, more: object = {}): Details => ({
  ...whole(ADA),
  tax: { treatment, vat_id: 'DE123456789', ...more },
})

/** Accepts the agreement of the account as a member of an affiliate. */
export async function accept(affiliate: string, version = INVOICING.agreement.version) {
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const actor = `affiliate-member m ${affiliate}`
  const call = { env, db: env.DB, account, actor, waitUntil: () => undefined }
  await acceptAgreement(call, affiliate, version)
}

/** Registers an account that writes invoices. Its affiliates have details that are decided, and have agreed. */
export async function biller(treatments: Readonly<Record<string, string | null>>) {
  const affiliates = Object.keys(treatments)
  await register('forex', { affiliates })
  await enter('payer', 'main', whole(PAYER))
  await set({ self_billing: 'invoice', invoicing: INVOICING })
  for (const [id, treatment] of Object.entries(treatments)) {
    await enter('payee', id, treatment === null ? whole(ADA) : taxed(treatment))
    await accept(id)
  }
}

/** Decides on details. */
export const decide = (affiliate: string, version: number, treatment?: string, more: object = {}) =>
  askAdmin(`${PATH}/affiliates/${affiliate}/payee/approve`, 'POST', {
    version,
    ...(treatment && { treatment }),
    ...more,
  })

/** The path and the body by which a draft is approved. */
export const approval = (row: StatementRow) =>
  [`statements/${idOf(row)}/approve`, { hash: digestOf(row) }] as const

/** Stores an approved statement whose balance another plan receives in October 2024. Returns what that one says of it. */
export async function transferred(affiliate: string, to: string, amount: string) {
  const [plan, period] = [`before-${to}`, '2024-10']
  const head = { transferred: { to, period, amount: amount } }
  await storeRows([{ affiliate, plan, period, status: 'approved', approved_at: 1, head }])
  return { from: plan, period, amount }
}

/** Returns the text of an amount of cents. */
export const euros = (cents: bigint) =>
  `${cents < 0n ? '-' : ''}${String(cents < 0n ? -cents : cents)
    .padStart(3, '0')
    .replace(/(..)$/, '.$1')}`
