import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { grantOf } from '../src/auth/grant.ts'
import { digest } from '../src/auth/secret.ts'
import { brandTokenObjectName } from '../src/auth/token-gate.ts'
import { findAccount } from '../src/db/directory/accounts.ts'
import { erasePersonalData } from '../src/db/records/erasure.ts'
import { brandCustomerTable, partnerCustomerTable } from '../src/db/records/record-table.ts'
import { PERSONAL_FIELDS } from '../src/trading/rows.ts'
import { brand, deposited, eve } from './brand.ts'
import { ada, askAdmin, json, partner } from './partner.ts'

const erase = (account: string, id: string) =>
  askAdmin(`accounts/${account}/customers/${encodeURIComponent(id)}/personal-data`, 'DELETE')

const person = { first_name: 'Augusta', last_name: 'Lovelace', email: 'augusta@lovelace.example' }
const player = { ...eve, firstName: 'Augusta', lastName: 'Lovelace', wallet: 'augusta-1815' }
const PERSONAL = /Augusta|Lovelace|augusta/

/** Returns the content of all tables of both databases as text. */
async function databaseText(): Promise<string> {
  const tables: unknown[] = []
  for (const db of [env.DB, env.DB_2]) {
    const { results } = await db
      .prepare(
        "select name from sqlite_schema where type = 'table' and name not like '\\_cf%' escape '\\'",
      )
      .all<{ name: string }>()
    for (const { name } of results)
      tables.push((await db.prepare(`select * from ${name}`).all()).results)
  }
  return JSON.stringify(tables)
}

const outcomesAndWarnings = async (response: Response | Promise<Response>) => {
  const { results } = await json(response)
  return results.map(
    ({ outcome, warnings = [] }: { outcome: string; warnings?: { code: string }[] }) => [
      outcome,
      ...warnings.map(({ code }) => code),
    ],
  )
}

describe("a partner's customer", () => {
  test('an erasure removes personal data from every table and keeps the rest', async () => {
    const acme = await partner()
    await acme.post('customers', [{ ...ada, ...person, sales_status_id: 'vip' }])
    await acme.post('customers', [{ ...ada, ...person, email: 'augusta' }])
    expect(await databaseText()).toMatch(PERSONAL)
    const response = await erase(acme.account, ada.customer_id)

    expect([response.status, await json(response)]).toEqual([
      200,
      { customer_id: 'c-1', erased_at: expect.stringMatching(/^\d{4}-/) },
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/c-1'))).toEqual({ ...ada, sales_status_id: 'vip' })
  })

  test('a re-sent erased customer is compared after masking and gets a warning', async () => {
    const acme = await partner()
    const sent = { ...ada, ...person }
    await acme.post('customers', sent)
    await erase(acme.account, ada.customer_id)

    expect(await outcomesAndWarnings(acme.post('customers', [sent]))).toEqual([
      ['unchanged', 'erased'],
    ])
    expect(await outcomesAndWarnings(acme.post('customers?dry_run=true', [sent]))).toEqual([
      ['unchanged', 'erased'],
    ])
    const changed = [
      { ...sent, sales_status_id: 'vip' },
      { ...ada, customer_id: 'c-2' },
    ]
    expect(await outcomesAndWarnings(acme.post('customers', changed))).toEqual([
      ['updated', 'erased'],
      ['created'],
    ])
    const changedBack = [{ ...changed[0], sales_status_id: 'lead' }, changed[1]]
    const brief = { Prefer: 'return=minimal' }
    expect(await outcomesAndWarnings(acme.post('customers', changedBack, brief))).toEqual([
      ['updated', 'erased'],
    ])
    await acme.post('customers', changed)
    const minimal = { Prefer: 'return=minimal' }
    expect(await outcomesAndWarnings(acme.post('customers', changed, minimal))).toEqual([
      ['unchanged', 'erased'],
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/c-1'))).toEqual({ ...ada, sales_status_id: 'vip' })
  })

  test('a rejected record of an erased customer gets no erased warning', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person })
    await erase(acme.account, ada.customer_id)
    const bulk = [
      { ...ada, ...person, lang_id: 'wrong' },
      { ...ada, customer_id: 'c-2' },
    ]
    const lenient = { Prefer: 'handling=lenient' }
    expect(await outcomesAndWarnings(acme.post('customers', bulk, lenient))).toEqual([
      ['rejected'],
      ['created'],
    ])
  })

  test('a customer with the same id in another account is not erased', async () => {
    const acme = await partner()
    const other = await partner('forex', { account: 'other' })
    for (const { post } of [acme, other]) await post('customers', { ...ada, ...person })
    await erase(acme.account, ada.customer_id)

    expect(await json(other.get('customers/c-1'))).toEqual({ ...ada, ...person })
    expect(await outcomesAndWarnings(other.post('customers', [{ ...ada, ...person }]))).toEqual([
      ['unchanged'],
    ])
  })
})

describe("a brand's customer", () => {
  test('an erased brand customer loses names and extras and never regains them', async () => {
    const acme = await brand({ binding: 'DB_2' })
    await acme.post('customers', player)
    await acme.post('activities', deposited)
    await erase(acme.account, eve.customerId)
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/p-1'))).toEqual(eve)

    const again = { ...player, country: 'SE', tracking_data: 'x' }
    expect(await outcomesAndWarnings(acme.post('customers', [player]))).toEqual([
      ['unchanged', 'unattributed', 'erased'],
    ])
    expect(await outcomesAndWarnings(acme.post('customers', [again, player]))).toEqual([
      ['updated', 'unrecognised', 'erased'],
      ['updated', 'unrecognised', 'erased'],
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/p-1'))).toEqual({ ...eve, tracking_data: 'x' })
    expect((await json(acme.get('activities'))).meta.total).toBe(1)
  })

  test('an erased customer gets at most 10 warnings, including erased', async () => {
    const acme = await brand()
    await acme.post('customers', player)
    await erase(acme.account, 'p-1')
    const variants = (count: number) => {
      const names = Array.from({ length: count }, (_, i) =>
        [...'country'].map((c, at) => ((i + 1) & (1 << at) ? c.toUpperCase() : c)).join(''),
      )
      return { customerId: 'p-1', ...Object.fromEntries(names.map((name) => [name, 'x'])) }
    }
    const warningsOf = async (count: number) => {
      const { results } = await json(acme.post('customers', [variants(count)]))
      const [{ warnings, warnings_total }] = results
      return [warnings.length, warnings.at(-1).code, warnings_total]
    }

    expect(await warningsOf(8)).toEqual([10, 'erased', undefined])
    expect(await warningsOf(9)).toEqual([10, 'erased', 11])
    expect(await warningsOf(12)).toEqual([10, 'erased', 14])
  })
})

describe('erasure', () => {
  test('erasing an unknown customer is 404, and a repeat changes nothing', async () => {
    const acme = await partner()
    expect((await erase(acme.account, 'nobody')).status).toBe(404)
    expect((await erase('nobody', 'c-1')).status).toBe(404)
    await acme.post('customers', { ...ada, customer_id: 'ü/1 %' })
    const first = await json(erase(acme.account, 'ü/1 %'))
    expect(await json(erase(acme.account, 'ü/1 %'))).toEqual(first)
    const { data, meta } = await json(askAdmin(`accounts/${acme.account}/erasures`))
    expect([data, meta.total]).toEqual([[first], 1])
    const { data: lines } = await json(askAdmin('audit-log'))
    expect(lines[0]).toMatchObject({ action: 'customer.erase', details: { customer_id: 'ü/1 %' } })
  })

  test('after a restore one command repeats every erasure in the journal', async () => {
    const acme = await partner()
    const casino = await brand({ binding: 'DB_2' })
    await acme.post('customers', { ...ada, ...person })
    await casino.post('customers', player)
    await erase(acme.account, 'c-1')
    await erase(casino.account, 'p-1')

    // The state of a restored backup: personal data is present, erasures are not.
    for (const db of [env.DB, env.DB_2]) {
      await db.exec('delete from erasures')
      await db.exec("update customers set first_name = 'Augusta', last_name = 'Lovelace'")
      await db
        .prepare('update customers set extras = ? where regtime is not null')
        .bind(JSON.stringify({ wallet: '"augusta-1815"' }))
        .run()
    }
    expect(await databaseText()).toMatch(PERSONAL)
    expect(await json(askAdmin(`erasures/replay?account=${acme.account}`, 'POST'))).toEqual({
      erased: 1,
    })
    expect(await json(casino.get('customers/p-1'))).toMatchObject({ firstName: 'Augusta' })
    expect(await json(askAdmin('erasures/replay', 'POST'))).toEqual({ erased: 2 })
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect((await askAdmin('erasures/replay?account=nobody', 'POST')).status).toBe(400)
  })

  test('a replayed erasure also masks customers who arrive later', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person })
    await erase(acme.account, 'c-1')
    for (const table of ['erasures', 'customers', 'totals'])
      await env.DB.exec(`delete from ${table}`)
    await askAdmin('erasures/replay', 'POST')

    expect(await outcomesAndWarnings(acme.post('customers', [{ ...ada, ...person }]))).toEqual([
      ['created', 'erased'],
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
  })

  test('a replay of more than 1000 erasures runs in steps', async () => {
    const acme = await partner()
    const ids = Array.from({ length: 1001 }, (_, i) => `c-${String(i).padStart(4, '0')}`)
    const journal = env.ERASURE_JOURNAL.getByName(acme.account)
    await runInDurableObject(journal, async (object) => {
      for (const id of ids) object.add(id, '2026-01-01T00:00:00.000Z')
    })
    expect(await json(askAdmin('erasures/replay', 'POST'))).toEqual({ erased: 1001 })
    const { meta } = await json(askAdmin(`accounts/${acme.account}/erasures?per_page=1`))
    expect(meta.total).toBe(1001)
  })

  test('a repeated erasure in the database writes no rows', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person })
    const customers = [{ customer_id: 'c-1', erased_at: '2026-10-03T00:00:00.000Z' }]
    const rowsWritten = async () => {
      const results = await env.DB.batch(erasePersonalData(env.DB, acme.account, customers))
      return results.reduce((sum, { meta }) => sum + meta.changes, 0)
    }
    expect(await rowsWritten()).toBe(2)
    expect(await rowsWritten()).toBe(0)
  })

  test('a replay of erasures ends a reopened Brand Token that ended earlier', async () => {
    const casino = await brand()
    await askAdmin(`accounts/${casino.account}/brand-tokens`, 'POST', { overlap: 'none' })
    const account = (await findAccount(env.DB, casino.account))!
    const gate = env.TOKEN_GATE.getByName(brandTokenObjectName(await digest(casino.brand_token)))
    await runInDurableObject(gate, (_, { storage }) => storage.deleteAll())
    await gate.open(grantOf(account, null, 'read write'), null)
    await env.DB.exec('update brand_tokens set ends_at = 1 where ends_at is not null')
    expect((await casino.get('account')).status).toBe(200)

    await askAdmin('erasures/replay', 'POST')
    expect((await casino.get('account')).status).toBe(401)
  })

  test('a replay of erasures propagates restored settings to live tokens', async () => {
    const casino = await brand()
    for (const name of ['a', 'b']) {
      await askAdmin(`accounts/${casino.account}`, 'PATCH', { name })
    }
    await env.DB.exec("update accounts set name = 'restored', version = 2, pushed = 2")
    await askAdmin('erasures/replay', 'POST')

    expect((await json(casino.get('account'))).name).toBe('restored')
  })

  test('an erasure survives the reset of its test account', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person })
    await erase(acme.account, 'c-1')
    await askAdmin(`accounts/${acme.account}/reset`, 'POST')
    expect(await outcomesAndWarnings(acme.post('customers', [{ ...ada, ...person }]))).toEqual([
      ['created', 'erased'],
    ])
  })
})

describe('a customer id that does not fit in a path', () => {
  const eraseById = (account: string, query: string) =>
    askAdmin(`accounts/${account}/customers/personal-data${query}`, 'DELETE')

  test('an id that is not percent-encoded UTF-8 is 400, and nothing is erased', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person, customer_id: '%ff' })
    const at = `accounts/${acme.account}/customers/%ff/personal-data`
    const response = await askAdmin(at, 'DELETE')

    expect([response.status, (await json(response)).code]).toEqual([400, 'invalid_query'])
    expect(await databaseText()).toMatch(PERSONAL)
  })

  test.each(['.', '..', 'a/b'])(
    'the customer id %s can be erased by a query parameter',
    async (customer_id) => {
      const acme = await partner()
      await acme.post('customers', { ...ada, ...person, customer_id })
      const response = await eraseById(acme.account, `?${new URLSearchParams({ customer_id })}`)

      expect([response.status, await json(response)]).toEqual([
        200,
        { customer_id, erased_at: expect.stringMatching(/^\d{4}-/) },
      ])
      expect(await databaseText()).not.toMatch(PERSONAL)
    },
  )

  test('erasing a customer of another or unknown account is 404', async () => {
    const acme = await partner()
    await acme.post('customers', { ...ada, ...person })
    await partner('forex', { account: 'other' })

    expect((await eraseById('other', '?customer_id=c-1')).status).toBe(404)
    expect((await eraseById('nobody', '?customer_id=c-1')).status).toBe(404)
    expect(await databaseText()).toMatch(PERSONAL)
  })

  test.each(['', '?', '?customer=c-1', '?customer_id=', '?customer_id=c-1&customer_id=c-2'])(
    'an erasure with the query %j is refused with 400',
    async (query) => {
      const acme = await partner()
      const response = await eraseById(acme.account, query)

      expect([response.status, (await json(response)).code]).toEqual([400, 'invalid_query'])
    },
  )
})

test('clears every personal column that a customer table names', async () => {
  const acme = await partner()
  await acme.post('customers', [ada])
  const columns = [
    ...new Set([...partnerCustomerTable.personalColumns, ...brandCustomerTable.personalColumns]),
  ]
  const all = columns.join(', ')
  await env.DB.prepare(`update customers set ${columns.map((name) => `${name} = '{}'`)}`).run()
  expect(await env.DB.prepare(`select ${all} from customers`).raw()).toEqual([
    columns.map(() => '{}'),
  ])
  await erase(acme.account, ada.customer_id)
  expect(await env.DB.prepare(`select ${all} from customers`).raw()).toEqual([
    columns.map(() => null),
  ])
})

test('every personal column of a partner is a personal field, whose value no message repeats', () => {
  expect([...PERSONAL_FIELDS]).toEqual(partnerCustomerTable.personalColumns)
})
