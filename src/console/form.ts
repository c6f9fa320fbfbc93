import type { Context } from 'hono'
import { ApiError } from '../errors.ts'
import type { Values } from './page.ts'

/** The largest form in bytes. */
const MAX_FORM_BYTES = 1_048_576

/**
 * Reads the fields of a form that a browser sent.
 *
 * @throws ApiError `unsupported_media_type`, `payload_too_large`
 */
export async function readForm(c: Context): Promise<Values> {
  const type = c.req.header('Content-Type') ?? ''
  const length = c.req.header('Content-Length')
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new ApiError('unsupported_media_type', { detail: 'Send a form of the console.' })
  }
  // Browsers send the length of each form. Without it, a body of any size could fill the memory.
  if (!(Number(length ?? Number.NaN) <= MAX_FORM_BYTES)) {
    throw new ApiError('payload_too_large', { detail: 'A form has at most 1 MiB.' })
  }
  // The runtime warns of `text()` on this content type.
  const fields = new URLSearchParams(new TextDecoder().decode(await c.req.arrayBuffer()))
  return (name) => fields.get(name) ?? ''
}

/**
 * Parses the JSON of a field.
 *
 * @throws ApiError `validation_failed`
 */
export function parseField(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new ApiError('validation_failed', {
      detail: 'The text is not valid JSON.',
      errors: [{ pointer: `/${name}`, message }],
      cause,
    })
  }
}

/** Returns these fields of a form, less the empty ones. */
export const pick = (values: Values, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (values(name) ? [[name, values(name)]] : [])))
