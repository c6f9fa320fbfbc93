import type { SignUp } from '../platform/directory/accounts.ts'
import { validationFailed } from '../platform/http/read-fields.ts'

/**
 * Returns the setting after a change of some of its members. Refuses an account that is open without terms, or names a
 * plan that it does not have.
 *
 * @throws ApiError `validation_failed`
 */
export function changeSignUp(before: SignUp, change: object, plans: readonly string[]): SignUp {
  const after: SignUp = { ...before, ...change }
  const { open, plan, terms } = after
  if (plan !== null && !plans.includes(plan)) {
    const unknown = { code: 'unknown_reference', expected: 'a plan of this account' } as const
    const pointer = '/sign_up/plan'
    throw validationFailed([{ pointer, ...unknown, value: plan, suggestions: plans }])
  }
  if (open && !terms) throw validationFailed([{ pointer: '/sign_up/terms', code: 'required' }])
  return after
}
