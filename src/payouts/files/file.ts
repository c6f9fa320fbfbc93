import { ApiError } from '../../platform/errors.ts'
import type { Details, Method, Paid, StoredBatch } from '../model.ts'
import { writePain } from './pain.ts'
import { sepaText } from './sepa-text.ts'
import { writeTemplate } from './templates.ts'

const XML = 'application/xml'
const CSV = 'text/csv'

/** The media types of files. */
export const FILE_TYPES = [XML, CSV]

/** Returns whether a bank reads the file of a method. */
export const isPain = (method: Method) => method === 'sepa' || method === 'bank'

/** Returns the name of a payee as the file of a method has it. */
export const nameInFile = (method: Method, name: string): string =>
  isPain(method) ? sepaText(name, 70) : name

/** Returns the name of the file of a batch. */
export const nameOf = ({ id, method }: Pick<StoredBatch, 'id' | 'method'>): string =>
  `${id}.${isPain(method) ? 'xml' : 'csv'}`

/**
 * Returns the file of a batch: from the same batch always the same bytes.
 *
 * @throws ApiError `conflict` if details are erased.
 */
export function fileOf(
  batch: StoredBatch,
  transfers: readonly Omit<Paid, 'details'>[],
  details: ReadonlyMap<string, Details>,
) {
  const find = (key: string) => {
    const found = details.get(key)
    if (found) return found
    throw new ApiError('conflict', { detail: 'Bank details of the batch are erased.' })
  }
  const order = {
    ...batch,
    payer: find(`payer ${batch.payer}`),
    transfers: transfers.map((one) => ({ ...one, details: find(`payee ${one.affiliate_id}`) })),
  }
  const [text, type] = isPain(batch.method) ? [writePain(order), XML] : [writeTemplate(order), CSV]
  return { text, type, name: nameOf(batch) }
}
