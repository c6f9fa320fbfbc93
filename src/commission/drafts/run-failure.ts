import { RESUME_LIMITS, STEP_RETRIES } from './limits.ts'

// Why a run failed, as `GET runs/{id}` says it.

const AGAIN = 'Computed statements are kept. Start another run of the period.'

/** Returns the reason of a run of which a step failed in every attempt. */
export const failedStep = (step: string): string =>
  `The step "${step}" failed ${STEP_RETRIES.retries.limit + 1} times in about an hour; the log of the Worker names the errors. ${AGAIN}`

/** The reason of a run whose Workflow could not be created. */
export const NOT_STARTED = 'Its Workflow could not be started. Start another run of the period.'

/** The reason of a run that stopped again and again. */
export const NO_PROGRESS = `It stopped, and made no progress after its Workflow was restarted ${RESUME_LIMITS.restarts} times. ${AGAIN}`

/** The reasons of runs whose Workflow has ended without a result, by its status. */
export const ENDED: Readonly<Record<string, string>> = {
  errored: `Its Workflow ended with an error. ${AGAIN}`,
  terminated: `Its Workflow was terminated. ${AGAIN}`,
}
