import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { bindStatement } from '../../platform/db/statement.ts'
import {
  DROP_DRAFTS,
  DROP_LOST_PARTS,
  DROP_PARTS,
  NOTIFY_CORRECTED,
  PUT_DRAFTS,
  PUT_PARTS,
  type StatementDigest,
  type StoredDraft,
} from './drafts.ts'
import type { RunStep } from './runs.ts'

/** The changes that a step of a run makes to the stored statements. */
export interface DraftChanges {
  /** The drafts to insert or replace. */
  readonly put: readonly StoredDraft[]
  /** The drafts to delete. */
  readonly drop: readonly StatementDigest[]
  readonly step: RunStep
  /** When the computation began to read, in milliseconds. */
  readonly readAt: number
  readonly computedAt: string
}

/** Returns the statements that store changes, in batches of bounded size. */
export function draftBatches(
  db: Connection,
  { put, drop, step, readAt, computedAt }: DraftChanges,
): D1PreparedStatement[][] {
  const values = { ...step, read_at: readAt, computed_at: computedAt }
  const bind = (statement: typeof PUT_DRAFTS, rows: string) =>
    bindStatement(db, statement, { ...values, rows })
  const batches = inBatches(put).map((drafts) => {
    const statements = drafts.map((one) => ({
      ...one,
      lines: one.lines[0],
      parts: one.lines.length,
      steps: one.steps[0],
    }))
    const ids = drafts.map(({ id, digest }) => ({ id, digest }))
    const parts = drafts.flatMap(({ id, digest, lines, steps }) =>
      Array.from({ length: Math.max(lines.length, steps.length) - 1 }, (_, i) => ({
        id,
        digest,
        part: i + 2,
        lines: lines[i + 1] ?? '[]',
        steps: steps[i + 1] ?? '{}',
      })),
    )
    return [
      ...toJsonChunks(statements).flatMap((rows) => [
        bind(NOTIFY_CORRECTED, rows),
        bind(PUT_DRAFTS, rows),
      ]),
      bind(DROP_PARTS, JSON.stringify(ids)),
      ...toJsonChunks(parts).map((rows) => bind(PUT_PARTS, rows)),
    ]
  })
  if (drop.length === 0) return batches
  const dropped = toJsonChunks(drop).flatMap((chunk) => [
    bind(DROP_DRAFTS, chunk),
    bind(DROP_LOST_PARTS, chunk),
  ])
  return [...batches, dropped]
}

/** The characters of statements that one batch stores. */
const BATCH_CHARACTERS = 4_000_000

/** Divides drafts into batches of at most `BATCH_CHARACTERS`, unless a single draft has more. */
function inBatches(drafts: readonly StoredDraft[]): StoredDraft[][] {
  const batches: StoredDraft[][] = []
  let characters = 0
  for (const draft of drafts) {
    const texts = [...draft.lines, ...draft.steps, draft.state]
    const size = texts.reduce((sum, { length }) => sum + length, 0)
    const last = batches.at(-1)
    if (last && characters + size <= BATCH_CHARACTERS) {
      last.push(draft)
      characters += size
    } else {
      batches.push([draft])
      characters = size
    }
  }
  return batches
}
