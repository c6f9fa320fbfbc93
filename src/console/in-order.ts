import { ApiError } from '../errors.ts'
import type { Api, ApiRequest } from './api.ts'

// Changes of several requests, which are not stored together.

/** One request of a change, with what it does in words. */
export interface Step {
  readonly request: ApiRequest
  /** What is true once the request is made, as a sentence. */
  readonly done: string
  /** What is not true if it is refused, as a sentence. */
  readonly notDone: string
}

/** The detail of a refused body, which would be wrong after other requests were made. */
const NOTHING_CHANGED = 'Nothing was changed.'

/**
 * Makes the requests of a change one after the other, and returns their answers.
 *
 * @throws ApiError of the first request that is refused. Its detail says what was done before.
 */
export async function sendInOrder(api: Api, steps: readonly Step[]): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const [i, { request, notDone }] of steps.entries()) {
    const done = steps.slice(0, i).map((step) => step.done)
    answers.push(
      await api.send(request).catch((cause: unknown) => {
        throw done.length === 0 ? cause : afterOthers(cause, [...done, notDone])
      }),
    )
  }
  return answers
}

/** Returns an error with sentences before its detail. */
function afterOthers(cause: unknown, sentences: readonly string[]): ApiError {
  const error = cause instanceof ApiError ? cause : new ApiError('internal_error', { cause })
  const { detail = `${error.title}.` } = error.details
  const reason = detail === NOTHING_CHANGED ? [] : [detail]
  return new ApiError(error.code, {
    ...error.details,
    detail: [...sentences, ...reason].join(' '),
    cause: error.cause,
  })
}
