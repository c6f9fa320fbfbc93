import { scheduled } from './admin/cron.ts'
import { CRON_SCHEDULES } from './admin/crons.ts'
import { sweepPostbacks } from './affiliate/postback-causes.ts'
import { ALL_RESOURCES, resourcesOf } from './app.ts'
import { CRON_QUERIES, limitQueries } from './db/query-limit.ts'

const namesOf = (vertical: string) => resourcesOf(vertical).map(({ name }) => name)

/** The schedules of all crons. */
export const ALL_CRONS: readonly string[] = Object.values(CRON_SCHEDULES)

/**
 * Runs the jobs of a cron that is due at `time`, in milliseconds. Some jobs visit all accounts. If there
 * are too many of them, the log says so, and the jobs end before the platform ends the invocation.
 */
export async function runCron(cron: string, env: Env, time: number): Promise<void> {
  const limited = limitQueries(env, CRON_QUERIES, () =>
    console.error(JSON.stringify({ fault: 'too_many_queries', cron, limit: CRON_QUERIES })),
  )
  const resources = { namesOf, all: ALL_RESOURCES, viewsOf: resourcesOf }
  try {
    // First, so that the events that it finds are sent by the same run.
    if (cron === CRON_SCHEDULES.propagate) await sweepPostbacks(limited, time)
  } finally {
    await scheduled(cron, limited, resources, time)
  }
}
