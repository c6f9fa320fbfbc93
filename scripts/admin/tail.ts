import { setTimeout as sleep } from 'node:timers/promises'
import { escapeText } from '../../src/platform/validation/quote.ts'
import { fetchPages } from './client.ts'
import { ApiError, NoResponseError } from './errors.ts'
import { type Input, membersOf, type Options } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** What the command prints with. */
export interface TailOutput {
  print: (text: string) => void
  report: (text: string) => void
}

interface Listed {
  delivery_id: string
  received_at: string
  resource: string
  status: number
  dry_run: boolean
  summary: Record<string, number>
  errors_total: number
}

interface ListedError {
  code: string
  pointer: string
  key?: Record<string, string>
  message: string
  hint?: string
}

/** The errors of a delivery that are printed. */
const MOST_ERRORS = 10

/** The deliveries that are printed at the beginning. */
const FIRST = 10
/** The time between two requests, in seconds. */
const INTERVAL_SECONDS = 2
/** The wait after a failure that may pass, in seconds. */
const FAILURE_SECONDS = 10
/** Deliveries are stored at most this long after one that was received later, in milliseconds. */
const OVERLAP_MS = 30_000

/**
 * Prints the last deliveries of an account, and then each one as it comes, until `signal` is aborted.
 * Each request starts a little before the last delivery, so that none that was stored late is missed. All
 * times are those of the service.
 */
export async function tail(
  send: SendRequest,
  { path, method }: Pick<AdminRequest, 'path' | 'method'>,
  input: Pick<Input, 'options' | 'json'> & { filters: Options },
  output: TailOutput,
  signal: AbortSignal,
): Promise<void> {
  const [seconds = String(INTERVAL_SECONDS)] = input.options.interval ?? []
  const filters = membersOf(input.filters, {
    ...input,
    operands: {},
    excel: false,
    yes: false,
  })
  const seen = new Map<string, number>()
  let since: number | null = null
  while (!signal.aborted) {
    let wait = Number(seconds)
    try {
      const from = since === null ? {} : { from: new Date(since - OVERLAP_MS).toISOString() }
      const query = { ...filters, ...from }
      const limit = since === null && seen.size === 0 ? FIRST : Number.POSITIVE_INFINITY
      const { data } = await fetchPages(send, { method, path, query }, limit)
      for (const delivery of (data as Listed[]).toReversed()) {
        if (signal.aborted) return
        const at = Date.parse(delivery.received_at)
        if (seen.has(delivery.delivery_id)) continue
        output.print(await describe(send, path, delivery, input.json))
        seen.set(delivery.delivery_id, at)
        since = Math.max(since ?? at, at)
      }
      for (const [id, at] of seen) if (at < (since ?? 0) - OVERLAP_MS) seen.delete(id)
    } catch (error) {
      if (!mayPass(error)) throw error
      output.report(`The service does not answer. Asking again in ${FAILURE_SECONDS} s.`)
      wait = FAILURE_SECONDS
    }
    await sleep(wait * 1000, undefined, { signal }).catch(() => {})
  }
}

/** Returns whether a failure may pass by itself. */
const mayPass = (error: unknown) =>
  error instanceof NoResponseError ||
  (error instanceof ApiError && [429, 503].includes(error.response.status))

/** Returns a delivery as a text, with its errors. */
async function describe(
  send: SendRequest,
  path: string,
  delivery: Listed,
  json: boolean,
): Promise<string> {
  const detailed =
    delivery.errors_total > 0
      ? await send({ method: 'GET', path: `${path}/${delivery.delivery_id}`, query: {} })
      : delivery
  if (json) return escapeText(JSON.stringify(detailed))
  const { errors = [] } = detailed as { errors?: ListedError[] }
  return [lineOf(delivery), ...errors.slice(0, MOST_ERRORS).map(errorLine)]
    .map(escapeText)
    .join('\n')
}

function lineOf({ delivery_id, received_at, resource, status, dry_run, summary }: Listed): string {
  const counts = Object.entries(summary)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
  const dry = dry_run ? ' dry run' : ''
  return `${received_at}  ${delivery_id}  ${status} ${resource}${dry}  ${counts.join(', ')}`
}

function errorLine({ code, pointer, key, message, hint }: ListedError): string {
  const members = Object.entries(key ?? {}).map(([name, value]) => ` ${name}=${value}`)
  return `    ${code} at ${pointer || 'the body'}${members.join('')}: ${message}${hint ? ` ${hint}` : ''}`
}
