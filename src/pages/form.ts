import type { Context } from 'hono'
import { readFormText } from '../platform/auth/client-credentials.ts'
import { ApiError } from '../platform/errors.ts'
import { tooLarge } from '../platform/http/body-errors.ts'
import type { Values } from './base/page.ts'

// The text of files that members upload.

/**
 * Returns the text of a file in UTF-8, else in Windows-1252, which older spreadsheets write.
 *
 * @throws ApiError `validation_failed` for a file that is no text.
 */
function textOf(bytes: Uint8Array): string {
  if (bytes.includes(0)) {
    const detail =
      'This file is not a text, or an archive. Unpack an archive, and save a workbook as CSV: in Excel choose “File”, “Save As” and “CSV UTF-8”.'
    throw new ApiError('validation_failed', { detail })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
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
 * Reads the fields of a form that the browser of a member sent. The value of a file is its text.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`, `invalid_request`, `validation_failed`
 */
export async function readForm(c: Context, fileBytes?: number): Promise<Values> {
  const hasFiles = /^multipart\/form-data\b/i.test(typeOf(c))
  if (!hasFiles) checkType(c)
  const length = c.req.header('Content-Length')
  // Browsers send the length of each form. Without it, a body of any size could fill the memory.
  if (!(Number(length ?? Number.NaN) <= MAX_FORM_BYTES + (fileBytes ?? 0))) {
    if (fileBytes) throw tooLarge(fileBytes)
    throw new ApiError('payload_too_large', { detail: 'A form has at most 1 MiB.' })
  }
  if (hasFiles) return readFiles(c, fileBytes !== undefined)
  // The runtime warns of `text()` on this content type.
  return valuesOf(new TextDecoder().decode(await c.req.arrayBuffer()))
}

async function readFiles(c: Context, keepsBytes: boolean): Promise<Values> {
  const form = await c.req.raw.formData().catch((cause: unknown) => {
    throw new ApiError('invalid_request', { detail: 'The form cannot be read.', cause })
  })
  const texts = new Map<string, string>()
  let file: Values['file']
  for (const [name, value] of form) {
    if (texts.has(name)) continue
    if (typeof value === 'string') {
      texts.set(name, value)
      continue
    }
    if (value.size === 0) continue
    const bytes = new Uint8Array(await value.arrayBuffer())
    if (keepsBytes) file = bytes
    else texts.set(name, textOf(bytes))
  }
  return Object.assign((name: string) => texts.get(name) ?? '', { file })
}

/** Returns those of these fields that are not empty. The operation that gets them says which are missing. */
export const pick = <const N extends string>(values: Values, ...names: N[]): Record<N, string> =>
  Object.fromEntries(names.flatMap((name) => (values(name) ? [[name, values(name)]] : []))) as never
