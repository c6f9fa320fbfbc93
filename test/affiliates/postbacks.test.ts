import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { CAUSED } from '../../src/affiliates/db/postback-causes.ts'
import { addressPostback } from '../../src/affiliates/postback-address.ts'
import { queuePostbacks } from '../../src/affiliates/postback-causes.ts'
import { encodeTrackingCode, newClickId } from '../../src/attribution/code.ts'
import { SUBS, storeClicks } from '../../src/attribution/db/clicks.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { WORDS } from '../../src/platform/documents/texts.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { periodOf } from '../../src/platform/money/calendar.ts'
import { takeDueMessages } from '../../src/webhooks/db/queue.ts'
import { fillMacros } from '../../src/webhooks/macros.ts'
import { sendWebhookBatch } from '../../src/webhooks/send-batch.ts'
import { bookRuns } from '../books/book-firm.ts'
import { bookBack, bookPaid } from '../books/book-rows.ts'
import { brand } from '../brand.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { signedIn } from '../console/browser.ts'
import { overriding } from '../overriding.ts'
import { ada, ask, askAdmin, askWith, deposit, json, partner, traded } from '../partner.ts'
import { deliverJob, listing, type Sent } from '../platform/crons.ts'
import { signedInFor } from '../portal/join.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'
import { affiliateWorld, type Who } from './affiliate-world.ts'

// What the trackers of affiliates are told. test-node/webhooks.test.ts has a tracker that fails and hangs.

type World = Awaited<ReturnType<typeof affiliateWorld>>

const TRACKER =
  'https://tracker.example/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}&c={customer}&cc={country}&l={link_id}&p={period}&a={affiliate_id}&t={time}'

const ALL = [
  'signup',
  'first_deposit',
  'qualified',
  'commission.approved',
  'commission.adjusted',
  'statement.paid',
]

const change = (key: string, path: string, method: string, body?: object) =>
  askWith(key, `/affiliate/v1/postbacks${path}`, method, body)

/** Creates a postback of an affiliate, and returns it with a key that may change it. */
async function postbackOf(world: World, who: Who, fields: object = {}) {
  const key = await world.makeKey(who, { scope: 'read links' })
  const made = await change(key, '', 'POST', { url: TRACKER, events: ALL, ...fields })
  expect(made.status).toBe(201)
  return { key, ...(await json(made)) }
}

/** Reads the causes, sends what is due, and returns the requests that a tracker got, each as its parameters. */
async function deliver(status = 200) {
  const sent: Sent[] = []
  const platform = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
  await queuePostbacks(platform, 'DB', Date.now())
  for (const { body } of sent) await deliverJob(body, platform)
  // Of a failed attempt the next one is due by then.
  const times = { now: Date.now() + DAY_MS, until: 0, inFlight: 1000 }
  const results = await takeDueMessages(env.DB, null, times)
  const got: { url: URL; init: RequestInit }[] = []
  const fetching = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url, init) => {
    got.push({ url: new URL(String(url)), init: init ?? {} })
    return new Response(null, { status })
  })
  onTestFinished(() => fetching.mockRestore())
  const due = results.map((body) => ({ body: { ...body, binding: 'DB' } }))
  const context = createExecutionContext()
  await sendWebhookBatch(due as never, env, context, addressPostback)
  await waitOnExecutionContext(context)
  fetching.mockRestore()
  return got
}

const parameters = (requests: Awaited<ReturnType<typeof deliver>>) =>
  requests.map(({ url }) => Object.fromEntries(url.searchParams))

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

/** Lets the minute pass for which an event waits for a click. */
function waitForClicks(until = Date.now() + 61_000) {
  vi.setSystemTime(until)
  onTestFinished(() => void vi.useRealTimers())
}

const UUID = '019a0c5b-3d0c-4b1f-8a7d-2e9b3c019a0c'

/** Sends a new customer of an affiliate, and their first deposits. */
async function join(world: World, who: Who, customer_id: string, deposits = 1) {
  await world.post('customers', [
    { ...ada, customer_id, affiliate_id: who, signup_date: hoursAgo(-0.1), country_code: 'MT' },
  ])
  await world.post(
    'transactions',
    Array.from({ length: deposits }, (_, i) => ({
      ...{ ...deposit, customer_id, transaction_id: `${customer_id}-${i}` },
      ...{ amount_currency: 50 + i, transaction_date: hoursAgo(-0.2 - i / 100) },
    })),
  )
}

test('a signup and a first deposit are sent once, to the affiliate of the customer alone', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own')
  await join(world, 'own', 'n-1', 2)
  await join(world, 'other', 'n-2')
  const sent = parameters(await deliver())
  expect(sent).toMatchObject([
    { ev: 'signup', cc: 'MT', a: 'own', amt: '', cid: '' },
    { ev: 'first_deposit', amt: '50', cur: 'EUR', a: 'own' },
  ])
  for (const { c, tx } of sent) {
    expect(c).toMatch(/^c_[\da-f]{24}$/)
    expect(tx).toMatch(/^evt_[\da-f]{27}$/)
    // A digest of the cause without a key would confirm a guessed customer.
    for (const ev of ALL) {
      const cause = JSON.stringify(['acme-forex', ev, JSON.stringify(['own', 'n-1'])])
      expect(tx?.slice(-16)).not.toBe((await digest(cause)).slice(0, 16))
    }
  }
  // The same records again, and another deposit, cause nothing.
  await join(world, 'own', 'n-1', 3)
  expect(await deliver()).toEqual([])
})

test('a deposit that waits for its customer, or for its approval, is a first deposit then', async () => {
  const settings = { account: 'holds', affiliates: ['own'], unknown_customer: 'hold' as const }
  const firm = await partner('forex', settings)
  const made = await askAdmin('accounts/holds/affiliates/own/keys', 'POST', {
    ...{ name: 'Tracker', scope: 'read links' },
  })
  const { affiliate_key } = await json(made)
  const fields = { url: TRACKER, events: ['first_deposit'] }
  expect((await change(affiliate_key, '', 'POST', fields)).status).toBe(201)
  await firm.post('transactions', [
    { ...deposit, customer_id: 'n-1', transaction_id: 'n-1', transaction_date: hoursAgo(-0.2) },
  ])
  expect(await deliver()).toEqual([])
  const joined = { ...ada, affiliate_id: 'own', signup_date: hoursAgo(-0.1) }
  await firm.post('customers', [{ ...joined, customer_id: 'n-1' }])
  expect(parameters(await deliver())).toMatchObject([{ ev: 'first_deposit', a: 'own' }])
  await firm.post('customers', [{ ...joined, customer_id: 'n-2' }])
  const waiting = { ...deposit, customer_id: 'n-2', transaction_id: 'n-2' }
  const paid = { ...waiting, transaction_date: hoursAgo(-0.2) }
  await firm.post('transactions', [{ ...paid, status: 'pending' }])
  expect(await deliver()).toEqual([])
  await firm.post('transactions', [paid])
  expect(parameters(await deliver())).toMatchObject([{ ev: 'first_deposit', a: 'own' }])
  // What was paid before the postback was made is not sent.
  await firm.post('customers', [{ ...joined, customer_id: 'n-3', signup_date: hoursAgo(48) }])
  const before = { ...deposit, customer_id: 'n-3', transaction_date: hoursAgo(24) }
  await firm.post('transactions', [
    { ...before, transaction_id: 'n-3' },
    { ...before, transaction_id: 'n-4', transaction_date: hoursAgo(-0.3) },
  ])
  expect(await deliver()).toEqual([])
})

/** Runs the statements of a period, and returns the draft of an affiliate. */
async function run(world: World, period: string, who: Who) {
  await bookRuns(world.account).run(period)
  const { data } = await json(
    askAdmin(`${world.path}/statements?period=${period}&affiliate_id=${who}`),
  )
  return data[0] as { id: string; hash: string; payable: string }
}

const approve = async (world: World, { id, hash }: { id: string; hash: string }) =>
  expect(
    (
      await askAdmin(`${world.path}/statements/${id}/approve`, 'POST', {
        ...{ hash, leave_out_holds: true },
      })
    ).status,
  ).toBe(200)

const cents = (amounts: readonly (string | undefined)[]) =>
  amounts.reduce((sum, one) => sum + Math.round(Number(one) * 100), 0)

/** Sums the ledger of an affiliate in cents, by kind. */
async function booked(world: World, who: Who) {
  const { data } = await json(askAdmin(`${world.path}/ledger?affiliate_id=${who}`))
  const entries = data as { kind: string; amount: string }[]
  const sumOf = (...kinds: string[]) =>
    cents(entries.filter(({ kind }) => kinds.includes(kind)).map(({ amount }) => amount))
  return {
    approved: sumOf('earned'),
    adjusted: sumOf('adjusted', 'manual'),
    paid: -sumOf('paid', 'returned'),
  }
}

test('what is approved, taken back and paid adds up to the books', async () => {
  const world = await affiliateWorld()
  const september = { signup_date: '2026-09-01T08:00:00.000Z', affiliate_id: 'own' }
  const early = { ...deposit, transaction_id: 's-1', customer_id: 's-1' }
  await world.post('customers', [{ ...ada, ...september, customer_id: 's-1' }])
  const made = { ...early, transaction_date: '2026-09-02T09:30:00.000Z' }
  await world.post('transactions', [made])
  await world.post('trading-activity', [{ ...traded, customer_id: 's-1', date: '2026-09-03' }])
  await postbackOf(world, 'own')
  await approve(world, await run(world, '2026-09', 'own'))
  const first = parameters(await deliver())
  expect(first).toMatchObject([
    { ev: 'commission.approved', p: '2026-09', cur: 'EUR' },
    { ev: 'commission.approved', p: '2026-09' },
    { ev: 'commission.approved', p: '2026-09' },
  ])
  expect(cents(first.map(({ amt }) => amt))).toBe((await booked(world, 'own')).approved)
  // The deposit is reversed: the next statement takes back what it earned.
  await world.post('transactions', [{ ...made, status: 'declined' }])
  await askAdmin(`${world.path}/manual-entries`, 'POST', {
    ...{ affiliate_id: 'own', plan: 'ib', amount: '-1.50', reason: 'Bonus', reference: 'm-1' },
  })
  const october = await run(world, '2026-10', 'own')
  await approve(world, october)
  const second = parameters(await deliver())
  const sums = await booked(world, 'own')
  const amountsOf = (type: string) =>
    [...first, ...second].filter(({ ev }) => ev === type).map(({ amt }) => amt)
  expect(cents(amountsOf('commission.approved'))).toBe(sums.approved)
  expect(cents(amountsOf('commission.adjusted'))).toBe(sums.adjusted)
  expect(sums.adjusted).toBeLessThan(-150)
  expect(amountsOf('commission.adjusted')).toContain('-1.50')
  const ids = [...first, ...second].map(({ tx }) => tx)
  expect(new Set(ids).size).toBe(ids.length)
  expect(await deliver()).toEqual([])
})

test('what one reading does not store, the next one does', async () => {
  const { most } = CAUSED
  onTestFinished(() => {
    CAUSED.most = most
  })
  const world = await affiliateWorld()
  await postbackOf(world, 'own')
  await join(world, 'own', 'n-1')
  await approve(world, await run(world, '2026-10', 'own'))
  CAUSED.most = 1
  const sent: Record<string, string>[] = []
  for (let got = await deliver(); got.length > 0; got = await deliver())
    sent.push(...parameters(got))
  const approved = sent.filter(({ ev }) => ev === 'commission.approved')
  expect(approved.length).toBeGreaterThan(1)
  expect(cents(approved.map(({ amt }) => amt))).toBe((await booked(world, 'own')).approved)
  expect(new Set(sent.map(({ ev }) => ev)).size).toBe(3)
})

test('§18.3 a payment that came back is sent as `statement.returned` with a negative amount', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['statement.paid'] })
  const { id, hash, payable } = await run(world, '2026-10', 'own')
  await approve(world, { id, hash })
  const paid_on = hoursAgo(48).slice(0, 10)
  expect(await bookPaid([id], 'p-1', paid_on, world.account)).toBe(true)
  const [first, ...more] = parameters(await deliver())
  expect([first?.amt, more, await deliver()]).toEqual([payable, [], []])
  expect(await bookBack(id, paid_on, world.account)).toBe(true)
  expect(parameters(await deliver())).toMatchObject([
    {
      ev: 'statement.returned',
      amt: `-${payable}`,
      cur: 'EUR',
      p: '2026-10',
      tx: `${first?.tx}-r`,
    },
  ])
  expect(await bookPaid([id], 'p-2', paid_on, world.account)).toBe(true)
  expect(parameters(await deliver())).toMatchObject([{ ev: 'statement.paid', amt: payable }])
  expect((await booked(world, 'own')).paid).toBe(cents([payable]))
})

test('a customer who qualified is sent once, after the run that finds them', async () => {
  const world = await affiliateWorld()
  const day = hoursAgo(0).slice(0, 10)
  const month = day.slice(0, 7)
  // Who has qualified before the postback was made is not sent.
  await join(world, 'own', 'n-0')
  await world.post('trading-activity', [{ ...traded, customer_id: 'n-0', date: day }])
  await run(world, month, 'own')
  await postbackOf(world, 'own', { events: ['qualified'] })
  await run(world, month, 'own')
  expect(await deliver()).toEqual([])
  await join(world, 'own', 'n-1')
  await world.post('trading-activity', [{ ...traded, customer_id: 'n-1', date: day }])
  expect(await deliver()).toEqual([])
  await run(world, month, 'own')
  expect(parameters(await deliver())).toMatchObject([
    { ev: 'qualified', amt: '20.00', cur: 'EUR', p: month, cc: 'MT' },
  ])
  await run(world, month, 'own')
  expect(await deliver()).toEqual([])
})

test('§18.3 what is taken back is sent again with a negative amount: each event adds up to the present state', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['first_deposit', 'qualified'] })
  const day = hoursAgo(0).slice(0, 10)
  await run(world, day.slice(0, 7), 'own')
  await join(world, 'own', 'n-1', 2)
  await world.post('trading-activity', [{ ...traded, customer_id: 'n-1', date: day }])
  const all: Record<string, string>[] = []
  const next = async () => {
    await run(world, day.slice(0, 7), 'own')
    const sent = parameters(await deliver())
    all.push(...sent)
    const sumOf = (type: string) =>
      cents(all.filter(({ ev }) => ev === type).map(({ amt }) => amt)) / 100
    expect(await deliver()).toEqual([])
    const shown = sent.map(({ ev, amt }) => `${ev} ${amt}`).sort()
    return [shown, sumOf('first_deposit'), sumOf('qualified')]
  }
  const set = (n: number, status: string) =>
    world.post('transactions', [
      {
        ...{ ...deposit, customer_id: 'n-1', transaction_id: `n-1-${n}`, status },
        ...{ amount_currency: 50 + n, transaction_date: hoursAgo(-0.2 - n / 100) },
      },
    ])
  expect(await next()).toEqual([['first_deposit 50', 'qualified 20.00'], 50, 20])
  const [deposited, qualified] = ['first_deposit', 'qualified'].map(
    (type) => all.find(({ ev }) => ev === type)?.tx,
  )
  await set(0, 'declined')
  expect(await next()).toEqual([['first_deposit -50', 'first_deposit 51'], 51, 20])
  expect(all.find(({ amt }) => amt === '-50')).toMatchObject({ tx: `${deposited}-r`, a: 'own' })
  await set(1, 'declined')
  expect(await next()).toEqual([['first_deposit -51', 'qualified -20.00'], 0, 0])
  expect(all.find(({ amt }) => amt === '-20.00')).toMatchObject({ tx: `${qualified}-r` })
  // It is approved after all.
  await set(0, 'approved')
  expect(await next()).toEqual([['first_deposit 50', 'qualified 20.00'], 50, 20])
  expect(new Set(all.map(({ tx }) => tx)).size).toBe(all.length)
  // Who was not sent the first event is not sent that it is taken back.
  await postbackOf(world, 'own', { events: ['first_deposit', 'qualified'] })
  await set(0, 'declined')
  await run(world, day.slice(0, 7), 'own')
  const sent = parameters(await deliver())
  expect(sent.map(({ amt }) => amt).sort()).toEqual(['-20.00', '-50'])
})

test('§18.3 a correction of a closed period takes back who qualified in it', async () => {
  const world = await affiliateWorld()
  const cpa = {
    ...{ id: 'first', kind: 'once' as const, amount: '20.00' },
    trigger: { transactions: ['deposit'], min: '10' },
  }
  await storePlan('acme-forex', 'weekly', { ...monthly([cpa]), period: 'week' })
  const today = Math.floor(Date.now() / 86_400_000)
  const daysAgo = (days: number) => hoursAgo(24 * days)
  await assign('acme-forex', 'weekly', 'own', daysAgo(20).slice(0, 10))
  await postbackOf(world, 'own', { events: ['qualified'] })
  const signup = { ...ada, customer_id: 'n-1', affiliate_id: 'own', signup_date: daysAgo(8) }
  await world.post('customers', [signup])
  const paid = { ...deposit, customer_id: 'n-1', transaction_id: 'n-1' }
  await world.post('transactions', [{ ...paid, transaction_date: daysAgo(7) }])
  const [last, current] = [7, 0].map((days) => periodOf(today - days, 'week').id)
  const week = await run(world, last ?? '', 'own')
  const [first] = parameters(await deliver())
  expect(first).toMatchObject({ ev: 'qualified', amt: '20.00' })
  await approve(world, week)
  expect(await deliver()).toEqual([])
  await world.post('transactions', [{ ...paid, transaction_date: daysAgo(7), status: 'declined' }])
  await run(world, current ?? '', 'own')
  expect(parameters(await deliver())).toMatchObject([
    { ev: 'qualified', amt: '-20.00', tx: `${first?.tx}-r` },
  ])
})

test('what the account hides is in no macro, and in no body', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['signup', 'first_deposit'] })
  const { secret } = await postbackOf(world, 'own', {
    ...{ events: ['signup', 'first_deposit'], method: 'POST', url: 'https://tracker.example/post' },
  })
  expect(secret).toMatch(/^whsec_/)
  const read = async (customer: string) => {
    await join(world, 'own', customer)
    const sent = await deliver()
    for (const { url, init } of sent) {
      expect(`${url} ${init.body}`).not.toMatch(/zq9marked/)
      expect(url.href.includes('n-')).toBe(false)
    }
    return {
      got: parameters(sent.filter(({ init }) => init.method === 'GET')),
      posted: sent.flatMap(({ init }) => (init.body ? [JSON.parse(String(init.body))] : [])),
    }
  }
  await world.show({ customer_ids: 'none', amounts: false, countries: false })
  const hidden = await read('n-1')
  expect(hidden.got).toMatchObject([
    { ev: 'signup', c: '', cc: '' },
    { ev: 'first_deposit', c: '', cc: '', amt: '', cur: '' },
  ])
  expect(hidden.posted.map(({ data }) => Object.keys(data).sort())).toEqual([
    ['affiliate_id', 'event', 'id', 'time'],
    ['affiliate_id', 'event', 'id', 'time'],
  ])
})

test('a URL with an unknown macro, or with one before its path, is refused and says why', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own', { scope: 'read links' })
  for (const [url, why] of [
    ['https://t.example/?a={payout}', '{sub1}'],
    ['https://t.example/?a={sub1', '{sub1}'],
    ['https://t.example/?a={{sub1}}', '{sub1}'],
    ['https://{sub1}.example/', 'behind its host'],
    ['https://t.example:{sub1}/', 'behind its host'],
    ['https://{sub1}@t.example/', 'behind its host'],
    ['{sub1}://t.example/', 'behind its host'],
    ['https:\\\\{sub1}.example/', 'behind its host'],
    ['https:////{sub1}.example/', 'behind its host'],
    ['http://t.example/?a={sub1}', 'https'],
    ['https://10.0.0.1/?a={sub1}', 'IP address'],
    ['https://0x7f000001/?a={sub1}', 'IP address'],
    ['https://[::ffff:10.0.0.1]/?a={sub1}', 'IP address'],
    ['https://localhost./{sub1}', 'public internet'],
    ['https://api.example/{sub1}', 'another service'],
    [`https://t.example/?a=${'x'.repeat(5000)}`, '2000'],
  ] as const) {
    const refused = await change(key, '', 'POST', { url, events: ['signup'] })
    const text = await refused.text()
    expect([url, refused.status, text]).toEqual([url, 422, expect.stringContaining(why)])
    expect(JSON.parse(text).errors[0].pointer).toBe('/url')
  }
  for (const fields of [{ events: ['statement.ready'] }, { events: [] }, { method: 'PUT' }]) {
    const sent = { url: TRACKER, events: ['signup'], ...fields }
    expect((await change(key, '', 'POST', sent)).status).toBe(422)
  }
  expect(await json(change(key, '', 'GET'))).toEqual({ data: [] })
})

test('§18.3 a macro in any spelling that trackers use is replaced, or refused', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own', { scope: 'read links' })
  const make = (query: string) =>
    change(key, '', 'POST', { url: `https://t.example/p?${query}`, events: ['signup'] })
  for (const query of [
    'cid=%7Bsub1%7D',
    'cid=%7bSub1%7d',
    'cid=%257BSUB1%257D',
    'cid={Sub1}',
    'cid=%7B%20sub1%20%7D',
  ]) {
    const { url, id } = await json(make(query))
    expect([query, url]).toEqual([query, 'https://t.example/p?cid={sub1}'])
    await change(key, `/${id}`, 'DELETE')
  }
  for (const query of [
    ...['cid={clickid}', 'c={sub1}&cid=%7Bclick_id%7D', 'cid={{sub1}}', 'cid=%7B%7Bsub1%7D%7D'],
    ...['cid={sub_1}', 'cid=%7Bsub1', 'cid=[sub1]', 'cid=%5Bsub1%5D', 'cid=<sub1>', 'cid=(sub1)'],
    ...['cid=$%7Bsub1%7D', 'cid=__SUB1__', 'cid=%%sub1%%', 'cid=$sub1', 'cid=:sub1'],
  ]) {
    const refused = await make(query)
    expect([query, refused.status]).toEqual([query, 422])
    expect(await refused.text()).toContain('{sub1}')
  }
  expect((await make('data[amount]={amount}&ev=signup&t=-1&type=event')).status).toBe(201)
  const { data } = await json(change(key, '', 'GET'))
  const changed = await json(
    change(key, `/${data[0].id}`, 'PATCH', { url: 'https://t.example/%7BID%7D' }),
  )
  expect(changed.url).toBe('https://t.example/{id}')
})

test('a value that a visitor chose changes neither host nor path of a postback', async () => {
  const values = { sub1: '..', customer: 'a/b?c=d&e#f {id}' }
  expect(fillMacros('https://t.example/a/{sub1}/p', values)).toBeNull()
  expect(fillMacros('https://t.example/a/p?x={sub1}', values)).toBe('https://t.example/a/p?x=..')
  expect(fillMacros('https://t.example/{customer}?c={customer}&s={sub2}', values)).toBe(
    'https://t.example/a%2Fb%3Fc%3Dd%26e%23f%20%7Bid%7D?c=a%2Fb%3Fc%3Dd%26e%23f%20%7Bid%7D&s=',
  )
})

test('an affiliate has at most five postbacks', async () => {
  const world = await affiliateWorld()
  const key = await world.makeKey('own', { scope: 'read links' })
  const add = () => change(key, '', 'POST', { url: TRACKER, events: ['signup'] })
  for (let i = 0; i < 5; i++) expect((await add()).status).toBe(201)
  const sixth = await add()
  expect([sixth.status, (await json(sixth)).detail]).toEqual([409, expect.stringContaining('5')])
  await postbackOf(world, 'other')
  const webhooks = await json(askAdmin(`${world.path}/webhooks`))
  expect(webhooks.data).toEqual([])
})

test('the webhooks of the firm lack the postbacks of affiliates, which lack its events', async () => {
  const world = await affiliateWorld()
  const { id, key } = await postbackOf(world, 'own', { events: ['signup'] })
  expect((await askAdmin(`${world.path}/webhooks/${id}`)).status).toBe(404)
  const at = `${world.path}/affiliates/other/postbacks/${id}`
  expect((await askAdmin(at, 'PATCH', { disabled: true })).status).toBe(404)
  const store = (event: string, affiliate: string | null) =>
    env.DB.prepare(
      `insert into webhook_events values ('acme-forex', ?1, 'signup', ?1, 0, '{}', ?2)`,
    )
      .bind(event, affiliate)
      .run()
  for (const [event_id, affiliate] of [
    ['evt_00000000001firm', null],
    ['evt_00000000001other', 'other'],
  ] as const) {
    await store(event_id, affiliate)
    expect((await change(key, `/${id}/replay`, 'POST', { event_id })).status).toBe(404)
  }
  expect(await json(change(key, `/${id}/replay`, 'POST', {}))).toEqual({ replayed: 0 })
})

test('an affiliate pauses a postback and goes on, and the team sees it', async () => {
  const world = await affiliateWorld()
  const { id, key } = await postbackOf(world, 'own', { events: ['signup'] })
  const patch = (body: object) => change(key, `/${id}`, 'PATCH', body)
  const at = `${world.path}/affiliates/own/postbacks`
  expect(await json(patch({ disabled: true }))).toMatchObject({ disabled_reason: 'affiliate' })
  expect((await json(askAdmin(at))).data).toMatchObject([{ id, url: TRACKER, disabled: true }])
  const meanwhile = { ...ada, customer_id: 'n-1', affiliate_id: 'own' }
  await world.post('customers', [{ ...meanwhile, signup_date: hoursAgo(0) }])
  expect(await deliver()).toEqual([])
  expect(await json(patch({ disabled: false }))).toMatchObject({ disabled_reason: null })
  await join(world, 'own', 'n-2')
  expect(parameters(await deliver())).toMatchObject([{ ev: 'signup' }])
  const { data } = await json(askAdmin(`audit-log?account=acme-forex&action=postback`))
  expect(
    data.map(({ actor, action }: { actor: string; action: string }) => [actor, action]),
  ).toEqual([
    [expect.stringMatching(/^affiliate-key /), 'postback.change'],
    [expect.stringMatching(/^affiliate-key /), 'postback.change'],
    [expect.stringMatching(/^affiliate-key /), 'postback.create'],
  ])
  expect(JSON.stringify(data)).not.toContain('{sub1}')
})

test('nothing is sent for a suspended affiliate; what happened meanwhile is sent afterwards', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['signup'] })
  const set = (status: string) =>
    askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', status }])
  await set('suspended')
  await join(world, 'own', 'n-1')
  expect(await deliver()).toEqual([])
  await set('active')
  expect(parameters(await deliver())).toMatchObject([{ ev: 'signup' }])
})

test('the attempts say what the tracker answered; a failure is sent again', async () => {
  const world = await affiliateWorld()
  const { id, key } = await postbackOf(world, 'own', { events: ['signup'] })
  await join(world, 'own', 'n-1')
  expect(await deliver(500)).toHaveLength(1)
  const { data } = await json(change(key, `/${id}/attempts`, 'GET'))
  expect(data).toMatchObject([
    { type: 'signup', attempts: 1, response_status: 500, error: 'http_status' },
  ])
  const [{ event_id }] = data
  const [again] = parameters(await deliver())
  expect(again).toMatchObject({ ev: 'signup', tx: event_id })
  expect(await json(change(key, `/${id}/replay`, 'POST', { event_id }))).toEqual({ replayed: 1 })
  const [replayed] = parameters(await deliver())
  expect(replayed).toEqual(again)
})

test('a webhook and a postback that failures have stopped are named where people look each morning', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['signup'] })
  await postbackOf(world, 'other', { events: ['signup'] })
  await askAdmin(`${world.path}/webhooks`, 'POST', {
    ...{ url: 'https://hooks.example/secret', events: ['delivery.refused'] },
  })
  const read = async () => {
    const { data } = await json(askAdmin(`${world.path}/attention`))
    const { attention } = await json(world.get('account'))
    const failing = ({ code }: { code: string }) => code.startsWith('failing_')
    expect(attention.filter(failing)).toEqual(data.filter(failing))
    return data.filter(failing)
  }
  const overviews = async () => [
    await (await console.get('/console/accounts/acme-forex')).text(),
    await (await portal.get('/portal/acme-forex')).text(),
  ]
  const console = await signedIn()
  const portal = await signedInFor('acme-forex', 'own')
  expect(await read()).toEqual([])
  await join(world, 'own', 'n-1')
  await world.post('customers', [{ customer_id: 'bad' }])
  expect(await deliver(410)).toHaveLength(2)
  expect(await read()).toEqual([
    {
      ...{ code: 'failing_webhooks', count: 1, names: ['hooks.example'] },
      detail: expect.stringContaining('hooks.example'),
    },
    {
      ...{ code: 'failing_postbacks', count: 1, names: ['own'] },
      detail: expect.stringContaining('own'),
    },
  ])
  expect(await overviews()).toEqual([
    expect.stringMatching(/Show the webhooks.+Show the affiliate/s),
    expect.stringContaining(WORDS.en.postback_stopped),
  ])
  // From the first day on, before three days of failures disable it.
  await env.DB.prepare('update webhook_endpoints set disabled = null, failing_since = ?')
    .bind(Date.now() - 23 * 3_600_000)
    .run()
  expect(await read()).toEqual([])
  await env.DB.prepare('update webhook_endpoints set failing_since = failing_since - 3600000').run()
  expect(await read()).toMatchObject([{ names: ['hooks.example'] }, { names: ['own', 'other'] }])
})

test('the parameters of the click are sent, also once the click is no longer kept', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['signup', 'first_deposit'] })
  const { data } = await json(askAdmin(`${world.path}/links?per_page=100`))
  type Link = { link_id: string; affiliate_id: string }
  const linkOf = (who: Who) =>
    data.find(({ affiliate_id }: Link) => affiliate_id === who)?.link_id as string
  const click = async (who: Who, sub1: string) => {
    const link_id = linkOf(who)
    const response = await ask(`/go/${link_id}?sub1=${sub1}`, { redirect: 'manual' })
    const code = new URL(response.headers.get('Location') ?? '').searchParams.get('tracking_data')
    const click_id = code?.slice(11, 23) ?? ''
    const stored = { account: 'acme-forex', link_id, click_id, clicked_at: Date.now() }
    const subs = Object.fromEntries(SUBS.map((name) => [name, sub1]))
    await storeClicks(env.DB, [{ ...stored, subs }])
    return code
  }
  const signup = { ...ada, affiliate_id: 'own', signup_date: hoursAgo(-0.1) }
  const tracking_data = await click('own', 'campaign-7')
  // Another affiliate's link: they do not see whose campaign it was.
  const foreign = await click('other', 'secret-8')
  await world.post('customers', [
    { ...signup, customer_id: UUID, tracking_data },
    { ...signup, customer_id: 'n-2', tracking_data: foreign },
  ])
  const signups = parameters(await deliver())
  expect(signups.map(({ cid, l }) => [cid, l]).sort()).toEqual([
    ['', ''],
    ['campaign-7', linkOf('own')],
  ])
  await env.DB.prepare('delete from clicks').run()
  waitForClicks()
  await world.show({ customer_ids: 'plain' })
  const paid = { ...deposit, customer_id: UUID, transaction_id: 'n-1' }
  await world.post('transactions', [{ ...paid, transaction_date: hoursAgo(-0.2) }])
  expect(parameters(await deliver())).toMatchObject([
    { ev: 'first_deposit', cid: 'campaign-7', c: UUID },
  ])
  const { status } = await askAdmin(`${world.path}/customers/${UUID}/personal-data`, 'DELETE')
  expect(status).toBe(200)
  const { results } = await env.DB.prepare('select * from postback_customers').all()
  expect(results).toEqual([])
  expect(JSON.stringify(await eventsOf('acme-forex'))).not.toContain('campaign-7')
})

test('§18.3 an event waits for the click that its customer came by, at most a minute', async () => {
  const world = await affiliateWorld()
  await postbackOf(world, 'own', { events: ['signup', 'first_deposit', 'qualified'] })
  const { data } = await json(askAdmin(`${world.path}/links?per_page=100`))
  const { link_id } = data.find((one: { affiliate_id: string }) => one.affiliate_id === 'own')
  const account = 'acme-forex'
  const clickedAt = Date.now()
  const codes = await Promise.all(
    [1, 2].map(() => {
      const origin = { link_id, account, affiliate_id: 'own' }
      return encodeTrackingCode(env.TRACKING_KEYS, origin, newClickId(clickedAt))
    }),
  )
  for (const [i, tracking_data] of codes.entries()) {
    const customer_id = `n-${i}`
    await join(world, 'own', customer_id)
    await world.post('customers', [
      {
        ...{ ...ada, customer_id, affiliate_id: 'own', tracking_data },
        signup_date: hoursAgo(-0.1),
      },
    ])
    const day = hoursAgo(0).slice(0, 10)
    await world.post('trading-activity', [{ ...traded, customer_id, date: day }])
  }
  await run(world, hoursAgo(0).slice(0, 7), 'own')
  expect(await deliver()).toEqual([])

  const stored = { account, link_id, clicked_at: Date.now(), subs: { sub1: 'late' } }
  await storeClicks(env.DB, [{ ...stored, click_id: codes[0]?.slice(11, 23) ?? '' }])
  const sent = async () =>
    parameters(await deliver())
      .map(({ ev, l, cid }) => [ev, l, cid])
      .sort()
  expect(await sent()).toEqual([
    ['first_deposit', link_id, 'late'],
    ['qualified', link_id, 'late'],
    ['signup', link_id, 'late'],
  ])
  waitForClicks(clickedAt + 59_999)
  expect(await sent()).toEqual([])
  waitForClicks(clickedAt + 60_000)
  expect(await sent()).toEqual([
    ['first_deposit', link_id, ''],
    ['qualified', link_id, ''],
    ['signup', link_id, ''],
  ])
})

test('a customer of a brand has the affiliate of their link', async () => {
  const casino = await brand({ account: 'casino' })
  const path = 'accounts/casino'
  await askAdmin(`${path}/affiliates`, 'PUT', [{ affiliate_id: 'own' }, { affiliate_id: 'other' }])
  const landing_page = 'https://casino.example/'
  const link = await json(askAdmin(`${path}/links`, 'POST', { affiliate_id: 'own', landing_page }))
  for (const affiliate of ['own', 'other']) {
    const { affiliate_key } = await json(
      askAdmin(`${path}/affiliates/${affiliate}/keys`, 'POST', {
        ...{ name: 'Tracker', scope: 'read links' },
      }),
    )
    const made = await change(affiliate_key, '', 'POST', { url: TRACKER, events: ALL })
    expect(made.status).toBe(201)
  }
  const visit = await ask(`/go/${link.link_id}`, { redirect: 'manual' })
  const code = new URL(visit.headers.get('Location') ?? '').searchParams.get('tracking_data')
  const customer = { customerId: UUID, regtime: hoursAgo(-0.1), tracking_data: code }
  expect((await casino.post('customers', customer)).status).toBe(201)
  waitForClicks()
  expect(parameters(await deliver())).toMatchObject([
    { ev: 'signup', a: 'own', l: link.link_id, c: expect.stringMatching(/^c_/) },
  ])
  expect(await deliver()).toEqual([])
})
