import type { Context } from './context.ts'
import type { EvaluatedCustomer } from './evaluate.ts'
import type { Customer } from './facts.ts'
import { evaluateAllOnce, type OnceState } from './once.ts'
import type { Progress } from './qualify.ts'

/** Evaluates the `once` rules of a customer by what was known at the end of a day. */
export function onceThrough(
  context: Context,
  { customer, ownerOf, once, qualified }: EvaluatedCustomer,
  through: number,
): OnceState[] {
  return evaluateAllOnce(context, knownOn(customer, through), ownerOf).map((state) => {
    const { version, rule, trigger } = state
    const final = once.find((one) => one.version === version && one.rule === rule)
    // Reversals count even if they came after the day.
    if (final?.status === 'reversed' && final.trigger === trigger) return final
    if (state.status !== 'qualified') return reopen(state, through)
    if (state.day > through) return { ...reopen(state, through), status: 'open' }
    return qualified.has(rule.id) ? state : { ...state, status: 'reversed' }
  })
}

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
