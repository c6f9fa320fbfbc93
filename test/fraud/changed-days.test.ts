import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'

// The triggers that note which evaluated days change afterwards. The days to 100 are evaluated.

const THROUGH = 100
const PAST = 50
const EARLIER = 40
const BEGINNING = -719_528

const run = (sql: string) => env.DB.prepare(sql).run()

const RECORD = `held, delivery, idx, revision`
const CUSTOMER = `insert into customers (account, customer_id, affiliate_id, day, signup_date, delivery, idx, revision)
  values ('a', 'c', 'A', ${PAST}, ${PAST * 86_400_000}, 'd', 0, 1)`
const transaction = (day: number, held = 0) => `
  insert into transactions (account, transaction_id, customer_id, transaction_type, amount_currency, currency,
    transaction_date, status, day, ${RECORD})
  values ('a', 't', 'c', 'deposit', 1, 'EUR', ${day * 86_400_000}, 'approved', ${day}, ${held}, 'd', 0, 1)`
const activity = (day: number, held = 0) => `
  insert into activity (account, date, customer_id, instrument, currency, lots_traded, ${RECORD})
  values ('a', ${day}, 'c', 'X', 'EUR', 1, ${held}, 'd', 0, 1)`
const event = (day: number, createtime: number | null, held = 0) => `
  insert into events (account, id, eventname, customer_id, createtime, record, day, first_day, ${RECORD})
  values ('a', 'e', 'Bet', 'c', ${createtime}, '{}', ${day}, ${day}, ${held}, 'd', 0, 1)`
const delivery = (resource: string, day: number, dryRun = 0) => `
  insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient, received,
    errors_total, rejected, refused, held, stale, created, listed, reused, yesterday, today, days)
  values ('a', 'd', 1, 0, '${resource}', 'array', ${dryRun}, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '[${day + 5},${day}]')`
const field = (name: string, value: string) => `
  insert into customer_fields (account, customer_id, day, delivery, ${name})
  values ('a', 'c', ${PAST}, 'd', '${value}')`
const affiliation = (day: number) => `
  insert into customer_affiliations (account, customer_id, day, affiliate_id, delivery)
  values ('a', 'c', ${day}, 'A', 'd')`

beforeEach(async () => {
  await run(
    `insert into fraud_progress (account, through, inputs) values ('a', ${THROUGH}, '{}'), ('b', ${THROUGH}, '{}')`,
  )
})

/** Returns the first day that has changed, and the customers whose records count anew. */
async function changes() {
  const progress = await env.DB.prepare(
    'select changed_from from fraud_progress order by account',
  ).all<{ changed_from: number | null }>()
  const customers = await env.DB.prepare(
    'select account, customer_id from fraud_changed_customers',
  ).all<{ account: string; customer_id: string }>()
  const [own, other] = progress.results
  expect(other?.changed_from).toBeNull()
  return [own?.changed_from, customers.results.map((one) => `${one.account} ${one.customer_id}`)]
}

const forget = () =>
  env.DB.batch([
    env.DB.prepare('update fraud_progress set changed_from = null'),
    env.DB.prepare('delete from fraud_changed_customers'),
  ])

test.each([
  [
    'a delivery with records',
    delivery('transactions', PAST),
    'update deliveries set written = 1',
    PAST,
  ],
  [
    'a transaction that moves to another day',
    transaction(PAST),
    `update transactions set day = ${EARLIER}`,
    EARLIER,
  ],
  [
    'a transaction that leaves a day',
    transaction(EARLIER),
    `update transactions set day = ${PAST}`,
    EARLIER,
  ],
  [
    'a transaction that is released',
    transaction(PAST, 1),
    'update transactions set held = 0',
    PAST,
  ],
  ['a transaction that is deleted', transaction(PAST), 'delete from transactions', PAST],
  ['activity that is released', activity(PAST, 1), 'update activity set held = 0', PAST],
  ['activity that leaves a day', activity(EARLIER), `update activity set date = ${PAST}`, EARLIER],
  ['activity that is deleted', activity(PAST), 'delete from activity', PAST],
  ['an event that leaves a day', event(EARLIER, 1), `update events set day = ${PAST}`, EARLIER],
  ['an event that is released', event(PAST, 1, 1), 'update events set held = 0', PAST],
  [
    'an event without a time that is sent again',
    event(PAST, null),
    'update events set revision = 2',
    PAST,
  ],
  ['an event that is deleted', event(PAST, 1), 'delete from events', PAST],
  ['a signup that moves', CUSTOMER, `update customers set day = ${EARLIER}`, EARLIER],
  ['an e-mail', CUSTOMER, `update customers set email = 'x@x.example'`, PAST],
  ['a last name', CUSTOMER, `update customers set last_name = 'X'`, PAST],
  ['a click', CUSTOMER, `update customers set tracking_data = 'x'`, PAST],
  ['another value of a field', CUSTOMER, field('phase', 'funded'), PAST],
  ['another affiliate', CUSTOMER, affiliation(PAST), PAST],
])('%s makes its first day change', async (_, before, change, day) => {
  await run(before)
  await forget()
  await run(change)
  expect(await changes()).toEqual([day, []])
})

test('a new customer makes the day of the signup change', async () => {
  await run(CUSTOMER)
  expect(await changes()).toEqual([PAST, []])
})

test.each([
  ['a first country', CUSTOMER, `update customers set country_code = 'DE'`],
  ['a first phase', CUSTOMER, `update customers set phase = 'funded'`],
  ['a first affiliate', CUSTOMER.replace(`'A'`, 'null'), `update customers set affiliate_id = 'A'`],
  ['an affiliate from the beginning', CUSTOMER, affiliation(BEGINNING)],
])('%s counts from the first record of the customer on', async (_, before, change) => {
  await run(before)
  await forget()
  await run(change)
  expect((await changes())[1]).toEqual(['a c'])
})

test('a change of an affiliate in the history counts from its days on, from the beginning, or anew', async () => {
  await run(CUSTOMER)
  await run(affiliation(PAST))
  await forget()
  await run(`update customer_affiliations set affiliate_id = 'B'`)
  expect(await changes()).toEqual([PAST, []])

  await forget()
  await run(`update customer_affiliations set day = ${BEGINNING}`)
  expect(await changes()).toEqual([null, ['a c']])

  await forget()
  await run('delete from customer_affiliations')
  expect(await changes()).toEqual([null, ['a c']])
})

test('a change of a field in the history counts from its day on; a country that is erased, anew', async () => {
  await run(CUSTOMER)
  await run(field('country_code', 'DE'))
  await forget()
  await run(`update customer_fields set phase = 'failed'`)
  expect(await changes()).toEqual([PAST, []])

  await forget()
  await run('update customer_fields set country_code = null')
  expect(await changes()).toEqual([PAST, ['a c']])
})

test('a day that is not evaluated yet, a dry run, and a later day than the first change nothing', async () => {
  await run(transaction(THROUGH + 1))
  await run(`update transactions set day = ${THROUGH + 2}`)
  await run(delivery('transactions', PAST, 1))
  await run('update deliveries set written = 1')
  expect(await changes()).toEqual([null, []])

  await run(`update fraud_progress set changed_from = ${EARLIER} where account = 'a'`)
  await run(`update transactions set day = ${PAST}`)
  await run(`update transactions set day = ${THROUGH + 1}`)
  expect(await changes()).toEqual([EARLIER, []])
})
