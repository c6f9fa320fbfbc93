import { type Period, periodOf } from '../../platform/money/calendar.ts'
import { type Decimal, ZERO } from '../../platform/money/decimal.ts'
import type { Line } from './line.ts'
import { planKey } from './plans-in-force.ts'
import type { Transfer } from './transferred-balance.ts'

/** A statement that was approved. It never changes. */
export interface ClosedStatement {
  readonly closing: Decimal
  /** What `negative: "zero"` dropped: 0 or less. */
  readonly dropped: Decimal
  readonly transfer: Transfer | null
}

/** What identifies a line in its period, and the sum that approved statements have booked for it. */
export interface BookedLine {
  readonly rule: string
  readonly version: number
  readonly scope: string
  /** How many lines before it have the same rule, version and scope. */
  readonly occurrence: number
  /** Its amount in the statement of its period and in all adjustments of it. */
  readonly amount: Decimal
}

/** An amount that the integrations team entered, and that no approved statement has yet. */
export interface ManualEntry {
  readonly id: string
  readonly amount: string
  readonly reason: string
  readonly reference: string
  readonly at: string
}

/** What has been approved for an affiliate and plan, and the manual entries that are not yet approved. */
export interface PlanBooks {
  /** The last day of the last closed period; -Infinity if none is closed. */
  readonly closedThrough: number
  /** By period. A closed period may have no statement. */
  readonly statements: ReadonlyMap<string, ClosedStatement>
  /** By period, then by `lineKey`. */
  readonly booked: ReadonlyMap<string, ReadonlyMap<string, BookedLine>>
  /**
   * The sums of corrections in approved statements: by the statement's period, then by the
   * corrected period.
   */
  readonly corrections: ReadonlyMap<string, ReadonlyMap<string, Decimal>>
  /**
   * What corrections restored, 0 or more: by corrected period, then by that of the dropping
   * statement.
   */
  readonly restored: ReadonlyMap<string, ReadonlyMap<string, Decimal>>
  /** The keys (`receivedKey`) of the balances that approved statements received from other plans. */
  readonly received: ReadonlySet<string>
  readonly manual: readonly ManualEntry[]
  /** The first day that a manual entry can have, if no period is closed. */
  readonly manualFrom: number
}

/** The books of affiliates and plans, by `planKey`, of which anything is closed or entered. */
export type Books = ReadonlyMap<string, PlanBooks>

/** Returns the books of an affiliate and plan; null if nothing of them is closed or entered. */
export const booksOf = (books: Books, affiliate: string, plan: string): PlanBooks | null =>
  books.get(planKey(affiliate, plan)) ?? null

/** The difference between a line of a closed period and what was approved for it so far. */
export interface Difference {
  readonly period: string
  /** Null: a part of a correction that restores what a statement dropped (§16.3). */
  readonly line: Omit<BookedLine, 'amount'> | null
  /** The period of the statement that dropped; null unless `line` is null. */
  readonly droppedIn: string | null
  readonly amount: Decimal
  /** The line as it comes to now; absent if there is none. */
  readonly now?: Line | undefined
}

/** Whether a period was closed for an affiliate and plan. */
export const isClosed = (books: PlanBooks | null, { last }: Period): boolean =>
  books !== null && last <= books.closedThrough

/** Returns the key of a line within its period. */
export const lineKey = ({ rule, version, scope, occurrence }: Omit<BookedLine, 'amount'>): string =>
  JSON.stringify([rule, version, scope, occurrence])

/** Returns lines with the occurrence that makes their keys unique. */
export function keyedLines<L extends Omit<BookedLine, 'occurrence' | 'amount'>>(
  lines: readonly L[],
): (L & Pick<BookedLine, 'occurrence'>)[] {
  const counts = new Map<string, number>()
  return lines.map((line) => {
    const key = lineKey({ ...line, occurrence: 0 })
    const occurrence = counts.get(key) ?? 0
    counts.set(key, occurrence + 1)
    return { ...line, occurrence }
  })
}

/** The manual entries of a statement: those of the first period that is not closed (§16.1). */
export function manualEntriesIn(
  books: PlanBooks | null,
  { first, last }: Period,
): readonly ManualEntry[] {
  if (books === null) return []
  const day = Math.max(books.manualFrom, books.closedThrough + 1)
  return first <= day && day <= last ? books.manual : []
}

/** Returns a period, or the first one after it that is not closed. */
export function firstOpen(books: PlanBooks | null, period: Period): Period {
  return books !== null && isClosed(books, period)
    ? periodOf(books.closedThrough + 1, period.kind)
    : period
}

/** Returns the key of a balance received from a plan and period. */
export const receivedKey = (from: string, period: string): string => JSON.stringify([from, period])

/** Returns the approved statement of a closed period; if there is none, one with amounts of 0. */
export const closedStatement = ({ statements }: PlanBooks, { id }: Period): ClosedStatement =>
  statements.get(id) ?? { closing: ZERO, dropped: ZERO, transfer: null }
