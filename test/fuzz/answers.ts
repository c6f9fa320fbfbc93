import { expect } from 'vitest'
import type { Json } from './bodies.ts'
import type { Answer } from './send.ts'

// Checks that hold for the response to any delivery.

interface ListedIssue {
  index?: number
  pointer: string
  code: string
}

interface Result extends ListedIssue {
  outcome: string
  key?: Record<string, string>
  warnings?: ListedIssue[]
  errors?: ListedIssue[]
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The body as the parser of the language reads it. */
export const parsed = (body: Uint8Array): Json => JSON.parse(decoder.decode(body))

/**
 * Whether a pointer leads to something that was sent. @see RFC 6901 §4
 */
function leads(pointer: string, body: Json): boolean {
  let at: Json = body
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return false
    at = (at as Record<string, Json>)[name]!
  }
  return pointer === '' || pointer.startsWith('/')
}

const parentOf = (pointer: string) => pointer.slice(0, pointer.lastIndexOf('/'))

/** Codes that may name a member that was not sent. */
const ABSENT =
  /^(required|no_createtime|no_currency|no_regtime|no_kpi|unattributed|altered|unrecognised|foreign)$/

function isPlaced({ pointer, code }: ListedIssue, body: Json): boolean {
  return leads(pointer, body) || (ABSENT.test(code) && leads(parentOf(pointer), body))
}

const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected']

/** Returns the records of a body, none if `data` is not a list, and whether it is one record alone. */
function recordsOf(body: Json, wraps: boolean): { records: Json[]; isAlone: boolean } {
  if (Array.isArray(body)) return { records: body, isAlone: false }
  const isWrapped =
    wraps && typeof body === 'object' && body !== null && Object.hasOwn(body, 'data')
  if (!isWrapped) return { records: [body], isAlone: true }
  const { data } = body as { data: Json }
  return { records: Array.isArray(data) ? data : [], isAlone: false }
}

/** What a request asked for. */
interface Asked {
  /** Whether `data` may have the records. */
  wraps: boolean
  /** Whether right records are to be stored beside wrong ones. */
  lenient: boolean
}

/** §4 Every record that was received is counted once. */
function expectAllCounted({ summary }: { summary: Record<string, number> }): void {
  const { received, warnings: _, ...others } = summary
  expect(Object.values(others).reduce((sum, count) => sum + count, 0)).toBe(received)
}

/** Checks a response against its request. Returns the result of each record that was accepted. */
export function checkAnswer({ status, text }: Answer, body: Uint8Array, { wraps, lenient }: Asked) {
  expect([200, 201, 207, 400, 413, 422]).toContain(status)
  const answer = JSON.parse(text)
  if (status === 400 || status === 413) {
    expect(answer.code).toBe(status === 400 ? 'malformed_json' : 'payload_too_large')
    return []
  }
  const sent = parsed(body)
  const { records, isAlone } = recordsOf(sent, wraps)
  if (status === 422) {
    const { errors, errors_total } = answer as { errors: ListedIssue[]; errors_total: number }
    expect(errors.length).toBeGreaterThan(0)
    expectAllCounted(answer)
    expect(errors_total).toBeGreaterThanOrEqual(errors.length)
    expect(errors.filter((error) => !isPlaced(error, sent))).toEqual([])
    expect(errors.filter(({ index }) => index !== undefined && !(index in records))).toEqual([])
    const isWrong = (i: number) => errors.some(({ index }) => index === undefined || index === i)
    const areAllWrong = errors.length < errors_total || records.every((_, i) => isWrong(i))
    expect(areAllWrong || !lenient, 'right records are stored beside wrong ones').toBe(true)
    return []
  }
  const { summary, results } = answer as { summary: Record<string, number>; results: Result[] }
  expect(results.map(({ index }) => index)).toEqual(records.map((_, i) => i))
  expect(results.filter(({ outcome }) => !OUTCOMES.includes(outcome))).toEqual([])
  const counts = Object.fromEntries(
    OUTCOMES.map((name) => [name, results.filter(({ outcome }) => outcome === name).length]),
  )
  expectAllCounted(answer)
  expect(counts.rejected! > 0 && !lenient, 'a wrong record refuses the request').toBe(false)
  expect(status).toBe(counts.rejected! > 0 ? 207 : isAlone && counts.created === 1 ? 201 : 200)
  const warned = results.reduce((sum, { warnings = [] }) => sum + warnings.length, 0)
  expect(summary).toEqual({ received: records.length, ...counts, not_stored: 0, warnings: warned })
  const issues = results.flatMap(({ warnings = [], errors = [] }) => [...warnings, ...errors])
  expect(issues.filter((issue) => !isPlaced(issue, sent))).toEqual([])
  expect(results.every(({ outcome, errors }) => (outcome === 'rejected') === !!errors)).toBe(true)
  return results.map((result, i) => ({ ...result, record: records[i]! }))
}
