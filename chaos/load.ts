import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expectOk, type RequestSender, type Sent } from './ask.ts'
import { AFFILIATE, asBrand, asFirm, newBrand, newFirm, newToken, type Place } from './parties.ts'
import { WORKER } from './workerd.ts'
import {
  type Account,
  currentMonth,
  DATABASES_OF,
  insist,
  isOver,
  type Lane,
  MONTHS,
  oneOf,
  type World,
} from './world.ts'

// A lane sends requests of one account one after the other, with a token of its own.

/**
 * The customers and the other records of a lane: few, so that many requests change records. As a multiple, so that
 * records that follow each other have different customers.
 */
const CUSTOMERS = 68
const RECORDS = 6 * CUSTOMERS

/** The pause between requests of a lane: its token has 1,000 of them a minute. */
const PAUSE_MS = 70

/** A personal value of each customer. */
export const EMAIL = 'lovelace@chaos.example'

/** Creates the accounts with a plan that pays a tenth of deposits to each lane of the firm. Returns the lanes. */
export async function newLanes(place: Place, count: number): Promise<Lane[]> {
  const firm = await newFirm(place, 'firm', 'forex', 'hold', DATABASES_OF.firm[0])
  await newBrand(place, 'brand')
  const numbers = Array.from({ length: count }, (_, i) => i)
  const put = (path: string, body: unknown) =>
    expectOk(place.admin('PUT', `accounts/firm/${path}`, { body }))
  const affiliates = [AFFILIATE, ...numbers.map((i) => `f${i}`)]
  await put(
    'affiliates',
    affiliates.map((affiliate_id) => ({ affiliate_id })),
  )
  const base = [{ transactions: ['deposit'] }]
  await put('plans/ib', {
    ...{ name: 'A tenth', currency: 'EUR', period: 'month', effective_from: `${MONTHS[0]}-01` },
    ...{ terms: 'signup', negative: 'carry', minimum_payout: '0', hold_days: 0 },
    rules: [{ id: 'tenth', kind: 'share', percent: '10', base, per: 'customer' }],
  })
  const all = { affiliate_id: '*', plan: 'ib', from: `${MONTHS[0]}-01`, customers: 'all' }
  await put('assignments', [all])
  const lanes: Lane[] = []
  for (const i of numbers) {
    const token = await newToken(place, firm)
    const { jti } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    const own = { account: 'firm', object: jti, ask: asFirm(place, firm, token) } as const
    lanes.push({ name: `f${i}`, ...own, secrets: [token, firm.client_secret], stored: [] })
    const made = place.admin('POST', 'accounts/brand/brand-tokens', { body: { overlap: '7d' } })
    const { brand_token } = await expectOk(made)
    const object = `brand:${hash('sha256', brand_token)}`
    const ask = asBrand(place, brand_token)
    const secrets = [brand_token]
    lanes.push({ name: `b${i}`, account: 'brand', object, ask, secrets, stored: [] })
  }
  return lanes
}

type Make = (world: World, lane: Lane, n: number) => Readonly<Record<string, unknown>>

const dayOf = (world: World, n: number): string => {
  const month = world.below(10) === 0 ? world.below(currentMonth(world) + 1) : currentMonth(world)
  return `${MONTHS[month]}-${String(1 + (n % 28)).padStart(2, '0')}`
}

const cents = ({ below }: World) => (below(2_000_000) - 1_000_000) / 100
const customerOf = ({ below }: World, { name }: Lane) => `${name}-C-${below(CUSTOMERS)}`

const newCustomer: Make = (world, { name }, n) => ({
  customer_id: `${name}-C-${n % CUSTOMERS}`,
  ...{ signup_date: `${MONTHS[0]}-01T08:00:00Z`, affiliate_id: name, tracking_data: 'click-42' },
  sales_status_id: oneOf(world, ['new', 'hot', 'cold']),
  ...{ first_name: 'Augusta', email: EMAIL },
})

const newTransaction: Make = (world, lane, n) => ({
  transaction_id: `${lane.name}-T-${n}`,
  customer_id: customerOf(world, lane),
  transaction_type: oneOf(world, ['deposit', 'withdrawal']),
  // A tenth of a deposit is a number of cents.
  ...{ amount_currency: world.below(100_000) / 10, currency: 'EUR' },
  transaction_date: `${dayOf(world, n)}T09:30:00.000Z`,
  status: oneOf(world, ['pending', 'approved', 'approved']),
})

const newActivity: Make = (world, lane, n) => ({
  ...{ date: dayOf(world, n), customer_id: `${lane.name}-C-${n % CUSTOMERS}` },
  ...{ instrument: 'EURUSD', currency: 'USD', pnl: cents(world) },
  lots_traded: world.below(10_000) / 100,
})

const newPlayer: Make = (world, { name }, n) => ({
  ...{ customerId: `${name}-C-${n % CUSTOMERS}`, regtime: `${MONTHS[0]}-02 08:00` },
  level: world.below(5),
})

/** Returns an event with an id, or the statistics of a day, which replace earlier ones. */
const newEvent: Make = (world, lane, n) => ({
  ...{ customerid: `${lane.name}-C-${n % CUSTOMERS}`, Currency: 'EUR' },
  ...(n % 2 === 0
    ? { eventname: 'DailyStats', createtime: dayOf(world, n), GGR: cents(world) }
    : { eventname: 'Deposit', createtime: `${dayOf(world, n)} 09:30`, Value: cents(world) }),
  ...(n % 2 === 1 && { eventid: `${lane.name}-E-${n}` }),
})

const RESOURCES: Record<Account, Record<string, Make>> = {
  firm: {
    customers: newCustomer,
    transactions: newTransaction,
    'trading-activity': newActivity,
  },
  brand: { customers: newPlayer, activities: newEvent },
}

/** Sends records of one resource, as a bulk or alone, with one that is refused, or without storing them. */
async function postRecords(world: World, lane: Lane): Promise<void> {
  const [resource, make] = oneOf(world, Object.entries(RESOURCES[lane.account]))
  const form = oneOf(world, ['bulk', 'bulk', 'bulk', 'single', 'dry', 'lenient'] as const)
  // Records that follow each other have different keys.
  const first = world.below(RECORDS)
  const length = form === 'single' ? 1 : 1 + world.below(CUSTOMERS)
  const records = Array.from({ length }, (_, i) => make(world, lane, (first + i) % RECORDS))
  if (form === 'single') return store(world, lane, resource, records[0])
  if (form === 'dry') {
    await expectStatus(world, lane, 200, ['POST', `${resource}?dry_run=true`, { body: records }])
  } else if (form === 'lenient' && lane.account === 'firm') {
    const body = [...records, { nobody: 'knows this' }]
    await store(world, lane, resource, body, { Prefer: 'handling=lenient' }, 207)
  } else await store(world, lane, resource, records)
}

/** Sends records until they are acknowledged, and remembers the request. Some tries are cut. */
async function store(
  world: World,
  lane: Lane,
  resource: string,
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): Promise<void> {
  const request: Parameters<RequestSender> = ['POST', resource, { body, headers }]
  lane.stored.push(request)
  if (world.faults.has('slow') && world.below(4) === 0) {
    const signal = AbortSignal.timeout(1 + world.below(60))
    await lane.ask('POST', resource, { body, headers, signal }).catch(() => null)
    await wait(500)
  }
  await expectStatus(world, lane, status, request)
}

/** Repeats a request whose records nothing has changed since: it must change nothing. */
async function repeat(world: World, lane: Lane): Promise<void> {
  const last = lane.stored.at(-1)
  if (!last) return
  const { summary } = (await insist(world, lane.account, lane.ask, last)).body
  const isSame = summary.created === 0 && summary.updated === 0
  world.check(isSame, `${lane.name} ${last[1]} again: ${JSON.stringify(summary)}`)
}

/** Sends events without identity, which an Idempotency-Key keeps from being stored twice. */
async function postBets(world: World, lane: Lane): Promise<void> {
  const length = 1 + world.below(20)
  const own = { eventname: 'Bet', Currency: 'EUR' }
  const bets = Array.from({ length }, (_, i) => ({
    ...{ ...own, customerid: customerOf(world, lane), Value: cents(world) },
    createtime: `${dayOf(world, i)} 10:00`,
  }))
  const key = `${lane.name}-K-${lane.stored.length}`
  await store(world, lane, 'activities', bets, { 'Idempotency-Key': key })
}

/** Sends a body of nearly 8 MiB: 1000 events, which are the same ones each time. */
async function postMaximal(world: World, lane: Lane): Promise<void> {
  const own = { eventname: 'Bet', customerid: `${lane.name}-C-0`, Value: 1, Currency: 'EUR' }
  const createtime = `${MONTHS[0]}-09 11:00`
  // With a letter that is not in Latin-1, V8 stores two bytes per letter.
  const story = oneOf(world, ['a', '→']) + 'lorem ipsum '.repeat(680)
  const events = Array.from({ length: 1000 }, (_, i) => ({
    ...{ ...own, createtime, story, eventid: `${lane.name}-M-${i}` },
  }))
  await store(world, lane, 'activities', events)
}

/** Sends a request of a lane until it is answered, and checks its status. A new record alone is answered 201. */
async function expectStatus(
  world: World,
  lane: Lane,
  status: number,
  request: Parameters<RequestSender>,
): Promise<void> {
  const answer = await insist(world, lane.account, lane.ask, request)
  const [method, path] = request
  const text = JSON.stringify(answer.body).slice(0, 600)
  const isRight = answer.status === status || (status === 200 && answer.status === 201)
  const what = `${method} ${path} of ${lane.name}`
  world.check(isRight, `${what} is answered ${answer.status}, not ${status}: ${text}`)
}

/** Sends what is refused: mistakes, which cause webhooks, and a look at a record of the other account. */
async function sendRefused(world: World, lane: Lane): Promise<void> {
  const resource = lane.account === 'firm' ? 'transactions' : 'activities'
  const headers = { 'Content-Type': 'application/json' }
  const other = lane.account === 'firm' ? 'b0-C-1' : 'f0-C-1'
  const [status, method, path, sent] = oneOf(world, [
    [422, 'POST', resource, { body: [{ nobody: 'knows this' }, null, 7] }],
    [400, 'POST', resource, { body: '[{"a": 1', headers }],
    [413, 'POST', resource, { body: `["${'x'.repeat(9_000_000)}"]`, headers }],
    [404, 'GET', `customers/${other}`],
  ] as [number, string, string, Sent?][])
  await expectStatus(world, lane, status, [method, path, sent])
}

/** Evicts an object, while no request of the lane is under way. */
async function evict({ service }: World, { object: name }: Lane): Promise<void> {
  // Fails for an object that is not running.
  await service.miniflare.unsafeEvictDurableObject(WORKER, 'TokenGate', { name }).catch(() => {})
}

/** Sends random requests of a lane until the load is over. */
export async function runLane(world: World, lane: Lane): Promise<void> {
  const { faults } = world
  const isBrand = lane.account === 'brand'
  const actions = [
    ...[postRecords, postRecords, postRecords, postRecords, repeat, sendRefused],
    ...(isBrand ? [postBets] : []),
    ...(faults.has('evict') ? [evict] : []),
    ...(isBrand && (faults.has('heap') || faults.has('slow')) ? [postMaximal] : []),
  ]
  // The other customers come after some of their records.
  const customers = Array.from({ length: CUSTOMERS / 2 }, (_, n) =>
    RESOURCES[lane.account].customers!(world, lane, n),
  )
  await store(world, lane, 'customers', customers)
  while (!isOver(world)) {
    await oneOf(world, actions)(world, lane)
    await wait(PAUSE_MS)
  }
}
