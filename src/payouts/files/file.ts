import { ApiError } from '../../platform/errors.ts'
import { quote } from '../../platform/validation/quote.ts'
import type { Details, Method, Paid, StoredBatch } from '../model.ts'
import { isAch, writePain } from './pain.ts'
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
  /** Absent: the file is that of the method. */
  readonly template?: 'ach' | undefined
}

/** What decides the form of a file. */
type Form = Pick<StoredBatch, 'method'> & Pick<StoredFile, 'template'>

const isXml = ({ method, template }: Form) => isPain(method) && !template

/** Returns the name of a file of a batch, which only has a number if there are several. */
export const nameOf = (
  { id, ...form }: Form & Pick<StoredBatch, 'id'>,
  n: number,
  count: number,
): string => `${id}${count > 1 ? `-${n}` : ''}.${isXml(form) ? 'xml' : 'csv'}`

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
 * @throws ApiError `conflict` if details are erased, or the template is not for them.
 */
export function fileOf(
  batch: StoredBatch,
  transfers: readonly (Omit<Paid, 'details'> & { readonly payee_version: number })[],
  details: ReadonlyMap<string, Details>,
  template?: StoredFile['template'],
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
  const other = order.transfers.find((one) => !isAch(one.details, batch.currency))
  if (template && other)
    throw new ApiError('conflict', {
      detail: `A CSV for ACH pays accounts in the United States, in USD. That of ${quote(other.affiliate_id)} is another one: export the batch without the template.`,
    })
  return isXml({ ...batch, template }) ? writePain(order) : writeTemplate(order, template)
}

/** Returns the media type of a file. */
export const typeOf = (form: Form): string => (isXml(form) ? XML : CSV)
