import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { encodeTrackingCode, newClickId, newLinkId } from '../../src/attribution/code.ts'
import { brandCustomerTable, partnerCustomerTable } from '../../src/ingest/db/record-table.ts'
import { PERSONAL_FIELDS } from '../../src/ingest/trading/resource.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { grantOf } from '../../src/platform/auth/grant.ts'
import { withinJurisdiction } from '../../src/platform/auth/placement.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { brandTokenObjectName } from '../../src/platform/auth/token-gate.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { forgetChanges, watchMarks } from '../marks.ts'
import { ada, askAdmin, json, ORIGIN, issuedPartner as partner } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { overriding } from './watched.ts'

watchMarks()

const erase = (account: string, id: string) =>
  askAdmin(`accounts/${account}/customers/${encodeURIComponent(id)}/personal-data`, 'DELETE')

const person = { first_name: 'Augusta', last_name: 'Lovelace', email: 'augusta@lovelace.example' }
const player = { ...eve, firstName: 'Augusta', lastName: 'Lovelace', wallet: 'augusta-1815' }
const PERSONAL = /Augusta|Lovelace|augusta/

/** Returns the `tracking_data` of a click on a new link of an account. */
async function codeOf(account: string): Promise<string> {
  const link_id = newLinkId()
  const origin = { account, affiliate_id: 'a', link_id }
  return encodeTrackingCode(env.TRACKING_KEYS, origin, newClickId(Date.now()))
}

/** Returns the content of all tables of both databases as text. */
async function databaseText(): Promise<string> {
  const contents = await Promise.all(
    [env.DB, env.DB_2].map(async (db) => {
      const { results } = await db
        .prepare(
          "select name from sqlite_schema where type = 'table' and name not like '\\_cf%' escape '\\'",
        )
        .all<{ name: string }>()
      return db.batch(results.map(({ name }) => db.prepare(`select * from ${name}`)))
    }),
  )
  return JSON.stringify(contents.flat().map(({ results }) => results))
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
      { customer_id: 'c-1', erased_at: expect.stringMatching(/^\d{4}-/), complete: true },
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/c-1'))).toEqual({ ...ada, sales_status_id: 'vip' })
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
  test('the history keeps country codes if a plan has conditions on countries', async () => {
    const acme = await brand()
    const when = { countries: ['SE'] }
    const base = [{ event: 'bet', kpi: 'ngr' }]
    await storePlan(
      acme.account,
      'ib',
      monthly([{ id: 'share', kind: 'share', percent: '10', base, when }]),
    )
    await acme.post('customers', [
      { customerId: 'own', country: 'SE' },
      { customerId: 'free', country: 'Augusta' },
    ])
    for (const id of ['own', 'free']) await erase(acme.account, id)

    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/own'))).toEqual({ customerId: 'own' })
    const { results } = await env.DB.prepare(
      'select customer_id, country_code from customer_fields order by customer_id',
    ).all<{ customer_id: string; country_code: string | null }>()
    expect(results.map((row) => row.country_code)).toEqual([null, 'SE'])
  })

  test('an erasure removes the country, and tracking_data that the service did not issue', async () => {
    const acme = await brand({ binding: 'DB_2' })
    const other = await brand({ account: 'other' })
    const tracking_data = await codeOf(acme.account)
    const sent = [
      { customerId: 'own', tracking_data, country: 'Augusta' },
      { customerId: 'foreign', tracking_data: await codeOf(other.account) },
      { customerId: 'free', tracking_data: 'Ada Lovelace', country: 'Lovelace' },
      { customerId: 'altered', tracking_data: 'tr1 Augusta' },
      { customerId: 'none', country: 'Augusta' },
    ]
    const verdicts = ['attributed', 'foreign', 'unrecognised', 'altered', 'organic']
    const origins = async () => (await json(askAdmin(`accounts/${acme.account}/customers`))).data
    const verdictOf = ({ attribution }: { attribution: { verdict: string } }) => attribution.verdict
    await acme.post('customers', sent)
    const before = await origins()
    for (const { customerId } of sent) await erase(acme.account, customerId)

    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await databaseText()).not.toContain(sent[1]!.tracking_data)
    expect(before.map(verdictOf).toSorted()).toEqual(verdicts.toSorted())
    expect(await origins()).toEqual(before)
    for (const query of ['?dry_run=true', '']) {
      const { summary } = await json(acme.post(`customers${query}`, sent))
      expect(summary).toMatchObject({ received: 5, unchanged: 5 })
    }
    expect(await json(acme.get('customers/own'))).toEqual({ customerId: 'own', tracking_data })
    expect(await json(acme.get('customers/free'))).toEqual({ customerId: 'free' })
    // Other texts replace an attribution as before, and are not stored.
    expect(
      await outcomesAndWarnings(
        acme.post('customers', [
          { ...sent[2], tracking_data: 'Augusta' },
          { customerId: 'free', tracking_data: '' },
          { ...sent[0], tracking_data: 'Augusta' },
          { customerId: 'none', tracking_data },
        ]),
      ),
    ).toEqual([
      ['unchanged', 'country', 'unrecognised', 'no_regtime', 'erased'],
      ['unchanged', 'altered', 'repeated_key', 'no_regtime', 'erased'],
      ['updated', 'country', 'unrecognised', 'no_regtime', 'erased'],
      ['updated', 'no_regtime', 'erased'],
    ])
    expect(await databaseText()).not.toMatch(PERSONAL)
    expect(await json(acme.get('customers/none'))).toEqual({ customerId: 'none', tracking_data })
  })
})

describe("a brand's activities", () => {
  const OTHER = 'p-2'
  const sent = {
    ...deposited,
    product: 'casino',
    playerEmail: 'augusta@lovelace.example',
    device: { owner: ['Augusta'], os: 1 },
  }
  const masked = { ...deposited, product: 'casino' }
  const long = { ...day, story: `Augusta ${'x'.repeat(400)}` }

  test('an erasure leaves ids, times, amounts, products and KPIs of activities, held ones too', async () => {
    const acme = await brand({ events: { DailyStats: dailyStats } })
    await acme.post('customers', [player, { customerId: OTHER }])
    const stats = { ...long, Product: 'Casino', line: 'Augusta', GGR: 1e-7 }
    const undefinedEvent = { ...day, eventname: 'Raw', note: 'augusta', PRODUCT: 'poker' }
    const other = { ...deposited, eventid: 'e-2', customerid: OTHER, playerEmail: 'kept@x.example' }
    const response = await acme.post('activities', [sent, stats, undefinedEvent, other])
    expect(response.status).toBe(200)
    await acme.post('activities', { ...sent, eventid: 'e-3', customerid: 'waiting' })
    const totals = await json(acme.get('totals?from=2026-10-01&to=2026-10-31'))
    await erase(acme.account, eve.customerId)
    expect((await json(erase(acme.account, 'waiting'))).complete).toBe(true)

    expect(await databaseText()).not.toMatch(PERSONAL)
    const journal = await runInDurableObject(
      env.ERASURE_JOURNAL.getByName(acme.account),
      (_, { storage }) => JSON.stringify([...storage.kv.list()]),
    )
    expect(journal).not.toMatch(PERSONAL)
    const { data } = await json(acme.get('activities'))
    expect(data).toHaveLength(4)
    expect(data).toEqual(
      expect.arrayContaining([
        masked,
        { ...day, Product: 'Casino', GGR: 1e-7 },
        { ...day, eventname: 'Raw', PRODUCT: 'poker' },
        other,
      ]),
    )
    expect((await json(acme.get('held'))).data[0].record).toEqual({
      ...masked,
      eventid: 'e-3',
      customerid: 'waiting',
    })
    expect(await json(acme.get('totals?from=2026-10-01&to=2026-10-31'))).toEqual(totals)
  })

  test('an erasure of many activities is completed by the cron, and each step is bounded', async () => {
    const acme = await brand({ binding: 'DB_2' })
    await acme.post('customers', player)
    const numbers = (count: number) => JSON.stringify(Array.from({ length: count }, (_, i) => i))
    const store = (firstDay: number, days: number, perDay: number) =>
      env.DB_2.prepare(
        `insert into events (account, id, eventname, customer_id, record, details, day, first_day,
           held, delivery, idx, revision)
         select ?1, 'e ' || (?2 + d.value) || '-' || i.value, 'Bet', 'p-1',
           '{"customerid":"p-1","eventname":"Bet","Value":1,"who":"Augusta"}', '{"who":"Augusta"}',
           ?2 + d.value, 18000, 0, 'd', 0, 1
         from json_each(?3) d cross join json_each(?4) i`,
      )
        .bind(acme.account, firstDay, numbers(days), numbers(perDay))
        .run()
    await store(18_000, 1, 9000)
    await store(20_000, 2500, 2)
    await forgetChanges()
    const { complete } = await json(erase(acme.account, 'p-1'))
    const left = () =>
      env.DB_2.prepare('select count(*) as n from events where details is not null').first('n')

    expect([complete, await left()]).toEqual([false, 4000])
    expect((await json(askAdmin(`accounts/${acme.account}/erasures`))).data).toMatchObject([
      { customer_id: 'p-1', complete: false },
    ])
    await runCron(CRON_SCHEDULES.propagate)
    expect([await left(), await databaseText()]).toEqual([0, expect.not.stringMatching(PERSONAL)])
    expect((await json(askAdmin(`accounts/${acme.account}/erasures`))).data).toMatchObject([
      { customer_id: 'p-1', complete: true },
    ])
  })

  test('the log of refused activities and customers quotes no undeclared member', async () => {
    const acme = await brand({ events: { DailyStats: dailyStats } })
    const wrong = { phone: 'Augusta', deep: [{ owner: 'Lovelace', n: 'NUMBER' }] }
    const text = (record: object) => JSON.stringify([record]).replace('"NUMBER"', '1e400')
    for (const [path, record] of [
      ['customers', { ...player, ...wrong, country: 5 }],
      ['customers', { ...player, lastName: 'augusta'.repeat(100), regtime: 'Augusta' }],
      ['activities', { ...sent, ...wrong, Currency: 'EUX', createtime: 'never' }],
      ['activities', { ...sent, ...wrong, product: 7, eventname: 'DailyStats', GGR: 'x' }],
    ] as const) {
      expect((await acme.postText(path, text(record))).status).toBe(422)
    }
    expect(await databaseText()).not.toMatch(PERSONAL)
  })

  test('the log of errors keeps ids, and quotes no other value', async () => {
    const acme = await brand({ events: { DailyStats: dailyStats } })
    const inAllFields = (id: string) => ({
      ...{ customerid: 'p-1', eventname: 'DailyStats', eventid: id, Product: 'casino' },
      ...{ GGR: 'Augusta', Value: 'Ada Lovelace', Currency: 'Augusta', createtime: 'Lovelace' },
    })
    const { eventid: _, ...daily } = { ...inAllFields(''), createtime: '2026-10-02' }
    const deep = { ...deposited, Augusta: { 'augusta@lovelace.example': '\0' } }
    const response = await acme.post('activities', [inAllFields('e-1'), daily, deep])
    const { errors, delivery_id } = await json(response)
    const firm = await partner()
    const wrong = { ...ada, lang_id: 'Augusta', leverage: 'Lovelace' }
    const long = { ...ada, customer_id: 'c-2', ['x'.repeat(100)]: 1 }
    const refused = await json(firm.post('customers', [wrong, long]))
    const traded = {
      customer_id: 'c-1',
      instrument: 'EURUSD',
      date: 'Augusta',
      currency: 'Augusta',
    }
    await firm.post('trading-activity', traded)
    const refusing = await brand({ account: 'refusing', unknown_customer: 'reject' })
    const unknown = { ...day, customerid: 'nobody', product: 'Augusta', Currency: 'EUR' }
    const { delivery_id: refusedId } = await json(refusing.post('activities', unknown))

    expect(errors[0]).toMatchObject({ message: expect.stringContaining('`Augusta`') })
    expect(await databaseText()).not.toMatch(PERSONAL)
    const logged = await json(acme.get(`deliveries/${delivery_id}`))
    const places = (pointer: string, key: object) => expect.objectContaining({ pointer, key })
    expect(logged.errors).toEqual(
      expect.arrayContaining([
        places('/0/GGR', { eventid: 'e-1' }),
        places('/1/Currency', { eventname: 'DailyStats', customerid: 'p-1' }),
        { ...errors.at(-1), pointer: '/2' },
      ]),
    )
    const log = await json(firm.get(`deliveries/${refused.delivery_id}`))
    expect(log.errors.map(({ message }: { message: string }) => message)).toEqual([
      'The value is not valid. Expected a two-letter language code in lower case, such as `de`.',
      'The value is not valid. Expected a ratio such as `1:100`.',
      refused.errors[2].message,
    ])
    expect((await json(refusing.get(`deliveries/${refusedId}`))).errors).toMatchObject([
      { key: { eventname: day.eventname, customerid: 'nobody' } },
    ])
    expect(log.errors[2].pointer).toBe(`/1/${'x'.repeat(40)}…`)
  })
})

describe('erasure', () => {
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
      next: null,
    })
    expect(await json(casino.get('customers/p-1'))).toMatchObject({ firstName: 'Augusta' })
    let erased = 0
    for (let next: string | null = ''; next !== null; ) {
      const answer = await json(askAdmin(`erasures/replay${next && `?cursor=${next}`}`, 'POST'))
      erased += answer.erased
      next = answer.next
    }
    expect(erased).toBe(2)
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

  test('a replay erases the activities of a restored database again', async () => {
    const casino = await brand({ binding: 'DB_2' })
    await casino.post('customers', player)
    await casino.post('activities', deposited)
    await erase(casino.account, 'p-1')
    await env.DB_2.prepare(`update events set details = '{"who":"Augusta"}',
      record = json_set(record, '$.who', 'Augusta')`).run()
    await askAdmin('erasures/replay', 'POST')
    await runCron(CRON_SCHEDULES.propagate)

    expect(await databaseText()).not.toMatch(PERSONAL)
  })

  test('a replay of erasures ends a reopened Brand Token that ended earlier', async () => {
    const casino = await brand()
    await askAdmin(`accounts/${casino.account}/brand-tokens`, 'POST', { overlap: 'none' })
    const account = (await findAccount(env.DB, casino.account))!
    const tokenObject = env.TOKEN_GATE.getByName(
      brandTokenObjectName(await digest(casino.brand_token)),
    )
    await runInDurableObject(tokenObject, (_, { storage }) => storage.deleteAll())
    await tokenObject.open(grantOf(account, null, 'read write'), null)
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

test('an id that is not percent-encoded UTF-8 is 400, and nothing is erased', async () => {
  const acme = await partner()
  await acme.post('customers', { ...ada, ...person, customer_id: '%ff' })
  const at = `accounts/${acme.account}/customers/%ff/personal-data`
  const response = await askAdmin(at, 'DELETE')

  expect([response.status, (await json(response)).code]).toEqual([400, 'invalid_query'])
  expect(await databaseText()).toMatch(PERSONAL)
})

test('erasing a customer of another or unknown account is 404', async () => {
  const acme = await partner()
  await acme.post('customers', { ...ada, ...person })
  await partner('forex', { account: 'other' })
  const eraseIn = (account: string) =>
    askAdmin(`accounts/${account}/customers/c-1/personal-data`, 'DELETE')

  expect((await eraseIn('other')).status).toBe(404)
  expect((await eraseIn('nobody')).status).toBe(404)
  expect(await databaseText()).toMatch(PERSONAL)
})

test('clears every personal column that a customer table names', async () => {
  const acme = await partner()
  const casino = await brand()
  await acme.post('customers', [ada])
  await casino.post('customers', [eve])
  for (const [account, id, { personalColumns }] of [
    [acme.account, ada.customer_id, partnerCustomerTable],
    [casino.account, eve.customerId, brandCustomerTable],
  ] as const) {
    const columns = personalColumns.map((name) => `${name} = '{}'`)
    const select = () =>
      env.DB.prepare(`select ${personalColumns} from customers where account = ?`)
        .bind(account)
        .raw()
    await env.DB.prepare(`update customers set ${columns} where account = ?`).bind(account).run()
    expect(await select()).toEqual([personalColumns.map(() => '{}')])
    await erase(account, id)
    expect(await select()).toEqual([
      personalColumns.map((name) => (name === 'tracking_data' ? '' : null)),
    ])
  }
})

test('every personal column of a partner is a personal field, whose value no message repeats', () => {
  expect([...PERSONAL_FIELDS]).toEqual(partnerCustomerTable.personalColumns)
})

test('a jurisdiction that Cloudflare does not have is an error', () => {
  const unknown = new TypeError('Unknown jurisdiction')
  const journals = overriding(env.ERASURE_JOURNAL, {
    jurisdiction: () => {
      throw unknown
    },
  })
  expect(() => withinJurisdiction(journals, { jurisdiction: 'eu' })).toThrow(unknown)
})

test('the journal of an account is within its jurisdiction', async () => {
  const acme = await brand()
  await acme.post('customers', eve)
  await env.DB.prepare(`update accounts set jurisdiction = 'eu'`).run()
  const jurisdictions: string[] = []
  const ERASURE_JOURNAL = overriding(env.ERASURE_JOURNAL, {
    jurisdiction: (name: string) => {
      jurisdictions.push(name)
      return env.ERASURE_JOURNAL
    },
  })
  const send = async (method: string, path: string) =>
    (
      await fetchWith(
        { ...env, ERASURE_JOURNAL } as Env,
        new Request(`${ORIGIN}/admin/v1/${path}`, {
          method,
          headers: { Authorization: `Bearer ${env.ADMIN_KEY}` },
        }),
      )
    ).status
  const erase = `accounts/${acme.account}/customers/${eve.customerId}/personal-data`
  expect(await send('DELETE', erase)).toBe(200)
  expect(await send('POST', 'erasures/replay')).toBe(200)
  expect(jurisdictions).toEqual(['eu', 'eu'])
  // workerd has no jurisdictions, so the same request works without the watch.
  expect((await askAdmin(erase, 'DELETE')).status).toBe(200)
})
