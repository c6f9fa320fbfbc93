import type { Context } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError } from '../errors.ts'
import { readBody } from '../http/body.ts'
import { parseJson } from '../http/json.ts'
import type { Issue } from '../validation/issue.ts'
import { formatIssue } from '../validation/messages.ts'
import { isObject } from '../validation/record-validator.ts'
import { validateObject } from '../validation/strict-object.ts'

/** What an address names and is not there. */
export const notFound = (noun: string, id: string) =>
  new ApiError('not_found', { detail: `There is no ${noun} ${JSON.stringify(id)}.` })

/** What is wrong with what the integrations team sent, in the shape in which partners are told. */
export function validationFailed(issues: readonly Issue[]): ApiError {
  return new ApiError('validation_failed', {
    detail: 'Nothing was changed.',
    // The hints are for partners: they name addresses of theirs.
    errors: issues.map((issue) => {
      const { hint, ...said } = formatIssue(issue)
      return issue.code === 'unknown_affiliate' || !hint ? said : { ...said, hint }
    }),
    errors_total: issues.length,
  })
}

/** Reads a JSON object with these members and no others; no body is an empty one. */
export async function readFields<const E extends v.ObjectEntries>(
  c: Context<AppEnv>,
  entries: E,
): Promise<v.InferOutput<v.ObjectSchema<E, undefined>>> {
  const isEmpty = c.req.raw.body === null || c.req.header('Content-Length') === '0'
  const body = isEmpty ? {} : await readJson(c)
  if (!isObject(body)) throw validationFailed([{ pointer: '', code: 'type', expected: 'object' }])
  const { issues, output } = validateObject(body, v.object(entries))
  if (issues.length > 0) throw validationFailed(issues)
  return output as v.InferOutput<v.ObjectSchema<E, undefined>>
}

/** What is wrong with one object of a body, and what of it is right; `at` is where it stands there. */
export function validateAt(body: unknown, entries: v.ObjectEntries, at: string) {
  if (!isObject(body)) {
    const issue: Issue = { pointer: at, code: 'type', expected: 'object' }
    return { issues: [issue], output: {} as Record<string, unknown> }
  }
  const { issues, output } = validateObject(body, v.object(entries))
  return { issues: issues.map((issue) => ({ ...issue, pointer: at + issue.pointer })), output }
}

/** Reads a JSON body. */
export async function readJson(c: Context<AppEnv>): Promise<unknown> {
  const { takeText, release } = await readBody(c.req.raw, Promise.resolve())
  try {
    return parseJson(takeText())
  } finally {
    release()
  }
}
