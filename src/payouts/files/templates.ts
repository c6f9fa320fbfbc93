import { writeCsv } from '../../commission/csv.ts'
import type { PaymentOrder } from '../model.ts'

// The files of rows: their columns are data.

/** The fields of a row. */
const fieldsOf = ({ id, currency, payer, execute_on, transfers }: PaymentOrder) =>
  transfers.map(({ reference, affiliate_id, amount, details }) => {
    const { address, tax: _, ...own } = details
    const note = `${reference} ${payer.name}`
    return {
      ...address,
      ...own,
      reference,
      affiliate_id,
      amount,
      currency,
      execute_on,
      batch: id,
      note,
    }
  })

type Field = keyof ReturnType<typeof fieldsOf>[number]

/** A column: its heading, and a field, or a text that depends on it, or on whether it is there. */
type Column = readonly [heading: string, field: Field, texts?: Readonly<Record<string, string>>]

interface Template {
  readonly hasHeading: boolean
  readonly columns: readonly Column[]
}

const PLAIN: readonly Field[] = [
  ...([
    'reference',
    'batch',
    'affiliate_id',
    'amount',
    'currency',
    'execute_on',
    'name',
    'kind',
  ] as const),
  ...(['email', 'street', 'building', 'postcode', 'city', 'country', 'method'] as const),
  ...(['iban', 'account', 'bic', 'routing', 'note'] as const),
]

/** The text of a column whose field is there. */
const ANY = '*'

/** The templates of files. */
const TEMPLATES = {
  plain: { hasHeading: true, columns: PLAIN.map((field) => [field, field]) },
  /** @see [Wise](https://wise.com/help/articles/2663302/how-do-i-fill-in-my-batch-template) */
  wise: {
    hasHeading: true,
    columns: [
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
    ],
  },
  /** @see [PayPal](https://developer.paypal.com/payouts/web/overview) */
  paypal: {
    hasHeading: false,
    columns: [
      ['Recipient', 'email'],
      ['Amount', 'amount'],
      ['Currency', 'currency'],
      ['Customer ID', 'reference'],
      ['Note to recipient', 'note'],
      ['Recipient wallet', 'reference', { [ANY]: 'PAYPAL' }],
    ],
  },
} satisfies Record<string, Template>

/** Writes an order by a template. */
export function writeTemplate(name: keyof typeof TEMPLATES, order: PaymentOrder): string {
  const { hasHeading, columns }: Template = TEMPLATES[name]
  const rows = fieldsOf(order).map((fields) =>
    columns.map(([, field, texts]) => {
      const value = fields[field] ?? ''
      return texts?.[value] ?? (value && texts?.[ANY]) ?? value
    }),
  )
  return writeCsv(hasHeading ? [columns.map(([heading]) => heading), ...rows] : rows)
}
