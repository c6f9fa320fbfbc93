import { addMonths } from '../../platform/money/calendar.ts'
import type { Account } from './account.ts'
import type { Customer } from './facts.ts'
import type { EvaluatedCustomer } from './judge.ts'
import { evaluateAllOnce, evaluateProgress, type OnceState } from './once.ts'
import type { Progress } from './qualify.ts'

/**
 * Evaluates the `once` rules of a customer by what was known at the end of a day, and `qualify` also without a
 * trigger: a window that ends without one ends all hope.
 */
export function onceThrough(
  account: Account,
  { customer, ownerOf, once, qualified }: EvaluatedCustomer,
  through: number,
): OnceState[] {
  const known = knownOn(customer, through)
  return evaluateAllOnce(account, { customer: known, ownerOf }).map((state) => {
    const { version, rule, trigger } = state
    const final = once.find((one) => one.version === version && one.rule === rule)
    // Reversals count even if they came after the day.
    if (final?.status === 'reversed' && final.trigger === trigger) return final
    if (state.status === 'no_trigger') {
      return reopen({ ...state, progress: evaluateProgress(account, known, state) }, through)
    }
    if (state.status !== 'qualified') return reopen(state, through)
    if (state.day > through) return { ...reopen(state, through), status: 'open' }
    return qualified.has(rule.id) ? state : { ...state, status: 'reversed' }
  })
}

/** A window from the signup on in which a customer must qualify: `months` or a condition such as `qualify/0`. */
export interface Window {
  readonly name: string
  /** Its last day. */
  readonly until: number
}

/**
 * Returns the windows of what has not happened, in the order of their last days. What must happen in `months` is the
 * trigger.
 */
export function openWindows(
  { signupDay }: Customer,
  { status, rule: { months }, progress }: OnceState,
): Window[] {
  const conditions = progress.flatMap((one, index) =>
    one.status === 'open' && one.until !== null
      ? [{ name: `qualify/${index}`, until: one.until }]
      : [],
  )
  return status === 'no_trigger' && months !== null
    ? [{ name: 'months', until: addMonths(signupDay, months) - 1 }, ...conditions].sort(byDay)
    : conditions.sort(byDay)
}

const byDay = (a: Window, b: Window): number => a.until - b.until

/** Returns a customer with the facts and the fields of days up to one. */
const knownOn = (customer: Customer, through: number): Customer => ({
  ...customer,
  facts: customer.facts.filter(({ day }) => day <= through),
  fields: customer.fields.filter(({ from }) => from === null || from <= through),
})

/** Reopens `at: "end"` sums whose window is still open. */
const reopen = (state: OnceState, through: number): OnceState => ({
  ...state,
  progress: state.progress.map((one, index): Progress => {
    if (one.status !== 'met' || one.day <= through) return one
    const qualification = state.rule.qualify[index]
    const min = qualification && 'min' in qualification ? qualification.min : null
    return { status: 'open', condition: null, reached: min, min, until: one.day }
  }),
})
