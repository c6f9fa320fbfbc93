import {
  type ManualEntry as ManualRow,
  readOpenManualEntries,
} from '../../ledger/db/manual-entries.ts'
import { parsePeriod } from '../../platform/money/calendar.ts'
import { add, type Decimal, decimal, negate, ZERO } from '../../platform/money/decimal.ts'
import {
  type BookedItem,
  type ClosedPeriod,
  type ClosedStatement as ClosedRow,
  readClosedPeriods,
  readClosedStatements,
} from '../db/closings.ts'
import {
  type BookedLine,
  type Books,
  type ClosedStatement,
  lineKey,
  type PlanBooks,
  receivedKey,
} from '../engine/books.ts'
import { assignmentsOf, type PlansInForce, planKey } from '../engine/plans-in-force.ts'
import type { OpenAccount } from './account.ts'
import type { CorrectedLine } from './cause.ts'
import type { StatementHead } from './draft.ts'

/** The closing of a period, and of all periods before it, for an affiliate and plan. */
export interface Closing {
  /** The last day of the period, in days since 1970. */
  readonly last: number
  /** When it was closed, in milliseconds. */
  readonly at: number
}

/**
 * Returns the closings of affiliates and plans, by `planKey`: approved statements and closed periods.
 *
 * @param entered The affiliates and plans with manual entries, which closed periods concern without an
 * assignment, too.
 */
function closingsIn(
  inForce: PlansInForce,
  affiliates: readonly string[],
  { statements, periods }: { statements: readonly ClosedRow[]; periods: readonly ClosedPeriod[] },
  entered: ReadonlySet<string>,
): ReadonlyMap<string, readonly Closing[]> {
  const found = new Map<string, Closing[]>()
  const add = (key: string, period: string, at: number): void => {
    const own = found.get(key) ?? []
    found.set(key, own)
    own.push({ last: parsePeriod(period)?.last ?? Number.NEGATIVE_INFINITY, at })
  }
  for (const { affiliate_id, plan, period, approved_at } of statements) {
    add(planKey(affiliate_id, plan), period, approved_at)
  }
  for (const affiliate of affiliates) {
    const plans = new Set(assignmentsOf(inForce, affiliate).map(({ plan }) => plan))
    for (const { plan, period, closed_at, open } of periods) {
      const key = planKey(affiliate, plan)
      const concerns = plans.has(plan) || found.has(key) || entered.has(key)
      if (concerns && !open.includes(affiliate)) add(key, period, closed_at)
    }
  }
  for (const own of found.values()) own.sort((a, b) => a.last - b.last || a.at - b.at)
  return found
}

/** The books of some affiliates of an account, and when their periods were closed: all by `planKey`. */
export interface AccountBooks {
  readonly books: Books
  /** In order of their last days. */
  readonly closings: ReadonlyMap<string, readonly Closing[]>
  /** When each period was approved, in milliseconds. */
  readonly approvals: ReadonlyMap<string, readonly { readonly of: string; readonly at: number }[]>
}

/**
 * Returns when a line of a closed period was last approved, in milliseconds: that includes what was stored before, also
 * the corrections of earlier periods.
 */
export const settledAt = (
  { approvals }: Pick<AccountBooks, 'approvals'>,
  { affiliate_id, plan, period }: Pick<CorrectedLine, 'affiliate_id' | 'plan' | 'period'>,
): number =>
  (approvals.get(planKey(affiliate_id, plan)) ?? []).reduce(
    (last, { of, at }) => (of >= period ? Math.max(last, at) : last),
    0,
  )

/** What is stored of the books of an affiliate and plan. */
interface StoredBooks {
  readonly rows: ClosedRow[]
  readonly closings: Closing[]
  readonly manual: ManualRow[]
  readonly booked: Map<string, Map<string, BookedLine>>
  readonly corrected: Map<string, Decimal>
  readonly corrections: Map<string, Map<string, Decimal>>
  readonly restored: Map<string, Map<string, Decimal>>
  /** The number of lines so far by period, rule, version and scope. */
  readonly occurrences: Map<string, number>
}

/** Reads the books of some affiliates: what was approved, and manual entries. */
export async function readBooks(
  account: OpenAccount,
  affiliates: readonly string[],
): Promise<AccountBooks> {
  const { db, row, inForce } = account
  const [periods, manual] = await Promise.all([
    readClosedPeriods(db, row.id, affiliates),
    readOpenManualEntries(db, row.id, affiliates),
  ])
  const stored = new Map<string, StoredBooks>()
  const storedAt = (key: string): StoredBooks => {
    const found = stored.get(key) ?? nothingStored()
    stored.set(key, found)
    return found
  }
  for await (const { part, items, ...one } of readClosedStatements(db, row.id, affiliates)) {
    const own = storedAt(planKey(one.affiliate_id, one.plan))
    if (part === 1) own.rows.push(one)
    for (const item of items) addItem(own, one.period, item)
  }
  for (const entry of manual) storedAt(planKey(entry.affiliate_id, entry.plan)).manual.push(entry)
  const statements = [...stored.values()].flatMap(({ rows }) => rows)
  const entered = manual.map(({ affiliate_id, plan }) => planKey(affiliate_id, plan))
  const closed = closingsIn(inForce, affiliates, { statements, periods }, new Set(entered))
  for (const [key, own] of closed) storedAt(key).closings.push(...own)
  const approvals = [...stored].map(([key, { rows }]) => {
    const [affiliate, plan] = ownerOf(key)
    // Where a period has a statement, its own approval counts.
    const others = periods.filter(
      (one) =>
        one.plan === plan &&
        !one.open.includes(affiliate) &&
        rows.every(({ period }) => period !== one.period),
    )
    const own = rows.map(({ period, approved_at }) => ({ of: period, at: approved_at }))
    const ofPeriods = others.map(({ period, closed_at }) => ({ of: period, at: closed_at }))
    return [key, [...own, ...ofPeriods]] as const
  })
  const books = [...stored].map(
    ([key, one]) => [key, toPlanBooks(one, manualFrom(account, key))] as const,
  )
  return { books: new Map(books), closings: closed, approvals: new Map(approvals) }
}

const ownerOf = (key: string): readonly [affiliate: string, plan: string] => JSON.parse(key)

/** Returns the first day that a manual entry of an affiliate and plan can have. */
function manualFrom({ inForce, range }: OpenAccount, key: string): number {
  const { anchor, unassignedFrom } = range
  const [affiliate, plan] = ownerOf(key)
  const assignment = assignmentsOf(inForce, affiliate).find((one) => one.plan === plan)
  return assignment ? Math.max(anchor, assignment.from) : unassignedFrom
}

const nothingStored = (): StoredBooks => ({
  rows: [],
  closings: [],
  manual: [],
  booked: new Map(),
  corrected: new Map(),
  corrections: new Map(),
  restored: new Map(),
  occurrences: new Map(),
})

/** Adds a line or an adjustment of the approved statement of a period to the books. */
function addItem(stored: StoredBooks, statement: string, item: BookedItem): void {
  const [rule, version, scope, text, of, known, droppedIn] = item
  const { booked, corrected, corrections, restored, occurrences } = stored
  const period = of ?? statement
  const amount = decimal(text)
  if (of !== null) addTo(innerMap(corrections, statement), of, amount)
  if (rule === null || version === null || scope === null) {
    addTo(innerMap(restored, period), droppedIn ?? period, negate(amount))
    return
  }
  const one = { rule, version, scope }
  let occurrence = known ?? 0
  if (of === null) {
    const counter = JSON.stringify([statement, rule, version, scope])
    occurrence = occurrences.get(counter) ?? 0
    occurrences.set(counter, occurrence + 1)
  } else addTo(corrected, of, amount)
  const lines = innerMap(booked, period)
  const key = lineKey({ ...one, occurrence })
  const sum = add(lines.get(key)?.amount ?? ZERO, amount)
  lines.set(key, { ...one, occurrence, amount: sum })
}

/** Returns the inner map of a key. Adds an empty one if there is none. */
function innerMap<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const found = maps.get(key) ?? new Map<string, T>()
  maps.set(key, found)
  return found
}

const addTo = (sums: Map<string, Decimal>, key: string, amount: Decimal): void => {
  sums.set(key, add(sums.get(key) ?? ZERO, amount))
}

function toPlanBooks(stored: StoredBooks, manualFrom: number): PlanBooks {
  const { rows, closings, manual, booked, corrected, corrections, restored } = stored
  const heads = rows.map((row) => [row, readHead(row)] as const)
  return {
    closedThrough: closings.at(-1)?.last ?? Number.NEGATIVE_INFINITY,
    statements: new Map(heads.map(([row, head]) => [row.period, closedStatement(row, head)])),
    booked,
    corrected,
    corrections,
    restored,
    manualFrom,
    received: new Set(
      heads.flatMap(
        ([, head]) => head?.received.map((one) => receivedKey(one.from, one.period)) ?? [],
      ),
    ),
    manual: manual.map(({ id, amount, reason, reference, at }) => ({
      id,
      amount,
      reason,
      reference,
      at,
    })),
  }
}

const readHead = ({ statement }: ClosedRow): StatementHead | null =>
  statement === null ? null : JSON.parse(statement)

function closedStatement(
  { closing, dropped }: ClosedRow,
  head: StatementHead | null,
): ClosedStatement {
  const transferred = head?.transferred
  return {
    closing: decimal(closing),
    dropped: decimal(dropped),
    transfer: transferred ? { ...transferred, amount: decimal(transferred.amount) } : null,
  }
}
