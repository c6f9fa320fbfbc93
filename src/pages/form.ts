import type { Context } from 'hono'
import { isZip, readBytes, unzip } from '../commission/rates/unzip.ts'
import { readFormText } from '../platform/auth/client-credentials.ts'
import { ApiError } from '../platform/errors.ts'
import type { Values } from './page.ts'

// The text of files that members upload.

/** The text of a file, or why it has none. */
type FileText = { readonly text: string } | { readonly problem: string }

/** The largest file of an archive, in bytes. */
const MAX_UNPACKED_BYTES = 6_291_456

const NO_TEXT =
  'This file is not a text. Save it as CSV: in Excel choose “File”, “Save As” and “CSV UTF-8”. Then choose the new file here.'

const NO_ARCHIVE =
  'The archive cannot be read. Unpack it, and send the file in it. A workbook is no archive: save it as CSV, and choose the new file here.'

/** Decodes UTF-8 and UTF-16. What is neither is read as Windows-1252, which older spreadsheets write. */
function decode(bytes: Uint8Array): FileText {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return { text: new TextDecoder('utf-16le').decode(bytes) }
  if (bytes.includes(0)) return { problem: NO_TEXT }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes) }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes) }
  }
}

/** Reads the text of a file, or of the only file of a ZIP archive. */
async function readFileText(bytes: Uint8Array<ArrayBuffer>): Promise<FileText> {
  if (!isZip(bytes)) return decode(bytes)
  try {
    return decode(await readBytes(unzip(bytes), MAX_UNPACKED_BYTES))
  } catch {
    return { problem: NO_ARCHIVE }
  }
}

/** The largest form in bytes. */
const MAX_FORM_BYTES = 1_048_576

/** The largest form in bytes that anybody can send, and that members of affiliates send. */
const MAX_OPEN_FORM_BYTES = 131_072

const valuesOf = (text: string): Values => {
  const fields = new URLSearchParams(text)
  return (name) => fields.get(name) ?? ''
}

const typeOf = (c: Context) => c.req.header('Content-Type') ?? ''

function checkType(c: Context): void {
  if (/^application\/x-www-form-urlencoded\b/i.test(typeOf(c))) return
  throw new ApiError('unsupported_media_type', { detail: 'Send a form of the console.' })
}

/**
 * Reads the fields of the sign-in form. Anybody can send it, so it is read as that of the token endpoint:
 * many large or slow forms could otherwise fill the memory.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `invalid_request`
 */
export async function readSignInForm(c: Context): Promise<Values> {
  checkType(c)
  return valuesOf(await readFormText(c.req.raw, MAX_OPEN_FORM_BYTES))
}

/**
 * Reads the fields of a form that the browser of a member sent. The value of a file is its text; `file:base64` is
 * its bytes.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `invalid_request`
 */
export async function readForm(c: Context): Promise<Values> {
  const hasFiles = /^multipart\/form-data\b/i.test(typeOf(c))
  if (!hasFiles) checkType(c)
  const length = c.req.header('Content-Length')
  // Browsers send the length of each form. Without it, a body of any size could fill the memory.
  if (!(Number(length ?? Number.NaN) <= MAX_FORM_BYTES)) {
    throw new ApiError('payload_too_large', { detail: 'A form has at most 1 MiB.' })
  }
  if (hasFiles) return readFiles(c)
  // The runtime warns of `text()` on this content type.
  return valuesOf(new TextDecoder().decode(await c.req.arrayBuffer()))
}

/** What follows the name of a file in the name of the value that says why it has no text. */
const PROBLEM = ':problem'

async function readFiles(c: Context): Promise<Values> {
  const form = await c.req.raw.formData().catch((cause: unknown) => {
    throw new ApiError('invalid_request', { detail: 'The form cannot be read.', cause })
  })
  const texts = new Map<string, string>()
  for (const [name, value] of form) {
    if (texts.has(name)) continue
    if (typeof value === 'string') {
      texts.set(name, value)
      continue
    }
    const bytes = new Uint8Array(await value.arrayBuffer())
    texts.set(`${name}:base64`, bytes.toBase64())
    const read = await readFileText(bytes)
    texts.set(name, 'text' in read ? read.text : '')
    if ('problem' in read) texts.set(`${name}${PROBLEM}`, read.problem)
  }
  return (name) => texts.get(name) ?? ''
}

/**
 * Checks that the file of a form is a text, if it has one.
 *
 * @throws ApiError `validation_failed`
 */
export function checkFile(values: Values): void {
  const detail = values(`file${PROBLEM}`)
  if (detail !== '') throw new ApiError('validation_failed', { detail })
}

/**
 * Parses the JSON of a hidden field.
 *
 * @throws ApiError `validation_failed`
 */
export function parseField(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ApiError('validation_failed', { detail: 'The text is not valid JSON.', cause })
  }
}

/** Returns those of these fields that are not empty. The operation that gets them says which are missing. */
export const pick = <const N extends string>(values: Values, ...names: N[]): Record<N, string> =>
  Object.fromEntries(names.flatMap((name) => (values(name) ? [[name, values(name)]] : []))) as never
