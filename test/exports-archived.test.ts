import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { STEP_LIMITS } from '../src/archive/archive-month.ts'
import { OBJECT_LIMITS } from '../src/archive/object.ts'
import { readMonth } from '../src/db/archive/months.ts'
import { archive, keepTotals, monthOf, restore } from './archive-steps.ts'
import { brand, deposited, eve } from './brand.ts'
import { emptyBucket, filesOf, rowsOf, runExport, turnOn } from './exported.ts'
import { ada, deposit, partner, traded } from './partner.ts'

// Files of months whose records the archive had before they were exported.

beforeEach(emptyBucket)

describe('a month that was archived before', () => {
  const usual = [{ ...OBJECT_LIMITS }, { ...STEP_LIMITS }]
  afterEach(() => {
    Object.assign(OBJECT_LIMITS, usual[0])
    Object.assign(STEP_LIMITS, usual[1])
  })

  /** Returns a firm or a brand with records of September, in objects and row groups of few records. */
  async function ofSeptember(vertical: 'forex' | 'igaming') {
    Object.assign(OBJECT_LIMITS, { records: 7, group: 3 })
    Object.assign(STEP_LIMITS, { page: 7 })
    const days = Array.from({ length: 20 }, (_, i) => `2026-09-${String(1 + i).padStart(2, '0')}`)
    if (vertical === 'forex') {
      const acme = await partner('forex', { account: 'old' })
      await acme.post('customers', [ada])
      const at = (day: string, i: number) => ({
        ...{ ...deposit, transaction_id: i % 2 ? crypto.randomUUID() : `t-${i}` },
        ...{
          amount_currency: 100 + i / 4,
          transaction_date: `${day}T09:30:00.000Z`,
          note: `Größe ${i}`,
        },
      })
      await acme.post('transactions', days.map(at))
      await acme.post(
        'trading-activity',
        days.map((date) => ({ ...traded, date })),
      )
    } else {
      const casino = await brand({
        account: 'old',
        events: { Deposit: { granularity: 'event', eventid: 'used' } },
      })
      await casino.post('customers', [eve])
      const at = (day: string, i: number) => ({
        ...{ ...deposited, eventid: `e-${i}`, createtime: `${day} 10:00`, note: `Größe ${i}` },
      })
      await casino.post('activities', days.map(at))
    }
    await keepTotals('old', vertical, '2026-09-01', '2026-09-30')
  }

  const contents = async () =>
    (await filesOf('old')).map(({ resource, month, records, sums }) => [
      resource,
      month,
      records,
      sums,
    ])

  test.each([
    ['forex', ['transactions', 'trading-activity'], 'without_personal_data'],
    ['igaming', ['activities'], 'with_personal_data'],
  ] as const)('has the files of before: %s', async (vertical, resources, mode) => {
    await ofSeptember(vertical)
    await turnOn('old', mode)
    await runExport('old')
    const before = [await contents(), ...(await rowsOfAll(vertical, resources))]
    await turnOn('old', 'off')
    await runExport('old')
    expect(await contents()).toEqual([])
    for (const resource of resources) {
      await archive(monthOf('old', resource, '2026-09'))
      expect(await readMonth(env.DB, monthOf('old', resource, '2026-09'))).toMatchObject({
        state: 'archived',
      })
    }
    await turnOn('old', mode)
    await runExport('old')
    expect([await contents(), ...(await rowsOfAll(vertical, resources))]).toEqual(before)
    const ids = async () => (await filesOf('old')).map(({ id }) => id).sort()
    const written = await ids()
    await runExport('old')
    expect(await ids()).toEqual(written)
    // Every month is read again, and lost objects are written anew.
    const { objects } = await env.ARCHIVE.list({ prefix: 'exports/old/' })
    await env.ARCHIVE.delete(objects.map(({ key }) => key))
    await runExport('old', { isWhole: true })
    expect(await ids()).toEqual(written)
    expect(await rowsOfAll(vertical, resources)).toEqual(before.slice(1))
    // The months come back as they were.
    for (const resource of resources) await restore(monthOf('old', resource, '2026-09'))
    await runExport('old', { isWhole: true })
    expect([await contents(), ...(await rowsOfAll(vertical, resources))]).toEqual(before)
  })

  const rowsOfAll = (vertical: string, resources: readonly string[]) =>
    Promise.all(resources.map((resource) => rowsOf('old', vertical, resource)))

  test('with a damaged object is left out, and the others are exported', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    await ofSeptember('forex')
    for (const resource of ['transactions', 'trading-activity'] as const) {
      await archive(monthOf('old', resource, '2026-09'))
    }
    const { objects } = await env.ARCHIVE.list({ prefix: 'archive/old/transactions/' })
    await env.ARCHIVE.delete(objects[1]!.key)
    await turnOn('old')
    await runExport('old')
    expect((await contents()).map(([resource]) => resource)).toEqual([
      ...['affiliates', 'customers', 'trading-activity'],
    ])
    expect(errors.mock.calls.map(([line]) => JSON.parse(line).fault)).toEqual(['damaged_archive'])
  })

  test('and comes back is exported by the next run', async () => {
    await ofSeptember('forex')
    const month = monthOf('old', 'transactions', '2026-09')
    await archive(month)
    await env.DB.prepare('update archived_months set wanted_at = 1').run()
    await turnOn('old')
    await runExport('old')
    const listed = async () => (await contents()).filter(([name]) => name === 'transactions').length
    expect(await listed()).toBe(0)
    await restore(month)
    await runExport('old')
    expect(await listed()).toBe(1)
  })
})
