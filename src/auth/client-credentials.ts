import { ApiError, type ErrorCode } from '../errors.ts'

/** How a client says who it is. */
export interface Credentials {
  client_id: string
  client_secret: string
}

/** A form in which each parameter stands once. */
export type Form = ReadonlyMap<string, string>

/** Far more than any form here needs. */
const MAX_FORM_BYTES = 65_536

const invalid = (detail: string, code: ErrorCode = 'invalid_request') =>
  new ApiError(code, { detail })

/** A client that is unknown, or whose secret is wrong: the caller learns no more than that. */
export const invalidClient = () =>
  new ApiError('invalid_client', {
    headers: { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' },
  })

/**
 * Reads a form; a parameter without a value counts as left out.
 *
 * @see [RFC 6749 §3.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.2) each parameter once
 * @see [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1) never in the URI
 */
export async function readForm(request: Request): Promise<Form> {
  const type = request.headers.get('Content-Type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
    throw invalid('Send the body as application/x-www-form-urlencoded.')
  }
  const encoding = request.headers.get('Content-Encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw invalid('Send the body as it is, not encoded.')
  const text = await readFormText(request)
  const form = new Map<string, string>()
  for (const pair of text.split('&').filter(Boolean)) {
    const [name, value = '', ...more] = pair.split('=').map(decodeFormText) as [string, ...string[]]
    if (form.has(name)) throw invalid('Send each parameter once.')
    if (more.length > 0) throw invalid('A parameter is malformed.')
    form.set(name, value)
  }
  const query = new URL(request.url).searchParams
  if (query.has('client_id') || query.has('client_secret')) throw invalidClient()
  return new Map([...form].filter(([, value]) => value !== ''))
}

/** Strict, unlike `URLSearchParams`, which keeps a stray `%` and replaces what is no UTF-8. */
function decodeFormText(text: string): string {
  return decodeUtf8(() => decodeURIComponent(text.replaceAll('+', ' ')))
}

async function readFormText(request: Request): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  // What is left unread of a body is for `everyAnswer` to drain.
  try {
    for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
      text += decodeUtf8(() => decoder.decode(chunk, { stream: true }))
      if (text.length > MAX_FORM_BYTES) {
        throw invalid('The form is larger than 64 KiB.', 'payload_too_large')
      }
    }
  } catch (error) {
    // What the stream itself throws is the sender's fault: it was cut.
    throw error instanceof ApiError ? error : invalid('The body ended before its end.')
  }
  return text + decodeUtf8(() => decoder.decode())
}

/** What is no UTF-8, or ends in the middle of it, is malformed. */
function decodeUtf8(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw invalid('A parameter is malformed.')
  }
}

/**
 * The client's credentials, from the header or from the form, never from both.
 *
 * @see [RFC 6749 §2.3.1](https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1)
 */
export function readCredentials(header: string | undefined, form: Form): Credentials {
  const client_id = form.get('client_id')
  const client_secret = form.get('client_secret')
  if (header === undefined) {
    if (!client_id || !client_secret) throw invalidClient()
    return { client_id, client_secret }
  }
  if (client_secret) throw invalid('Authenticate once: in the header or in the form.')
  const sent = parseBasic(header)
  if (!sent) throw invalidClient()
  if (client_id && client_id !== sent.client_id) {
    throw invalid('The header and the form name two clients.')
  }
  return sent
}

function parseBasic(header: string): Credentials | null {
  const [, encoded = ''] = /^Basic +([\w+/]+={0,2})$/i.exec(header) ?? []
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0))
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    // The two halves are form-encoded before they are joined: a colon in one of them is %3A.
    const [client_id, client_secret, ...more] = text.split(':').map(decodeFormText)
    return client_id && client_secret && more.length === 0 ? { client_id, client_secret } : null
  } catch {
    return null
  }
}
