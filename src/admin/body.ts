import type { Context } from 'hono'
import * as v from 'valibot'
import type { Caller } from '../auth/admission.ts'
import { ApiError } from '../errors.ts'
import { readBody } from '../ingest/body.ts'
import { broken } from '../ingest/closed.ts'
import { parseJson } from '../ingest/json.ts'
import { type Issue, say } from '../ingest/words.ts'

const NOBODY: ReadonlySet<string> = new Set()

/** What is wrong with what the integrations team sent, in the shape in which partners are told. */
export function refused(issues: readonly Issue[]): ApiError {
  return new ApiError('validation_failed', {
    detail: 'Nothing was changed.',
    errors: issues.map(say),
    errors_total: issues.length,
  })
}

/** Reads a JSON object with these members and no others; no body is an empty one. */
export async function readFields<const E extends v.ObjectEntries>(
  c: Context<Caller>,
  entries: E,
): Promise<v.InferOutput<v.ObjectSchema<E, undefined>>> {
  const isEmpty = c.req.raw.body === null || c.req.header('Content-Length') === '0'
  const body = isEmpty ? {} : await readJson(c)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw refused([{ pointer: '', code: 'type', expected: 'object' }])
  }
  return fieldsOf(body, entries)
}

/** The members of an object, judged; `at` is where it stands in the body. */
export function fieldsOf<const E extends v.ObjectEntries>(
  body: object,
  entries: E,
  at = '',
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  const { found, output } = broken(body, v.object(entries), NOBODY)
  if (found.length > 0) {
    throw refused(found.map((issue) => ({ ...issue, pointer: at + issue.pointer })))
  }
  return output as v.InferOutput<v.ObjectSchema<E, undefined>>
}

/** Reads a JSON body. */
export async function readJson(c: Context<Caller>): Promise<unknown> {
  const { text, release } = await readBody(c.req.raw, Promise.resolve())
  try {
    return parseJson(text)
  } finally {
    release()
  }
}
