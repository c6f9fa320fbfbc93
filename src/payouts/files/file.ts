import type { Details, Method, PaymentOrder, StoredBatch, StoredTransfer } from '../model.ts'
import { writePain } from './pain.ts'
import { sepaText } from './sepa-text.ts'
import { writeTemplate } from './templates.ts'

const XML = 'application/xml'
const CSV = 'text/csv'

/** How the file of each method is written, and what it is. */
const FORMATS: Readonly<
  Record<Method, { readonly type: string; write: (order: PaymentOrder) => string }>
> = {
  sepa: { type: XML, write: writePain },
  bank: { type: XML, write: writePain },
  wise: { type: CSV, write: (order) => writeTemplate('wise', order) },
  paypal: { type: CSV, write: (order) => writeTemplate('paypal', order) },
  manual: { type: CSV, write: (order) => writeTemplate('plain', order) },
}

/** The media types of files. */
export const FILE_TYPES = [XML, CSV]

/** Returns the name of a payee as the file of a method has it. */
export const nameInFile = (method: Method, name: string): string =>
  FORMATS[method].type === XML ? sepaText(name, 70) : name

/** Returns the file of a batch: from the same batch always the same bytes. */
export function fileOf(
  batch: StoredBatch,
  transfers: readonly StoredTransfer[],
  details: ReadonlyMap<string, Details>,
) {
  const { id, method, confirmed_at } = batch
  const { type, write } = FORMATS[method]
  const find = (key: string) => {
    const found = details.get(key)
    if (!found) throw new Error('The details of a transfer are missing.')
    return found
  }
  const text = write({
    ...batch,
    confirmed_at: confirmed_at ?? 0,
    payer: find(`payer ${batch.payer}`),
    transfers: transfers.map(({ id: reference, affiliate_id, amount }) => ({
      ...{ reference, affiliate_id, amount, details: find(`payee ${affiliate_id}`) },
    })),
  })
  return { text, type, name: `${id}.${type === XML ? 'xml' : 'csv'}` }
}
