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

/** A file of a batch, as it is stored. */
export interface StoredFile {
  readonly rows: number
  /** A digest of its bytes. */
  readonly hash: string
}

/** Returns the name of a file of a batch, which only has a number if there are several. */
export const nameOf = (
  { id, method }: Pick<StoredBatch, 'id' | 'method'>,
  n: number,
  count: number,
): string => `${id}${count > 1 ? `-${n}` : ''}.${isPain(method) ? 'xml' : 'csv'}`

/** Stands for the bank details of a payee or payer of a batch that is paid by hand. */
const NONE: Details = {
  name: '',
  kind: 'company',
  method: 'manual',
  address: { city: '', country: '' },
}

/**
 * Returns the text of a file of a batch: from the same transfers always the same bytes.
 *
 * @throws ApiError `conflict` if details are erased.
 */
export function fileOf(
  batch: StoredBatch,
  transfers: readonly (Omit<Paid, 'details'> & { readonly payee_version: number })[],
  details: ReadonlyMap<string, Details>,
): string {
  const find = (key: string, version: number) => {
    const found = version === 0 ? NONE : details.get(key)
    if (found) return found
    throw new ApiError('conflict', { detail: 'Bank details of the batch are erased.' })
  }
  const order = {
    ...batch,
    payer: find(`payer ${batch.payer}`, batch.payer_version),
    transfers: transfers.map((one) => ({
      ...one,
      details: find(`payee ${one.affiliate_id}`, one.payee_version),
    })),
  }
  return isPain(batch.method) ? writePain(order) : writeTemplate(order)
}

/** Returns the media type of the files of a method. */
export const typeOf = (method: Method): string => (isPain(method) ? XML : CSV)
