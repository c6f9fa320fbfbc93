import { errorName } from '../errors.ts'

/** Runs a task on one database and logs its failure, so that the tasks of other databases still run. */
export async function logFailure(binding: string, task: () => Promise<unknown>): Promise<void> {
  try {
    await task()
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), binding }))
  }
}
