import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { resourcesOf } from '../src/app.ts'
import { archiveStep } from '../src/archive/archive-month.ts'
import { presentArchiveTotals } from '../src/archive/control-totals.ts'
import { deleteRetiredObjects } from '../src/archive/delete-retired.ts'
import { restoreStep } from '../src/archive/restore-month.ts'
import { dueMonths } from '../src/db/archive/due.ts'
import { readMonth, readParts } from '../src/db/archive/months.ts'
import type { ArchivedResource } from '../src/db/archive/tables.ts'
import { limbsOf, toUnits, unitsOf } from '../src/db/exact-sums.ts'
import { checkTotals } from '../src/db/records/check-totals.ts'
import { DAY_MS } from '../src/durations.ts'
import {
  ageTotals,
  archive,
  formOfResource,
  keepTotals,
  monthOf,
  place,
  restore,
  restoreWanted,
  takeSmallSteps,
  takeUsualSteps,
} from './archive-steps.ts'
import { brand, deposited, eve } from './brand.ts'
import { randomSource } from './commission/worlds.ts'
import { runCron } from './crons.ts'
import { overriding } from './overriding.ts'
import { ada, askAdmin, deposit, json, partner, traded } from './partner.ts'

// Old records leave the database for objects in R2, and come back as they were, to the bit.

const rowsOf = async (table: string) =>
  (await env.DB.prepare(`select * from ${table}`).all()).results

/** Every row of the database but those of the archive itself. */
async function dump() {
  const { results } = await env.DB.prepare(
    `select name from sqlite_schema where type = 'table' and name not like 'archive%'
      and name not like 'retired%' and name not like 'sqlite%' and name not like '_cf%' and name not like 'd1_%'`,
  ).all<{ name: string }>()
  const tables = await Promise.all(results.map(async ({ name }) => [name, await rowsOf(name)]))
  return Object.fromEntries(tables)
}

const AMOUNTS = [0.1 + 0.2, 1e21, 5e-324, -12.345678, 123456789.123456, 1 / 3, -0.0]

/** Stores amounts that no feed may send, but SQL may store. */
async function storeAnyAmounts(account: string) {
  for (const [i, amount] of AMOUNTS.entries()) {
    await env.DB.prepare('update transactions set amount_usd = ? where account = ? and idx = ?')
      .bind(amount, account, i)
      .run()
  }
}

/** Returns a firm with records of October whose control totals are kept. */
async function firm(
  account = 'acme',
  records = 40,
  unknown_customer: 'reject' | 'hold' = 'reject',
) {
  const acme = await partner('forex', { account, unknown_customer })
  await acme.post('customers', [ada, { ...ada, customer_id: crypto.randomUUID() }])
  const sent = await acme.post(
    'transactions',
    Array.from({ length: records }, (_, i) => ({
      ...{ ...deposit, transaction_id: i % 2 ? crypto.randomUUID() : `Tür-${i}'"` },
      transaction_date: `2026-10-${String(1 + (i % 28)).padStart(2, '0')}T09:30:00.000Z`,
      amount_currency: 100 + i / 4,
      ...(i % 3 === 0 && { note: `Größe 🙂 ${i}` }),
    })),
  )
  expect(sent.status).toBe(200)
  await acme.post('transactions', [
    { ...deposit, transaction_id: 'new', transaction_date: '2026-11-02T09:30:00.000Z' },
  ])
  await acme.post('trading-activity', [traded, { ...traded, date: '2026-10-31', pnl: undefined }])
  expect((await acme.get('totals?from=2026-10-01&to=2026-11-30')).status).toBe(200)
  await ageTotals()
  return acme
}

/** Thrown where an invocation ends. */
class Killed extends Error {}

/** Returns the place whose database ends the invocation at its next call number `calls`, before or after it. */
function killing(calls: number, after: boolean) {
  let left = calls
  const ending =
    <A extends unknown[], R>(real: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      left -= 1
      if (left === 0 && !after) throw new Killed()
      const result = await real(...args)
      if (left === 0) throw new Killed()
      return result
    }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    overriding(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values)),
      all: ending(() => real.all()),
      first: ending(() => real.first()),
      run: ending(() => real.run()),
    })
  const db = overriding(env.DB, {
    prepare: (text: string) => statement(env.DB.prepare(text)),
    batch: ending((list: D1PreparedStatement[]) => env.DB.batch(list)),
  })
  return { db, bucket: env.ARCHIVE }
}

afterEach(takeUsualSteps)

const october = (account = 'acme') => monthOf(account, 'transactions')

/** Rejects with `Killed` exactly if an invocation was ended. */
async function isKilled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return false
  } catch (error) {
    if (error instanceof Killed) return true
    throw error
  }
}

describe('a month that is archived', () => {
  test('leaves the database, and comes back to the bit', async () => {
    await firm()
    await storeAnyAmounts('acme')
    const before = await dump()
    const months = [monthOf('acme', 'transactions'), monthOf('acme', 'trading-activity')]
    for (const month of months) {
      await archive(month)
      expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived' })
    }
    const { transactions, activity, ...others } = await dump()
    expect(transactions).toHaveLength(1)
    expect(activity).toEqual([])
    expect(others).toEqual({ ...before, transactions: undefined, activity: undefined })
    for (const month of months) await restore(month)
    expect(await dump()).toEqual(before)
    for (const table of [
      'archived_months',
      'archive_objects',
      'archived_records',
      'archived_customers',
    ]) {
      expect(await rowsOf(table)).toEqual([])
    }
    expect(await rowsOf('retired_archives')).toHaveLength(2)
  })

  test.for([false, true])('survives an end before or after any query: %s', async (after) => {
    takeSmallSteps()
    await firm('acme', 12)
    const before = await dump()
    // The first call that is never made tells that all were tried.
    for (let calls = 1, goesOn = true; goesOn; calls++) {
      goesOn = await isKilled(archive(october(), Date.now(), killing(calls, after)))
      await archive(october())
      expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', records: 12 })
      const { transactions, ...others } = await dump()
      expect(transactions).toHaveLength(1)
      expect(others).toEqual({ ...before, transactions: undefined })
      await isKilled(restore(october(), killing(calls, after)))
      await restore(october())
      expect(await dump()).toEqual(before)
      expect(await rowsOf('archived_records')).toEqual([])
    }
  })

  test.for<[string, (acme: Awaited<ReturnType<typeof firm>>) => Promise<unknown>]>([
    ['a new record', (acme) => acme.post('transactions', [{ ...deposit, transaction_id: 'late' }])],
    [
      'a record of a day that had none',
      (acme) =>
        acme.post('transactions', [
          { ...deposit, transaction_id: 'late', transaction_date: '2026-10-31T09:30:00.000Z' },
        ]),
    ],
    [
      'a changed note',
      (acme) =>
        acme.post('transactions', [
          {
            ...{ ...deposit, transaction_id: `Tür-2'"`, amount_currency: 100.5, note: 'Übertrag' },
            transaction_date: '2026-10-03T09:30:00.000Z',
          },
        ]),
    ],
    [
      'a record that leaves for another month',
      (acme) =>
        acme.post('transactions', [
          { ...deposit, transaction_id: `Tür-2'"`, transaction_date: '2026-12-03T09:30:00.000Z' },
        ]),
    ],
  ])('stays in the database if %s arrives while it is written', async ([, change]) => {
    takeSmallSteps()
    const acme = await firm()
    const task = { month: october(), form: formOfResource('transactions') }
    // Begins, and writes two of five objects.
    for (let i = 0; i < 3; i++) await archiveStep(place, task, Date.now())
    expect((await change(acme)) as Response).toMatchObject({ status: 200 })
    await acme.get('totals?from=2026-10-01&to=2026-12-31')
    const before = await dump()
    await archive(october())
    expect(await readMonth(env.DB, october())).toBeNull()
    expect(await dump()).toEqual(before)
    expect(await rowsOf('archived_customers')).toEqual([])
  })

  test('does not come back for a record that has left it for another month', async () => {
    const acme = await firm()
    const task = { month: october(), form: formOfResource('transactions') }
    // Begins, and writes its object.
    for (let i = 0; i < 2; i++) await archiveStep(place, task, Date.now())
    const moved = { ...deposit, transaction_id: `Tür-2'"` }
    const inDecember = { ...moved, transaction_date: '2026-12-03T09:30:00.000Z' }
    expect((await acme.post('transactions', [inDecember])).status).toBe(200)
    await archive(october())
    await acme.get('totals?from=2026-10-01&to=2026-12-31')
    await ageTotals()
    await archive(october())
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', records: 39 })
    const corrected = { ...inDecember, amount_currency: 5 }
    expect((await acme.post('transactions', [corrected])).status).toBe(200)
    const other = {
      ...deposit,
      transaction_id: `Tür-4'"`,
      transaction_date: '2026-12-03T09:30:00Z',
    }
    expect((await acme.post('transactions', [other])).status).toBe(503)
  })

  test('needs kept totals of every day, and no record that waits or is erased', async () => {
    const acme = await firm()
    const begins = () =>
      archiveStep(place, { month: october(), form: formOfResource('transactions') }, Date.now())
    await env.DB.prepare('update transactions set held = 1 where idx = 1').run()
    await acme.get('totals?from=2026-10-01&to=2026-10-31')
    await ageTotals()
    expect(await begins()).toBe(false)
    await env.DB.prepare('update transactions set held = 0 where idx = 1').run()
    expect(await begins()).toBe(false)
    await acme.get('totals?from=2026-10-01&to=2026-10-31')
    // The totals are newer than two clocks may differ by.
    expect(await begins()).toBe(false)
    await ageTotals()
    await env.DB.prepare("insert into erasures values ('acme', 'c-1', '', 0, '')").run()
    expect(await begins()).toBe(false)
    await env.DB.prepare('delete from erasures').run()
    await env.DB.prepare("insert into resets values ('acme', '')").run()
    expect(await begins()).toBe(false)
    await env.DB.prepare('delete from resets').run()
    expect(await archiveStep(place, { month: october(), form: 'another' }, Date.now())).toBe(false)
    expect(await rowsOf('archived_months')).toEqual([])
    expect(await begins()).toBe(true)
  })

  test('is not restored from an object that is missing, damaged or foreign', async () => {
    await firm()
    await firm('other', 20)
    await archive(october())
    await archive(october('other'))
    const [{ key }, foreign] = (await env.ARCHIVE.list()).objects as [R2Object, R2Object]
    const bytes = await (await env.ARCHIVE.get(key))!.arrayBuffer()
    const damaged = new Uint8Array(bytes.slice(0))
    damaged[40]! ^= 1
    const others = await (await env.ARCHIVE.get(foreign.key))!.arrayBuffer()
    for (const found of [null, damaged, others, bytes.slice(1)]) {
      await (found ? env.ARCHIVE.put(key, found) : env.ARCHIVE.delete(key))
      await expect(restore(october())).rejects.toThrow(key)
      expect(await readMonth(env.DB, october())).toMatchObject({ state: 'restoring', fault: key })
      expect(await rowsOf('transactions')).toHaveLength(2)
    }
    // As somebody puts a copy back.
    await env.ARCHIVE.put(key, bytes)
    await restore(october())
    expect(await rowsOf('transactions')).toHaveLength(42)
  })

  test('is not archived if R2 fails or returns other bytes', async () => {
    await firm()
    const before = await dump()
    const failing = overriding(env.ARCHIVE, {
      put: () => Promise.reject(new Error('put: Internal Error (10001)')),
    })
    await expect(archive(october(), Date.now(), { ...place, bucket: failing })).rejects.toThrow()
    const forgetful = overriding(env.ARCHIVE, { put: () => Promise.resolve(null) })
    await expect(archive(october(), Date.now(), { ...place, bucket: forgetful })).rejects.toThrow(
      'missing',
    )
    expect(await dump()).toEqual(before)
    await archive(october())
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived' })
  })

  test('has a manifest with digest, days, row groups and deliveries', async () => {
    takeSmallSteps()
    await firm()
    await archive(october())
    const parts = await readParts(env.DB, october())
    const { objects } = await env.ARCHIVE.list({ include: ['httpMetadata'] })
    expect(parts.map(({ records }) => records)).toEqual([9, 9, 9, 9, 4])
    expect(parts.map(({ sha256, bytes }) => [`${sha256}`, bytes]).sort()).toEqual(
      objects.map(({ key, size }) => [key.split('/').at(-1), size]).sort(),
    )
    expect(JSON.parse(parts[0]!.days)).toEqual([
      [20727, 2],
      [20728, 2],
      [20729, 2],
      [20730, 2],
      [20731, 1],
    ])
    expect(JSON.parse(parts[0]!.groups).map(([records]: [number]) => records)).toEqual([4, 4, 1])
    expect(JSON.parse(parts[0]!.deliveries)[0]).toMatch(/^dlv_/)
    expect(parts.map((part) => presentArchiveTotals([part])!.map(({ count }) => count))).toEqual(
      [9, 9, 9, 9, 4].map((count) => [count]),
    )
  })

  test('has the control totals of its days, and is restored only with them', async () => {
    takeSmallSteps()
    const acme = await firm()
    const { data } = await json(acme.get('totals?from=2026-10-01&to=2026-10-31'))
    const ofDays = data.filter((one: { resource: string }) => one.resource === 'transactions')
    await archive(october())
    const [total, ...others] = presentArchiveTotals(await readParts(env.DB, october()))!
    expect(others).toEqual([])
    expect(total).toMatchObject({
      transaction_type: 'deposit',
      status: 'approved',
      currency: 'EUR',
    })
    expect(total!.count).toBe(40)
    // Exact in binary, so a plain sum is exact as well.
    const sum = ofDays.reduce(
      (all: number, one: typeof total) => all + Number(one!.sums.amount_currency),
      0,
    )
    expect(Number(total!.sums.amount_currency)).toBe(sum)
    const real = await env.DB.prepare('select totals from archive_objects where part = 3').first(
      'totals',
    )
    await env.DB.prepare(
      "update archive_objects set totals = replace(totals, 'approved', 'pending') where part = 3",
    ).run()
    await expect(restore(october())).rejects.toThrow('is damaged: totals')
    const [, , { sha256 } = { sha256: '' }] = await readParts(env.DB, october())
    expect((await readMonth(env.DB, october()))?.fault).toContain(sha256)
    await env.DB.prepare('update archive_objects set totals = ? where part = 3').bind(real).run()
    await restore(october())
    expect(await rowsOf('transactions')).toHaveLength(41)
  })

  test('sums amounts as SQL sums them', async () => {
    const from = randomSource(env.SEED)
    const random = Array.from({ length: 500 }, () => {
      const digits = Number(`${from.below(2) ? '-' : ''}${from.below(1e9)}${from.below(1e7)}`)
      return digits / 10 ** from.below(17)
    })
    const amounts = [
      ...AMOUNTS,
      ...random,
      0.5,
      -0.5,
      2.5e-12,
      999999999999999.9,
      1e15 + 0.5,
      2 ** 53,
    ]
    const columns = limbsOf('cast(value as real)', 'sum').map(([name, sql]) => `${sql} as ${name}`)
    const { results } = await env.DB.prepare(
      `select ${columns} from json_each(?) group by key order by key`,
    )
      .bind(JSON.stringify(amounts))
      .all()
    expect(results.map((row) => unitsOf(row, 'sum'))).toEqual(amounts.map(toUnits))
  })

  test('is not archived if its objects have other control totals than its days', async () => {
    await firm()
    await env.DB.prepare(
      "update day_totals set totals = replace(totals, 'EUR', 'USD') where day = 20730",
    ).run()
    await expect(archive(october())).rejects.toThrow('control totals')
    expect(await readMonth(env.DB, october())).toMatchObject({
      ...{ state: 'writing', fault: 'control totals' },
    })
    await env.DB.prepare(
      "update day_totals set totals = replace(totals, 'USD', 'EUR') where day = 20730",
    ).run()
    await archive(october())
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', fault: null })
  })

  test('leaves no object 30 days after it came back', async () => {
    await firm()
    await archive(october())
    await restore(october())
    expect(await deleteRetiredObjects(place, Date.now() + 29 * DAY_MS, 10)).toBe(true)
    expect((await env.ARCHIVE.list()).objects).toHaveLength(1)
    expect(await deleteRetiredObjects(place, Date.now() + 31 * DAY_MS, 1)).toBe(false)
    expect((await env.ARCHIVE.list()).objects).toEqual([])
    expect(await rowsOf('retired_archives')).toEqual([])
  })
})

describe('a delivery that needs archived records', () => {
  const again = { ...deposit, transaction_id: `Tür-2'"`, amount_currency: 100.5 }
  const inOctober = { transaction_date: '2026-10-03T09:30:00.000Z' }
  const changed = { ...again, ...inOctober, status: 'reversed' }

  test.for<[string, string, object]>([
    ['a changed record', 'transactions', changed],
    ['the same record', 'transactions', { ...again, ...inOctober, note: 'Größe 🙂' }],
    ['a new record', 'transactions', { ...deposit, transaction_id: 'late' }],
    [
      'a record with another day',
      'transactions',
      { ...again, transaction_date: '2026-12-03T09:30:00.000Z' },
    ],
    ['a record that waits', 'transactions', { ...deposit, transaction_id: 'w', customer_id: 'w' }],
    ['activity', 'trading-activity', { ...traded, lots_traded: 2 }],
  ])('waits until the month is back: %s', async ([, resource, record]) => {
    const acme = await firm('acme', 40, 'hold')
    const twin = await firm('twin', 40, 'hold')
    for (const name of ['transactions', 'trading-activity'] as const)
      await archive(monthOf('acme', name))
    const before = await dump()
    for (const prefer of ['', '?dry_run=true']) {
      const refused = await acme.post(`${resource}${prefer}`, record)
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '60'])
      expect((await json(refused)).detail).toContain('Records of 2026-10 are archived.')
    }
    expect(await dump()).toEqual(before)
    const wanted = (
      await env.DB.prepare('select resource from archived_months where wanted_at > 0').all()
    ).results
    expect(wanted).toEqual([{ resource }])
    await restore(monthOf('acme', resource as ArchivedResource))
    const answers = await Promise.all(
      [acme, twin].map((one) => one.post(resource, record).then(json)),
    )
    const summaries = answers.map(({ summary }) => summary)
    expect(summaries[0]).toEqual(summaries[1])
    const [totals, twins] = await Promise.all(
      [acme, twin].map((one) => one.get('totals?from=2026-10-01&to=2026-12-31').then(json)),
    )
    expect(totals).toEqual(twins)
  })

  test('is stored as ever if it needs none, and refused as ever if it is refused', async () => {
    const acme = await firm()
    await archive(october())
    const fresh = {
      ...deposit,
      transaction_id: 'fresh',
      transaction_date: '2026-11-09T09:30:00.000Z',
    }
    expect((await json(acme.post('transactions', fresh))).summary).toMatchObject({ created: 1 })
    expect((await acme.post('trading-activity', traded)).status).toBe(200)
    expect((await acme.post('transactions', [{ ...changed, currency: 'E' }])).status).toBe(422)
    expect((await acme.post('transactions', { ...changed, customer_id: 'unknown' })).status).toBe(
      422,
    )
    // Another account may use the same ids.
    const other = await firm('other')
    expect((await other.post('transactions', changed)).status).toBe(200)
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', wanted_at: null })
  })

  test('is not stored while an object is damaged, which the answer names', async () => {
    const acme = await firm()
    await archive(october())
    const [object] = (await env.ARCHIVE.list()).objects
    await env.ARCHIVE.delete(object!.key)
    await expect(restore(october())).rejects.toThrow(object!.key)
    const before = await dump()
    const refused = await acme.post('transactions', changed)
    expect([refused.status, (await json(refused)).detail]).toEqual([
      503,
      expect.stringContaining(object!.key),
    ])
    expect(await dump()).toEqual(before)
  })

  test('is recognized at any point of a restoration', async () => {
    takeSmallSteps()
    const acme = await firm('acme', 12)
    await archive(october())
    for (let goesOn = true; goesOn; ) {
      const month = await readMonth(env.DB, october())
      const { status } = await acme.post('transactions?dry_run=true', changed)
      expect(status).toBe(month?.state === 'ended' ? 200 : 503)
      goesOn = await restoreStep(place, october())
    }
    expect((await json(acme.post('transactions', changed))).summary).toMatchObject({ updated: 1 })
  })
})

describe('control totals of archived days', () => {
  const whole = 'totals?from=2026-10-01&to=2026-11-30'

  test('are those of before, also after they were compared with the records', async () => {
    const acme = await firm()
    const before = await json(acme.get(whole))
    for (const name of ['transactions', 'trading-activity'] as const) {
      await archive(monthOf('acme', name))
    }
    expect(await json(acme.get(whole))).toEqual(before)
    const views = resourcesOf('forex')
    const checked = Date.now() + DAY_MS
    for (let isDone = false; !isDone; ) {
      const { wrong, isDone: none } = await checkTotals(env.DB, views, checked)
      expect(wrong).toEqual([])
      const left = await env.DB.prepare('select 1 from day_totals where checked_at < ?')
        .bind(checked)
        .first()
      isDone = none || left === null
    }
    expect(await json(acme.get(whole))).toEqual(before)
    const kept = await env.DB.prepare('select 1 from day_totals where checked_at < ?').bind(checked)
    expect(await kept.first()).toBeNull()
  })

  test('need the records if those that were kept are of another form', async () => {
    const acme = await firm()
    const before = await json(acme.get(whole))
    await archive(october())
    await env.DB.prepare("update day_totals set form = 'old' where resource = 'transactions'").run()
    const refused = await acme.get(whole)
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '60'])
    expect((await json(refused)).detail).toBe(
      'Records of 2026-10 are archived. They are being restored. Repeat the same request after 60 seconds.',
    )
    await restore(october())
    expect(await json(acme.get(whole))).toEqual(before)
  })
})

describe('what reads archived records', () => {
  const WAITS = [503, '60', 'Records of 2026-10 are archived.']

  /** Returns the status of a response, when to repeat it, and the beginning of its detail. */
  async function refusal(response: Promise<Response>) {
    const { status, headers } = await response
    const { detail } = await json(response)
    return [
      status,
      headers.get('Retry-After'),
      String(detail).slice(0, WAITS[2]!.toString().length),
    ]
  }

  test.for([
    'transactions?from=2026-11-01',
    'transactions?to=2026-09-30',
    'transactions?customer_id=nobody',
    'transactions/new',
    'customers',
    'customers/c-1',
  ])('answers at once where no record is archived: GET %s', async (path) => {
    const acme = await firm()
    const before = await json(acme.get(path))
    await archive(october())
    expect(await json(acme.get(path))).toEqual(before)
    expect(await restoreWanted()).toBe(0)
  })

  const reportOf = (query: string) => askAdmin(`accounts/acme/reports?${query}`)

  test.for([
    'from=2026-10-01&to=2026-10-31&metrics=deposit_amount,deposit_count',
    'from=2026-10-31&to=2026-11-02&metrics=deposit_amount,deposit_count',
    'from=2026-10-31&to=2026-11-30&metrics=first_deposit_count',
    'from=2026-10-01&to=2026-10-31&metrics=active_customers',
  ])('has the month restored for a report: %s', async (query) => {
    await firm()
    const before = await json(reportOf(query))
    expect(before).not.toHaveProperty('status')
    await archive(october())
    expect(await refusal(reportOf(query))).toEqual(WAITS)
    expect(await restoreWanted()).toBe(1)
    expect(await json(reportOf(query))).toEqual(before)
  })

  test.for([
    'from=2026-11-01&to=2026-11-30&metrics=deposit_amount,deposit_count',
    'from=2026-11-01&to=2026-11-30&metrics=first_deposit_count',
    'from=2026-10-01&to=2026-10-31&metrics=signups',
    'from=2026-10-01&to=2026-10-31&metrics=lots',
  ])('does not hold up a report that needs no archived record: %s', async (query) => {
    await firm()
    const before = await json(reportOf(query))
    expect(before).not.toHaveProperty('status')
    await archive(october())
    expect(await json(reportOf(query))).toEqual(before)
  })

  test('is found by a search in all accounts', async () => {
    await firm()
    const search = () => json(askAdmin(`search?id=${encodeURIComponent(`Tür-2'"`)}`))
    const before = await search()
    expect(JSON.stringify(before)).toContain('acme')
    await archive(october())
    expect(await search()).toEqual(before)
  })
})

describe('the cron of each minute', () => {
  test('restores the months that are needed, and deletes objects that no month needs', async () => {
    const acme = await firm()
    await archive(october())
    await runCron(CRON_SCHEDULES.propagate)
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived' })
    const again = await acme.post('transactions', [
      { ...deposit, transaction_date: '2026-10-09T09:30:00.000Z' },
    ])
    expect(again.status).toBe(503)
    await runCron(CRON_SCHEDULES.propagate)
    expect(await readMonth(env.DB, october())).toBeNull()
    expect((await json(acme.get('transactions'))).data).toHaveLength(41)
    const [{ prefix }] = (await rowsOf('retired_archives')) as [{ prefix: string }]
    expect((await env.ARCHIVE.list({ prefix })).objects).toHaveLength(1)
    await env.DB.prepare('update retired_archives set delete_at = 0').run()
    await runCron(CRON_SCHEDULES.propagate)
    expect((await env.ARCHIVE.list({ prefix })).objects).toEqual([])
  })

  test('goes on with a month that leaves, whatever ended its last step', async () => {
    takeSmallSteps()
    await firm('acme', 12)
    const task = { month: october(), form: formOfResource('transactions') }
    for (let i = 0; i < 2; i++) await archiveStep(place, task, Date.now())
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'writing' })
    await runCron(CRON_SCHEDULES.propagate)
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'archived', records: 12 })
  })

  test('restores a month of each account before further ones of an account that needs many', async () => {
    const resources = ['activities', 'trading-activity', 'transactions'] as const
    for (const [account, wanted_at] of [
      ['acme', 1],
      ['other', 2],
    ] as const) {
      await partner('forex', { account })
      for (const resource of resources) {
        const month = monthOf(account, resource)
        await env.DB.prepare(
          `insert into archived_months (account, resource, first_day, last_day, state, begun_at, totals_at, erasures,
            prefix, wanted_at) values (?, ?, ?, ?, ?, 1, 1, 0, 'p', ?)`,
        )
          .bind(
            ...[account, resource, month.first_day, month.last_day],
            ...[resource === 'transactions' ? 'restoring' : 'archived', wanted_at],
          )
          .run()
      }
    }
    const due = await dueMonths(env.DB, 4)
    expect(due.map(({ account, resource }) => `${account} ${resource}`)).toEqual([
      'acme transactions',
      'other transactions',
      'acme activities',
      'other activities',
    ])
  })

  test('logs a damaged object, and restores other months all the same', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    await firm()
    await firm('other', 20)
    await archive(october())
    const [{ key }] = (await env.ARCHIVE.list()).objects as [R2Object]
    await env.ARCHIVE.delete(key)
    await archive(october('other'))
    await env.DB.prepare('update archived_months set wanted_at = 1').run()
    await runCron(CRON_SCHEDULES.propagate)
    expect(errors.mock.calls).toEqual([
      [
        JSON.stringify({
          ...{ fault: 'damaged_archive', account: 'acme', resource: 'transactions' },
          ...{ month: '2026-10', object: key },
        }),
      ],
    ])
    expect(await readMonth(env.DB, october('other'))).toBeNull()
    expect(await readMonth(env.DB, october())).toMatchObject({ state: 'restoring', fault: key })
  })
})

describe('an erasure', () => {
  const note = { note: 'Ada Lovelace' }

  /** Returns a brand whose customers have activities in October. */
  async function casinoOf(account: string) {
    const casino = await brand({
      account,
      events: { Deposit: { granularity: 'event', eventid: 'used' } },
    })
    await casino.post('customers', [eve, { ...eve, customerId: 'p-2' }])
    const sent = Array.from({ length: 12 }, (_, i) => ({
      ...{ ...deposited, ...note, eventid: `e-${i}` },
      customerid: i % 3 === 0 ? 'p-2' : 'p-1',
      createtime: `2026-10-${String(1 + i).padStart(2, '0')} 10:00`,
    }))
    expect((await casino.post('activities', sent)).status).toBe(200)
    await keepTotals(account, 'igaming', '2026-10-01', '2026-10-31')
    return casino
  }

  const erase = (account: string) =>
    askAdmin(`accounts/${account}/customers/p-1/personal-data`, 'DELETE').then(json)

  const recordsOf = async (account: string) =>
    (
      await env.DB.prepare('select id, record, details from events where account = ? order by id')
        .bind(account)
        .all()
    ).results

  test('masks archived activities once they are back, and deletes the objects that had them', async () => {
    takeSmallSteps()
    await casinoOf('casino')
    await casinoOf('twin')
    const month = monthOf('casino', 'activities')
    await archive(month)
    expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived', records: 12 })
    const { prefix } = (await readMonth(env.DB, month))!
    expect(await erase('twin')).toMatchObject({ complete: true })
    expect(await erase('casino')).toMatchObject({ complete: false })
    const listed = () => askAdmin('accounts/casino/erasures').then(json)
    expect((await listed()).data).toMatchObject([{ complete: false }])
    for (let minute = 0; minute < 2; minute++) await runCron(CRON_SCHEDULES.propagate)
    expect((await listed()).data).toMatchObject([{ complete: true }])
    expect(await readMonth(env.DB, month)).toBeNull()
    const records = await recordsOf('casino')
    expect(records).toHaveLength(12)
    expect(records.filter(({ record }) => String(record).includes('Ada'))).toHaveLength(4)
    expect(records).toEqual(await recordsOf('twin'))
    await runCron(CRON_SCHEDULES.propagate)
    expect((await env.ARCHIVE.list({ prefix })).objects).toEqual([])
  })

  test('stays complete when a month comes back that was archived later', async () => {
    await casinoOf('casino')
    const month = monthOf('casino', 'activities')
    expect(await erase('casino')).toMatchObject({ complete: true })
    await keepTotals('casino', 'igaming', '2026-10-01', '2026-10-31')
    await archive(month)
    expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived' })
    await restore(month)
    const { data } = await json(askAdmin('accounts/casino/erasures'))
    expect(data).toMatchObject([{ complete: true }])
    const texts = (await recordsOf('casino')).map(({ record }) => String(record))
    expect(texts.filter((text) => text.includes('Ada'))).toHaveLength(4)
  })

  test('of a customer without archived activities brings nothing back', async () => {
    const casino = await casinoOf('casino')
    await casino.post('customers', [{ ...eve, customerId: 'p-3' }])
    const month = monthOf('casino', 'activities')
    await archive(month)
    const erased = await json(askAdmin('accounts/casino/customers/p-3/personal-data', 'DELETE'))
    expect(erased).toMatchObject({ complete: true })
    expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived', wanted_at: null })
  })

  test('while a month is written has it stay', async () => {
    takeSmallSteps()
    await casinoOf('casino')
    const month = monthOf('casino', 'activities')
    const task = { month, form: formOfResource('activities') }
    for (let i = 0; i < 2; i++) await archiveStep(place, task, Date.now())
    const { prefix } = (await readMonth(env.DB, month))!
    expect(await erase('casino')).toMatchObject({ complete: true })
    for (let minute = 0; minute < 2; minute++) await runCron(CRON_SCHEDULES.propagate)
    expect(await readMonth(env.DB, month)).toBeNull()
    expect(await recordsOf('casino')).toHaveLength(12)
    expect((await env.ARCHIVE.list({ prefix })).objects).toEqual([])
  })
})
