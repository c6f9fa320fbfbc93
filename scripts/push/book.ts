import type { Delivery } from './deliver.ts'
import type { Answer } from './exchange.ts'
import {
  type Entry,
  hear,
  type Ledger,
  OUTCOMES,
  type Rejected,
  type Remark,
  reject,
} from './ledger.ts'
import { type SaidError, saidOf } from './refusal.ts'

/** An answer to a bulk of which something is stored; only remarkable results are in it. */
interface Accepted {
  summary: Record<(typeof OUTCOMES)[number], number>
  results: { index: number; outcome: string; warnings?: Remark[]; errors?: SaidError[] }[]
}

/** An answer writes out at most 1000 errors, and counts the others. */
const NO_ROOM = 'the answer has no room for all errors'

/** Books a bulk of which all, or all that is good, was stored. */
export function accept({ first, texts }: Delivery, { body }: Answer, ledger: Ledger, entry: Entry) {
  const { summary, results } = body as Accepted
  for (const outcome of OUTCOMES) {
    if (outcome !== 'rejected') entry.counts[outcome] += summary[outcome]
  }
  for (const { warnings = [] } of results) {
    for (const said of warnings) hear(ledger.warnings, withinRecord(said))
  }
  const rejected = results
    .filter(({ outcome }) => outcome === 'rejected')
    .map(({ index, errors = [] }) => rejectedOf(texts[index]!, first + index, errors, NO_ROOM))
  reject(ledger, entry, rejected)
}

/** Books a bulk of which nothing was stored: each record, with its errors if it has any. */
export function refuse({ first, texts }: Delivery, answer: Answer, ledger: Ledger, entry: Entry) {
  const { title, detail, errors = [], errors_total = 0 } = saidOf(answer.body)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const ofBulk = answer.status === 413 ? (detail ?? title) : byIndex.get(undefined)?.[0]?.message
  const refused = ofBulk ?? 'its bulk was refused'
  const lastNamed = errors_total > errors.length ? (errors.at(-1)?.index ?? -1) : texts.length
  const rejected = texts.map((text, i) => {
    const own = byIndex.get(i) ?? []
    const isSure = i < lastNamed
    if (own.length === 0 && isSure && ofBulk === undefined) ledger.innocent += 1
    const reason = `not stored: ${isSure ? refused : `${refused}; ${NO_ROOM}`}`
    return rejectedOf(text, first + i, own, reason)
  })
  reject(ledger, entry, rejected)
}

function rejectedOf(text: string, index: number, said: SaidError[], reason: string): Rejected {
  const errors = said.map(withinRecord)
  return { index, text, errors, ...(errors.length === 0 && { reason }) }
}

/** A remark without its place in the bulk, which nobody sees: its pointer is into the record. */
const withinRecord = ({ index: _, key: __, pointer, ...said }: SaidError) => ({
  pointer: pointer.replace(/^\/\d+/, ''),
  ...said,
})
