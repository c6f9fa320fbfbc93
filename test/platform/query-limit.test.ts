import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { runCron } from '../../src/jobs/cron.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { limitQueries } from '../../src/platform/db/query-limit.ts'

// D1 allows 1000 queries in an invocation.

test('queries count in all databases and sessions together, also in a batch', async () => {
  const onExceeded = vi.fn()
  const limited = limitQueries(env, 4, onExceeded)
  const one = () => limited.DB.prepare('select 1 as n')
  await limited.DB.batch([one(), one()])
  await limited.DB.withSession().prepare('select 1').run()
  expect(await one().first('n')).toBe(1)
  expect(onExceeded).not.toHaveBeenCalled()
  for (const database of [limited.DB, limited.DB.withSession()])
    expect(() => database.prepare('select 1')).toThrow('This invocation has made its 4 queries.')
  expect(onExceeded).toHaveBeenCalledOnce()
})

test('a job that has made its queries ends, and the log names the error', async () => {
  const log = vi.spyOn(console, 'error').mockReturnValue()
  const onExceeded = vi.fn()
  await runCron(CRON_SCHEDULES.propagate, limitQueries(env, 0, onExceeded), 0).catch(
    (error: Error) => expect(error.name).toBe('TooManyQueries'),
  )
  expect(onExceeded).toHaveBeenCalledOnce()
  expect(log).toHaveBeenCalledWith(JSON.stringify({ fault: 'TooManyQueries', binding: 'DB' }))
})
