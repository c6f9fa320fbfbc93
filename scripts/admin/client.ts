import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiResponse, type BodyForm, fetchOnce, parseRetryAfter } from '../push/exchange.ts'
import { ApiError, NoResponseError } from './errors.ts'
import type { Profile } from './profile.ts'
import type { AdminRequest, SendRequest, TextPage } from './request.ts'

/** Methods that are retried automatically: they create no secret, and nothing twice. */
const RETRIED_METHODS = ['GET', 'PUT']

/** Statuses that ask the client to wait. */
const RETRIED_STATUSES = [429, 503]

const ATTEMPTS = 4
const DEFAULT_WAIT_MS = 2_000

/** A longer `Retry-After` is reported instead: the user decides when to try again. */
const MAX_WAIT_MS = 60_000

/** Creates a client of `/admin/v1` with the key of the integrations team. */
export function createClient({ base, key }: Profile, note: (text: string) => void): SendRequest {
  return async (request) => {
    const attempts = RETRIED_METHODS.includes(request.method) ? ATTEMPTS : 1
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(base, key, request)
      } catch (error) {
        const wait = waitOf(error)
        if (attempt === attempts || wait > MAX_WAIT_MS) throw error
        note(`The service asks to wait ${Math.ceil(wait / 1000)} s. Retrying after that.`)
        await sleep(wait)
      }
    }
  }
}

/** Returns the wait that an error asks for, in milliseconds; Infinity: it is never retried. */
function waitOf(error: unknown): number {
  if (!(error instanceof ApiError)) return Infinity
  const { status, headers } = error.response
  if (!RETRIED_STATUSES.includes(status)) return Infinity
  return parseRetryAfter(headers.get('Retry-After')) ?? DEFAULT_WAIT_MS
}

async function send(base: string, key: string, request: AdminRequest): Promise<unknown> {
  const { method, path, query, body, accept, isBinary } = request
  const isFile = body instanceof Uint8Array
  const type = isFile ? 'application/octet-stream' : typeof body === 'string' ? 'text/csv' : null
  const search = new URLSearchParams(query).toString()
  const url = `${base}/admin/v1/${path}${search && `?${search}`}`
  const response = await fetchResponse(
    url,
    isBinary ? 'bytes' : accept === undefined ? 'json' : 'text',
    {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': type ?? 'application/json' }),
        ...(accept && { Accept: accept }),
      },
      ...(body !== undefined && {
        body: type ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
      }),
    },
  )
  if (response.status >= 300) throw new ApiError(response)
  return accept ? toTextPage(response) : response.body
}

/** Returns a text with the query of the next page, which the `Link` names. */
function toTextPage({ body, headers }: ApiResponse): TextPage {
  const [, url] = /^<([^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '') ?? []
  const next = url === undefined ? null : Object.fromEntries(new URL(url).searchParams)
  return { text: String(body), next }
}

async function fetchResponse(
  url: string,
  form: BodyForm,
  request: RequestInit,
): Promise<ApiResponse> {
  try {
    return await fetchOnce(url, request, form)
  } catch (error) {
    throw new NoResponseError(error as Error)
  }
}

/** The largest page that the API returns. */
const MAX_PER_PAGE = 500

interface Page {
  data: object[]
  /** What the first page has beside. */
  [member: string]: unknown
  meta: { next_cursor: string | null }
}

/** Requests all pages of a list, or as many as the limit needs, and returns them as one. */
export async function fetchPages(
  sendRequest: SendRequest,
  request: AdminRequest,
  limit: number,
): Promise<Page> {
  const data: object[] = []
  let more: object | undefined
  let meta: Page['meta'] | undefined
  do {
    const per_page = String(Math.min(MAX_PER_PAGE, limit - data.length))
    const cursor = meta?.next_cursor
    const query = { ...request.query, per_page, ...(cursor && { cursor }) }
    const page = (await sendRequest({ ...request, query })) as Page
    const { data: found, meta: next, ...rest } = page
    data.push(...found)
    more ??= rest
    meta = { ...(meta ?? next), next_cursor: next.next_cursor }
  } while (meta.next_cursor !== null && data.length < limit)
  return { data, ...more, meta }
}
