import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Ajv from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { Webhook } from 'standardwebhooks'
import { expectBody, type RequestSender, until } from '../chaos/ask.ts'
import {
  AFFILIATE,
  asAffiliate,
  asBrand,
  asFirm,
  newBrand,
  newFirm,
  newToken,
  newWebhook,
} from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, runCron, type Service, serve } from '../chaos/service.ts'
import { eventSchema } from '../scripts/docs/webhook-events.ts'
import { EVENT_TYPES } from '../src/webhooks/events.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// The Worker with its database, queue and Workflow against a receiver on loopback, which verifies each
// event with the library `standardwebhooks`, and the trackers of an affiliate there.

const FIRM = 'hook-firm'
const BRAND = 'hook-brand'
/** The firm whose affiliate has postbacks. */
const TRACKED = 'tracked-firm'
const DAY_MS = 86_400_000

let service: Service
let receiver: Receiver
let firm: RequestSender
let brand: RequestSender
let trackedFirm: RequestSender
let affiliate: RequestSender
let end = () => {}

before(async () => {
  const { folder, script, end: remove } = await newHome()
  end = remove
  receiver = await startReceiver()
  service = await serve({ script, state: join(folder, 'hooks'), secrets: await newSecrets() })
  await migrate(service)
  const firmOf = async (account: string) => {
    const party = await newFirm(service, account, 'forex', 'reject')
    return asFirm(service, party, await newToken(service, party))
  }
  firm = await firmOf(FIRM)
  trackedFirm = await firmOf(TRACKED)
  affiliate = await asAffiliate(service, TRACKED, AFFILIATE)
  brand = asBrand(service, await newBrand(service, BRAND))
})
after(async () => {
  await service?.end()
  await receiver?.stop()
  end()
})

// An account has at most ten webhooks, and what hangs would slow down the next test.
afterEach(async () => {
  for (const account of [FIRM, BRAND, TRACKED]) {
    const { data } = await expectBody(200, admin('GET', hooksOf(account)))
    for (const { id } of data) await admin('DELETE', `${hooksOf(account)}/${id}`)
  }
})

const admin: RequestSender = (...request) => service.admin(...request)
const hooksOf = (account: string) => `accounts/${account}/webhooks`
const typesAt = (path: string) => receiver.at(path).map(({ event }) => event.type)
const dayText = (time: number) => new Date(time).toISOString().slice(0, 10)

const deposit = (amount_currency: number) => ({
  transaction_id: 't-1',
  customer_id: 'c-1',
  transaction_type: 'deposit',
  amount_currency,
  currency: 'EUR',
  transaction_date: '2026-09-10T10:00:00Z',
  status: 'approved',
})

/** Computes a period of the firm and waits for its end. */
async function run(period: string): Promise<void> {
  const at = `accounts/${FIRM}`
  const started = await admin('POST', `${at}/periods/${period}/run`)
  const isDone = async () => {
    const found = await expectBody(200, admin('GET', `${at}/runs/${started.body.id}`))
    return found.status !== 'running'
  }
  assert.ok(await until(isDone), 'the run did not end')
}

async function storeBooks(): Promise<void> {
  const base = [{ transactions: ['deposit'] }]
  const terms = {
    name: 'A tenth',
    currency: 'EUR',
    period: 'month',
    effective_from: '2026-01-01',
    terms: 'signup',
    negative: 'carry',
    minimum_payout: '0',
    hold_days: 14,
    rules: [{ id: 'tenth', kind: 'share', percent: '10', base }],
  }
  await expectBody(201, admin('PUT', `accounts/${FIRM}/plans/ib`, { body: terms }))
  const assignment = { affiliate_id: '*', plan: 'ib', from: '2026-01-01', customers: 'all' }
  await expectBody(200, admin('PUT', `accounts/${FIRM}/assignments`, { body: [assignment] }))
  const customer = {
    customer_id: 'c-1',
    signup_date: '2026-09-01T08:00:00Z',
    affiliate_id: AFFILIATE,
    tracking_data: 'click',
  }
  await expectBody(200, firm('POST', 'customers', { body: [customer] }))
  await expectBody(200, firm('POST', 'transactions', { body: [deposit(100)] }))
}

/** Causes an event of each type. */
async function causeAll(): Promise<void> {
  await storeBooks()
  assert.equal((await firm('POST', 'transactions', { body: [{}, deposit(100)] })).status, 422)
  await run('2026-09')
  const at = `accounts/${FIRM}`
  const { data } = await expectBody(200, admin('GET', `${at}/statements?period=2026-09`))
  const [{ id, hash }] = data
  const asking = await asAffiliate(service, FIRM, AFFILIATE)
  const question = { statement: id, text: 'Why so little?' }
  await expectBody(201, asking('POST', 'questions', { body: question }))
  const approving = admin('POST', `${at}/statements/${id}/approve`, { body: { hash } })
  await expectBody(200, approving)
  await payByBatch(at)
  const entry = { affiliate_id: AFFILIATE, plan: 'ib', amount: '5.00', reason: 'Bonus' }
  const manual = { body: { ...entry, reference: 'M-1' } }
  await expectBody(201, admin('POST', `${at}/manual-entries`, manual))
  await expectBody(200, firm('POST', 'transactions', { body: [deposit(250)] }))
  await run('2026-10')
  await decideCase()
  await refuseApplicant(at)
  await causeByDay()
}

/** Has somebody apply on the page for it, and tells them that they are refused. */
async function refuseApplicant(at: string): Promise<void> {
  const terms = { version: '1', text: 'We pay each month.' }
  await expectBody(200, admin('PATCH', at, { body: { sign_up: { open: true, terms } } }))
  const found = await fetch(new URL(`/portal/${FIRM}/join`, service.url))
  const { url } = found
  const page = await found.text()
  const form = /name="form" value="([^"]*)"/.exec(page)?.[1] ?? ''
  // Nobody fills in the form within 3 seconds.
  await wait(3100)
  const headers = { Origin: new URL(url).origin, 'Sec-Fetch-Site': 'same-origin' }
  const fields = { name: 'Ada King', country: 'MT', email: 'ada@friends.example', language: 'en' }
  const said = { website: 'https://friends.example', promotion: 'Videos', terms: '1', ref: '' }
  const body = new URLSearchParams({ form, ...fields, ...said })
  assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200)
  await service.database.exec(`update applications set proved_at = '2026-01-01T00:00:00.000Z'`)
  const { data } = await expectBody(200, admin('GET', `${at}/applications`))
  const refused = { body: { send: true } }
  await expectBody(200, admin('POST', `${at}/applications/${data[0].id}/reject`, refused))
}

/** Pays what is due by a batch, and has the bank give it back. */
async function payByBatch(at: string): Promise<void> {
  const owner = { name: 'Ada', address: { city: 'Berlin', country: 'DE' } }
  const payer = { ...owner, iban: 'IE29AIBK93115212345678', currency: 'EUR' }
  const payee = { ...owner, kind: 'person', method: 'sepa', iban: 'DE89370400440532013000' }
  await expectBody(200, admin('PUT', `${at}/payers/main`, { body: payer }))
  await expectBody(200, admin('PUT', `${at}/affiliates/${AFFILIATE}/payee`, { body: payee }))
  await service.database.exec(`update payees set state = 'approved', payable_from = 1`)
  const execute_on = new Date().toISOString().slice(0, 10)
  const rows = [{ id: `${AFFILIATE}:EUR` }]
  const asked = { payer: 'main', method: 'sepa', execute_on, rows }
  const batch = await expectBody(201, admin('POST', `${at}/batches`, { body: asked }))
  const { id, hash, total, transfers } = batch
  await expectBody(200, admin('POST', `${at}/batches/${id}/confirm`, { body: { hash, total } }))
  await expectBody(200, admin('POST', `${at}/batches/${id}/export`))
  const day = execute_on.split('-').reverse().join('.')
  const row = (sign: string) => `${payer.iban};${day};${transfers[0].id};${sign}${total};EUR`
  const headings = 'Auftragskonto;Buchungstag;Verwendungszweck;Betrag;Waehrung'
  const file = [headings, row('-'), row('')].join('\n')
  const headers = { 'Content-Type': 'text/csv' }
  const answer = await expectBody(
    200,
    admin('POST', `${at}/payouts/answers`, { body: file, headers }),
  )
  const seen = { body: { hash: answer.hash } }
  await expectBody(200, admin('POST', `${at}/payouts/answers/apply`, seen))
}

const TWINS = JSON.stringify({
  ...{ name: 'Twins', kind: 'shared_identity', severity: 'high', action: 'hold', disabled: false },
  ...{ scope: { affiliates: ['*'] }, parameters: { names: false } },
})

/** Has a fraud rule open a case of two customers with one e-mail address, and confirms it. */
async function decideCase(): Promise<void> {
  const at = `accounts/${FIRM}`
  const twins = ['c-8', 'c-9'].map((customer_id, i) => ({
    ...{ customer_id, affiliate_id: AFFILIATE, tracking_data: customer_id },
    ...{
      signup_date: `${dayText(Date.now() - (9 - i) * DAY_MS)}T08:00:00Z`,
      email: 'jo@a.example',
    },
  }))
  await expectBody(200, firm('POST', 'customers', { body: twins }))
  await service.database.exec(
    `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
     values ('${FIRM}', 'twins', 1, '2026-01-01', '${TWINS}', '')`.replaceAll(/\s+/g, ' '),
  )
  await expectBody(200, admin('POST', `${at}/fraud-rules/run`))
  const { data } = await expectBody(200, admin('GET', `${at}/cases`))
  const body = { decision: 'confirmed', reason: 'One person', keep_hold: true }
  await expectBody(200, admin('POST', `${at}/cases/${data[0].case_id}/decide`, { body }))
}

/** Causes the events that a cron finds every morning. */
async function causeByDay(): Promise<void> {
  const now = Date.now()
  await service.database.exec(`update accounts set created_at = '2026-01-01T00:00:00.000Z'`)
  const yesterday = dayText(now - DAY_MS)
  const player = { customerId: 'p-1', regtime: `${yesterday} 10:00` }
  await expectBody(200, brand('POST', 'customers', { body: [player] }))
  // The brand has sent something before yesterday.
  await service.database.exec('update arrivals set hour = hour - 72')
  await runCron(service, 'report', Date.parse(`${dayText(now)}T06:05:00Z`))
  await runCron(service, 'propagate')
  const traded = {
    date: yesterday,
    customer_id: 'c-1',
    instrument: 'EURUSD',
    lots_traded: 1,
    pnl: 1,
    currency: 'USD',
  }
  await expectBody(200, firm('POST', 'trading-activity', { body: [traded] }))
  await runCron(service, 'propagate')
}

test('an event of each type arrives once, with a right signature and as its schema says', async () => {
  await newWebhook(service, receiver, FIRM, '/ok/firm')
  await newWebhook(service, receiver, BRAND, '/ok/brand')
  await causeAll()

  const seen = () => new Set([...typesAt('/ok/firm'), ...typesAt('/ok/brand')])
  await until(() => EVENT_TYPES.every((type) => seen().has(type)))
  assert.deepEqual([...seen()].sort(), [...EVENT_TYPES].sort())
  const all = [...receiver.at('/ok/firm'), ...receiver.at('/ok/brand')]
  assert.deepEqual(
    all.filter(({ isSigned }) => !isSigned),
    [],
  )
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
  const ajv = addFormats.default(new Ajv({ strict: false }))
  const isValid = ajv.compile(eventSchema())
  for (const { event } of all) assert.ok(isValid(event), JSON.stringify([event, isValid.errors]))
  const kinds = all
    .filter(({ event }) => event.type === 'adjustment.created')
    .map(({ event }) => event.data.kind)
  assert.deepEqual(kinds.sort(), ['correction', 'manual'])
})

test('a webhook gets only the types that it wants, and only events of its account', async () => {
  const path = '/ok/choosy'
  await newWebhook(service, receiver, BRAND, path, ['delivery.refused', 'feed.late'])
  await causeOne()
  assert.equal((await brand('POST', 'customers', { body: [{}] })).status, 422)
  await runCron(service, 'propagate')

  assert.ok(await until(() => receiver.at(path).length > 0))
  assert.deepEqual(typesAt(path), ['delivery.refused'])
})

let caused = 0

/** Causes an event of the firm. */
async function causeOne(): Promise<void> {
  const entry = { affiliate_id: AFFILIATE, plan: 'ib', amount: '1.00', reason: 'Bonus' }
  const body = { ...entry, reference: `C-${caused++}` }
  await expectBody(201, admin('POST', `accounts/${FIRM}/manual-entries`, { body }))
}

/** Creates webhooks at paths, and causes an event. Returns the id of each with that of the event. */
async function hooksWithEvent(...paths: string[]): Promise<{ id: string; event: string }[]> {
  const ids: string[] = []
  for (const path of paths) {
    ids.push(await newWebhook(service, receiver, FIRM, path, ['adjustment.created']))
  }
  await causeOne()
  const { data } = await expectBody(200, admin('GET', `${hooksOf(FIRM)}/${ids[0]}/events`))
  return ids.map((id) => ({ id, event: data[0].event_id }))
}

/** Returns what became of an event. */
async function messageOf(id: string, event: string) {
  const { data } = await expectBody(200, admin('GET', `${hooksOf(FIRM)}/${id}/events`))
  return data.find((one: { event_id: string }) => one.event_id === event)
}

test('receivers that fail hold up no other one, and each failure has its own error', async () => {
  const failing = ['fail', 'redirect', 'close', 'hang', 'late'].map((name) => `/${name}/firm`)
  const [other, ...webhooks] = await hooksWithEvent('/ok/other', ...failing)
  assert.ok(await until(() => receiver.at('/ok/other').some(({ id }) => id === other?.event), 25))

  const errors = async () => {
    const sent = await Promise.all(webhooks.map(({ id, event }) => messageOf(id, event)))
    return sent.map(({ error, response_status }) => [error, response_status])
  }
  const expected = [
    ['http_status', 500],
    ['redirect', 302],
    ['connection_failed', null],
    ['timeout', null],
    ['timeout', null],
  ]
  // Those that do not answer end last.
  for (const { id, event } of webhooks.slice(-2))
    await until(async () => (await messageOf(id, event)).error !== null, 40)
  assert.deepEqual(await errors(), expected)
  assert.deepEqual(receiver.at('/ok/redirected'), [])
  for (const { id, event } of webhooks) {
    assert.equal((await messageOf(id, event)).status, 'pending')
  }
})

test('a failed event is sent again with the same id and a new signature', async () => {
  const [{ id, event } = assert.fail()] = await hooksWithEvent('/once/firm')
  assert.ok(await until(async () => (await messageOf(id, event)).error === 'http_status'))
  // Signatures of the same second are the same.
  await wait(1000)
  await runCron(service, 'propagate', Date.now() + DAY_MS)
  assert.ok(await until(() => receiver.at('/once/firm').length === 2))
  const [first, second] = receiver.at('/once/firm')
  assert.deepEqual([first?.id, second?.id], [event, event])
  assert.deepEqual([first?.isSigned, second?.isSigned], [true, true])
  assert.notEqual(first?.headers['webhook-timestamp'], second?.headers['webhook-timestamp'])
  await until(async () => (await messageOf(id, event)).status === 'delivered')
  const { attempts, response_status, error } = await messageOf(id, event)
  assert.deepEqual([attempts, response_status, error], [2, 204, null])
})

test('ten receivers that never answer do not delay the events of another account', async () => {
  for (let i = 0; i < 10; i++) await newWebhook(service, receiver, TRACKED, `/hang/${i}`)
  await newWebhook(service, receiver, FIRM, '/ok/neighbour', ['adjustment.created'])
  for (const resource of ['customers', 'transactions', 'trading-activity']) {
    assert.equal((await trackedFirm('POST', resource, { body: [{}] })).status, 422)
  }
  await runCron(service, 'propagate')
  assert.ok(await until(() => receiver.received.some(({ path }) => path.startsWith('/hang/'))))
  // An attempt that is not answered ends after 10 seconds.
  for (let sent = 1; sent <= 5; sent++) {
    const began = Date.now()
    await causeOne()
    assert.ok(await until(() => receiver.at('/ok/neighbour').length === sent, 40))
    assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`)
  }
})

test('an event that fails for a day becomes a dead letter, which a replay sends again', async () => {
  const [{ id, event } = assert.fail()] = await hooksWithEvent('/fail/dead')
  const at = `${hooksOf(FIRM)}/${id}`
  let last: string | null = null
  for (let attempt = 1; attempt <= 10; attempt++) {
    await until(async () => (await messageOf(id, event)).attempted_at !== last, 10)
    last = (await messageOf(id, event)).attempted_at
    await runCron(service, 'propagate', Date.now() + DAY_MS)
  }
  await until(async () => (await messageOf(id, event)).status === 'dead', 10)
  const { status, attempts } = await messageOf(id, event)
  assert.deepEqual([status, attempts], ['dead', 10])
  const dead = await expectBody(200, admin('GET', `${at}/events?status=dead`))
  assert.deepEqual([dead.data.length, dead.data[0].event_id], [1, event])

  await expectBody(200, admin('PATCH', at, { body: { url: `${receiver.url}/ok/dead` } }))
  receiver.secrets.set('/ok/dead', receiver.secrets.get('/fail/dead') ?? '')
  assert.deepEqual(await expectBody(202, admin('POST', `${at}/replay`)), { replayed: 1 })
  assert.ok(await until(() => receiver.at('/ok/dead').length === 1))
  assert.deepEqual(
    [receiver.at('/ok/dead')[0]?.id, receiver.at('/ok/dead')[0]?.isSigned],
    [event, true],
  )
})

test('a receiver that answers 410 gets nothing more', async () => {
  const [{ id, event } = assert.fail()] = await hooksWithEvent('/gone/firm')
  const isDisabled = async () =>
    (await expectBody(200, admin('GET', `${hooksOf(FIRM)}/${id}`))).disabled_reason === 'gone'
  assert.ok(await until(isDisabled))
  assert.equal((await messageOf(id, event)).status, 'dead')
  assert.equal((await admin('POST', `${hooksOf(FIRM)}/${id}/replay`)).status, 409)
  const { data } = await expectBody(200, admin('GET', `audit-log?account=${FIRM}`))
  const [entry] = data.filter(({ action }: { action: string }) => action === 'webhook.disable')
  assert.deepEqual([entry.actor, entry.details], ['webhooks', { id, reason: 'gone' }])
})

test('during a rotation both secrets sign, and afterwards only the new one', async () => {
  const id = await newWebhook(service, receiver, FIRM, '/ok/rotated', ['feed.late'])
  const at = `${hooksOf(FIRM)}/${id}`
  const old = receiver.secrets.get('/ok/rotated') ?? ''
  const rotate = async (overlap: string) => {
    const { secret } = await expectBody(201, admin('POST', `${at}/rotate`, { body: { overlap } }))
    const answered = { response_status: 200, error: null, body: '' }
    assert.deepEqual(await expectBody(200, admin('POST', `${at}/test`)), answered)
    return secret as string
  }
  const second = await rotate('1h')
  const [both] = receiver.at('/ok/rotated')
  assert.equal(both?.headers['webhook-signature']?.split(' ').length, 2)
  for (const secret of [old, second])
    new Webhook(secret).verify(both?.body ?? '', both?.headers ?? {})
  const third = await rotate('none')
  const [, last] = receiver.at('/ok/rotated')
  new Webhook(third).verify(last?.body ?? '', last?.headers ?? {})
  assert.throws(() => new Webhook(second).verify(last?.body ?? '', last?.headers ?? {}))
  assert.deepEqual(typesAt('/ok/rotated'), ['webhook.test', 'webhook.test'])
})

test('a slow receiver gets more events than it may have at the same time, each once', async () => {
  const path = '/slow/firm'
  const id = await newWebhook(service, receiver, FIRM, path, ['adjustment.created'])
  for (let i = 0; i < 25; i++) await causeOne()
  assert.ok(await until(() => receiver.at(path).length === 25))
  assert.equal(new Set(receiver.at(path).map((one) => one.id)).size, 25)
  const delivered = async () =>
    (await expectBody(200, admin('GET', `${hooksOf(FIRM)}/${id}/events?status=delivered`))).data
  assert.ok(await until(async () => (await delivered()).length === 25))
})

// Postbacks, against a tracker on loopback.

const attemptsOf = async (id: string) =>
  (await expectBody(200, affiliate('GET', `postbacks/${id}/attempts`))).data

/** Creates a postback at a path of the receiver. Returns its id. */
async function newPostback(path: string): Promise<string> {
  const query = '?ev={event}&tx={id}&amt={amount}&cur={currency}&c={customer}&p={period}'
  const body = { url: `${receiver.url}${path}${query}`, events: ['signup'] }
  return (await expectBody(201, affiliate('POST', 'postbacks', { body }))).id
}

/** Sends a customer who signs up now, and reads the causes. */
async function signUp(customer_id: string): Promise<void> {
  const signup_date = new Date().toISOString()
  const body = [{ customer_id, affiliate_id: AFFILIATE, tracking_data: 'click', signup_date }]
  await expectBody(200, trackedFirm('POST', 'customers', { body }))
  await runCron(service, 'propagate')
}

test('a tracker that fails, hangs, redirects or answers late holds up no other one', async () => {
  const names = ['fail', 'redirect', 'hang', 'late']
  const postbacks: string[] = []
  for (const name of names) {
    postbacks.push(await newPostback(`/${name}/own`))
  }
  await newPostback('/ok/own')
  await signUp('c-1')
  assert.ok(await until(() => receiver.at('/ok/own').length === 1, 8))
  const [arrived] = receiver.at('/ok/own')
  assert.equal(arrived?.values.ev, 'signup')
  assert.match(arrived?.values.c ?? '', /^c_[\da-f]{24}$/)
  assert.deepEqual([arrived?.body, arrived?.headers['webhook-signature']], ['', undefined])
  const errors = async () =>
    (await Promise.all(postbacks.map(attemptsOf))).map((log) => [
      log[0]?.error,
      log[0]?.response_status,
    ])
  // Those that do not answer end last.
  for (const id of postbacks.slice(-2))
    await until(async () => (await attemptsOf(id))[0]?.error !== null, 40)
  assert.deepEqual(await errors(), [
    ['http_status', 500],
    ['redirect', 302],
    ['timeout', null],
    ['timeout', null],
  ])
  assert.deepEqual(receiver.at('/ok/redirected'), [])
  // The event has one id at all trackers, at each attempt.
  const ids = receiver.received.filter(({ path }) => path.endsWith('/own')).map(({ id }) => id)
  assert.equal(new Set(ids).size, 1)
  const { data } = await expectBody(200, affiliate('GET', 'postbacks'))
  for (const { id } of data) await affiliate('DELETE', `postbacks/${id}`)
})

test('a POST is JSON with a right signature; 410 is that of webhooks', async () => {
  const add = async (path: string) => {
    const body = { url: `${receiver.url}${path}?cid={sub1}`, method: 'POST', events: ['signup'] }
    const made = await expectBody(201, affiliate('POST', 'postbacks', { body }))
    receiver.secrets.set(path, made.secret)
    return made.id as string
  }
  await add('/ok/signed')
  const gone = await add('/gone/signed')
  await signUp('c-2')
  assert.ok(await until(() => receiver.at('/ok/signed').length === 1))
  const [{ isSigned, event, id } = assert.fail()] = receiver.at('/ok/signed')
  assert.equal(isSigned, true)
  assert.deepEqual([event.type, event.data.id, event.data.event], ['signup', id, 'signup'])
  const reasonOf = async () => {
    const { data } = await expectBody(200, affiliate('GET', 'postbacks'))
    return data.find((one: { id: string }) => one.id === gone)?.disabled_reason
  }
  assert.ok(await until(async () => (await reasonOf()) === 'gone'))
})
