import type { Issue } from '../validation/issue.ts'
import { pointerStep } from '../validation/pointer.ts'

/** The contract: 1 to 1000 records a request. */
export const MAX_RECORDS = 1000

/** How the records came: one alone, in an array, or as `data`. */
export type BodyForm = 'object' | 'array' | 'data'

/** Where a record stands in the body as sent. */
export const recordPointer = (form: BodyForm, index: number) =>
  form === 'object' ? '' : form === 'array' ? `/${index}` : `/data/${index}`

/**
 * The records of a body in any of its forms, and what is wrong with it as a whole. Where records
 * may have any members, `data` is one of them, and wraps nothing.
 */
export function unwrap(
  body: unknown,
  wraps: boolean,
): { form: BodyForm; sent: readonly unknown[]; issues: Issue[] } {
  if (Array.isArray(body)) return { form: 'array', sent: body, issues: checkRecordCount(body, '') }
  if (typeof body !== 'object' || body === null) {
    const expected = 'JSON object or an array of them'
    return { form: 'object', sent: [], issues: [{ pointer: '', code: 'type', expected }] }
  }
  if (!wraps || !Object.hasOwn(body, 'data')) return { form: 'object', sent: [body], issues: [] }

  const { data } = body as { data: unknown }
  const others = Object.keys(body).filter((name) => name !== 'data' && name !== 'meta')
  const issues: Issue[] = others.map((name) => ({
    pointer: pointerStep(name),
    code: 'unknown_field',
  }))
  if (Array.isArray(data)) {
    return { form: 'data', sent: data, issues: [...issues, ...checkRecordCount(data, '/data')] }
  }
  issues.push({ pointer: '/data', code: 'type', expected: 'array' })
  return { form: 'data', sent: [], issues }
}

const checkRecordCount = ({ length }: readonly unknown[], pointer: string): Issue[] =>
  length >= 1 && length <= MAX_RECORDS
    ? []
    : [{ pointer, code: 'record_count', expected: `1 to ${MAX_RECORDS}` }]
