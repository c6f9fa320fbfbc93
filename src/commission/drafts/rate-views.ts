import { type ClosedBand, readRateChanges } from '../../db/commission/books/rate-changes.ts'
import { loadRates } from '../../db/commission/load-rates.ts'
import type { PlanResult } from '../engine/account-input.ts'
import type { Context } from '../engine/context.ts'
import { memoize } from '../engine/memoize.ts'
import { planKey } from '../engine/plans-in-force.ts'
import { closedRateFinder, type RateFinder, rateFinder } from '../engine/rates.ts'
import { type RateDays, ratesOfFinder, withinDays } from '../facts/source.ts'
import type { AccountBooks } from './books.ts'
import type { Closing } from './closings.ts'
import type { Computation } from './computation.ts'

/**
 * Affiliates and plans to which the same rates apply: in closed periods the rates that were known when
 * the period was closed, in open periods the current ones (§16.2).
 */
export interface RateView {
  /** The affiliates that have a result in the view. */
  readonly wanted: readonly string[]
  readonly context: Context & RateDays
  /** Whether the rates of the view apply to a result. */
  readonly covers: (result: Pick<PlanResult, 'affiliate' | 'plan'>) => boolean
}

/** Days up to `last` use the rates known before change `epoch`. */
interface RateSpan {
  readonly last: number
  readonly epoch: number
}

/**
 * Returns the views of some affiliates. Usually there is only one: there are several only if rates of
 * closed days changed after the closing.
 */
export async function rateViews(
  computation: Computation,
  { closingsOf }: Pick<AccountBooks, 'closingsOf'>,
  affiliates: readonly string[],
): Promise<RateView[]> {
  const { source, range } = computation
  const keys = affiliates.flatMap((affiliate) =>
    [...source.inForce.plans.keys()].map((plan) => ({ affiliate, plan })),
  )
  const all = keys.flatMap(({ affiliate, plan }) => closingsOf(affiliate, plan))
  const changes = await readRateChanges(source.directory, bandsOf(all, range.firstRate))
  if (changes.length === 0) {
    return [
      { wanted: affiliates, context: computation.context, covers: coversAffiliates(affiliates) },
    ]
  }
  const spansOf = (affiliate: string, plan: string): RateSpan[] =>
    rateSpans(closingsOf(affiliate, plan), changes)
  const groups = Map.groupBy(keys, ({ affiliate, plan }) =>
    JSON.stringify(spansOf(affiliate, plan)),
  )
  const finderOf = epochFinders(computation, changes)
  const now = await finderOf(changes.length)
  const views: RateView[] = []
  for (const [text, own] of groups) {
    const members = new Set(own.map(({ affiliate, plan }) => planKey(affiliate, plan)))
    views.push({
      wanted: [...new Set(own.map(({ affiliate }) => affiliate))],
      context: await contextOf(computation, JSON.parse(text), finderOf, now),
      covers: ({ affiliate, plan }) => members.has(planKey(affiliate, plan.plan)),
    })
  }
  return views
}

function coversAffiliates(affiliates: readonly string[]): RateView['covers'] {
  const wanted = new Set(affiliates)
  return ({ affiliate }) => wanted.has(affiliate)
}

/** Divides the closed days into bands, each with the instant at which its days were first closed. */
function bandsOf(closings: readonly Closing[], firstDay: number): ClosedBand[] {
  const lasts = [...new Set(closings.map(({ last }) => last))].sort((a, b) => a - b)
  return lasts.map((last, i) => ({
    first: (lasts[i - 1] ?? firstDay - 1) + 1,
    last,
    at: closedAt(closings, last),
  }))
}

/** Returns when a day was closed first. */
const closedAt = (closings: readonly Closing[], day: number): number =>
  closings.reduce((first, { last, at }) => (last >= day ? Math.min(first, at) : first), Infinity)

/**
 * Returns the spans of the closed days of an affiliate and plan. Joins neighbours with the same
 * rates.
 */
function rateSpans(closings: readonly Closing[], changes: readonly number[]): RateSpan[] {
  const found: RateSpan[] = []
  for (const { last } of closings) {
    const at = closedAt(closings, last)
    const epoch = changes.findLastIndex((change) => change <= at) + 1
    if (found.at(-1)?.epoch === epoch) found.pop()
    found.push({ last, epoch })
  }
  return found.filter(({ epoch }, i) => epoch < changes.length || i < found.length - 1)
}

/**
 * Returns a function that returns the rates of an epoch, and loads each epoch once. The epoch after the
 * last change has the current rates.
 */
function epochFinders(
  { source: { directory }, range: { rateDays: days } }: Computation,
  changes: readonly number[],
): (epoch: number) => Promise<RateFinder> {
  const load = async (at: number | null): Promise<RateFinder> =>
    rateFinder(await loadRates(directory, { currencies: null, days, at }))
  const finderOf = memoize(async (epoch: number): Promise<RateFinder> => {
    const next = changes[epoch]
    if (next === undefined) return load(null)
    const now = await finderOf(changes.length)
    return closedRateFinder(await load(next - 1), now)
  })
  return finderOf
}

/** Returns a context with the rates of their epochs for closed days, and current rates for other days. */
async function contextOf(
  { range, context }: Computation,
  spans: readonly RateSpan[],
  finderOf: (epoch: number) => Promise<RateFinder>,
  now: RateFinder,
): Promise<Context & RateDays> {
  const finders: { last: number; find: RateFinder }[] = []
  for (const { last, epoch } of spans) finders.push({ last, find: await finderOf(epoch) })
  const find: RateFinder = (currency, day) => {
    const closed = finders.find(({ last }) => day <= last)
    return (closed?.find ?? now)(currency, day)
  }
  return { ...context, ...ratesOfFinder(withinDays(find, range.rateDays)) }
}

/** Returns a computation with the rates that apply to one affiliate and plan. */
export async function viewOf(
  computation: Computation,
  books: AccountBooks,
  affiliate: string,
  plan: string,
): Promise<Computation> {
  const views = await rateViews(computation, books, [affiliate])
  const { source } = computation
  const found = source.inForce.plans.get(plan)
  const view = views.find(({ covers }) => found && covers({ affiliate, plan: found }))
  return view ? { ...computation, context: view.context } : computation
}
