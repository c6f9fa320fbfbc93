import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { type Answer, ask, waitOf } from '../push/exchange.ts'
import type { Request } from './command.ts'
import { Failed, Refused } from './failure.ts'
import type { Profile } from './profile.ts'

/** Sends a request and answers with its parsed body; any answer but a good one is thrown. */
export type Service = (request: Request) => Promise<unknown>

/** What may be asked again blindly: it makes no secret, and nothing twice. */
const REPEATABLE = ['GET', 'PUT']

/** The service asks for patience. */
const PATIENCE = [429, 503]

const TRIES = 4
const WAIT_MS = 2_000

/** A longer wait is left to whoever sits at the terminal. */
const LONGEST_WAIT_MS = 60_000

/** A way to `/admin/v1`, with the key of the integrations team. */
export function connect({ base, key }: Profile, note: (text: string) => void): Service {
  return function service(request) {
    const repeat = REPEATABLE.includes(request.method)
    return pRetry(() => once(base, key, request), {
      retries: repeat ? TRIES - 1 : 0,
      minTimeout: 0,
      maxTimeout: 0,
      shouldRetry: ({ error }) => patience(error) <= LONGEST_WAIT_MS,
      async onFailedAttempt({ error, retriesLeft }) {
        const wait = patience(error)
        if (retriesLeft === 0 || wait > LONGEST_WAIT_MS) return
        note(`The service asks to wait ${Math.ceil(wait / 1000)} s; trying again then.`)
        await sleep(wait)
      },
    })
  }
}

/** How long a failure asks to wait, in milliseconds; what does not ask for it is never repeated. */
function patience(error: Error): number {
  const said = error instanceof Refused && PATIENCE.includes(error.answer.status)
  return said ? (waitOf(error.answer.headers.get('Retry-After')) ?? WAIT_MS) : Infinity
}

async function once(base: string, key: string, request: Request): Promise<unknown> {
  const { method, path, query, body } = request
  const search = new URLSearchParams(query).toString()
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(body && { 'Content-Type': 'application/json' }),
  }
  const answer = await sent(`${base}/admin/v1/${path}${search && `?${search}`}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  if (answer.status >= 300) throw new Refused(answer)
  return answer.body
}

async function sent(url: string, request: RequestInit): Promise<Answer> {
  try {
    return await ask(url, request)
  } catch (error) {
    throw new Failed(error as Error)
  }
}

/** The API gives at most so many at once. */
const PAGE = 500

interface Page {
  data: object[]
  meta: { next_cursor: string | null }
}

/** Asks for all pages of a list, or until there are so many, and answers with them as one. */
export async function walk(service: Service, request: Request, limit: number): Promise<Page> {
  const data: object[] = []
  let meta: Page['meta'] | undefined
  do {
    const per_page = String(Math.min(PAGE, limit - data.length))
    const cursor = meta?.next_cursor
    const query = { ...request.query, per_page, ...(cursor && { cursor }) }
    const page = (await service({ ...request, query })) as Page
    data.push(...page.data)
    meta = { ...(meta ?? page.meta), next_cursor: page.meta.next_cursor }
  } while (meta.next_cursor !== null && data.length < limit)
  return { data, meta }
}
