import { env } from 'cloudflare:workers'
import openapi from '../openapi.json'
import type { Recorded } from '../scripts/docs/recorded.ts'
import { ORIGIN as CANONICAL } from '../src/docs/origin.ts'
import { DAY_MS } from '../src/durations.ts'
import { ask, ORIGIN } from './partner.ts'

// Records requests and responses for the documents; a test compares them with those that are committed.

/** What differs between runs, and its replacement. */
const VARIES: [RegExp, string][] = [
  [/dlv_[\dA-Z]{26}/g, 'dlv_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/run_[\dA-Z]{26}/g, 'run_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/mov_[\dA-Z]{26}/g, 'mov_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/man_[\dA-Z]{26}/g, 'man_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/qst_[\dA-Z]{26}/g, 'qst_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/note_[\dA-Z]{26}/g, 'note_01M7W0R4W8E3V15G8XPED3Z94X'],
  [/"[\dA-HJKMNP-TV-Z]{26}-(\d{5})"/g, '"01M7W0R4W8Y6N1S2Q9E0J8T4ZB-$1"'],
  [/"[\dA-HJKMNP-TV-Z]{26}"/g, '"01M7W0R4W8Y6N1S2Q9E0J8T4ZB"'],
  [
    /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g,
    'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
  ],
  [/c_[\da-f]{24}/g, 'c_7d1f09b24c6e8a35f0b1d2c3'],
  [/whk_[\dA-Za-z]{22}/g, 'whk_4f8Kd02LmQzX7vBn1TcY5s'],
  [/pbk_[\dA-Za-z]{22}/g, 'pbk_4f8Kd02LmQzX7vBn1TcY5s'],
  [/evt_[\da-f]{27}/g, 'evt_1a20138dc52e28b68519d761e08'],
  [/whsec_[\w+/]{43}=/g, `whsec_${'A'.repeat(43)}=`],
  [/(t[a-z]{2}_test)_\w{49}/g, '$1_shown-once'],
  [/(invitation)#[\w-]+/g, '$1#shown-once'],
  [/tr1[\w-]{44}/g, 'tr1kBm7Qx2VnR8sYt4Wz6LcDf0GhJ3pTa5UeXvNq9MbKyRw'],
  [/"eyJ[\w-]+\.[\w-]+\.[\w-]+"/g, '"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl"'],
  [/("(?:n|kid)"):"[^"]+"/g, '$1:"…"'],
  [/("next_cursor"):"[^"]+"/g, '$1:"bmV4dA"'],
  [/("(?:previous_secret_until|ends_at)"):"[^"]+"/g, '$1:"2026-10-06T09:00:00.000Z"'],
  // An attempt of the queue may have failed before the answer, or after it.
  [/("failing_since"):"[^"]+"/g, '$1:null'],
  [/("lag_seconds"):\d+/g, '$1:12'],
  [/("yesterday"):"[a-z_]+"/g, '$1:"in_time"'],
  [/("missing_days"):\["[^\]]+\]/g, '$1:["2026-09-29","2026-09-30"]'],
  [/("(?:last_day|evaluated_through)"):"[^"]+"/g, '$1:"2026-10-04"'],
  [/(are kept for 30 days: since )[\d-]+/g, '$12026-09-06'],
  [/("link_id"):"[^"]+"/g, '$1:"Lk7Qm2Xv"'],
  [/\/go\/[\w-]+/g, '/go/Lk7Qm2Xv'],
]

/** Replaces what differs between runs. */
function shown(value: unknown): unknown {
  if (value === null) return null
  const today = new Date().toISOString().slice(0, 10)
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)
  let text = JSON.stringify(value)
    .replaceAll(new RegExp(`${today}T[\\d:.]+Z`, 'g'), '2026-10-05T09:00:00.000Z')
    .replaceAll(`"${today}"`, '"2026-10-05"')
    .replaceAll(`${yesterday}T00:00:00.000Z`, '2026-10-04T00:00:00.000Z')
    .replaceAll(`"${yesterday}"`, '"2026-10-04"')
    .replaceAll(ORIGIN, CANONICAL)
  for (const [pattern, constant] of VARIES) text = text.replaceAll(pattern, constant)
  return JSON.parse(text)
}

/** The parts of a request. */
interface RequestParts {
  /** The parameters in the path, by name. */
  at?: Record<string, string>
  query?: string
  headers?: Record<string, string>
  body?: unknown
  form?: Record<string, string>
}

interface Operation {
  method: string
  path: string
}

/** Method and path of each operation, by its name in openapi.json. */
export const operations = new Map<string, Operation>(
  Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(
      ([method, { operationId }]) => [operationId, { method: method.toUpperCase(), path }] as const,
    ),
  ),
)

/** Returns a recorder of requests and responses. */
export function exampleRecorder() {
  const takes: Recorded[] = []
  return {
    takes,
    async take(
      operation: string,
      name: string,
      summary: string,
      { at = {}, query = '', headers = {}, body, form }: RequestParts = {},
      // biome-ignore lint/suspicious/noExplicitAny: what was answered is read by name
    ): Promise<any> {
      const { method, path } = operations.get(operation)!
      const address = path.replaceAll(/\{(\w+)\}/g, (_, part: string) =>
        encodeURIComponent(at[part]!),
      )
      const csv = headers['Content-Type'] === 'text/csv'
      const response = await ask(`${address}${query}`, {
        method,
        redirect: 'manual',
        headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: csv ? String(body) : JSON.stringify(body) }),
        ...(form && { body: new URLSearchParams(form) }),
      })
      const isJson = /json/.test(response.headers.get('Content-Type') ?? '')
      const answer = isJson ? await response.json() : null
      const { status } = response
      const request = shown(body ?? form ?? null)
      takes.push({ operation, name, summary, request, status, answer: shown(answer) })
      return { status, headers: response.headers, ...(answer as object) }
    },
  }
}

/** Returns the header that authenticates the integrations team. */
export const asTeam = () => ({ Authorization: `Bearer ${env.ADMIN_KEY}` })
