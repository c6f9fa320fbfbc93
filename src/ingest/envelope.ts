import type { Issue } from '../platform/validation/issue.ts'
import { pointerStep } from '../platform/validation/pointer.ts'
import { quote } from '../platform/validation/quote.ts'
import { isObject, type JsonObject, jsonType } from '../platform/validation/record-validator.ts'
import type { BodyForm } from './db/item.ts'

/** The contract: the maximum number of records per request. */
export const MAX_RECORDS = 1000

/** Returns the JSON Pointer of a record in the body as sent. */
export const recordPointer = (form: BodyForm, index: number) =>
  form === 'object' ? '' : form === 'array' ? `/${index}` : `/data/${index}`

/** The records of a body as sent, and the errors of the body as a whole. */
export interface Envelope {
  form: BodyForm
  records: readonly unknown[]
  issues: Issue[]
}

/**
 * Returns the records of a body in any of its forms. Where records may have members of any name
 * (`acceptsDataWrapper` is false), `data` is an ordinary member.
 */
export function unwrap(body: unknown, acceptsDataWrapper: boolean): Envelope {
  if (Array.isArray(body)) {
    return { form: 'array', records: body, issues: checkRecordCount(body, '') }
  }
  if (!isObject(body)) {
    const expected = 'JSON object or an array of them'
    const issue: Issue = { pointer: '', code: 'type', expected, received: jsonType(body) }
    return { form: 'object', records: [], issues: [issue] }
  }
  const wrapper = wrapperOf(body)
  if (wrapper !== null && !(acceptsDataWrapper && wrapper === 'data')) {
    const received = `object with the array ${quote(wrapper)}`
    const instruction = 'Send the array itself.'
    const issue: Issue = { pointer: '', code: 'type', expected: 'array', received, instruction }
    return { form: 'object', records: [], issues: [issue] }
  }
  if (!acceptsDataWrapper || !Object.hasOwn(body, 'data')) {
    return { form: 'object', records: [body], issues: [] }
  }

  const { data } = body
  const issues = Object.keys(body)
    .filter((name) => name !== 'data' && name !== 'meta')
    .map((name): Issue => ({ pointer: pointerStep(name), code: 'unknown_field', expected: BULK }))
  if (Array.isArray(data)) {
    return { form: 'data', records: data, issues: [...issues, ...checkRecordCount(data, '/data')] }
  }
  issues.push({ pointer: '/data', code: 'type', expected: 'array', received: jsonType(data) })
  return { form: 'data', records: [], issues }
}

/** Returns the name of the only member beside `meta` if it is an array of objects or empty: no record is that. */
function wrapperOf({ meta: _, ...body }: JsonObject): string | null {
  const [[name, value] = [], ...others] = Object.entries(body)
  const isWrapper = others.length === 0 && Array.isArray(value) && value.every(isObject)
  return isWrapper ? String(name) : null
}

const BULK = 'a bulk, which has only `data` and `meta`'

const checkRecordCount = ({ length }: readonly unknown[], pointer: string): Issue[] =>
  length >= 1 && length <= MAX_RECORDS
    ? []
    : [{ pointer, code: 'record_count', expected: `1 to ${MAX_RECORDS}`, received: String(length) }]
