import { readHistories } from '../../ingest/db/histories.ts'
import { memoize } from '../../platform/memoize.ts'
import type { Period } from '../../platform/money/calendar.ts'
import {
  closedRateFinder,
  type LoadedRates,
  type RateFinder,
  rateFinder,
} from '../../platform/money/exchange.ts'
import {
  type ChangedCustomer,
  type ClosedState,
  type MarkedEnd,
  putClosedStates,
  readChanged,
  readHolding,
  readMarks,
  type StoredState,
} from '../db/closed-states.ts'
import { readLastDays } from '../db/rates.ts'
import { booksOf } from '../engine/books.ts'
import { assignedPlans, assignmentsOf, type Plan, planKey } from '../engine/plans-in-force.ts'
import type { Beginning, PlanResult } from '../engine/settlement.ts'
import type { PlanState } from '../engine/state.ts'
import { dependencies, type OpenAccount } from './account.ts'
import { type AccountBooks, type Closing, readBooks } from './read-books.ts'
import { ratesWithin } from './stored-account.ts'

// Where a computation begins: behind the last closed period whose kept states hold, and with which rates.

/** Affiliates that are computed together: they start from the same day, and the same rates apply to them. */
export interface Start extends Beginning, Pick<AccountBooks, 'closings'> {
  /** With the rates that apply. */
  readonly account: OpenAccount
  readonly affiliates: readonly string[]
  /** The affiliates and plans (`planKey`) to which these rates apply; null: all of the affiliates. */
  readonly plans: ReadonlySet<string> | null
  /** The last day whose facts count in the states, in days since 1970; -Infinity if all are read. */
  readonly last: number
  /** The ends of closed periods at which facts of customers may be kept. */
  readonly ends: readonly MarkedEnd[]
  /** The periods that are computed, of all kinds. */
  readonly periods: readonly Period[]
  /** Whether what closed periods leave may be kept: not where other rates apply than those of today. */
  readonly isKept: boolean
}

/**
 * Divides affiliates by what they start from, each from the latest states that hold of all on which it depends. Where
 * affiliates see other rates of closed days than today's, all of them start from the first record, with the same result.
 *
 * @param isWhole Whether all start from the first record.
 */
export async function startsOf(
  account: OpenAccount,
  affiliates: readonly string[],
  isWhole = false,
): Promise<Start[]> {
  const found = await readBooks(account, affiliates)
  const views = await rateViews(account, found, affiliates)
  const isKept = views.every((view) => view.account === account)
  const openings = (wanted: readonly string[]) =>
    isKept && !isWhole
      ? findOpenings(account, found, wanted)
      : [{ ...FIRST_RECORD, affiliates: wanted }]
  const starts: Start[] = []
  for (const view of views) {
    for (const opening of await openings(view.affiliates)) {
      starts.push({ ...found, ...view, isKept, ...opening, ...periodsAfter(account, opening.last) })
    }
  }
  return starts
}

/** Returns the start of affiliates from the first record, as if nothing were approved or entered. */
export const unbooked = (account: OpenAccount, affiliates: readonly string[]): Start => ({
  ...FIRST_RECORD,
  ...periodsAfter(account, FIRST_RECORD.last),
  account,
  affiliates,
  plans: null,
  books: new Map(),
  closings: new Map(),
  isKept: false,
})

/** What affiliates start from. */
type Opening = Pick<Start, 'last' | 'ends' | 'affiliates' | 'states'>

const FIRST_RECORD: Omit<Opening, 'affiliates'> = {
  last: Number.NEGATIVE_INFINITY,
  ends: [],
  states: new Map(),
}

const periodsAfter = ({ range }: OpenAccount, last: number) => ({
  firstDay: Math.max(range.firstDay, last + 1),
  periods: range.periods.filter((one) => one.last > last),
})

/** Affiliates to which the same rates apply. */
type RateView = Pick<Start, 'account' | 'affiliates' | 'plans'>

/**
 * Returns the views of some affiliates: in closed periods the rates apply that were known when the period was closed, in
 * open periods the current ones (§16.2). Usually there is only one view: there are several only if rates of closed days
 * changed after the closing.
 */
async function rateViews(
  account: OpenAccount,
  { closings }: Pick<AccountBooks, 'closings'>,
  affiliates: readonly string[],
): Promise<RateView[]> {
  const { inForce, range, loaded } = account
  const keys = affiliates.flatMap((affiliate) =>
    [...inForce.plans.keys()].map((plan) => ({ affiliate, key: planKey(affiliate, plan) })),
  )
  const changes = changesIn(
    loaded,
    keys.flatMap(({ key }) => closings.get(key) ?? []),
  )
  if (changes.length === 0) return [{ account, affiliates, plans: null }]
  const lastDayAt = await readLastDays(account.directory)
  const now = rateFinder(loaded)
  /** Returns the rates that were known at a time, in milliseconds. */
  const finderAt = memoize((at: number): RateFinder => {
    const known = { rows: loaded.rows, lastDay: lastDayAt(at) }
    return closedRateFinder(rateFinder(known, at), now)
  })
  /** Returns closings as of the last moment at which the rates were those of their own: none if they still are. */
  const outdated = (own: readonly Closing[] = []): Closing[] =>
    own.flatMap(({ last, at }) => {
      const next = changes.find((change) => change > at)
      return next === undefined ? [] : [{ last, at: next - 1 }]
    })
  const groups = Map.groupBy(keys, ({ key }) => JSON.stringify(outdated(closings.get(key))))
  return [...groups].map(([text, own]) => {
    const ofGroup: readonly Closing[] = JSON.parse(text)
    const find: RateFinder = (currency, day) => {
      const at = closedAt(ofGroup, day)
      return (at === Infinity ? now : finderAt(at))(currency, day)
    }
    return {
      account: { ...account, ...ratesWithin(find, range.rateDays) },
      affiliates: [...new Set(own.map(({ affiliate }) => affiliate))],
      plans: new Set(own.map(({ key }) => key)),
    }
  })
}

/**
 * Returns the times at which rates of closed days became known or were corrected after these days were closed, in
 * order. A rate may apply to the 7 days after its own, which were closed no earlier.
 */
function changesIn({ rows }: LoadedRates, closings: readonly Closing[]): number[] {
  const late = rows.filter(({ day, known_from }) => known_from > closedAt(closings, day))
  return [...new Set(late.map(({ known_from }) => known_from))].sort((a, b) => a - b)
}

/** Returns when a day was closed first. */
const closedAt = (closings: readonly Closing[], day: number): number =>
  closings.reduce((first, { last, at }) => (last >= day ? Math.min(first, at) : first), Infinity)

/** Returns an account with the rates that apply to one affiliate and plan. */
export async function accountFor(
  account: OpenAccount,
  affiliate: string,
  plan: string,
): Promise<OpenAccount> {
  const books = await readBooks(account, [affiliate])
  const views = await rateViews(account, books, [affiliate])
  const view = views.find(({ plans }) => plans?.has(planKey(affiliate, plan)) ?? true)
  return view?.account ?? account
}

/** The closed periods whose states are looked at. */
const PERIODS = 6

/** Returns on what the states at the end of a day depend besides records. Rates of later days may be missing, or show that there is none. */
const formOf = ({ form, rates }: OpenAccount, last: number): string =>
  `${form} ${rates('USD', last) !== 'fx_pending'}`

/** Returns the ends that are looked at, those of them at which anything is closed, and their states that hold of all on which affiliates depend. */
async function findStates(
  account: OpenAccount,
  affiliates: readonly string[],
): Promise<{
  ends: readonly Period[]
  closed: readonly MarkedEnd[]
  states: readonly ClosedState[]
}> {
  const { db, row, range } = account
  const dependenciesOf = dependencies(account)
  const before = range.periods.filter(({ last }) => last < range.period.first)
  const ends = account.periodKinds.flatMap((kind) =>
    before.filter((one) => one.kind === kind).slice(-PERIODS),
  )
  if (ends.length === 0) return { ends, closed: [], states: [] }
  const marked = await readMarks(db, row.id, ends)
  const needed = new Set(affiliates.flatMap((one) => [...dependenciesOf(one).settled]))
  const found = await readHolding(db, row.id, [...needed], marked)
  const changes = await lateChangesOf(account, found, Math.max(...ends.map(({ last }) => last)))
  const states: ClosedState[] = []
  for (const { id, last } of ends) {
    const form = formOf(account, last)
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

/** Divides affiliates by the latest states that hold of all on which they depend. */
async function findOpenings(
  account: OpenAccount,
  books: Pick<AccountBooks, 'books'>,
  affiliates: readonly string[],
): Promise<Opening[]> {
  const dependenciesOf = dependencies(account)
  const { ends, closed, states: holding } = await findStates(account, affiliates)
  if (ends.length === 0) return [{ ...FIRST_RECORD, affiliates }]
  const byPeriod = Map.groupBy(holding, ({ period }) => period)
  const statesAt = memoize(
    (id: string) =>
      new Map(
        (byPeriod.get(id) ?? []).map((one): [string, PlanState] => [
          planKey(one.affiliate_id, one.plan),
          JSON.parse(one.state),
        ]),
      ),
  )
  const latestFirst = ends.toSorted((a, b) => b.last - a.last)
  const plansFor = (affiliate: string) => plansOf(account, books, affiliate)
  const byEnd = Map.groupBy(affiliates, (affiliate) => {
    const { settled, read } = dependenciesOf(affiliate)
    // A month and the weeks of other plans overlap: what each of them leaves is not enough to begin between them.
    const plans = [...new Set([...settled, ...read])].flatMap(plansFor)
    return latestFirst.find(
      ({ id, kind, last }) =>
        plans.every(({ first }) => first.period === kind) &&
        [...settled].every((one) =>
          plansFor(one).every(
            (plan) =>
              statesAt(id).has(planKey(one, plan.plan)) ||
              leavesNothing(account, books, [one, plan], last),
          ),
        ),
    )
  })
  return [...byEnd].map(([end, own]) =>
    end === undefined
      ? { ...FIRST_RECORD, affiliates: own }
      : { last: end.last, ends: closed, affiliates: own, states: statesAt(end.id) },
  )
}

/** The late changes that one computation looks at. If there are more, it begins with the first record. */
const MAX_CHANGES = 10_000

/** A day of which late records have changed, and the affiliates of their customer. */
interface LateChange extends Pick<ChangedCustomer, 'day' | 'seq'> {
  readonly affiliates: readonly (string | null)[]
}

/** Returns the late changes since the first of some states was computed; null if they are too many. */
async function lateChangesOf(
  account: OpenAccount,
  states: readonly StoredState[],
  last: number,
): Promise<LateChange[] | null> {
  if (states.length === 0) return []
  const { db, row } = account
  const position = Math.min(...states.map((one) => one.position))
  const found = await readChanged(db, {
    account: row.id,
    position,
    last,
    most: MAX_CHANGES + 1,
  })
  if (found.length > MAX_CHANGES) return null
  const ids = new Set(found.map(({ customer_id }) => customer_id))
  const histories = await readHistories(account, row.id, [...ids])
  return found.map(({ customer_id, day, seq }) => ({
    day,
    seq,
    affiliates: (histories.get(customer_id)?.affiliations ?? []).map((one) => one.affiliate_id),
  }))
}

/** Returns the plans under which an affiliate can have lines. */
function plansOf(
  { inForce }: OpenAccount,
  { books }: Pick<AccountBooks, 'books'>,
  affiliate: string,
): Plan[] {
  const assigned = assignedPlans(inForce, affiliate)
  return [...inForce.plans.values()].filter(
    (one) => assigned.includes(one) || booksOf(books, affiliate, one.plan) !== null,
  )
}

/** Whether a plan had not begun for an affiliate by the end of a day, and has nothing to state up to it. */
function leavesNothing(
  { inForce }: OpenAccount,
  { books }: Pick<AccountBooks, 'books'>,
  [affiliate, { plan, versions }]: readonly [string, Plan],
  last: number,
): boolean {
  const assignments = assignmentsOf(inForce, affiliate).filter((one) => one.plan === plan)
  const own = booksOf(books, affiliate, plan)
  const isBooked = own !== null && own.statements.size + own.manual.length > 0
  if (isBooked || assignments.some(({ from }) => from <= last)) return false
  // Measures of earlier periods are stated even if they are 0.
  const isMeasured = versions.some(({ rules }) =>
    rules.some(({ tiers }) => tiers !== null && tiers.window !== 'period'),
  )
  return !isMeasured || (own?.closedThrough ?? Number.NEGATIVE_INFINITY) >= last
}

/** The day of the first fact and the signup of a customer with facts before it, and the affiliates. */
export interface EarlyCustomer {
  readonly first: number
  readonly signup: number
  readonly owners: readonly string[]
}

/**
 * Keeps what closed periods leave. Where lines differ from what is booked of them, `form` is empty: no settings have it, so
 * an earlier state that would hold again with its settings is no longer found. What becomes known of a customer marks the
 * signup: where facts before it count, nothing would tell that the state no longer holds.
 *
 * @param early The customers with facts before their signup.
 * @param position From where changes are read that were made after the computation began.
 */
export async function keep(
  { account, isKept }: Start,
  results: readonly PlanResult[],
  early: readonly EarlyCustomer[],
  position: number,
): Promise<void> {
  const kept = results.filter(({ closed, period }) => {
    const isEarly = ({ first, signup }: EarlyCustomer) =>
      first <= period.last && period.last < signup
    return isKept && closed && !early.some(isEarly)
  })
  const states = kept.map(({ affiliate, plan, period, differences, state }) => ({
    affiliate_id: affiliate,
    plan: plan.plan,
    period: period.id,
    form: differences.length === 0 ? formOf(account, period.last) : '',
    state: JSON.stringify(state),
  }))
  await putClosedStates(account.db, account.row.id, states, position)
}
