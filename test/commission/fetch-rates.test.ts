import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import worker from '../../src/index.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { overriding } from '../ingest/watched.ts'
import { askAdmin, json } from '../partner.ts'
import { printedAs } from '../secrecy.ts'
import { zipOf } from '../zip.ts'
import { csvOf, putRates, storedRates, TWO_DAYS } from './rate-files.ts'

// §11: the cron that fetches the file of FX_URL. vitest.config.ts serves http://rates.local/.

interface Answer {
  status: number
  text?: string
  base64?: string
}

const ok = (text: string): Answer => ({ status: 200, text })

/** Serves these answers in turn at an address of its own, the last one forever. */
async function served(...answers: Answer[]) {
  const url = `http://rates.local/${crypto.randomUUID()}.csv`
  await fetch(url, { method: 'PUT', body: JSON.stringify(answers) })
  const fetched = async () =>
    Number((await fetch(url, { method: 'HEAD' })).headers.get('X-Fetched'))
  return { url, fetched }
}

const run = (FX_URL: string, world: object = env) =>
  worker.scheduled(
    { cron: CRON_SCHEDULES.rates, scheduledTime: Date.now() } as ScheduledController,
    { ...world, FX_URL } as Env,
  )

const faults = () => printedAs('error').map((line) => JSON.parse(line))

describe('the cron of rates', () => {
  test('imports the file, once', async () => {
    const { url, fetched } = await served(ok(TWO_DAYS))
    await run(url)
    expect(await storedRates()).toHaveLength(2)
    expect(printedAs('log').map((line) => JSON.parse(line))).toEqual([
      { fx_rates: expect.objectContaining({ created: 5, unchanged: 0 }) },
    ])
    const stored = await storedRates()
    await run(url)
    expect(await storedRates()).toEqual(stored)
    expect(await fetched()).toBe(2)
    const { data } = await json(askAdmin('audit-log'))
    expect(data).toMatchObject([{ actor: 'cron', action: 'fx-rates.put' }])
  })

  test('adds the days that a later file has', async () => {
    const next = `${TWO_DAYS}2026-10-05,1.2,188,367\n`
    const { url } = await served(ok(TWO_DAYS), ok(next))
    await run(url)
    await run(url)
    expect(await storedRates()).toHaveLength(3)
  })

  test('does nothing without FX_URL', async () => {
    await run('')
    expect(await storedRates()).toEqual([])
    expect(faults()).toEqual([])
  })

  test('logs a failure, and the next run of the day tries again', async () => {
    const { url } = await served({ status: 503, text: 'busy' }, ok(TWO_DAYS))
    await run(url)
    expect(faults()).toEqual([{ fault: 'fx_rates', source: 'ECB', reason: 'status 503' }])
    await run(url)
    expect(await storedRates()).toHaveLength(2)
  })

  test('refuses a malformed file whole, and logs that it did', async () => {
    const { url } = await served(ok(csvOf('Date,USD', '2026-10-02,1.1', '2026-10-01,-1')))
    await run(url)
    expect(await storedRates()).toEqual([])
    expect(faults()).toEqual([{ fault: 'fx_rates', source: 'ECB', reason: 'refused' }])
  })

  test('refuses a file that differs from stored rates', async () => {
    await putRates(TWO_DAYS)
    const before = await storedRates()
    const { url } = await served(ok(csvOf('Date,USD', '2026-10-05,1.1', '2026-10-01,1.2')))
    await run(url)
    expect(await storedRates()).toEqual(before)
    expect(faults()).toMatchObject([{ reason: 'refused' }])
  })

  test.each([
    ['a page instead of the file', ok('<html>\n</html>\n'), 'refused'],
    [
      'a file that is cut within its last rate',
      ok(TWO_DAYS.slice(0, -2)),
      'no line break at the end',
    ],
    [
      'a file of more than 6 MiB',
      ok(`${'x'.repeat(7 * 1024 * 1024)}\n`),
      'more than 6291456 bytes',
    ],
    ['a missing file', { status: 404, text: 'none' }, 'status 404'],
  ])('refuses %s', async (_, answer, reason) => {
    const { url } = await served(answer)
    await run(url)
    expect(await storedRates()).toEqual([])
    expect(faults()).toMatchObject([{ reason }])
  })

  test('logs a failure of the database and never throws', async () => {
    const { url } = await served(ok(TWO_DAYS))
    const DB = overriding(env.DB, {
      batch: async () => {
        throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
      },
    })
    await run(url, { ...env, DB })
    expect(faults()).toMatchObject([{ fault: 'fx_rates', reason: 'unavailable' }])
    await run('not a url')
    expect(faults()).toHaveLength(2)
  })
})

describe('a ZIP archive, as the ECB publishes it,', () => {
  const archive = (text: string, how?: Parameters<typeof zipOf>[1]) =>
    zipOf({ 'eurofxref-hist.csv': text }, how)
  const answer = (bytes: Uint8Array): Answer => ({
    ...{ status: 200, base64: btoa(String.fromCharCode(...bytes)) },
  })

  test.each([8, 0])('is read with the compression %i', async (method) => {
    const { url } = await served(answer(await archive(TWO_DAYS, { method })))
    await run(url)
    expect(faults()).toEqual([])
    expect(await storedRates()).toHaveLength(2)
  })

  test('is refused if it is cut off, has two files, another compression or is too large', async () => {
    const whole = await archive(TWO_DAYS)
    for (const [bytes, reason] of [
      [whole.slice(0, -1), 'RangeError'],
      [whole.slice(0, 40), 'RangeError'],
      [await zipOf({ a: TWO_DAYS, b: TWO_DAYS }), 'more than one file'],
      [await archive(TWO_DAYS, { method: 12 }), 'RangeError'],
      [await archive(`${' '.repeat(7 * 1024 * 1024)}\n`), 'more than 6291456 bytes'],
    ] as const) {
      const { url } = await served(answer(bytes))
      await run(url)
      expect(faults().at(-1)).toMatchObject({ fault: 'fx_rates', reason })
    }
    expect(await storedRates()).toEqual([])
  })
})

test('the cron of rates runs on working days, after 16:00 in Frankfurt in summer and winter', () => {
  const [minute, hours, , , days] = CRON_SCHEDULES.rates.split(' ')
  expect(days).toBe('MON-FRI')
  for (const day of ['2026-01-15', '2026-07-15']) {
    for (const hour of hours!.split(',')) {
      const time = new Date(`${day}T${hour.padStart(2, '0')}:${minute}:00Z`)
      const zone = { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' } as const
      const local = Number(new Intl.DateTimeFormat('en', zone).format(time))
      expect(local).toBeGreaterThanOrEqual(16)
      expect(local).toBeLessThan(24)
    }
  }
})
