import * as v from 'valibot'
import type { Fact } from '../commission/engine/facts.ts'
import { USUAL_EVENTS } from '../commission/engine/net-revenue.ts'
import { member, said } from '../platform/validation/fields.ts'
import { ruleMessage } from '../platform/validation/issue.ts'
import { listOf, objectOf } from '../platform/validation/shapes.ts'

// Which records are fees, deposits, withdrawals and play. Brands name their events as they like, so that rules of
// brands list the names; the defaults are those of the source document.

type Documentation = ReturnType<typeof said>

const MOST_NAMES = 20
const MOST_CHARACTERS = 200

const names = (usual: readonly string[], documentation: Documentation) =>
  v.optional(
    member(
      listOf(
        v.pipe(
          v.string(),
          v.minLength(1, ruleMessage('length', `1 to ${MOST_CHARACTERS} characters`)),
          v.maxLength(MOST_CHARACTERS, ruleMessage('length', `1 to ${MOST_CHARACTERS} characters`)),
        ),
        MOST_NAMES,
      ),
      documentation && { ...documentation, examples: [[...usual]] },
    ),
    usual,
  )

/** The names of events as a parameter of a rule; they are not used for partners. */
export const eventNames = {
  ...v.optional(
    member(
      objectOf({
        deposits: names(USUAL_EVENTS.deposits, said('The names of events that are deposits.')),
        withdrawals: names(
          USUAL_EVENTS.withdrawals,
          said('The names of events that are withdrawals.'),
        ),
        bets: names(
          ['Bet', 'GGR', 'NGR', 'DailyStats'],
          said('The names of events that show play.'),
        ),
      }),
      said('Brands only: the names of the events that are deposits, withdrawals and play.'),
    ),
    {},
  ),
  label: { label: 'Names of events', is: 'events' } as const,
}

/** The names of the events that are deposits, withdrawals and bets. */
export type EventNames = v.InferOutput<typeof eventNames>

/** The names of events as forms show them. */
export const EVENT_LABELS: Readonly<Record<keyof EventNames, string>> = {
  deposits: 'Events that are deposits',
  withdrawals: 'Events that are withdrawals',
  bets: 'Events that show play',
}

const isApproved = ({ state }: Fact): boolean => state === 'approved'

const FEES = new Set(['challenge_fee', 'reset_fee'])

/** Returns whether a record is an approved fee for a challenge or a reset: with it a trading account begins. */
export const isFee = (fact: Fact): boolean => isApproved(fact) && FEES.has(fact.kind)

const isNamed = (fact: Fact, type: string, events: readonly string[]): boolean =>
  fact.resource === 'transactions'
    ? fact.kind === type
    : fact.resource === 'activities' && events.includes(fact.kind)

/** Returns whether a record is an approved deposit. */
export const isDeposit = (fact: Fact, { deposits }: EventNames): boolean =>
  isApproved(fact) && isNamed(fact, 'deposit', deposits)

/** Returns whether a record is an approved withdrawal. */
export const isWithdrawal = (fact: Fact, { withdrawals }: EventNames): boolean =>
  isApproved(fact) && isNamed(fact, 'withdrawal', withdrawals)

/** Returns whether a record shows that the customer traded or bet. */
export const isPlay = (fact: Fact, { bets }: EventNames): boolean =>
  isApproved(fact) &&
  (fact.resource === 'trading-activity' ||
    (fact.resource === 'activities' && bets.includes(fact.kind)))

/** Returns the name of the amount of a deposit or withdrawal. */
export const amountField = ({ resource }: Fact): string =>
  resource === 'transactions' ? 'amount_currency' : 'Value'
