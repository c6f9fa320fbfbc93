import { writeFileSync } from 'node:fs'
import { adminCalls, type Call } from './client.ts'
import { profileOf } from './profiles.ts'

// Bank details and batches of the demo account with a year of records. All numbers of accounts are examples of standards.

/** The answer of a bank to the batch of the demo that waits for one. */
export const ANSWER = '.demo-answer.csv'

const PAYER = {
  name: 'Demo Broker Ltd',
  address: {
    street: 'Fleet Street',
    building: '1',
    postcode: 'EC4Y 1AA',
    city: 'London',
    country: 'GB',
  },
  iban: 'GB33BUKB20201555555555',
  bic: 'BUKBGB22XXX',
  currency: 'EUR',
}

/** The affiliates with bank details, and their IBANs: examples of the registry of SWIFT. The last waits for an approval. */
const IBANS: Readonly<Record<string, string>> = {
  'IB-1': 'AT483200000012345864',
  'IB-2': 'DE89370400440532013000',
  'IB-3': 'DE75512108001245126199',
  'IB-5': 'PL10105000997603123456789123',
  'AFF-1': 'FR1420041010050500013M02606',
  'AFF-2': 'IT60X0542811101000000123456',
  'AFF-3': 'ES7921000813610123456789',
}
const WAITING = 'AFF-3'

/** The affiliate whose invoices the account writes once they agree in the portal. */
export const BILLED = 'IB-3'

/** What the invoices of the account need. */
export const INVOICING = {
  series: 'SB',
  vat_id: 'GB123456789',
  rate: 20,
  agreement: {
    version: '2026-11',
    text: 'You write an invoice for each of our commissions, and we write none ourselves.\nWe tell you at once if our registration for VAT changes or ends.',
  },
  sample_seen: true,
}

/** A city of each country. */
const CITIES: Readonly<Record<string, string>> = {
  ...{ AT: 'Vienna', DE: 'Berlin', PL: 'Warsaw', FR: 'Lyon', IT: 'Milan', ES: 'Seville' },
}

/** What the demo knows of a batch. */
interface Batch {
  readonly id: string
  readonly hash: string
  readonly total: string
  readonly transfers: readonly { id: string; affiliate_id: string; amount: string }[]
}

/** Enters and approves the payer and the payees of an account: the manager enters, the approver approves. */
export async function createPayees(at: string, enter: Call, approve: Call): Promise<void> {
  await enter('PUT', `${at}/payers/main`, PAYER)
  await approve('POST', `${at}/payers/main/approve`, { version: 1 })
  for (const [affiliate_id, iban] of Object.entries(IBANS)) {
    const { display_name: name = affiliate_id, contact_email: email } = profileOf(affiliate_id)
    const country = iban.slice(0, 2)
    const address = { street: 'P.O. Box 1', city: CITIES[country] ?? '', country }
    const tax = affiliate_id === BILLED && {
      tax: { treatment: 'reverse_charge', vat_id: 'DE136695976' },
    }
    const payee = { name, kind: 'company', email, address, method: 'sepa', iban, ...tax }
    await enter('PUT', `${at}/affiliates/${affiliate_id}/payee`, payee)
    if (affiliate_id === WAITING) continue
    await approve('POST', `${at}/affiliates/${affiliate_id}/payee/approve`, { version: 1 })
  }
}

const today = () => new Date().toISOString().slice(0, 10)

const confirm = (at: string, call: Call, { id, hash, total }: Batch) =>
  call<Batch>('POST', `${at}/batches/${id}/confirm`, { hash, total })

/** Prepares a batch of what is due to some affiliates, also of those with an open case. */
const prepareBatch = (at: string, call: Call, affiliates: readonly string[]) =>
  call<Batch>('POST', `${at}/batches`, {
    ...{ payer: 'main', method: 'sepa', execute_on: today() },
    rows: affiliates.map((id) => ({ id: `${id}:EUR`, waive: ['open_case'] })),
  })

interface Payable {
  readonly data: readonly { readonly id: string; readonly currency: string }[]
}

/** Books that what is due to all affiliates, or to some, was paid on a day: a batch for each currency. */
export async function payByHand(
  call: Call,
  at: string,
  paid_on: string,
  affiliates?: readonly string[],
): Promise<void> {
  const { data } = await call<Payable>('GET', `${at}/payable`)
  const own = data.filter(({ id }) => affiliates?.includes(id.slice(0, -4)) ?? true)
  for (const rows of Map.groupBy(own, ({ currency }) => currency).values()) {
    const batch = await call<Batch>('POST', `${at}/batches`, {
      ...{ method: 'manual', execute_on: today() },
      rows: rows.map(({ id }) => ({ id, reason: 'Paid before' })),
    })
    await confirm(at, call, batch)
    await call('POST', `${at}/batches/${batch.id}/pay`, { paid_on })
  }
}

/** Returns what the bank of the payer answers, as German banks write it: the first transfers are paid, `returned` come back. */
function answerTo({ transfers }: Batch, returned: readonly string[]): string {
  const day = new Date().toISOString().slice(0, 10).split('-').reverse().join('.')
  const row = (id: string, text: string, amount: string) =>
    [PAYER.iban, day, `${text} ${id}`, amount.replace('.', ','), 'EUR'].join(';')
  return [
    'Auftragskonto;Buchungstag;Verwendungszweck;Betrag;Waehrung',
    ...transfers.map(({ id, amount }) => row(id, 'SEPA-Überweisung', `-${amount}`)),
    ...transfers.flatMap(({ id, affiliate_id, amount }) =>
      returned.includes(affiliate_id) ? [row(id, 'Rücküberweisung, Konto erloschen,', amount)] : [],
    ),
    `${PAYER.iban};${day};Kontoführung;-9,90;EUR`,
  ].join('\r\n')
}

/**
 * Gives the account bank details and four batches of what is due: one is booked, and a payment of it came back; one waits
 * for the answer of its bank, which is written to a file; the file of one is not exported yet, and one is prepared.
 */
export async function createPayouts(
  base: string,
  at: string,
  approverKey: string,
  managerKey: string,
): Promise<void> {
  const [enter, approve] = [adminCalls(base, managerKey), adminCalls(base, approverKey)]
  await createPayees(at, enter, approve)
  const exported = async (affiliates: readonly string[]) => {
    const batch = await confirm(at, approve, await prepareBatch(at, enter, affiliates))
    return approve<Batch>('POST', `${at}/batches/${batch.id}/export`)
  }
  const booked = answerTo(await exported(['IB-1', 'AFF-1']), ['AFF-1'])
  const { hash } = await approve<{ hash: string }>('POST', `${at}/payouts/answers`, booked)
  await approve('POST', `${at}/payouts/answers/apply`, { hash })
  writeFileSync(ANSWER, answerTo(await exported(['IB-2']), []))
  await confirm(at, approve, await prepareBatch(at, enter, ['AFF-2']))
  await prepareBatch(at, enter, ['IB-5'])
}
