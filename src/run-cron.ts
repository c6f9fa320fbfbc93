import { scheduled } from './admin/cron.ts'
import { CRON_SCHEDULES } from './admin/crons.ts'
import { ALL_RESOURCES, resourcesOf } from './app.ts'

const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

/** The schedules of all crons. */
export const ALL_CRONS: readonly string[] = Object.values(CRON_SCHEDULES)

/** Runs the jobs of a cron that is due at `time`, in milliseconds. */
export const runCron = (cron: string, env: Env, time: number): Promise<void> =>
  scheduled(cron, env, { namesOf, all: ALL_RESOURCES, viewsOf: resourcesOf }, time)
