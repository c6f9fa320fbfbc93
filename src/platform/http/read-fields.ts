import type { Context } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'
import { slug } from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { formatIssue } from '../validation/messages.ts'
import { quote } from '../validation/quote.ts'
import { isObject } from '../validation/record-validator.ts'
import { validateObject } from '../validation/strict-object.ts'
import { readBody, readCsvBody } from './body.ts'
import { parseJson } from './json.ts'

/** Returns the error for something that a path names and that does not exist. */
export const notFound = (noun: string, id: string) =>
  new ApiError('not_found', { detail: `There is no ${noun} ${quote(id)}.` })

/** The contract: at most 1000 errors of a request are listed. */
const MAX_LISTED_ERRORS = 1000

/** Returns the error for an invalid body, in the format of the partner API. */
export function validationFailed(issues: readonly Issue[]): ApiError {
  return new ApiError('validation_failed', {
    detail: 'Nothing was changed.',
    errors: issues.slice(0, MAX_LISTED_ERRORS).map((issue) => {
      const { hint, ...error } = formatIssue(issue)
      // The hint of this code names a path of the partner API.
      return issue.code === 'unknown_affiliate' || !hint ? error : { ...error, hint }
    }),
    errors_total: issues.length,
  })
}

type Fields<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>

/**
 * Reads a JSON object with these members and no others. A request without a body counts as `{}`.
 * Throws `validation_failed` with all issues.
 */
export async function readFields<const E extends v.ObjectEntries>(
  c: Context<AppEnv>,
  entries: E,
): Promise<Fields<E>> {
  const isEmpty = c.req.raw.body === null || c.req.header('Content-Length') === '0'
  return validateFields(isEmpty ? {} : await readJson(c), entries)
}

/**
 * Returns an object with these members and no others, parsed.
 *
 * @throws ApiError `validation_failed` with all issues.
 */
export function validateFields<const E extends v.ObjectEntries>(
  body: unknown,
  entries: E,
): Fields<E> {
  const { issues, output } = validateAt(body, entries, '')
  if (issues.length > 0) throw validationFailed(issues)
  // Without issues every member is valid.
  return output as Fields<E>
}

/**
 * Validates one object of a body with these members and no others. Returns its issues, with pointers
 * below `pointer`, and the members that are valid. Messages name the object by `entity`, and quote no personal member.
 */
export function validateAt<const E extends v.ObjectEntries>(
  body: unknown,
  entries: E,
  pointer: string,
  entity?: string,
  personal?: ReadonlySet<string>,
): { issues: Issue[]; output: Partial<Fields<E>> } {
  if (!isObject(body))
    return { issues: [{ pointer, code: 'type', expected: 'object' }], output: {} }
  const { issues, output } = validateObject(body, v.object(entries), entity, personal)
  return {
    issues: issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer })),
    output: output as Partial<Fields<E>>,
  }
}

/**
 * Returns the items of a body that is a list of 1 to `max`, with their pointers.
 *
 * @throws ApiError `validation_failed`
 */
export function readItems(body: unknown, max: number): { pointer: string; item: unknown }[] {
  if (!Array.isArray(body)) {
    throw validationFailed([{ pointer: '', code: 'type', expected: 'array' }])
  }
  if (body.length < 1 || body.length > max) {
    const [expected, received] = [`1 to ${max}`, String(body.length)]
    throw validationFailed([{ pointer: '', code: 'record_count', expected, received }])
  }
  return body.map((item: unknown, index) => ({ pointer: `/${index}`, item }))
}

/** The nesting depth of a body, with room for a plan in what shows it: then the error names what is too much. */
const MAX_DEPTH = 16

/** Reads a JSON body. Throws `malformed_json` and the other errors of a body. */
export async function readJson(c: Context<AppEnv>): Promise<unknown> {
  const body = await readBody(c.req.raw, '', MAX_DEPTH)
  try {
    return parseJson(body.takeText(), body.mayBeInexact)
  } finally {
    body.memory.release()
  }
}

/** Reads a CSV body. Throws the errors of a body. */
export async function readCsv(c: Context<AppEnv>): Promise<string> {
  const { takeText, memory } = await readCsvBody(c.req.raw, '')
  try {
    return takeText()
  } finally {
    memory.release()
  }
}

/** Throws `validation_failed` unless the id of something new, which a path names, is small letters, digits and hyphens. */
export function checkNewId(id: string): void {
  if (v.is(slug, id)) return
  const expected = '1 to 63 characters of a-z, 0-9 and `-`'
  throw validationFailed([{ pointer: '', code: 'pattern', expected, value: id }])
}
