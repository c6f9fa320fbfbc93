import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import { MOVE_RETRIES } from './move-limits.ts'
import { advanceMove, failMove, logAttempt, type MoveParameters } from './move-steps.ts'

/** The most steps of a Workflow, below those that the platform allows. A cron starts another one then. */
const MOST_STEPS = 900

/**
 * Moves an account to another database. The directory stores how far it is, so each step goes on where the one
 * before has ended, also if that was in another Workflow.
 */
export class AccountMove extends WorkflowEntrypoint<Env, MoveParameters> {
  override async run(
    { payload }: Readonly<WorkflowEvent<MoveParameters>>,
    step: WorkflowStep,
  ): Promise<void> {
    const { env } = this
    const advance = (number: number) =>
      step.do(`step ${number}`, MOVE_RETRIES, () =>
        advanceMove(env, payload).catch((error) => {
          logAttempt(payload, error)
          throw error
        }),
      )
    for (let number = 1; number <= MOST_STEPS; number++) {
      const seconds = await advance(number).catch(async (error) => {
        const goesOn = await step.do(`fail ${number}`, MOVE_RETRIES, () => failMove(env, payload))
        if (!goesOn) throw error
        return 0
      })
      if (seconds === null) return
      if (seconds > 0) await step.sleep(`wait ${number}`, seconds * 1000)
    }
  }
}
