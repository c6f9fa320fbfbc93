import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { EXPORT_LIMITS } from '../../src/exports/limits.ts'
import { affiliateWorld } from '../affiliates/affiliate-world.ts'
import { bookPaid } from '../books/book-rows.ts'
import { storedBrand } from '../brand.ts'
import { restoring } from '../limits.ts'
import { overriding } from '../overriding.ts'
import { ada, askAdmin, deposit, json, partner, resumed, traded } from '../partner.ts'
import { deliverJob, listing, type Sent } from '../platform/crons.ts'
import { builtOnce } from '../world.ts'
import { dayOf, decimal, download, filesOf, rowsOf, runExport, timeOf, turnOn } from './exported.ts'

const limits = restoring(EXPORT_LIMITS)

const ACCOUNT = 'acme-forex'

// biome-ignore lint/suspicious/noExplicitAny: rows of any list
type Found = Record<string, any>

/** Reads all rows of a list of the team. */
async function allOf(path: string): Promise<Found[]> {
  const { data, meta } = await json(askAdmin(`accounts/${path}`))
  expect(meta.next_cursor).toBeNull()
  return data
}

/** Returns rows in one order, without the members that are null: lists leave them out. */
const sorted = (rows: readonly object[]) =>
  rows
    .map((row) =>
      JSON.stringify(
        Object.entries(row)
          .filter(([, value]) => value !== null)
          .sort(),
      ),
    )
    .sort()

const decimals = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decimal(value)]))

/** A firm with statements, of which two are approved and one is paid, and its files. */
async function exportedFirm() {
  const world = await affiliateWorld()
  const { path, statementOf } = world
  for (const who of ['own', 'other'] as const) {
    const { id, hash } = statementOf(who)
    expect((await askAdmin(`${path}/statements/${id}/approve`, 'POST', { hash })).status).toBe(200)
  }
  const isPaid = await bookPaid([statementOf('own').id], 'PAY-1', '2026-11-20', ACCOUNT)
  expect(isPaid).toBe(true)
  await turnOn(ACCOUNT)
  await runExport(ACCOUNT)
  return world
}

describe('each figure of an export', () => {
  async function checkRecords() {
    const customers = await allOf(`${ACCOUNT}/records/customers?per_page=500`)
    const transactions = await allOf(`${ACCOUNT}/records/transactions?per_page=500`)
    const activity = await allOf(`${ACCOUNT}/records/trading-activity?per_page=500`)
    expect(sorted(await rowsOf(ACCOUNT, 'forex', 'customers'))).toEqual(
      sorted(
        customers.map(({ first_name, last_name, email, ...one }) => ({
          ...one,
          signup_date: timeOf(one.signup_date),
          last_modified_date: timeOf(one.last_modified_date),
          day: dayOf(String(one.signup_date).slice(0, 10)),
        })),
      ),
    )
    expect(sorted(await rowsOf(ACCOUNT, 'forex', 'transactions'))).toEqual(
      sorted(
        transactions.map((one) => ({
          ...one,
          amount_currency: decimal(one.amount_currency),
          amount_usd: decimal(one.amount_usd),
          transaction_date: timeOf(one.transaction_date),
          day: dayOf(String(one.transaction_date).slice(0, 10)),
        })),
      ),
    )
    expect(sorted(await rowsOf(ACCOUNT, 'forex', 'trading-activity'))).toEqual(
      sorted(
        activity.map((one) => {
          const { date, customer_id, instrument, currency, ...amounts } = one
          return { date: dayOf(date), customer_id, instrument, currency, ...decimals(amounts) }
        }),
      ),
    )
  }

  async function checkStatements() {
    const statements = await allOf(`${ACCOUNT}/statements?per_page=500`)
    const rows = await rowsOf(ACCOUNT, 'forex', 'statements')
    expect(sorted(rows)).toEqual(
      sorted(
        statements.map((one) => {
          const { transferred, received, holds, paid, returned, manual, ...row } = one
          const amounts = [
            'opening',
            'lines_sum',
            'adjustments_sum',
            'earned',
            'manual_sum',
            'total',
          ]
          const all = [...amounts, 'payable', 'closing', 'dropped']
          const { reference = null, paid_on = null } = paid ?? {}
          return {
            ...row,
            ...Object.fromEntries(all.map((name) => [name, decimal(row[name])])),
            ...{ received: JSON.stringify(received), holds: JSON.stringify(holds) },
            ...{ paid_reference: reference, paid_on: dayOf(paid_on) },
            payable_on: dayOf(one.payable_on),
            approved_at: timeOf(one.approved_at),
            computed_at: timeOf(one.computed_at),
          }
        }),
      ),
    )
    const lines = await rowsOf(ACCOUNT, 'forex', 'statement-lines')
    for (const { id, affiliate_id, plan, period, currency } of statements) {
      const whole = await json(askAdmin(`accounts/${ACCOUNT}/statements/${id}`))
      const own = lines.filter(({ statement_id }) => statement_id === id)
      expect(own.length).toBe(whole.lines.length + whole.adjustments.length + whole.manual.length)
      expect(sorted(own.filter(({ kind }) => kind === 'line'))).toEqual(
        sorted(
          whole.lines.map((line: Found) => ({
            ...line,
            ...{ statement_id: id, affiliate_id, plan, period, currency },
            ...{ kind: 'line', rule_kind: line.kind },
            ...decimals({
              ...{ amount: line.amount, carried_in: line.carried_in, capped: line.capped },
              ...{ carried_out: line.carried_out, recouped: line.recouped, deficit: line.deficit },
            }),
            step:
              typeof line.step === 'object' && line.step ? JSON.stringify(line.step) : line.step,
            fence: line.fence && JSON.stringify(line.fence),
            fx: JSON.stringify(line.fx),
          })),
        ),
      )
    }
  }

  async function checkBooks() {
    const entries = await Promise.all(
      ['top', 'own', 'below', 'other'].map((who) =>
        allOf(`${ACCOUNT}/ledger?affiliate_id=${who}&per_page=500`),
      ),
    )
    expect(sorted(await rowsOf(ACCOUNT, 'forex', 'ledger'))).toEqual(
      sorted(
        entries.flat().map(({ balance: _, ...one }) => ({
          ...one,
          amount: decimal(one.amount),
          at: timeOf(one.at),
          entered_on: dayOf(one.entered_on),
          value_on: dayOf(one.value_on),
        })),
      ),
    )
    const [payment] = await rowsOf(ACCOUNT, 'forex', 'payments')
    const [paid] = await allOf(`${ACCOUNT}/statements?status=paid`)
    expect(payment).toMatchObject({
      ...{ reference: 'PAY-1', affiliate_id: 'own', paid_on: dayOf('2026-11-20') },
      amount: decimal(paid?.payable),
      statements: JSON.stringify([paid?.id]),
    })
    const affiliates = await allOf(`${ACCOUNT}/affiliates?per_page=500`)
    expect(sorted(await rowsOf(ACCOUNT, 'forex', 'affiliates'))).toEqual(
      sorted(
        affiliates.map((one) => {
          const { affiliate_id, parent, status, language } = one
          return { affiliate_id, parent, status, language }
        }),
      ),
    )
  }

  test('is that of the records, the statements with their lines, the ledger, the payments and the affiliates', async () => {
    await exportedFirm()
    await checkRecords()
    await checkStatements()
    await checkBooks()
  })

  test('is that of a brand', async () => {
    const { account, post } = await storedBrand()
    await post('customers', [
      {
        customerId: 'P-1',
        regtime: '2026-10-01 08:30',
        country: 'DE',
        firstName: 'Eve',
        vip: 'yes',
      },
    ])
    await post('activities', [
      ...[10.1, 20.2].map((value, i) => ({
        ...{ eventname: 'Deposit', customerid: 'P-1', eventid: `dep-${i}`, Currency: 'EUR' },
        ...{ createtime: '2026-10-02 09:30', Value: String(value), product: 'casino' },
      })),
    ])
    await turnOn(account, 'with_personal_data')
    await runExport(account)
    const customers = await rowsOf(account, 'igaming', 'customers', true)
    expect(customers).toEqual([
      {
        ...{ customerId: 'P-1', regtime: '2026-10-01 08:30', country: 'DE', firstName: 'Eve' },
        ...{ lastName: null, tracking_data: null, extras: '{"vip":"\\"yes\\""}' },
        ...{ signup_date: timeOf('2026-10-01T08:30:00Z'), day: dayOf('2026-10-01') },
      },
    ])
    const sent = await allOf(`${account}/records/activities`)
    const activities = await rowsOf(account, 'igaming', 'activities', true)
    expect(activities.map(({ record }) => JSON.parse(String(record)))).toEqual(sent)
    expect(activities[1]).toMatchObject({
      ...{ eventname: 'Deposit', customerid: 'P-1', eventid: 'dep-1', Value: '20.2' },
      ...{ Currency: 'EUR', product: 'casino', createtime: timeOf('2026-10-02T09:30:00Z') },
    })
    const [file] = await filesOf(account, '&resource=activities')
    expect(file).toMatchObject({ records: 2, sums: { Value: '30.3' }, month: '2026-10', part: 1 })
  })
})

const named = { ...ada, first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.org' }

/** A firm with customers and transactions in two months, which is exported. */
async function twoMonths(unknown_customer: 'hold' | 'reject' = 'reject') {
  const firm = await builtOnce(unknown_customer, () => build(unknown_customer))
  await turnOn(ACCOUNT)
  await runExport(ACCOUNT)
  return resumed('forex', firm)
}

async function build(unknown_customer: 'hold' | 'reject') {
  const acme = await partner('forex', { account: ACCOUNT, unknown_customer })
  await acme.post('customers', [
    { ...named, customer_id: 'c-1', signup_date: '2026-09-01T08:00:00.000Z' },
    { ...named, customer_id: 'c-2', signup_date: '2026-10-01T08:00:00.000Z' },
  ])
  await acme.post('transactions', [on('t-1', '2026-09-02'), on('t-2', '2026-10-02')])
  return acme.firm
}

const on = (transaction_id: string, day: string, customer_id = 'c-1') => ({
  ...deposit,
  ...{ transaction_id, customer_id, transaction_date: `${day}T09:00:00.000Z` },
})

/** Returns the ids of the files by resource and month. */
const idsOf = async (account = ACCOUNT) =>
  new Map((await filesOf(account)).map(({ resource, month, id }) => [`${resource} ${month}`, id]))

/** Returns the resources and months whose files changed. */
async function changesOf(before: ReadonlyMap<string, string>): Promise<string[]> {
  const after = await idsOf()
  const all = new Set([...before.keys(), ...after.keys()])
  return [...all].filter((key) => before.get(key) !== after.get(key)).sort()
}

/** Counts the calls to R2 while something runs. */
async function callsOf(run: (world: Env) => Promise<unknown>) {
  const calls = { put: 0, list: 0 }
  const counted =
    (name: keyof typeof calls) =>
    (...values: unknown[]) => {
      calls[name] += 1
      return (env.EXPORTS[name] as (...values: unknown[]) => unknown).apply(env.EXPORTS, values)
    }
  const EXPORTS = overriding(env.EXPORTS, { put: counted('put'), list: counted('list') })
  await run(overriding(env as Env, { EXPORTS }))
  return calls
}

describe('the next export', () => {
  test('writes nothing if nothing has changed, and reads no month again', async () => {
    await twoMonths()
    const before = await filesOf(ACCOUNT)
    const calls = await callsOf((world) => runExport(ACCOUNT, {}, world))
    // The affiliates alone are read each time, and their object is put again.
    expect(calls).toEqual({ put: 1, list: 0 })
    expect(await filesOf(ACCOUNT)).toEqual(before)
  })

  test('writes the months of what has changed alone', async () => {
    const acme = await twoMonths()
    const french = { signup_date: '2026-09-01T08:00:00.000Z', lang_id: 'fr' }
    const changes: [string, string[], () => Promise<unknown>][] = [
      [
        'a new transaction',
        ['transactions 2026-10'],
        () => acme.post('transactions', [on('t-3', '2026-10-05')]),
      ],
      [
        'a day without records before',
        ['transactions 2026-11'],
        () => acme.post('transactions', [on('t-4', '2026-11-05')]),
      ],
      [
        'another note',
        ['transactions 2026-09'],
        () => acme.post('transactions', [{ ...on('t-1', '2026-09-02'), note: 'another' }]),
      ],
      [
        'a transaction that moves to another month, whose month is then empty',
        ['transactions 2026-09', 'transactions 2026-10'],
        () => acme.post('transactions', [on('t-1', '2026-10-07')]),
      ],
      [
        'another value of a customer',
        ['customers 2026-09'],
        () => acme.post('customers', [{ ...named, customer_id: 'c-1', ...french }]),
      ],
      [
        'activity of another resource',
        ['trading-activity 2026-10'],
        () =>
          acme.post('trading-activity', [{ ...traded, customer_id: 'c-1', date: '2026-10-02' }]),
      ],
      [
        'an affiliate',
        ['affiliates null'],
        () => askAdmin(`accounts/${ACCOUNT}/affiliates`, 'PUT', [{ affiliate_id: 'new' }]),
      ],
    ]
    for (const [name, expected, change] of changes) {
      const before = await idsOf()
      await change()
      await runExport(ACCOUNT)
      expect([name, await changesOf(before)]).toEqual([name, expected])
    }
  })

  test('writes the month in which held records are released', async () => {
    const acme = await twoMonths('hold')
    await acme.post('transactions', [on('t-9', '2026-09-20', 'c-9')])
    await runExport(ACCOUNT)
    const before = await idsOf()
    await acme.post('customers', [
      { ...ada, customer_id: 'c-9', signup_date: '2026-10-10T08:00:00.000Z' },
    ])
    await runExport(ACCOUNT)
    expect(await changesOf(before)).toEqual(['customers 2026-10', 'transactions 2026-09'])
  })
})

describe('files that were replaced', () => {
  test('can be read for a day, and are then deleted', async () => {
    const acme = await twoMonths()
    const old = (await idsOf()).get('transactions 2026-10') ?? ''
    await acme.post('transactions', [on('t-3', '2026-10-05')])
    await runExport(ACCOUNT)
    expect((await download(ACCOUNT, old)).byteLength).toBeGreaterThan(0)
    await runExport(ACCOUNT)
    expect((await askAdmin(`accounts/${ACCOUNT}/exports/${old}`)).status).toBe(200)
    EXPORT_LIMITS.keptMs = -1
    await runExport(ACCOUNT)
    expect((await askAdmin(`accounts/${ACCOUNT}/exports/${old}`)).status).toBe(404)
    const { objects } = await env.EXPORTS.list({ prefix: `exports/${ACCOUNT}/transactions/` })
    expect(objects).toHaveLength(2)
  })

  test('by an attempt that was stopped are deleted, too', async () => {
    const acme = await twoMonths()
    await acme.post('transactions', [on('t-3', '2026-10-05')])
    const put = async (...values: Parameters<R2Bucket['put']>) => {
      await env.EXPORTS.put(...values)
      throw new Error('Stopped.')
    }
    const world = overriding(env as Env, { EXPORTS: overriding(env.EXPORTS, { put }) })
    const job = { job: 'export', account: ACCOUNT, at: Date.now() } as const
    expect(await deliverJob(job, world)).toBe(true)
    await acme.post('transactions', [on('t-4', '2026-10-06')])
    await runExport(ACCOUNT)
    const { objects } = await env.EXPORTS.list({ prefix: `exports/${ACCOUNT}/transactions/` })
    expect(objects).toHaveLength(4)
    EXPORT_LIMITS.keptMs = -1
    await runExport(ACCOUNT)
    const left = await env.EXPORTS.list({ prefix: `exports/${ACCOUNT}/transactions/` })
    expect(left.objects).toHaveLength(2)
  })
})

/** Returns all bytes of an account's objects as text. */
async function storedText(account = ACCOUNT): Promise<string> {
  const { objects } = await env.EXPORTS.list({ prefix: `exports/${account}/` })
  const texts = await Promise.all(
    objects.map(async ({ key }) => {
      const object = await env.EXPORTS.get(key)
      return new TextDecoder('latin1').decode(await object?.arrayBuffer())
    }),
  )
  return texts.join()
}

describe('personal data', () => {
  test('is in the files only if the account has them so', async () => {
    await twoMonths()
    expect(await storedText()).toContain('c-1')
    expect(await storedText()).not.toContain('Lovelace')
    await turnOn(ACCOUNT, 'with_personal_data')
    await runExport(ACCOUNT)
    expect(await storedText()).toContain('Lovelace')
    const [row] = await rowsOf(ACCOUNT, 'forex', 'customers', true)
    expect(row).toMatchObject({ last_name: 'Lovelace', email: 'ada@example.org' })
  })

  test('of an erased customer is gone with the next export', async () => {
    await twoMonths()
    await turnOn(ACCOUNT, 'with_personal_data')
    EXPORT_LIMITS.keptMs = -1
    await runExport(ACCOUNT)
    EXPORT_LIMITS.keptMs = limits.keptMs
    await runExport(ACCOUNT)
    const erased = await askAdmin(`accounts/${ACCOUNT}/customers/c-1/personal-data`, 'DELETE')
    expect(erased.status).toBe(200)
    await runExport(ACCOUNT)
    const rows = await rowsOf(ACCOUNT, 'forex', 'customers', true)
    expect(rows.map(({ customer_id, last_name }) => [customer_id, last_name])).toEqual([
      ['c-1', null],
      ['c-2', 'Lovelace'],
    ])
    const { objects } = await env.EXPORTS.list({ prefix: `exports/${ACCOUNT}/customers/2026-09` })
    expect(objects).toHaveLength(1)
  })
})

describe('an account', () => {
  test('whose exports are turned off has no files and objects until they are turned on again', async () => {
    await twoMonths()
    const { length } = await filesOf(ACCOUNT)
    await turnOn(ACCOUNT, 'off')
    await runExport(ACCOUNT)
    expect(await filesOf(ACCOUNT)).toEqual([])
    expect((await env.EXPORTS.list()).objects).toEqual([])
    await turnOn(ACCOUNT)
    await runExport(ACCOUNT)
    expect(await filesOf(ACCOUNT)).toHaveLength(length)
  })

  test('that is disabled keeps its files, and gets no new ones', async () => {
    const acme = await twoMonths()
    await acme.post('transactions', [on('t-3', '2026-10-05')])
    const before = await filesOf(ACCOUNT)
    await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { disabled: true })
    await runExport(ACCOUNT)
    expect(await filesOf(ACCOUNT)).toEqual(before)
  })

  test('is not exported while it is reset', async () => {
    const acme = await twoMonths()
    const before = await filesOf(ACCOUNT)
    await acme.post('customers', [{ ...named, customer_id: 'c-3' }])
    const reset = env.DB.prepare(`insert into resets values (?, '2026-12-01T00:00:00.000Z')`)
    await reset.bind(ACCOUNT).run()
    await runExport(ACCOUNT)
    expect(await filesOf(ACCOUNT)).toEqual(before)
  })

  test('that is reset has no files and objects, and its run ends', async () => {
    const acme = await twoMonths()
    const sent: Sent[] = []
    EXPORT_LIMITS.queries = 1
    const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
    await deliverJob({ job: 'export', account: ACCOUNT, at: Date.now(), isWhole: true }, world)
    expect(sent).toHaveLength(1)
    expect((await askAdmin(`accounts/${ACCOUNT}/reset`, 'POST', {})).status).toBe(204)
    expect(await filesOf(ACCOUNT)).toEqual([])
    await deliverJob(sent[0]!.body, world)
    expect((await env.EXPORTS.list()).objects).toEqual([])
    await acme.post('customers', [{ ...ada, customer_id: 'c-1' }])
    await runExport(ACCOUNT)
    expect((await rowsOf(ACCOUNT, 'forex', 'customers')).length).toBe(1)
  })

  test('is exported by a job of each morning, after its runs', async () => {
    await twoMonths()
    const sent: Sent[] = []
    const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
    const at = Date.parse('2026-12-01T06:05:00Z')
    await deliverJob({ job: 'morning', binding: 'DB', account: ACCOUNT, at }, world)
    expect(sent).toEqual([{ body: { job: 'export', account: ACCOUNT, at }, delaySeconds: 3600 }])
    await turnOn(ACCOUNT, 'off')
    sent.length = 0
    await deliverJob({ job: 'morning', binding: 'DB', account: ACCOUNT, at }, world)
    expect(sent).toHaveLength(1)
    await runExport(ACCOUNT)
    sent.length = 0
    await deliverJob({ job: 'morning', binding: 'DB', account: ACCOUNT, at }, world)
    expect(sent).toEqual([])
  })
})
