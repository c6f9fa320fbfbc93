import { ApiError, type ErrorCode } from '../errors.ts'

/** The credentials of an OAuth client. */
export interface Credentials {
  client_id: string
  client_secret: string
}

/** The parameters of a form body; none is repeated or empty. */
export type FormParameters = ReadonlyMap<string, string>

/** The maximum size of a form body, far more than any request needs. Anybody can send one. */
const MAX_FORM_BYTES = 8192

/** How long a form may take to arrive, in milliseconds. */
const MAX_FORM_MS = 10_000

const TOO_SLOW = `The form did not arrive within ${MAX_FORM_MS / 1000} seconds.`

const invalid = (detail: string, code: ErrorCode = 'invalid_request') =>
  new ApiError(code, { detail })

/**
 * Returns the error for missing, unknown or wrong credentials. Without `detail` it does not reveal
 * whether the client is unknown or the secret is wrong.
 */
export const invalidClient = (detail?: string) =>
  new ApiError('invalid_client', {
    ...(detail && { detail }),
    headers: { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' },
  })

/**
 * Reads a form body. A parameter without a value counts as absent.
 *
 * @see [RFC 6749 §3.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.2) each parameter once
 * @see [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1) never in the URI
 * @throws ApiError `invalid_request`, `payload_too_large`; `invalid_client` for credentials in the URI
 */
export async function readForm(request: Request): Promise<FormParameters> {
  const type = request.headers.get('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    throw invalid('Send the body as `application/x-www-form-urlencoded`.')
  }
  const encoding = request.headers.get('Content-Encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw invalid('Send the body without `Content-Encoding`.')
  const text = await readFormText(request)
  const form = new Map<string, string>()
  for (const pair of text.split('&').filter(Boolean)) {
    const end = pair.search(/=|$/)
    const encoded = pair.slice(end + 1)
    const name = decodeFormText(pair.slice(0, end))
    const value = decodeFormText(encoded)
    if (form.has(name)) throw invalid('A parameter is repeated. Send each parameter once.')
    if (encoded.includes('=')) throw invalid(MALFORMED)
    form.set(name, value)
  }
  const query = new URL(request.url).searchParams
  if (query.has('client_id') || query.has('client_secret')) throw invalidClient(IN_QUERY)
  return new Map([...form].filter(([, value]) => value !== ''))
}

const MALFORMED = 'A parameter is malformed. Send the form percent-encoded, in UTF-8.'

const PLACES =
  'Send them in the header `Authorization: Basic`, or as the form fields `client_id` and `client_secret`'
const MISSING = `The client credentials are missing or incomplete. ${PLACES}.`
const IN_QUERY = `Client credentials are not accepted in the query. ${PLACES}.`

/** Decodes strictly: `URLSearchParams` would keep a stray `%` and replace invalid UTF-8. */
function decodeFormText(text: string): string {
  return decodeUtf8(() => decodeURIComponent(text.replaceAll('+', ' ')))
}

/**
 * Returns the text of a form that anybody can send, of at most `max` bytes, which must arrive in time.
 *
 * @throws ApiError `invalid_request`, `payload_too_large`
 */
export async function readFormText({ body }: Request, max = MAX_FORM_BYTES): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  for await (const chunk of chunksInTime(body)) {
    text += decodeUtf8(() => decoder.decode(chunk, { stream: true }))
    if (text.length > max) {
      throw invalid(`The form can have at most ${max / 1024} KiB.`, 'payload_too_large')
    }
  }
  return text + decodeUtf8(() => decoder.decode())
}

/** Returns the chunks of a form, which must arrive within 10 seconds in all. */
async function* chunksInTime(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return
  const reader = body.getReader()
  let timer: number | null = null
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(invalid(TOO_SLOW)), MAX_FORM_MS)
  })
  let isLate = false
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), timeout])
      if (done) return
      yield value
    }
  } catch (error) {
    isLate = error instanceof ApiError
    // The stream itself fails if the sender cuts it off.
    throw isLate ? error : invalid('The body ended early.')
  } finally {
    clearTimeout(timer)
    // `requestLog` drains what is left, unless the sender has been too slow.
    if (!isLate) reader.releaseLock()
  }
}

/**
 * Runs a decoder.
 *
 * @throws ApiError `invalid_request` if the bytes are not valid UTF-8.
 */
function decodeUtf8(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw invalid(MALFORMED)
  }
}

/**
 * Returns the client's credentials from the `Authorization` header or the form.
 *
 * @see [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)
 * @throws ApiError `invalid_request` if both have credentials, `invalid_client` if neither has.
 */
export function readCredentials(header: string | undefined, form: FormParameters): Credentials {
  const client_id = form.get('client_id')
  const client_secret = form.get('client_secret')
  if (header === undefined) {
    if (!client_id || !client_secret) throw invalidClient(MISSING)
    return { client_id, client_secret }
  }
  if (client_secret)
    throw invalid('Send the client secret in the header or in the form, not in both.')
  const credentials = parseBasic(header)
  if (!credentials) throw invalidClient()
  if (client_id && client_id !== credentials.client_id) {
    throw invalid('The `client_id` in the header and in the form differ.')
  }
  return credentials
}

function parseBasic(header: string): Credentials | null {
  const [, encoded = ''] = /^Basic +([\w+/]+={0,2})$/i.exec(header) ?? []
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    // Both parts are form-encoded before they are joined, so a colon within a part is `%3A`.
    const [client_id, client_secret, ...more] = text.split(':').map(decodeFormText)
    return client_id && client_secret && more.length === 0 ? { client_id, client_secret } : null
  } catch {
    return null
  }
}
