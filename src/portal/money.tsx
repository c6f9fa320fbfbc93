import { dayBefore } from '../pages/base/page.ts'
import type { listAffiliatePayouts } from '../payouts/own/money.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { sumOfMoney } from '../platform/money/sums.ts'
import { portalPath } from './layout.tsx'
import { Sentence } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

// Where money is, in words: the same ones on every page.

type Owed = Omit<AnswerOf<typeof listAffiliatePayouts>, 'data' | 'meta'>

/** What of a statement is not paid, and where it is. */
export type OwedMoney = Owed['money'][number]

/** Where money is. */
export type Place = Pick<OwedMoney, 'state' | 'on' | 'reason' | 'method'>

/** Says where money is. */
export function placeText({ state, on, reason, method }: Place, visit: MemberVisit): string {
  const { words, speech, today } = visit
  const isToCome = on !== null && on > dayBefore(today, 0)
  const values = {
    day: on === null ? '' : speech.day(on),
    reason: reason?.replace(/\.$/, '') ?? '',
  }
  switch (state) {
    case 'approved':
      return on === null ? words.money_approved_only : fill(words.money_approved, values)
    case 'preparing':
      return fill(words[isToCome ? 'money_preparing_for' : 'money_preparing'], values)
    case 'sent': {
      const sent = fill(words[isToCome ? 'money_sent_for' : 'money_sent'], values)
      return method === 'sepa' || method === 'bank' ? `${sent} · ${words.money_arrives}` : sent
    }
    case 'came_back':
      return fill(words[reason ? 'money_came_back' : 'money_came_back_only'], values)
    default:
      return fill(words[`money_${state}`], values)
  }
}

/** What of an affiliate is at one place, in one currency. */
export type MoneyGroup = Place &
  Pick<OwedMoney, 'currency' | 'amount'> & {
    readonly periods: readonly string[]
  }

/** Returns money by its place and currency, in the order of its first ones. */
export const groupMoney = (all: readonly OwedMoney[]): MoneyGroup[] =>
  [
    ...Map.groupBy(all, ({ state, on, reason, method, currency }) =>
      JSON.stringify([state, on, reason, method, currency]),
    ).values(),
  ].flatMap((own) => {
    const [first] = own
    if (!first) return []
    const amount = sumOfMoney(own, first.currency)
    return { ...first, amount, periods: [...new Set(own.map(({ period }) => period))] }
  })

/** Says how much is where. */
export const groupText = (one: MoneyGroup, visit: MemberVisit): string => {
  const { words, speech } = visit
  return fill(words.money_of, {
    amount: speech.money(one.amount, one.currency),
    period: speech.and(one.periods.map((period) => speech.period(period))),
    state: placeText(one, visit),
  })
}

/** Says what is not approved yet, and what is carried over. */
export const unapprovedSentences = (owed: Owed, { words, speech }: MemberVisit): string[] => [
  ...owed.unapproved.map((one) =>
    fill(words.pending_approval, {
      amount: speech.money(one.amount, one.currency),
      period: speech.period(one.period),
    }),
  ),
  ...owed.below_minimum.map((one) =>
    fill(words.pending_minimum, { amount: speech.money(one.amount, one.currency) }),
  ),
]

/** Where money is that waits for the affiliate. */
export const ASKING: readonly string[] = ['came_back', 'no_details']

/** Returns where money is without why, which `ToDo` says on the same page: banks write long texts. */
export const briefly = <P extends Place>(place: P): P => ({ ...place, reason: null })

/**
 * Renders what the affiliate has to do so that money reaches them: what came back, and what waits for bank details, with a
 * link to the page for it unless it is that one.
 */
export const ToDo = (
  { groups, isThere }: { groups: readonly MoneyGroup[]; isThere?: true },
  visit = useMemberVisit(),
) => {
  const { words, account } = visit
  return groups
    .filter(({ state }) => ASKING.includes(state))
    .map((one) => (
      <p class={one.state === 'came_back' ? 'notice bad' : 'notice warn'}>
        <Sentence text={`${groupText(one, visit)}.`} />{' '}
        {one.state === 'came_back' && fill(words.money_came_back_todo, { account: account.name })}{' '}
        {!isThere && <a href={portalPath(account.id, '/getting-paid')}>{words.getting_paid}</a>}
      </p>
    ))
}
