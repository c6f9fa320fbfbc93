import type { Details, Method, StoredBatch, StoredTransfer } from '../model.ts'
import { writePain } from './pain.ts'
import { sepaText } from './sepa-text.ts'
import { writeTemplate } from './templates.ts'

const XML = 'application/xml'
const CSV = 'text/csv'

/** The media types of files. */
export const FILE_TYPES = [XML, CSV]

const isPain = (method: Method) => method === 'sepa' || method === 'bank'

/** Returns the name of a payee as the file of a method has it. */
export const nameInFile = (method: Method, name: string): string =>
  isPain(method) ? sepaText(name, 70) : name

/** Returns the file of a batch: from the same batch always the same bytes. */
export function fileOf(
  batch: StoredBatch,
  transfers: readonly StoredTransfer[],
  details: ReadonlyMap<string, Details>,
) {
  const { id, method, confirmed_at } = batch
  const find = (key: string) => {
    const found = details.get(key)
    if (!found) throw new Error('The details of a transfer are missing.')
    return found
  }
  const order = {
    ...batch,
    confirmed_at: confirmed_at ?? 0,
    payer: find(`payer ${batch.payer}`),
    transfers: transfers.map(({ id: reference, affiliate_id, amount }) => ({
      ...{ reference, affiliate_id, amount, details: find(`payee ${affiliate_id}`) },
    })),
  }
  return isPain(method)
    ? { text: writePain(order), type: XML, name: `${id}.xml` }
    : { text: writeTemplate(order), type: CSV, name: `${id}.csv` }
}
