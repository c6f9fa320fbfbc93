import { type Context, Hono } from 'hono'
import type * as v from 'valibot'
import { admin } from '../admin/routes.ts'
import { markAsMember } from '../auth/admin.ts'
import type { AppEnv, ReadAccounts } from '../auth/authorize.ts'
import type { Member } from '../auth/roles.ts'
import { ApiError } from '../errors.ts'
import {
  type Answer,
  type Call,
  type InputOf,
  type Operation,
  pageOfRequest,
  perform,
  performFile,
  type ReadCall,
} from '../http/operation.ts'
import type { AnswerSchema } from '../http/operation-words.ts'

/** Where the administration API is. */
const BASE = '/admin/v1'

/**
 * A segment `.` or `..`, which a URL resolves. A sender could otherwise choose the id `..`, and the request
 * of a member who changes the record with this id would go to another path.
 */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i
const NO_DOTS = 'An address cannot name an id that is `.` or `..`.'

/** The parameters of a query; those that are undefined or empty are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** A request to the administration API. Its path is below `/admin/v1`. */
export interface ApiRequest {
  readonly method: 'POST'
  readonly path: string
  readonly query?: Query
  /** The value to send as JSON. */
  readonly body?: unknown
}

/** The administration API, with the role of a member. */
export interface Api {
  /**
   * Calls an operation.
   *
   * @throws ApiError that the operation throws.
   */
  call<
    P extends v.ObjectEntries,
    B extends v.ObjectEntries,
    A extends AnswerSchema,
    C extends Call,
  >(of: Operation<P, B, A, C>, input: InputOf<Operation<P, B, A, C>>): Promise<Answer<A>>
  /**
   * Sends a change, and returns the answer; null if it has no body.
   *
   * @throws ApiError that the API responds with.
   */
  send(request: ApiRequest): Promise<unknown>
  /** Sends the same, and returns the answer as CSV. */
  csv(request: ApiRequest): Promise<Response>
  /**
   * Responds with another format of an answer: a CSV, a page to print, or a file for a warehouse.
   *
   * @throws ApiError that the operation throws.
   */
  file<P extends v.ObjectEntries, B extends v.ObjectEntries, A extends AnswerSchema>(
    of: Operation<P, B, A, ReadCall>,
    input: InputOf<Operation<P, B, A, ReadCall>>,
    type: string,
  ): Promise<Response>
}

/** The routes of `/admin/v1`, without the request log: a page of the console is one request. */
const routes = new Hono<AppEnv>().route(BASE, admin)
routes.onError((thrown) => {
  throw thrown
})
// A form without the id of what it changes asks for a path that no route has.
routes.notFound(() => {
  throw new ApiError('not_found', { detail: 'The form does not name what it changes.' })
})

/**
 * Returns the administration API for a member. The console reads and changes data only through it. So
 * whatever a page can do, the API can do, with the same validation, roles, errors and audit log.
 */
export function apiOf(c: Context<AppEnv>, member: Member): Api {
  const accounts: ReadAccounts = new Map()
  const caller = { ...member, env: c.env, ...pageOfRequest(c) }
  const respond = ({ method, path, query = {}, body }: ApiRequest, Accept: string) => {
    if (DOT_SEGMENT.test(path)) throw new ApiError('not_found', { detail: NO_DOTS })
    const url = new URL(`${BASE}${path}`, c.env.BASE_URL)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
    }
    const headers = { 'Content-Type': 'application/json', Accept }
    const request = new Request(url, { headers, method, body: JSON.stringify(body ?? {}) })
    return routes.fetch(markAsMember(member, accounts, request), c.env, c.executionCtx)
  }
  return {
    call: (of, input) =>
      perform(of, { ...caller, ...(of.method === 'GET' && { accounts }) }, input),
    file: (of, input, type) => performFile(c, of, { ...caller, accounts }, { type, input }),
    send: async (request) => (await respond(request, 'application/json')).json(),
    csv: async (request) => respond(request, 'text/csv'),
  }
}
