import { applyAccepted, applyRefused } from './apply-response.ts'
import { type Delivery, type ReadDelivery, sliceDelivery } from './bulks.ts'
import type { Post } from './post.ts'
import type { Issue } from './problem.ts'
import type { FileResult, RunResult } from './result.ts'

/**
 * Delivers records and adds their outcomes to the result. Splits a bulk that is too large in half.
 *
 * @returns the error that all records have in common, or null.
 * @throws ExitError if neither this nor any other bulk can be delivered.
 */
export async function deliver(
  delivery: ReadDelivery,
  post: Post,
  result: RunResult,
  file: FileResult,
): Promise<Issue | null> {
  const { texts } = delivery
  const response = await post(delivery).catch((error) => {
    markUnconfirmed(file, delivery)
    throw error
  })
  if (response.status === 413 && texts.length > 1) {
    const half = Math.ceil(texts.length / 2)
    const rest = sliceDelivery(delivery, half)
    const head = sliceDelivery(delivery, 0, half)
    const issue = await deliver(head, post, result, file).catch((error) => {
      markUnconfirmed(file, rest)
      throw error
    })
    return (await deliver(rest, post, result, file)) && issue
  }
  if (response.status >= 400) return applyRefused(delivery, response, result, file)
  return applyAccepted(delivery, response, result, file)
}

/** Marks records whose request was not answered: they may or may not be stored. */
function markUnconfirmed({ counts, unconfirmed }: FileResult, { first, texts }: Delivery) {
  counts.not_sent += texts.length
  unconfirmed.push([first, first + texts.length - 1])
}
