import { findAccount } from '../platform/directory/accounts.ts'
import { evaluateRules } from './evaluate.ts'
import { EVALUATION_LIMITS } from './limits.ts'

/** The most steps in which a run evaluates fraud rules. The run of the next day goes on. */
export const MOST_REVIEW_STEPS = 200

/** Makes one step of the evaluation of an account's fraud rules. Returns whether all days are done. */
export async function reviewAfterRun(env: Env, id: string, now: number): Promise<boolean> {
  const account = await findAccount(env.DB, id)
  if (!account) return true
  const { isDone } = await evaluateRules(
    env,
    account,
    { actor: 'cron', now },
    EVALUATION_LIMITS.stepFacts,
  )
  return isDone
}
