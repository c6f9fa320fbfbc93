import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Keyring } from './credentials.ts'
import type { Answer, Exchange } from './exchange.ts'
import {
  type Entry,
  hear,
  type Ledger,
  OUTCOMES,
  type Rejected,
  type Remark,
  reject,
} from './ledger.ts'
import { refusal, saidOf } from './refusal.ts'

/** Sends records as one bulk; the answer is one that says what became of them, or 413. */
export type Post = (texts: string[]) => Promise<Answer>

/** Records of one file that are sent together. */
export interface Delivery {
  first: number
  texts: string[]
}

interface Accepted {
  summary: Record<(typeof OUTCOMES)[number], number>
  results: { index: number; outcome: string; warnings?: Remark[]; errors?: Remark[] }[]
}

const compress = promisify(gzip)
const INTELLIGIBLE = [200, 201, 207, 413, 422]
/** A new token that is refused as well will not get better. */
const MAX_REFUSED = 2

/** A way to send bulks to one address, with a valid credential. */
export function poster(url: string, prefer: string, keyring: Keyring, exchange: Exchange): Post {
  const fixed = {
    'Content-Type': 'application/json',
    'Content-Encoding': 'gzip',
    Prefer: prefer,
  }
  return async function post(texts) {
    const body = await compress(`[${texts.join(',')}]`)
    for (let refused = 0; ; ) {
      const credential = await keyring.headers()
      const headers = { ...fixed, ...credential }
      const answer = await exchange(url, { method: 'POST', headers, body })
      if (INTELLIGIBLE.includes(answer.status)) return answer
      refused += 1
      if (!isInvalidToken(answer) || refused > MAX_REFUSED) throw refusal('Stopped', answer)
      keyring.refused(credential)
    }
  }
}

const isInvalidToken = ({ status, body }: Answer) =>
  status === 401 && (body as { code?: string } | undefined)?.code === 'invalid_token'

/** Delivers records and books what becomes of them; a bulk that is too large in halves. */
export async function deliver(delivery: Delivery, post: Post, ledger: Ledger, entry: Entry) {
  const { first, texts } = delivery
  const answer = await post(texts).catch((error) => {
    lose(entry, delivery)
    throw error
  })
  if (answer.status === 413 && texts.length > 1) {
    const half = Math.ceil(texts.length / 2)
    const rest = { first: first + half, texts: texts.slice(half) }
    // One after the other: what comes first is stored first.
    await deliver({ first, texts: texts.slice(0, half) }, post, ledger, entry).catch((error) => {
      lose(entry, rest)
      throw error
    })
    return deliver(rest, post, ledger, entry)
  }
  if (answer.status >= 400) return refuse(delivery, answer, ledger, entry)
  accept(delivery, answer.body as Accepted, ledger, entry)
}

/** Nobody knows whether these are stored: the answer never came. */
function lose({ counts, unstored }: Entry, { first, texts }: Delivery) {
  counts.not_sent += texts.length
  unstored.push([first, first + texts.length - 1])
}

function accept({ first, texts }: Delivery, body: Accepted, ledger: Ledger, entry: Entry) {
  const { summary, results } = body
  for (const outcome of OUTCOMES) {
    if (outcome !== 'rejected') entry.counts[outcome] += summary[outcome]
  }
  for (const { warnings = [] } of results) for (const said of warnings) hear(ledger.warnings, said)
  const rejected = results.filter(({ outcome }) => outcome === 'rejected')
  reject(
    ledger,
    entry,
    rejected.map(({ index, errors = [] }) => ({
      index: first + index,
      text: texts[index]!,
      errors: errors.map(withinRecord),
    })),
  )
}

/** Nothing of the bulk was stored: each of its records is written down, with its errors if it has any. */
function refuse({ first, texts }: Delivery, answer: Answer, ledger: Ledger, entry: Entry) {
  const said = saidOf(answer.body)
  const errors = (said.errors ?? []) as (Remark & { index?: number })[]
  const ofBulk = errors.find(({ index }) => index === undefined)
  const why = answer.status === 413 ? (said.detail ?? said.title) : ofBulk?.message
  const reason = `not stored: its bulk was refused${why ? ` (${why})` : ''}`
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const rejected = texts.map((text, i): Rejected => {
    const own = byIndex.get(i)?.map(withinRecord)
    return { index: first + i, text, ...(own ? { errors: own } : { errors: [], reason }) }
  })
  reject(ledger, entry, rejected)
}

/** An error without its place in the bulk, which nobody sees: its pointer is into the record. */
function withinRecord({ index: _, key: __, ...error }: Remark & { index?: number; key?: object }) {
  return { ...error, pointer: error.pointer.replace(/^\/\d+/, '') }
}
