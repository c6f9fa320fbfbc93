import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { MINUTE_MS } from '../src/durations.ts'
import { type Answer, expectBody, newRequestSender, type RequestSender } from './ask.ts'
import { enter, isEqual, isHeld, newLedger, predict, type SentRecord } from './ledger.ts'
import { AFFILIATE, asBrand, asFirm } from './parties.ts'
import { WORKER } from './workerd.ts'
import { currentMonth, insist, isOver, type Lane, MONTHS, oneOf, type World } from './world.ts'

// A lane sends requests of one account one after the other, with a token of its own, and knows what is stored.

/** The contract §3: requests a minute, and how many an object that loses its memory may count besides. */
const LIMIT = 1000
const LEASE = 25

/** The tokens that a lane may request: a client has 60 an hour. */
const MOST_TOKENS = 6

/** The customers and the other records of a lane. The last customers sign up during the run. */
const CUSTOMERS = 68
const OLD_CUSTOMERS = 60
const RECORDS = 400

/** A personal value of each customer. */
export const EMAIL = 'lovelace@chaos.example'

/** Starts a lane of a firm or, with a Brand Token, of a brand. */
export async function newLane(
  world: World,
  { account, name, firm, token }: Pick<Lane, 'account' | 'name' | 'firm'> & { token: string },
): Promise<Lane> {
  const plain = firm ? asFirm(world, firm, token) : asBrand(world, token)
  const object = firm ? jtiOf(token) : `brand:${hash('sha256', token)}`
  const body = { affiliate_id: AFFILIATE, landing_page: 'https://firm.example/start?lang=en' }
  const made = firm && world.admin('POST', `accounts/${account}/links`, { body })
  const link = made ? (await expectBody(201, made)).link_id : ''
  world.sensitive.add(token)
  const sent: Lane['sent'] = []
  const ask: RequestSender = async (...request) => {
    const one = { sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
    sent.push(one)
    const answer = await plain(...request)
    one.answeredAt = Date.now()
    return answer
  }
  return {
    ...{ name, account, firm, ask, object, link, sent },
    ...{ ledger: newLedger(), losses: [], revoked: [], clicks: [], bulks: new Map() },
  }
}

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti

/** Checks how many requests of the last minute an answer counts for the token of its lane. */
export function checkRate({ check }: World, lane: Lane, { headers }: Answer): void {
  const { sentAt, answeredAt } = lane.sent.at(-1)!
  const used = LIMIT - Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
  const begin = sentAt - MINUTE_MS
  const certain = lane.sent.filter((one) => one.sentAt > answeredAt - MINUTE_MS)
  const least = certain.filter((one) => one.answeredAt <= answeredAt).length
  const possible = lane.sent.filter((one) => one.answeredAt >= begin).length
  const most = possible + LEASE * lane.losses.filter((at) => at >= begin).length
  check(used >= least && used <= most, `${lane.name} counts ${used} requests, not ${least}…${most}`)
}

type Make = (world: World, lane: Lane, n: number) => SentRecord

const dayOf = (world: World, n: number): string => {
  const month = world.below(10) === 0 ? world.below(currentMonth(world) + 1) : currentMonth(world)
  return `${MONTHS[month]}-${String(1 + (n % 28)).padStart(2, '0')}`
}

const cents = ({ below }: World) => (below(2_000_000) - 1_000_000) / 100

/** Draws the customer of a record: a known one, unless the account holds records of unknown ones. */
const drawCustomer = (world: World, { name, account, ledger }: Lane): string => {
  const known = [...ledger.customers].filter((id) => !id.includes('-new-'))
  if (account === 'prop') return oneOf(world, known)
  return `${name}-C-${world.below(OLD_CUSTOMERS)}`
}

const newCustomer: Make = (world, { name, account }, n) => {
  const isNew = n >= OLD_CUSTOMERS && account === 'forex'
  const customer_id = `${name}-${isNew ? 'new' : 'C'}-${n}`
  const record = {
    customer_id,
    signup_date: new Date(isNew ? world.begins : `${MONTHS[0]}-01T08:00:00Z`).toISOString(),
    affiliate_id: account === 'forex' ? name : AFFILIATE,
    tracking_data: 'click-42',
    sales_status_id: oneOf(world, ['new', 'hot', 'cold']),
    ...{ first_name: 'Augusta', email: EMAIL },
  }
  return { key: `customers ${customer_id}`, record, customer: null }
}

const newTransaction: Make = (world, lane, n) => {
  const isForex = lane.account === 'forex'
  const customer = drawCustomer(world, lane)
  const record = {
    transaction_id: `${lane.name}-T-${n}`,
    customer_id: customer,
    transaction_type: oneOf(world, isForex ? ['deposit', 'withdrawal'] : ['payout', 'refund']),
    // A tenth of a deposit is a number of cents.
    amount_currency: world.below(100_000) / 10,
    currency: isForex ? 'EUR' : oneOf(world, ['EUR', 'USD']),
    transaction_date: `${dayOf(world, n)}T09:30:00.000Z`,
    status: oneOf(world, ['pending', 'approved', 'approved']),
  }
  return { key: `transactions ${record.transaction_id}`, record, customer }
}

const newActivity: Make = (world, lane, n) => {
  const customer = drawCustomer(world, lane)
  const date = dayOf(world, n)
  const amounts = { lots_traded: world.below(10_000) / 100, pnl: cents(world) }
  const record = { date, customer_id: customer, instrument: 'EURUSD', currency: 'USD', ...amounts }
  return { key: `trading-activity ${date} ${customer}`, record, customer }
}

const newPlayer: Make = (world, { name }, n) => {
  const customerId = `${name}-C-${n}`
  const record = { customerId, regtime: `${MONTHS[0]}-02 08:00`, level: world.below(5) }
  return { key: `customers ${customerId}`, record, customer: null }
}

/** Returns an event with an id, or the statistics of a day, which replace earlier ones. */
const newEvent: Make = (world, lane, n) => {
  const customer = drawCustomer(world, lane)
  const [day, eventid, amount] = [dayOf(world, n), `${lane.name}-E-${n}`, cents(world)]
  const own =
    n % 2 === 0
      ? { eventname: 'DailyStats', createtime: day, GGR: amount }
      : { eventname: 'Deposit', createtime: `${day} 09:30`, Value: amount, eventid }
  const key = `activities ${n % 2 === 0 ? `${day} ${customer}` : eventid}`
  return { key, record: { customerid: customer, Currency: 'EUR', ...own }, customer }
}

/** The resources of firms and brands, with the number of their records. */
const RESOURCES: Record<'firm' | 'brand', Record<string, readonly [make: Make, count: number]>> = {
  firm: {
    customers: [newCustomer, CUSTOMERS],
    transactions: [newTransaction, RECORDS],
    'trading-activity': [newActivity, RECORDS],
  },
  brand: { customers: [newPlayer, OLD_CUSTOMERS], activities: [newEvent, RECORDS] },
}

/** How a bulk is sent. */
const FORMS = ['bulk', 'bulk', 'data', 'minimal', 'single', 'dry', 'lenient'] as const

/** Sends different records of one resource. Some of those that are stored are sent again unchanged. */
async function postRecords(world: World, lane: Lane): Promise<void> {
  const { ledger, firm } = lane
  const resources = RESOURCES[firm ? 'firm' : 'brand']
  const isEmpty = ledger.customers.size === 0
  const resource = isEmpty ? 'customers' : oneOf(world, Object.keys(resources))
  const [make, count] = resources[resource]!
  const form = oneOf(world, FORMS)
  const size = form === 'single' ? 1 : 1 + world.below(100)
  const drawn = Array.from({ length: size }, () => make(world, lane, world.below(count)))
  const records = [...new Map(drawn.map((one) => [one.key, one])).values()].map((one) => {
    const before = ledger.records.get(one.key)
    return before && world.below(4) === 0 ? before : one
  })
  await deliver(world, lane, resource, records, form)
}

/** Sends records until they are acknowledged, enters them, and checks the summary of the answer. */
export async function deliver(
  world: World,
  lane: Lane,
  resource: string,
  records: readonly SentRecord[],
  form: (typeof FORMS)[number],
  headers: Record<string, string> = {},
): Promise<void> {
  const { ledger } = lane
  const bodies = records.map(({ record }) => record)
  const isLenient = form === 'lenient' && lane.firm !== null
  const summaries = [predict(ledger, records)]
  if (form !== 'dry') enter(ledger, records)
  // A try without an answer may have been stored.
  summaries.push(predict(ledger, records))
  if (isLenient) bodies.push({ nobody: 'knows this' })
  const sent = {
    body: form === 'single' ? bodies[0] : form === 'data' && lane.firm ? { data: bodies } : bodies,
    headers: {
      ...headers,
      ...(form === 'minimal' && { Prefer: 'return=minimal' }),
      ...(isLenient && { Prefer: 'handling=lenient' }),
    },
  }
  const path = form === 'dry' ? `${resource}?dry_run=true` : resource
  const isCut = world.faults.has('slow') && world.below(4) === 0
  if (isCut) {
    const signal = AbortSignal.timeout(1 + world.below(60))
    await lane.ask('POST', path, { ...sent, signal }).catch(() => null)
    await wait(500)
  }
  const answer = await insist(world, lane.account, lane.ask, ['POST', path, sent])
  const { status, body } = answer
  const found = body.summary ?? {}
  const isRight = summaries
    .slice(0, isCut || answer.isRepeated ? 2 : 1)
    .some((one) => Object.entries(one).every(([name, count]) => found[name] === count))
  const isCreated = form === 'single' && found.created === 1
  const expected = isLenient ? 207 : isCreated ? 201 : 200
  world.check(
    isRight && status === expected && (found.rejected ?? 0) === Number(isLenient),
    `${lane.name} ${form} ${path}: ${status} ${JSON.stringify(body).slice(0, 900)}, not ${expected} ${JSON.stringify(summaries)}`,
  )
}

/** Sends events without identity under an Idempotency-Key, or repeats such a request. */
async function postBets(world: World, lane: Lane): Promise<void> {
  const { bulks, name } = lane
  const isAgain = bulks.size > 0 && world.below(2) === 0
  const key = isAgain ? oneOf(world, [...bulks.keys()]) : `${name}-K-${bulks.size}`
  const bet = (_: unknown, i: number): SentRecord => {
    const customer = drawCustomer(world, lane)
    const own = { createtime: `${dayOf(world, i)} 10:00`, Value: cents(world), Currency: 'EUR' }
    const record = { eventname: 'Bet', customerid: customer, ...own }
    return { key: `activities ${key} ${i}`, record, customer }
  }
  const bets = bulks.get(key) ?? Array.from({ length: 1 + world.below(20) }, bet)
  bulks.set(key, bets)
  await deliver(world, lane, 'activities', bets, 'bulk', { 'Idempotency-Key': key })
}

/** Sends a body of nearly 8 MiB: 1000 events, which are the same ones each time. */
async function postMaximal(world: World, lane: Lane): Promise<void> {
  const customer = `${lane.name}-C-0`
  const createtime = `${dayOf(world, 9)} 11:00`
  const own = { eventname: 'Bet', customerid: customer, createtime, Value: 1, Currency: 'EUR' }
  // With a letter that is not in Latin-1, V8 stores two bytes per letter.
  const story = oneOf(world, ['a', '→']) + 'lorem ipsum '.repeat(680)
  const events = Array.from({ length: 1000 }, (_, i): SentRecord => {
    const eventid = `${lane.name}-M-${i}`
    return { key: `activities ${eventid}`, record: { ...own, eventid, story }, customer }
  })
  await deliver(world, lane, 'activities', events, 'bulk')
}

/** Sends a request of a lane until it is answered, and checks its status. */
export async function expectStatus(
  world: World,
  lane: Lane,
  status: number,
  request: Parameters<RequestSender>,
): Promise<Answer> {
  const answer = await insist(world, lane.account, lane.ask, request)
  const [method, path] = request
  const what = `${method} ${path} of ${lane.name}`
  world.check(answer.status === status, `${what} is answered ${answer.status}, not ${status}`)
  return answer
}

/** Sends what is refused. Refused deliveries cause webhooks. */
async function sendRefused(world: World, lane: Lane): Promise<void> {
  const resource = lane.firm ? 'transactions' : 'activities'
  const headers = { 'Content-Type': 'application/json' }
  const [status, ...request] = oneOf(world, [
    [422, 'POST', resource, { body: [{ nobody: 'knows this' }, null, 7] }],
    [422, 'POST', resource, { body: [] }],
    [400, 'POST', resource, { body: '[{"a": 1', headers }],
    [413, 'POST', resource, { body: `["${'x'.repeat(9_000_000)}"]`, headers }],
    [400, 'GET', `${resource}?page=0`],
    [405, 'DELETE', resource],
    [404, 'GET', 'deliveries/dlv_01K00000000000000000000000'],
  ] as [number, ...Parameters<RequestSender>][])
  await expectStatus(world, lane, status, request)
}

/** Reads one record and compares it with the ledger, or one of another account, which is 404. */
async function readRecord(world: World, lane: Lane): Promise<void> {
  const other = oneOf(world, world.lanes)
  const readable = [...other.ledger.records.values()].filter(({ key }) =>
    (lane.firm ? /^(customers|transactions) (?!old)/ : /^customers/).test(key),
  )
  if (readable.length === 0) return
  const stored = oneOf(world, readable)
  const isAbsent = other.account !== lane.account || isHeld(other.ledger, stored)
  // What another lane of the account has stored may change meanwhile.
  if (other !== lane && other.account === lane.account) return
  const path = stored.key.replace(' ', '/')
  const { body } = await expectStatus(world, lane, isAbsent ? 404 : 200, ['GET', path])
  const isRight = isAbsent || !lane.firm || isEqual(body, stored.record)
  world.check(isRight, `${stored.key} is ${JSON.stringify(body)}`)
}

/** Reads lists and figures of the account. */
async function readLists(world: World, lane: Lane): Promise<void> {
  const lists = [...Object.keys(RESOURCES[lane.firm ? 'firm' : 'brand']), 'deliveries']
  const paths = lists.map((name) => `${name}?per_page=${1 + world.below(200)}`)
  const path = oneOf(world, [...paths, 'feed', 'account'])
  const { body } = await expectStatus(world, lane, 200, ['GET', path])
  const cursor = body.meta?.next_cursor
  const next = `${path.split('?')[0]}?cursor=${cursor}`
  if (cursor) await expectStatus(world, lane, 200, ['GET', next])
}

/** Requests a token, uses it and revokes it. */
async function changeToken(world: World, lane: Lane): Promise<void> {
  const { firm, account, revoked } = lane
  if (!firm || revoked.length === MOST_TOKENS) return
  const oauth = newRequestSender(world, {}, '/oauth/')
  const client = { client_id: firm.client_id, client_secret: firm.client_secret }
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...client })
  const made = await insist(world, account, oauth, ['POST', 'token', { body: form }])
  const token = String(made.body.access_token)
  world.sensitive.add(token)
  const ask = asFirm(world, firm, token)
  await expectStatus(world, { ...lane, ask }, 200, ['GET', 'account'])
  const body = new URLSearchParams({ token, ...client })
  await expectStatus(world, { ...lane, ask: oauth }, 200, ['POST', 'revoke', { body }])
  revoked.push(ask)
}

/** Follows the link of the lane. */
async function followLink(world: World, { link, clicks }: Lane): Promise<void> {
  if (!link) return
  await world.restarted
  const at = Date.now()
  const answer = await newRequestSender(world, {}, '/go/')('GET', link).catch(() => null)
  if (answer?.status === 302 || !answer) clicks.push({ at, isAnswered: answer !== null })
}

/** Evicts an object, while no request of the lane is under way. */
async function evict(world: World, { account, object, losses }: Lane): Promise<void> {
  const name = oneOf(world, [object, `release ${account}`, `webhooks ${account}`])
  const type = name === object ? 'TokenGate' : 'BackgroundJob'
  const evicting = world.service.miniflare.unsafeEvictDurableObject(WORKER, type, { name })
  // Fails for an object that is not running.
  await evicting.catch(() => {})
  losses.push(Date.now())
}

/** Sends random requests of a lane until the load is over. */
export async function runLane(world: World, lane: Lane): Promise<void> {
  const { faults } = world
  const isHeavy = !lane.firm && (faults.has('heap') || faults.has('slow'))
  type Act = (world: World, lane: Lane) => Promise<void>
  const actions: Act[] = [
    ...Array<Act>(8).fill(postRecords),
    ...(lane.firm ? [changeToken] : [postBets, postBets]),
    ...[sendRefused, readRecord, readRecord, readLists, followLink],
    ...(faults.has('evict') ? [evict, evict] : []),
    ...(isHeavy ? [postMaximal] : []),
  ]
  while (!isOver(world)) await oneOf(world, actions)(world, lane)
}
