import { writeExactCsv } from '../../platform/money/csv.ts'
import type { Method, PaymentOrder } from '../model.ts'
import { remittanceOf } from './remittance.ts'

// The files of rows: their columns are data.

/** The fields of a row. */
const fieldsOf = ({ id: batch, currency, payer, execute_on, transfers }: PaymentOrder) =>
  transfers.map((paid) => {
    const { id: reference, affiliate_id, amount, details } = paid
    const { address, tax: _, ...own } = details
    const transfer = { reference, affiliate_id, amount, currency, execute_on, batch }
    return {
      ...address,
      ...own,
      ...transfer,
      note: remittanceOf(paid, payer.name),
      type: own.iban ? 'IBAN' : 'EMAIL',
      receiver: own.kind === 'person' ? 'PERSON' : 'INSTITUTION',
      account_type: own.routing && (own.account_type ?? 'checking'),
      target: 'target',
      wallet: 'PAYPAL',
    }
  })

type Field = keyof ReturnType<typeof fieldsOf>[number]

const PLAIN: readonly Field[] = [
  'reference',
  'batch',
  'affiliate_id',
  'amount',
  'currency',
  'execute_on',
  'name',
  'kind',
  'email',
  'street',
  'building',
  'postcode',
  'city',
  'country',
  'method',
  'iban',
  'account',
  'account_type',
  'bic',
  'routing',
  'network',
  'asset',
  'wallet_address',
  'note',
]

/** @see [Wise](https://wise.com/help/articles/2663302/how-do-i-fill-in-my-batch-template) */
const WISE: Readonly<Record<string, Field>> = {
  name: 'name',
  recipientEmail: 'email',
  paymentReference: 'reference',
  receiverType: 'receiver',
  amountCurrency: 'target',
  amount: 'amount',
  sourceCurrency: 'currency',
  targetCurrency: 'currency',
  IBAN: 'iban',
  type: 'type',
}

/** @see [PayPal](https://developer.paypal.com/payouts/web/overview) */
const PAYPAL: readonly Field[] = ['email', 'amount', 'currency', 'reference', 'note', 'wallet']

const ACH: readonly Field[] = [
  'name',
  'kind',
  'routing',
  'account',
  'account_type',
  'amount',
  'currency',
  'execute_on',
  'reference',
  'note',
]

const WALLET: readonly Field[] = [
  'network',
  'asset',
  'wallet_address',
  'amount',
  'reference',
  'name',
  'affiliate_id',
  'execute_on',
  'batch',
]

type Template = readonly [headings: readonly string[] | null, fields: readonly Field[]]

/** What decides the columns of a file: the method of its batch, or what pays by the clearing house of the United States. */
export type TemplateName = Method | 'ach'

/** The columns of the files that have others than the plain one. That of PayPal has no headings. */
const TEMPLATES: Partial<Record<TemplateName, Template>> = {
  ach: [ACH, ACH],
  wise: [Object.keys(WISE), Object.values(WISE)],
  paypal: [null, PAYPAL],
  wallet: [WALLET, WALLET],
}

/** The most rows of a file of a method that has a limit. */
export const TEMPLATE_ROWS: Partial<Record<Method, number>> = { wise: 1000, paypal: 5000 }

/** Writes an order by a template: that of its method, if no other one is named. */
export function writeTemplate(order: PaymentOrder, name: TemplateName = order.method): string {
  const [headings, fields] = TEMPLATES[name] ?? [PLAIN, PLAIN]
  const rows = fieldsOf(order).map((row) => fields.map((field) => row[field] ?? ''))
  return writeExactCsv(headings ? [headings, ...rows] : rows)
}
