import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import { MOVE_RETRIES } from './admin/move-limits.ts'
import { advanceMove, failMove, type MoveParameters } from './admin/move-steps.ts'
import { d1Fault } from './db/retry.ts'
import { describeFault } from './errors.ts'

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
        logged(payload, () => advanceMove(env, payload)),
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

/** Logs the failure of each attempt: the platform keeps only the failure of the last one. */
async function logged<T>({ move }: MoveParameters, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    const { fault, at } = describeFault(error)
    console.error(JSON.stringify({ fault, at, d1: d1Fault(error), move }))
    throw error
  }
}
