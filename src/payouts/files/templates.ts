import { writeExactCsv } from '../../platform/money/csv.ts'
import type { Method, PaymentOrder } from '../model.ts'

// The files of rows: their columns are data.

/** The fields of a row. */
const fieldsOf = ({ id: batch, currency, payer, execute_on, transfers }: PaymentOrder) =>
  transfers.map(({ id: reference, affiliate_id, amount, details }) => {
    const { address, tax: _, ...own } = details
    const transfer = { reference, affiliate_id, amount, currency, execute_on, batch }
    return {
      ...address,
      ...own,
      ...transfer,
      note: `${reference} ${payer.name}`,
      type: own.iban ? 'IBAN' : 'EMAIL',
      receiver: own.kind === 'person' ? 'PERSON' : 'INSTITUTION',
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
  'bic',
  'routing',
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

type Template = readonly [headings: readonly string[] | null, fields: readonly Field[]]

/** The columns of the methods whose files have others than the plain one. That of PayPal has no headings. */
const TEMPLATES: Partial<Record<Method, Template>> = {
  wise: [Object.keys(WISE), Object.values(WISE)],
  paypal: [null, PAYPAL],
}

/** The most rows of a file of a method that has a limit. */
export const TEMPLATE_ROWS: Partial<Record<Method, number>> = { wise: 1000, paypal: 5000 }

/** Writes an order by the template of its method. */
export function writeTemplate(order: PaymentOrder): string {
  const [headings, fields] = TEMPLATES[order.method] ?? [PLAIN, PLAIN]
  const rows = fieldsOf(order).map((row) => fields.map((field) => row[field] ?? ''))
  return writeExactCsv(headings ? [headings, ...rows] : rows)
}
