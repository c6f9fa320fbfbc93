import { accept, refuse } from './book.ts'
import type { Entry, Ledger } from './ledger.ts'
import type { Post } from './post.ts'

/** Records of one file that are sent together; `first` is the place of the first, from 0. */
export interface Delivery {
  first: number
  texts: string[]
}

/**
 * Delivers records and books what becomes of them; a bulk that is too large goes in halves.
 *
 * @throws Halt where it cannot be delivered, nor anything else.
 */
export async function deliver(delivery: Delivery, post: Post, ledger: Ledger, entry: Entry) {
  const { first, texts } = delivery
  const answer = await post(delivery).catch((error) => {
    lose(entry, delivery)
    throw error
  })
  if (answer.status === 413 && texts.length > 1) {
    const half = Math.ceil(texts.length / 2)
    const rest = { first: first + half, texts: texts.slice(half) }
    await deliver({ first, texts: texts.slice(0, half) }, post, ledger, entry).catch((error) => {
      lose(entry, rest)
      throw error
    })
    await deliver(rest, post, ledger, entry)
  } else if (answer.status >= 400) {
    refuse(delivery, answer, ledger, entry)
  } else {
    accept(delivery, answer, ledger, entry)
  }
}

/** Nobody knows whether these are stored: the answer never came. */
function lose({ counts, unstored }: Entry, { first, texts }: Delivery) {
  counts.not_sent += texts.length
  unstored.push([first, first + texts.length - 1])
}
