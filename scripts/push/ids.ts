import { hash } from 'node:crypto'
import type { ReadDelivery } from './bulks.ts'

/** How many lines are kept of what is told with its lines. */
export const MAX_LINES = 1000

/** The most different ids of a file that are compared; more of them would fill the memory. */
const MAX_IDS = 5_000_000

/** How often something occurs in a file, and the first lines on which it does. */
export interface Places {
  count: number
  lines: number[]
}

/** The ids of the records of a file that were read so far. */
export interface FileIds {
  /** The line on which each id occurs first. */
  firstLines: Map<string, number>
  /** The records with the id of an earlier one, which they replace, and the lines of these. */
  repeated: Places & { earlier: number[] }
  /** The ids that a spreadsheet has shortened. */
  shortened: Places
  /** Whether the file has more ids than are compared. */
  hasMore: boolean
  /** In a dry run: a digest of the last valid record of each id. */
  valid: Map<string, string>
}

/** Returns the ids of a file of which nothing has been read. */
export const startIds = (): FileIds => ({
  firstLines: new Map(),
  repeated: { count: 0, lines: [], earlier: [] },
  shortened: { count: 0, lines: [] },
  hasMore: false,
  valid: new Map(),
})

/** A member of a key that a spreadsheet has rounded to a few digits, such as `1.23E+15`. */
const SHORTENED = /:"\d(?:[.,]\d+)?E\+\d+"[,}]/i

/** Notes the ids of a bulk: which of them repeat, and which a spreadsheet has shortened. */
export function noteIds(known: FileIds, { ids, lines }: ReadDelivery) {
  const { firstLines, repeated, shortened } = known
  for (const [i, id] of ids.entries()) {
    if (id === undefined) continue
    const line = lines[i]!
    const earlier = firstLines.get(id)
    if (SHORTENED.test(id)) addLine(shortened, line)
    if (earlier !== undefined) {
      addLine(repeated, line)
      if (repeated.earlier.length < MAX_LINES) repeated.earlier.push(earlier)
    } else if (firstLines.size < MAX_IDS) firstLines.set(id, line)
    else known.hasMore = true
  }
}

function addLine(places: Places, line: number) {
  places.count += 1
  if (places.lines.length < MAX_LINES) places.lines.push(line)
}

/**
 * Returns the outcome that a record would have in a real run, from that of a dry run, which stores
 * nothing that a later record of the file could change.
 */
export function dryRunOutcome<Outcome extends string>(
  { valid }: FileIds,
  id: string | undefined,
  text: string,
  outcome: Outcome,
): Outcome | 'unchanged' | 'updated' {
  if (id === undefined || outcome === 'rejected') return outcome
  const digest = hash('sha256', text, 'base64').slice(0, 12)
  const before = valid.get(id)
  if (valid.size < MAX_IDS || before !== undefined) valid.set(id, digest)
  if (before === undefined || outcome === 'stale' || outcome === 'held') return outcome
  return before === digest ? 'unchanged' : 'updated'
}
