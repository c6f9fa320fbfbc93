import { keepStatements, readKept } from '../db/reports/kept-parts.ts'
import { type Change, readInTurn } from '../db/reports/read-report.ts'
import { FIRST_DAY, keptIds, mergeRows, partsToKeep, type RowsToKeep } from './kept.ts'
import { REPORT_LIMITS } from './limits.ts'
import { countStatements, readCounts, readParts, type Use } from './read-parts.ts'
import type { Selection } from './select.ts'
import type { Range } from './steps.ts'
import { tooLarge } from './too-large.ts'

/** What is read for a report. */
export interface Asked {
  readonly session: D1DatabaseSession
  readonly account: string
  readonly selection: Selection
  readonly range: Range
  readonly values: Readonly<Record<string, string | number>>
  readonly now: number
}

/**
 * Reads the sums of a report: those that are kept, and in turns of the account those that are not. What
 * takes several batches is kept, unless something of it changes meanwhile. Returns what has changed.
 */
export async function readSums(
  { session, account, selection, range, values, now }: Asked,
  use: Use,
): Promise<Change> {
  const ids = await keptIds(selection, values, range)
  const commission = selection.statements.find(([part]) => part === 'commission')
  const { kept, others } = await readKept(
    session,
    account,
    [...ids.values()],
    commission ? [commission[1], { ...values, account }] : null,
    now,
  )
  if (others.length > REPORT_LIMITS.statements) throw tooLarge('statements')
  use.addRows('commission', others)
  for (const [part, id] of ids) {
    const rows = kept.get(id)
    if (rows) use.addRows(part, rows)
  }
  const missing = {
    ...selection,
    statements: selection.statements.filter(
      ([part]) => part !== 'commission' && !kept.has(ids.get(part) ?? ''),
    ),
  }
  if (missing.statements.length === 0) return 'nothing'
  const merged: RowsToKeep = new Map()
  const addRows: Use['addRows'] = (part, rows) => {
    mergeRows(merged, part, rows)
    use.addRows(part, rows)
  }
  // First deposits depend on earlier days, too.
  const days = { from: missing.statements.some(isOfEarlier) ? FIRST_DAY : range.from, to: range.to }
  const first = countStatements(missing, range)
  return readInTurn(session, account, { first, days }, async (turn) => {
    const found = { counts: readCounts(missing, turn.first, range), days: range }
    const { hasEnded } = await readParts(missing, values, found, turn.readBatch, {
      ...use,
      addRows,
    })
    if (hasEnded) return 'nothing'
    const parts = partsToKeep(merged, ids, selection.shape, range)
    return turn.end(keepStatements(parts, now))
  })
}

const isOfEarlier = ([part]: Selection['statements'][number]) => part === 'first_deposits'
