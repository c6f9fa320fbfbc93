import { writeCsv } from '../../commission/csv.ts'
import type { Method, PaymentOrder } from '../model.ts'

// The files of rows: their columns are data.

/** The fields of a row. */
const fieldsOf = ({ id, currency, payer, execute_on, transfers }: PaymentOrder) =>
  transfers.map(({ reference, affiliate_id, amount, details }) => {
    const { address, tax: _, ...own } = details
    const note = `${reference} ${payer.name}`
    const transfer = { reference, affiliate_id, amount, currency, execute_on, batch: id, note }
    return { ...address, ...own, ...transfer }
  })

type Field = keyof ReturnType<typeof fieldsOf>[number]

/** A column: its heading, and a field, or a text that depends on it, or on whether it is there. */
type Column = readonly [heading: string, field: Field, texts?: Readonly<Record<string, string>>]

const PLAIN: readonly Field[] = [
  ...(['reference', 'batch', 'affiliate_id', 'amount', 'currency', 'execute_on'] as const),
  ...(['name', 'kind', 'email', 'street', 'building', 'postcode', 'city', 'country'] as const),
  ...(['method', 'iban', 'account', 'bic', 'routing', 'note'] as const),
]

/** The text of a column whose field is there. */
const ANY = '*'

const WISE: readonly Column[] = [
  ['name', 'name'],
  ['recipientEmail', 'email'],
  ['paymentReference', 'reference'],
  ['receiverType', 'kind', { person: 'PERSON', company: 'INSTITUTION' }],
  ['amountCurrency', 'currency', { [ANY]: 'target' }],
  ['amount', 'amount'],
  ['sourceCurrency', 'currency'],
  ['targetCurrency', 'currency'],
  ['IBAN', 'iban'],
  ['type', 'iban', { '': 'EMAIL', [ANY]: 'IBAN' }],
]

/** The columns of PayPal, whose file has no headings. */
const PAYPAL: readonly Column[] = [
  ['Recipient', 'email'],
  ['Amount', 'amount'],
  ['Currency', 'currency'],
  ['Customer ID', 'reference'],
  ['Note to recipient', 'note'],
  ['Recipient wallet', 'reference', { [ANY]: 'PAYPAL' }],
]

/**
 * The columns of the methods whose files have others than the plain one.
 *
 * @see [Wise](https://wise.com/help/articles/2663302/how-do-i-fill-in-my-batch-template)
 * @see [PayPal](https://developer.paypal.com/payouts/web/overview)
 */
const TEMPLATES: Partial<Record<Method, readonly Column[]>> = { wise: WISE, paypal: PAYPAL }

/** Writes an order by the template of its method. */
export function writeTemplate(order: PaymentOrder): string {
  const columns = TEMPLATES[order.method] ?? PLAIN.map((field) => [field, field] as const)
  const rows = fieldsOf(order).map((fields) =>
    columns.map(([, field, texts]: Column) => {
      const value = fields[field] ?? ''
      return texts?.[value] ?? (value && texts?.[ANY]) ?? value
    }),
  )
  return writeCsv(columns === PAYPAL ? rows : [columns.map(([heading]) => heading), ...rows])
}
