import { readOpenManualEntries } from '../../ledger/db/manual-entries.ts'
import { storedPeriod } from '../../platform/money/calendar.ts'
import { add, type Decimal, decimal, negate, ZERO } from '../../platform/money/decimal.ts'
import {
  type BookedItem,
  type ClosedStatement as ClosedRow,
  readClosedPeriods,
  readClosedStatements,
} from '../db/closings.ts'
import {
  type BookedLine,
  type Books,
  type ClosedStatement,
  lineKey,
  type ManualEntry,
  receivedKey,
} from '../engine/books.ts'
import { assignmentsOf, planKey } from '../engine/plans-in-force.ts'
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

/** Closings by `planKey`. */
type Closings = ReadonlyMap<string, readonly Closing[]>

/** The books of some affiliates of an account, and when their periods were closed: all by `planKey`. */
export interface AccountBooks {
  readonly books: Books
  /** In order of their last days. A period with a statement was closed when that was approved. */
  readonly closings: Closings
}

/**
 * Returns when a line of a closed period was last approved, in milliseconds: that includes what was stored before, also
 * the corrections of earlier periods.
 */
export function settledAt(
  { closings }: Pick<AccountBooks, 'closings'>,
  { affiliate_id, plan, period }: Pick<CorrectedLine, 'affiliate_id' | 'plan' | 'period'>,
): number {
  const { last } = storedPeriod(period)
  const own = closings.get(planKey(affiliate_id, plan)) ?? []
  return Math.max(0, ...own.filter((one) => one.last >= last).map(({ at }) => at))
}

const nothingBooked = () => ({
  statements: new Map<string, ClosedStatement>(),
  booked: new Map<string, Map<string, BookedLine>>(),
  corrections: new Map<string, Map<string, Decimal>>(),
  restored: new Map<string, Map<string, Decimal>>(),
  received: new Set<string>(),
  manual: [] as ManualEntry[],
})

/** The books of an affiliate and plan while they are read. */
type OpenBooks = ReturnType<typeof nothingBooked>

/** Reads the books of some affiliates: what was approved, and manual entries. */
export async function readBooks(
  account: OpenAccount,
  affiliates: readonly string[],
): Promise<AccountBooks> {
  const { db, row } = account
  const [periods, manual] = await Promise.all([
    readClosedPeriods(db, row.id, affiliates),
    readOpenManualEntries(db, row.id, affiliates),
  ])
  const open = new Map<string, OpenBooks>()
  const closings = new Map<string, Closing[]>()
  const openAt = (key: string): OpenBooks => inner(open, key, nothingBooked())
  for (const { affiliate_id, plan, id, amount, reason, reference, at } of manual) {
    openAt(planKey(affiliate_id, plan)).manual.push({ id, amount, reason, reference, at })
  }
  for await (const { part, items, ...one } of readClosedStatements(db, row.id, affiliates)) {
    const key = planKey(one.affiliate_id, one.plan)
    const own = openAt(key)
    if (part === 1) {
      addStatement(own, one)
      const closing = { last: storedPeriod(one.period).last, at: one.approved_at }
      inner(closings, key, []).push(closing)
    }
    for (const item of items) addItem(own, one.period, item)
  }
  for (const affiliate of affiliates) {
    const plans = new Set(assignmentsOf(account.inForce, affiliate).map(({ plan }) => plan))
    const isConcerned = (plan: string) => plans.has(plan) || open.has(planKey(affiliate, plan))
    for (const { plan, period, open: left, closed_at: at } of periods) {
      const key = planKey(affiliate, plan)
      const own = closings.get(key) ?? []
      const { last } = storedPeriod(period)
      const isClosed = isConcerned(plan) && !left.includes(affiliate)
      if (isClosed && own.every((one) => one.last !== last))
        closings.set(key, [...own, { last, at }])
    }
  }
  for (const own of closings.values()) own.sort((a, b) => a.last - b.last)
  const keys = [...new Set([...open.keys(), ...closings.keys()])]
  const books = keys.map((key) => {
    const closedThrough = closings.get(key)?.at(-1)?.last ?? Number.NEGATIVE_INFINITY
    return [key, { ...openAt(key), closedThrough, manualFrom: manualFrom(account, key) }] as const
  })
  return { books: new Map(books), closings }
}

const ownerOf = (key: string): readonly [affiliate: string, plan: string] => JSON.parse(key)

/** Returns the first day that a manual entry of an affiliate and plan can have. */
function manualFrom({ inForce, range }: OpenAccount, key: string): number {
  const { anchor, unassignedFrom } = range
  const [affiliate, plan] = ownerOf(key)
  const assignment = assignmentsOf(inForce, affiliate).find((one) => one.plan === plan)
  return assignment ? Math.max(anchor, assignment.from) : unassignedFrom
}

function addStatement(
  { statements, received }: OpenBooks,
  { period, closing, dropped, statement }: ClosedRow,
): void {
  const head: StatementHead | null = statement === null ? null : JSON.parse(statement)
  const transferred = head?.transferred
  statements.set(period, {
    closing: decimal(closing),
    dropped: decimal(dropped),
    transfer: transferred ? { ...transferred, amount: decimal(transferred.amount) } : null,
  })
  for (const one of head?.received ?? []) received.add(receivedKey(one.from, one.period))
}

/** Adds a line or an adjustment of the approved statement of a period to the books. */
function addItem(books: OpenBooks, statement: string, item: BookedItem): void {
  const [rule, version, scope, text, of, known, droppedIn] = item
  const { booked, corrections, restored } = books
  const period = of ?? statement
  const amount = decimal(text)
  if (of !== null) addTo(inner(corrections, statement, new Map()), of, amount)
  if (rule === null || version === null || scope === null) {
    addTo(inner(restored, period, new Map()), droppedIn ?? period, negate(amount))
    return
  }
  const lines = inner(booked, period, new Map<string, BookedLine>())
  const one = { rule, version, scope, occurrence: known ?? 0 }
  // The lines of a period come before its corrections, and count those before them.
  while (of === null && lines.has(lineKey(one))) one.occurrence += 1
  const key = lineKey(one)
  lines.set(key, { ...one, amount: add(lines.get(key)?.amount ?? ZERO, amount) })
}

/** Returns the value of a key. Adds an empty one if there is none. */
function inner<T>(all: Map<string, T>, key: string, empty: T): T {
  const found = all.get(key) ?? empty
  all.set(key, found)
  return found
}

const addTo = (sums: Map<string, Decimal>, key: string, amount: Decimal): void => {
  sums.set(key, add(sums.get(key) ?? ZERO, amount))
}
