import type { Entry } from '../books.ts'
import type { Actor, ActorContext } from './actor.ts'
import {
  entriesOf,
  heldOf,
  isPredicted,
  type KeyedRecord,
  type Ledger,
  type LedgerRecord,
  newLedger,
  predict,
} from './ledger.ts'
import { readActions, refusedActions } from './reads.ts'

const CUSTOMERS = 120
const RECORDS = 400

/** A lane on the account of a brand: its tools, and the records that it stored. */
interface BrandLane extends ActorContext {
  ledger: Ledger
  /** The events that were sent under each Idempotency-Key. */
  keyedBulks: Map<string, LedgerRecord[]>
}

/** Makes an actor of a brand: players, events by `eventid`, days, and events by Idempotency-Key. */
export function brandActor(context: ActorContext): Actor {
  const { responses, draw, ask } = context
  const { expectStatus } = responses
  const ledger = newLedger()
  const lane = { ...context, ledger, keyedBulks: new Map() }
  return {
    actions: [
      [5, () => postRecords(lane, 'customers', newPlayer)],
      [6, () => postRecords(lane, 'activities', newEvent)],
      [4, () => postRecords(lane, 'activities', newDay)],
      [4, () => postWithIdempotencyKey(lane)],
      [2, () => readCustomer(lane)],
      ...readActions({ expectStatus, draw, ask, at: pathOf, lists: ['customers', 'activities'] }),
      ...refusedActions({ expectStatus, draw, ask, at: pathOf, resource: 'activities' }),
    ],
    entries: () => entriesOf(ledger, entryOf),
    held: () => heldOf(ledger),
  }
}

const pathOf = (path: string) => `/tracking/events/${path}`

const drawCustomer = ({ draw, lane }: BrandLane) => `${lane}-P-${draw.below(CUSTOMERS)}`

const drawAmount = ({ draw }: BrandLane) => (draw.below(100_000_000) / 100).toFixed(2)

function newPlayer({ draw, lane }: BrandLane, n: number): KeyedRecord {
  const customerId = `${lane}-P-${n}`
  const regtime = `2026-10-0${1 + (n % 9)} 08:00`
  const record = { customerId, regtime, country: draw.one(['DE', 'AT']), level: draw.below(5) }
  return { key: `customers ${customerId}`, record, customer: null }
}

function newEvent(brandLane: BrandLane, n: number): KeyedRecord {
  const { draw, lane } = brandLane
  const customerid = drawCustomer(brandLane)
  const record = {
    eventname: 'Deposit',
    customerid,
    eventid: `${lane}-E-${n}`,
    createtime: `${draw.day()} 09:30`,
    Value: drawAmount(brandLane),
    Currency: draw.one(['EUR', 'USD']),
  }
  return { key: `activities ${record.eventid}`, record, customer: customerid }
}

/** Returns the statistics of a player for one day, which replace earlier ones. */
function newDay(lane: BrandLane, n: number): KeyedRecord {
  const customerid = drawCustomer(lane)
  const createtime = `2026-10-0${1 + (n % 9)}`
  const amounts = { GGR: drawAmount(lane), NGR: drawAmount(lane), Currency: 'EUR' }
  const record = { eventname: 'DailyStats', customerid, createtime, ...amounts }
  return { key: `activities ${createtime} ${customerid}`, record, customer: customerid }
}

/** Returns an event without identity. */
function newBet(lane: BrandLane): LedgerRecord {
  const customerid = drawCustomer(lane)
  const createtime = `${lane.draw.day()} 10:00`
  const own = { createtime, Value: drawAmount(lane), Currency: 'EUR' }
  return { record: { eventname: 'Bet', customerid, ...own }, customer: customerid }
}

/** Sends distinct records of one resource, and checks the summary of the response. */
async function postRecords(
  lane: BrandLane,
  resource: 'customers' | 'activities',
  newRecord: (lane: BrandLane, n: number) => KeyedRecord,
): Promise<void> {
  const { draw, ledger, ask, responses } = lane
  const numbers = draw.some(1 + draw.below(40), resource === 'customers' ? CUSTOMERS : RECORDS)
  const made = numbers.map((n) => newRecord(lane, n))
  const records = [...new Map(made.map((one) => [one.key, one])).values()]
  const dryRun = draw.below(6) === 0
  const prediction = predict(ledger, records, dryRun)
  const query = dryRun ? '?dry_run=true' : ''
  const body = records.map(({ record }) => record)
  const path = pathOf(resource)
  const request = ask('POST', resource + query, { body })
  const { summary } = (await responses.expectStatus(`POST ${path}`, [200], request)).body
  if (!isPredicted(summary, prediction)) {
    responses.reportProblem(
      `${path} was answered ${JSON.stringify(summary)}, not ${JSON.stringify(prediction)}`,
    )
  }
  if (resource !== 'customers' || dryRun) return
  for (const { record } of records) ledger.customers.add(String(record.customerId))
}

/** Sends events without identity under an Idempotency-Key, and repeats the request. */
async function postWithIdempotencyKey(lane: BrandLane): Promise<void> {
  const { draw, ledger, keyedBulks, ask, responses } = lane
  const isAgain = keyedBulks.size > 0 && draw.below(2) === 0
  const name = isAgain ? draw.one([...keyedBulks.keys()]) : `${lane.lane}-K-${keyedBulks.size}`
  const made = Array.from({ length: 1 + draw.below(20) }, () => newBet(lane))
  const events = keyedBulks.get(name) ?? made
  const prediction = predict(
    ledger,
    events.map((one, i) => ({ ...one, key: `activities ${name} ${i}` })),
  )
  keyedBulks.set(name, events)
  const sent = { body: events.map(({ record }) => record), headers: { 'Idempotency-Key': name } }
  const route = `POST ${pathOf('activities')}, Idempotency-Key`
  const request = ask('POST', 'activities', sent)
  const { summary } = (await responses.expectStatus(route, [200], request)).body
  if (isPredicted(summary, prediction)) return
  responses.reportProblem(`${name}: ${JSON.stringify(summary)}, not ${JSON.stringify(prediction)}`)
}

/** Reads one customer, who may be unknown. */
async function readCustomer(lane: BrandLane): Promise<void> {
  const { draw, ledger, ask, responses } = lane
  const id = drawCustomer(lane)
  const status = ledger.customers.has(id) ? 200 : 404
  const isByQuery = draw.below(2) === 0
  const request = ask('GET', isByQuery ? `customers/by-id?customerid=${id}` : `customers/${id}`)
  const route = `GET ${pathOf('customers')}/${isByQuery ? 'by-id' : '{id}'}`
  const { body } = await responses.expectStatus(route, [status], request)
  if (status === 404 || body.customerId === id) return
  responses.reportProblem(`${id} is ${JSON.stringify(body)}`)
}

const units = (value: unknown) => BigInt(Math.round(Number(value) * 100))

function entryOf(key: string, { record }: LedgerRecord): Entry {
  const { eventname, Currency, createtime, regtime } = record
  const day = String(regtime ?? createtime).slice(0, 10)
  if (key.startsWith('customers')) return { resource: 'customers', day, group: {}, sums: {} }
  const names = ['Value', 'GGR', 'NGR'].filter((name) => name in record)
  return {
    resource: 'activities',
    day,
    group: { eventname, product: null, Currency },
    sums: Object.fromEntries(names.map((name) => [name, units(record[name])])),
  }
}
