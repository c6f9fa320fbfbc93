import type { ReadCall } from '../../platform/http/operation.ts'
import { todayOf } from '../../platform/zone.ts'
import type { ClosedState } from '../db/closed-states.ts'
import { type Figure, readFigures, type StoredDraft } from '../db/drafts.ts'
import { dayNumber, periodOf } from '../engine/calendar.ts'
import type { PlanState } from '../engine/state.ts'
import { type Computation, openComputation } from './compute.ts'
import { REQUEST_LIMITS } from './limits.ts'
import { readStored, withinLimit } from './on-request.ts'
import { findStates } from './opening.ts'
import { lastOfRun, settledAffiliates } from './run.ts'
import { computeDrafts } from './store.ts'

/** The most differences that an answer names. */
export const VERIFY_LIMITS = { differences: 1000 }

const ADVICE = 'Narrow it with `affiliate_id`.'

/** Compares what is stored of an account, or of one of its affiliates, with what all records come to. */
export function verifyPeriods(
  { env, grant, session }: ReadCall,
  { affiliate_id }: { affiliate_id?: string | undefined },
) {
  return withinLimit(grant, ADVICE, async () => {
    const { source } = await readStored(env, grant, session)
    const today = dayNumber(todayOf(grant))
    const compared = []
    for (const kind of source.periodKinds) {
      const last = await lastOfRun(source, periodOf(today, kind))
      const computation = await openComputation(source, last)
      const affiliates = affiliate_id ? [affiliate_id] : await settledAffiliates(computation)
      compared.push(...(await compareAll(computation, affiliates)))
    }
    const data = compared.filter(({ stored, computed }) => stored !== computed)
    return {
      data: data.slice(0, VERIFY_LIMITS.differences),
      total: data.length,
      compared: compared.length,
    }
  })
}

async function compareAll(computation: Computation, affiliates: readonly string[]) {
  const { source, range } = computation
  const fromFirst = { ...computation, usesStates: false }
  const { drafts, periods } = await computeDrafts(fromFirst, affiliates, REQUEST_LIMITS.facts)
  const query = { account: source.account.id, period: range.period.id, affiliates }
  const { states } = await findStates(computation, affiliates)
  const left = states.filter((one) => affiliates.includes(one.affiliate_id))
  const places = new Set(left.map(placeOf))
  const closed = periods.flatMap(({ period: { id: period }, results }) =>
    results.map(({ affiliate: affiliate_id, plan: { plan }, state }) => ({
      affiliate_id,
      plan,
      period,
      state: JSON.stringify(state),
    })),
  )
  return [
    ...compare(await readFigures(source.db, query), drafts.flatMap(figuresOfDraft)),
    ...compare(
      left.flatMap(figuresOfState),
      closed.filter((one) => places.has(placeOf(one))).flatMap(figuresOfState),
    ),
  ]
}

const placeOf = ({ affiliate_id, plan, period }: Omit<Figure, 'figure' | 'amount'>): string =>
  JSON.stringify([affiliate_id, plan, period])

function figuresOfDraft(draft: StoredDraft): Figure[] {
  const { affiliate_id, plan, period, payable, closing } = draft
  const items: { id: string; amount: string }[] = draft.lines.flatMap((part) => JSON.parse(part))
  return [{ id: 'payable', amount: payable }, { id: 'closing', amount: closing }, ...items].map(
    ({ id, amount }) => ({ affiliate_id, plan, period, figure: id, amount }),
  )
}

/** Returns each part of a state, such as `carries ["net",1,""]`. */
function figuresOfState({
  affiliate_id,
  plan,
  period,
  state,
}: Omit<ClosedState, 'form'>): Figure[] {
  const { closing, ...others }: PlanState = JSON.parse(state)
  const parts = Object.entries(others).flatMap(([name, own]) =>
    Object.entries(own).map(([key, part]) => [`${name} ${key}`, JSON.stringify(part)] as const),
  )
  return [['closing', closing] as const, ...parts].map(([figure, amount]) => ({
    affiliate_id,
    plan,
    period,
    figure,
    amount,
  }))
}

/** Returns each figure as it is stored, and as it is computed. */
function compare(stored: readonly Figure[], computed: readonly Figure[]) {
  const keyOf = (one: Figure): string => JSON.stringify([placeOf(one), one.figure])
  const was = new Map(stored.map((one) => [keyOf(one), one.amount]))
  const is = new Map(computed.map((one) => [keyOf(one), one.amount]))
  const all = new Map([...stored, ...computed].map((one) => [keyOf(one), one]))
  return [...all].map(([key, { amount: _, ...place }]) => ({
    ...place,
    stored: was.get(key) ?? null,
    computed: is.get(key) ?? null,
  }))
}
