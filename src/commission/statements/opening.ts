import { readHistories } from '../../ingest/db/histories.ts'
import { digest } from '../../platform/auth/secret.ts'
import {
  type ChangedCustomer,
  type ClosedState,
  type MarkedEnd,
  readChanged,
  readHolding,
  readMarks,
  type StoredState,
} from '../db/closed-states.ts'
import type { BooksOf } from '../engine/books.ts'
import type { Period } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import { memoize } from '../engine/memoize.ts'
import { type Plan, planKey } from '../engine/plans-in-force.ts'
import { NO_STATE, type PlanState } from '../engine/state.ts'
import type { ComputedRange } from './range.ts'
import type { AccountSource } from './source.ts'

// Where a computation begins: behind the last closed period whose stored states hold.

/** What the statement of an affiliate depends on. */
export interface Dependencies {
  /** The affiliates whose lines are computed. */
  readonly settled: ReadonlySet<string>
  /** The affiliates whose customers' facts are read. */
  readonly read: ReadonlySet<string>
}

/** What some affiliates start from. */
export interface Opening {
  /** The last day whose facts count in the states, in days since 1970; -Infinity if all are read. */
  readonly last: number
  /** The ends of closed periods at which facts of customers may be kept. */
  readonly ends: readonly MarkedEnd[]
  readonly affiliates: readonly string[]
  readonly stateOf: (affiliate: string, plan: string) => PlanState
}

/** Returns the opening of affiliates that are computed from the first record on. */
export const fromFirstRecord = (affiliates: readonly string[]): Opening => ({
  last: Number.NEGATIVE_INFINITY,
  ends: [],
  affiliates,
  stateOf: () => NO_STATE,
})

/** The version of what states are. Increment it when they are computed in another way. */
const VERSION = 1

/** The closed periods whose states are looked at. */
const PERIODS = 6

/** The digests of what stored results depend on. */
export interface Forms {
  /** The settings and plans. */
  readonly form: Promise<string>
  /** Returns also on which rates the states at the end of a day depend. It computes that of each day once. */
  readonly formOf: (last: number) => Promise<string>
}

/** Returns the forms of an account. */
export function formsOf(
  { inForce, settings, account }: AccountSource,
  { rates }: Pick<Context, 'rates'>,
): Forms {
  const { statusMap, statusMembers, outflows, eventCurrencies } = settings
  const terms = [...inForce.plans.values()].map(({ plan, versions }) => [
    plan,
    versions.map(({ version, source }) => [version, source]),
  ])
  const form = digest(
    JSON.stringify([
      VERSION,
      account.amount_signs,
      account.book_zone,
      statusMap,
      statusMembers,
      terms,
      [...outflows],
      [...eventCurrencies],
    ]),
  )
  // Rates of later days may be missing, or show that there is none.
  const formOf = memoize(
    async (last: number) => `${await form} ${rates('USD', last) !== 'fx_pending'}`,
  )
  return { form, formOf }
}

/** What openings depend on. */
interface OpeningInput {
  readonly source: AccountSource
  readonly range: ComputedRange
  readonly formOf: Forms['formOf']
  readonly booksOf: BooksOf
  readonly dependenciesOf: (affiliate: string) => Dependencies
}

/** Returns the ends that are looked at, those of them at which anything is closed, and their states that hold of all on which affiliates depend. */
export async function findStates(
  { source, range, formOf, dependenciesOf }: Omit<OpeningInput, 'booksOf'>,
  affiliates: readonly string[],
): Promise<{
  ends: readonly Period[]
  closed: readonly MarkedEnd[]
  states: readonly ClosedState[]
}> {
  const before = range.periods.filter(({ last }) => last < range.period.first)
  const ends = source.periodKinds.flatMap((kind) =>
    before.filter((one) => one.kind === kind).slice(-PERIODS),
  )
  if (ends.length === 0) return { ends, closed: [], states: [] }
  const marked = await readMarks(source.db, source.account.id, ends)
  const needed = new Set(affiliates.flatMap((one) => [...dependenciesOf(one).settled]))
  const found = await readHolding(source.db, source.account.id, [...needed], marked)
  const changes = await lateChangesOf(source, found, Math.max(...ends.map(({ last }) => last)))
  const states: ClosedState[] = []
  for (const { id, last } of ends) {
    const form = await formOf(last)
    for (const one of found) {
      if (one.period !== id || one.form !== form) continue
      const { read } = dependenciesOf(one.affiliate_id)
      const isChanged = ({ affiliates, day, seq }: LateChange): boolean =>
        day <= last && seq > one.position && affiliates.some((own) => own !== null && read.has(own))
      if (changes !== null && !changes.some(isChanged)) states.push(one)
    }
  }
  const closed = marked.filter(({ period }) => found.some((one) => one.period === period))
  return { ends, closed, states }
}

/** Divides affiliates by what they start from: each from the latest states that hold of all on which it depends. */
export async function findOpenings(
  input: OpeningInput,
  affiliates: readonly string[],
): Promise<Opening[]> {
  const dependenciesOf = memoize(input.dependenciesOf)
  const {
    ends,
    closed,
    states: holding,
  } = await findStates({ ...input, dependenciesOf }, affiliates)
  if (ends.length === 0) return [fromFirstRecord(affiliates)]
  const byPeriod = Map.groupBy(holding, ({ period }) => period)
  const states = new Map(
    [...byPeriod].map(([id, own]) => [
      id,
      new Map(own.map((one): [string, PlanState] => [keyOf(one), JSON.parse(one.state)])),
    ]),
  )
  const latestFirst = ends.toSorted((a, b) => b.last - a.last)
  const byEnd = Map.groupBy(affiliates, (affiliate) => {
    const { settled, read } = dependenciesOf(affiliate)
    // A month and the weeks of other plans overlap: what each of them leaves is not enough to begin between them.
    const plans = [...new Set([...settled, ...read])].flatMap((one) => plansOf(input, one))
    return latestFirst.find(
      ({ id, kind, last }) =>
        plans.every(({ first }) => first.period === kind) &&
        [...settled].every((one) => isKnown(input, one, last, states.get(id))),
    )
  })
  return [...byEnd].map(([end, own]) => {
    if (end === undefined) return fromFirstRecord(own)
    const known = states.get(end.id)
    const stateOf = (affiliate: string, plan: string) =>
      known?.get(planKey(affiliate, plan)) ?? NO_STATE
    const { last } = end
    return { last, ends: closed, affiliates: own, stateOf }
  })
}

/** The late changes that one computation looks at. If there are more, it begins with the first record. */
const MAX_CHANGES = 10_000

/** A day of which late records have changed, and the affiliates of their customer. */
interface LateChange extends Pick<ChangedCustomer, 'day' | 'seq'> {
  readonly affiliates: readonly (string | null)[]
}

/** Returns the late changes since the first of some states was computed; null if they are too many. */
async function lateChangesOf(
  source: AccountSource,
  states: readonly StoredState[],
  last: number,
): Promise<LateChange[] | null> {
  if (states.length === 0) return []
  const { db, account } = source
  const position = Math.min(...states.map((one) => one.position))
  const found = await readChanged(db, {
    account: account.id,
    position,
    last,
    most: MAX_CHANGES + 1,
  })
  if (found.length > MAX_CHANGES) return null
  const ids = new Set(found.map(({ customer_id }) => customer_id))
  const histories = await readHistories(source, account.id, [...ids])
  return found.map(({ customer_id, day, seq }) => ({
    day,
    seq,
    affiliates: (histories.get(customer_id)?.affiliations ?? []).map((one) => one.affiliate_id),
  }))
}

const keyOf = ({ affiliate_id, plan }: ClosedState): string => planKey(affiliate_id, plan)

/** Returns the plans under which an affiliate can have lines. */
function plansOf({ source: { inForce }, booksOf }: OpeningInput, affiliate: string): Plan[] {
  const assigned = new Set(inForce.assignmentsOf(affiliate).map(({ plan }) => plan))
  return [...inForce.plans.values()].filter(
    ({ plan }) => assigned.has(plan) || booksOf(affiliate, plan) !== null,
  )
}

/** Whether it is known what all plans of an affiliate leave at the end of a day. */
const isKnown = (
  input: OpeningInput,
  affiliate: string,
  last: number,
  states: ReadonlyMap<string, PlanState> | undefined,
): boolean =>
  plansOf(input, affiliate).every(
    (plan) =>
      states?.has(planKey(affiliate, plan.plan)) || leavesNothing(input, affiliate, last, plan),
  )

/** Whether a plan had not begun for an affiliate by the end of a day, and has nothing to state up to it. */
function leavesNothing(
  { source: { inForce }, booksOf }: OpeningInput,
  affiliate: string,
  last: number,
  { plan, versions }: Plan,
): boolean {
  const assignments = inForce.assignmentsOf(affiliate).filter((one) => one.plan === plan)
  const books = booksOf(affiliate, plan)
  const isBooked = books !== null && books.statements.size + books.manual.length > 0
  if (isBooked || assignments.some(({ from }) => from <= last)) return false
  // Measures of earlier periods are stated even if they are 0.
  const isMeasured = versions.some(({ rules }) =>
    rules.some(({ tiers }) => tiers !== null && tiers.window !== 'period'),
  )
  return !isMeasured || (books?.closedThrough ?? Number.NEGATIVE_INFINITY) >= last
}
