import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import { STEP_RETRIES } from '../commission/limits.ts'
import {
  beginRun,
  failedStep,
  finishRun,
  makeStep,
  type RunParameters,
} from '../commission/run/runs.ts'
import { MOST_REVIEW_STEPS, reviewAfterRun } from '../fraud/review-step.ts'
import { errorName } from '../platform/errors.ts'

/**
 * Computes the statements of an account and period, and then evaluates the account's fraud rules. The platform
 * repeats a step that fails, and goes on after the last step that succeeded if the run is interrupted. A
 * repeated step writes only what differs.
 */
export class StatementRun extends WorkflowEntrypoint<Env, RunParameters> {
  override async run(
    { payload }: Readonly<WorkflowEvent<RunParameters>>,
    step: WorkflowStep,
  ): Promise<void> {
    const { env } = this
    let current = ''
    const make = <T extends Rpc.Serializable<T>>(
      name: string,
      task: (now: number) => Promise<T>,
    ) => {
      current = name
      return step.do(name, STEP_RETRIES, () => logged(payload, name, () => task(Date.now())))
    }
    try {
      const steps = await make('plan', (now) => beginRun(env, payload, now))
      for (let number = 1; number <= steps; number++) {
        await make(`affiliates ${number}`, (now) => makeStep(env, payload, number, now))
      }
      await make('end', (now) => finishRun(env, payload, now))
    } catch (error) {
      const reason = failedStep(current)
      await make('fail', (now) => finishRun(env, payload, now, reason))
      throw error
    }
    // The run has ended: statements do not depend on the review.
    for (let number = 1; number <= MOST_REVIEW_STEPS; number++) {
      const isDone = await make(`fraud review ${number}`, (now) =>
        reviewAfterRun(env, payload.account, now),
      )
      if (isDone) return
    }
  }
}

/** Logs the failure of each attempt: the platform keeps only the failure of the last one. */
async function logged<T>({ run }: RunParameters, step: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), run, step }))
    throw error
  }
}
