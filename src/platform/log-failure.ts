import { errorName } from './errors.ts'

/**
 * Runs a task on one database and logs its failure, so that the tasks of other databases still run. A failure for
 * which `isThrown` returns true is thrown.
 */
export async function logFailure(
  binding: string,
  task: () => Promise<unknown>,
  isThrown: (error: unknown) => boolean = () => false,
): Promise<void> {
  try {
    await task()
  } catch (error) {
    if (isThrown(error)) throw error
    logFault(binding, error)
  }
}

/** Logs a failure on one database. */
export const logFault = (binding: string, error: unknown): void =>
  console.error(JSON.stringify({ fault: errorName(error), binding }))
