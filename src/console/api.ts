import { type Context, Hono } from 'hono'
import { admin } from '../admin/routes.ts'
import { resourcesOf } from '../app.ts'
import { sendAs } from '../auth/admin.ts'
import type { AppEnv } from '../auth/authorize.ts'
import type { Member } from '../auth/roles.ts'

/** Where the administration API is. */
const BASE = '/admin/v1'

/** The values of a query; those that are absent or empty are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** A request to the administration API. Its path is below `/admin/v1`. */
export interface ApiRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: Query
  /** The JSON to send; or `csv`, a text. */
  readonly body?: unknown
  readonly csv?: string
}

/** The administration API as a member may use it. */
export interface Api {
  /**
   * Reads from a path below `/admin/v1`.
   *
   * @throws ApiError that the API responds with.
   */
  get<T>(path: string, query?: Query): Promise<T>
  /**
   * Responds with the CSV of a path below `/admin/v1`, as a file.
   *
   * @throws ApiError that the API responds with.
   */
  csv(path: string, query?: Query): Promise<Response>
  /**
   * Sends a change, and returns the answer; null if it has no body.
   *
   * @throws ApiError that the API responds with.
   */
  send(request: ApiRequest): Promise<unknown>
}

/** The routes of `/admin/v1`, without the request log: a page of the console is one request. */
const routes = new Hono<AppEnv>().route(BASE, admin(resourcesOf))
routes.onError((thrown) => {
  throw thrown
})

/**
 * Returns the administration API for a member. The console reads and changes nothing in another way, so
 * that the API has whatever a page shows, with the same validation, roles, errors and audit log.
 */
export function apiOf(c: Context<AppEnv>, member: Member): Api {
  const fetchFrom = async (method: string, path: string, query: Query = {}, init?: RequestInit) => {
    const url = new URL(`${BASE}${path}`, c.env.BASE_URL)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== '') url.searchParams.set(name, String(value))
    }
    const request = sendAs(member, new Request(url, { ...init, method }))
    return routes.fetch(request, c.env, c.executionCtx)
  }
  const ask = async (...request: Parameters<typeof fetchFrom>) => {
    const response = await fetchFrom(...request)
    const text = await response.text()
    return text === '' ? null : JSON.parse(text)
  }
  return {
    get: (path, query) => ask('GET', path, query),
    async csv(path, query) {
      const answer = await fetchFrom('GET', path, query, { headers: { Accept: 'text/csv' } })
      const headers = new Headers()
      for (const name of ['Content-Type', 'Content-Disposition']) {
        headers.set(name, answer.headers.get(name) ?? '')
      }
      return new Response(answer.body, { headers })
    },
    send({ method, path, query, body, csv }) {
      const type = csv === undefined ? 'application/json' : 'text/csv'
      const headers = { 'Content-Type': type, Accept: 'application/json' }
      const hasBody = body !== undefined || csv !== undefined || method !== 'DELETE'
      const sent = hasBody && { body: csv ?? JSON.stringify(body ?? {}) }
      return ask(method, path, query, { headers, ...sent })
    },
  }
}
