import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Account } from '../db/schema.ts'
import type { ReplaySpan } from '../db/webhooks/log.ts'
import type { ReadMemory } from '../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readFlag, readQuery } from '../http/query.ts'
import { notFound, readFields, validationFailed } from '../http/read-fields.ts'
import { readAttempts } from '../webhooks/manage.ts'
import { replayFields } from './webhook-fields.ts'

// Requests that are the same for webhooks of accounts and postbacks of affiliates.

/** A replay has exactly one of these members. */
const REPLAYS = ['event_id', 'from'].join(', ')

/** Returns the span of a replay. Throws `validation_failed` if the body names both or neither. */
export async function readReplaySpan(
  c: Context<AppEnv>,
  hasEvent: (event: string) => Promise<boolean>,
): Promise<ReplaySpan> {
  const { event_id, from, to, only_dead } = await readFields(c, replayFields)
  if ((event_id === undefined) === (from === undefined)) {
    throw validationFailed([{ pointer: '', code: 'choice', expected: REPLAYS }])
  }
  if (event_id === undefined) {
    const [start, end] = [Date.parse(from ?? ''), to === undefined ? Date.now() : Date.parse(to)]
    if (to !== undefined && end < start) {
      throw validationFailed([{ pointer: '/to', code: 'minimum', expected: from ?? '', value: to }])
    }
    return { from: start, to: end, onlyDead: only_dead ?? false }
  }
  if (!(await hasEvent(event_id))) throw notFound('event', event_id)
  return { event: event_id }
}

/** Reads the query of a list of attempts. */
export function readAttemptsQuery(c: Context<AppEnv>) {
  const names = [...PAGE_PARAMETERS, 'event_id', 'failed'] as const
  const { event_id: event = null, failed, ...page } = readQuery(c.req.url, ...names)
  return { page, filter: { event, onlyFailed: readFlag('failed', failed) } }
}

/** Responds with one page of the attempts of an endpoint; `memory` is that of whom it is sent to. */
export async function respondWithAttempts(
  c: Context<AppEnv>,
  account: Account,
  endpoint: string,
  { page: query, filter }: ReturnType<typeof readAttemptsQuery>,
  memory?: ReadMemory,
): Promise<Response> {
  const context = JSON.stringify([account.id, 'attempts', endpoint, filter])
  const page = await readPage(c.env, context, query)
  const found = await readAttempts(c.env, account, endpoint, filter, page)
  return respondWithPage(c, context, page, found, memory)
}
