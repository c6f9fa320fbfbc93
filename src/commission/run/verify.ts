import type { ReadCall } from '../../platform/http/operation.ts'
import { dayNumber, periodOf } from '../../platform/money/calendar.ts'
import { todayOf } from '../../platform/zone.ts'
import type { ClosedState } from '../db/closed-states.ts'
import { type Figure, readFigures, type StoredDraft } from '../db/drafts.ts'
import type { PlanState } from '../engine/state.ts'
import { REQUEST_LIMITS } from '../limits.ts'
import { type OpenAccount, openAccount } from './account.ts'
import { computeDrafts } from './morning.ts'
import { readStored, withinLimit } from './on-request.ts'
import { lastOfRun, settledAffiliates } from './runs.ts'
import { findStates } from './starts.ts'

/** The most differences that an answer names. */
export const VERIFY_LIMITS = { differences: 1000 }

const ADVICE = 'Narrow it with `affiliate_id`.'

/** Compares what is stored of an account, or of one of its affiliates, with what all records come to. */
export function verifyPeriods(
  { env, grant, session }: ReadCall,
  { affiliate_id }: { affiliate_id?: string | undefined },
) {
  return withinLimit(grant, ADVICE, async () => {
    const { stored } = await readStored(env, grant, session)
    const today = dayNumber(todayOf(grant))
    const compared = []
    for (const kind of stored.periodKinds) {
      const account = await openAccount(stored, await lastOfRun(stored, periodOf(today, kind)))
      const affiliates = affiliate_id ? [affiliate_id] : await settledAffiliates(account)
      compared.push(...(await compareAll(account, affiliates)))
    }
    const data = compared.filter((one) => one.stored !== one.computed)
    return {
      data: data.slice(0, VERIFY_LIMITS.differences),
      total: data.length,
      compared: compared.length,
    }
  })
}

async function compareAll(account: OpenAccount, affiliates: readonly string[]) {
  const { db, row, range } = account
  const computing = { maxFacts: REQUEST_LIMITS.facts, isWhole: true }
  const { drafts, results } = await computeDrafts(account, affiliates, computing)
  const query = { account: row.id, period: range.period.id, affiliates }
  const { states } = await findStates(account, affiliates)
  const left = states.filter((one) => affiliates.includes(one.affiliate_id))
  const places = new Set(left.map(placeOf))
  const closed = results.map(({ affiliate: affiliate_id, plan: { plan }, period, state }) => ({
    affiliate_id,
    plan,
    period: period.id,
    state: JSON.stringify(state),
  }))
  return [
    ...compare(await readFigures(db, query), drafts.flatMap(figuresOfDraft)),
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
