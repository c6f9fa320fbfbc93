import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import { beginRun, finishRun, makeStep, type RunParameters } from './run.ts'

/** A step that fails is tried again after 10 s, 20 s, 40 s …, for more than an hour. */
const RETRIES = {
  retries: { limit: 9, delay: '10 seconds', backoff: 'exponential' },
  timeout: '10 minutes',
} as const

/**
 * Computes the statements of an account and period. The platform repeats a step that fails, and goes on
 * after the last step that succeeded if the run is interrupted. A repeated step writes only what differs.
 */
export class StatementRun extends WorkflowEntrypoint<Env, RunParameters> {
  override async run(
    { payload }: Readonly<WorkflowEvent<RunParameters>>,
    step: WorkflowStep,
  ): Promise<void> {
    const { env } = this
    try {
      const steps = await step.do('plan', RETRIES, () => beginRun(env, payload, Date.now()))
      for (let number = 1; number <= steps; number++) {
        await step.do(`affiliates ${number}`, RETRIES, () =>
          makeStep(env, payload, number, Date.now()),
        )
      }
      await step.do('end', RETRIES, () => finishRun(env, payload, 'done', Date.now()))
    } catch (error) {
      await step.do('fail', RETRIES, () => finishRun(env, payload, 'failed', Date.now()))
      throw error
    }
  }
}
