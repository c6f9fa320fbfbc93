import type { Entry } from '../books.ts'
import type { Actor, ActorContext } from './actor.ts'
import type { Act } from './draw.ts'
import { entriesOf, heldOf, isPredicted, type Kept, newLedger, predict } from './ledger.ts'
import { reads, refusals } from './reads.ts'

const CUSTOMERS = 120
const RECORDS = 400

/** Makes an actor of a brand: players, events by `eventid`, days, and events by Idempotency-Key. */
export function brandActor({ responses, draw, ask, lane }: ActorContext): Actor {
  const { expectStatus, reportProblem } = responses
  const at = (path: string) => `/tracking/events/${path}`
  const ledger = newLedger()
  const bets = new Map<string, Kept[]>()
  const anyone = () => `${lane}-P-${draw.below(CUSTOMERS)}`
  const amount = () => (draw.below(100_000_000) / 100).toFixed(2)

  const player = (n: number) => {
    const customerId = `${lane}-P-${n}`
    const regtime = `2026-10-0${1 + (n % 9)} 08:00`
    const record = { customerId, regtime, country: draw.one(['DE', 'AT']), level: draw.below(5) }
    return { key: `customers ${customerId}`, record, customer: null }
  }
  const event = (n: number) => {
    const customerid = anyone()
    const record = {
      ...{ eventname: 'Deposit', customerid, eventid: `${lane}-E-${n}` },
      createtime: `${draw.day()} 09:30`,
      ...{ Value: amount(), Currency: draw.one(['EUR', 'USD']) },
    }
    return { key: `activities ${record.eventid}`, record, customer: customerid }
  }
  const day = (n: number) => {
    const customerid = anyone()
    const createtime = `2026-10-0${1 + (n % 9)}`
    const own = { GGR: amount(), NGR: amount(), Currency: 'EUR' }
    const record = { eventname: 'DailyStats', customerid, createtime, ...own }
    return { key: `activities ${createtime} ${customerid}`, record, customer: customerid }
  }

  const post = async (path: string, make: (n: number) => Kept & { key: string }) => {
    const numbers = draw.some(1 + draw.below(40), path === 'customers' ? CUSTOMERS : RECORDS)
    const records = [...new Map(numbers.map(make).map((one) => [one.key, one])).values()]
    const dryRun = draw.below(6) === 0
    const prediction = predict(ledger, records, dryRun)
    const query = dryRun ? '?dry_run=true' : ''
    const body = records.map(({ record }) => record)
    const answer = await expectStatus(
      `POST ${at(path)}`,
      [200],
      ask('POST', path + query, { body }),
    )
    const { summary } = answer.body
    if (!isPredicted(summary, prediction)) {
      reportProblem(
        `${at(path)} was answered ${JSON.stringify(summary)}, not ${JSON.stringify(prediction)}`,
      )
    }
    if (path !== 'customers' || dryRun) return
    for (const { record } of records) ledger.customers.add(String(record.customerId))
  }

  /** Sends events without identity under an Idempotency-Key, and repeats the request. */
  const bet = async () => {
    const isAgain = bets.size > 0 && draw.below(2) === 0
    const name = isAgain ? draw.one([...bets.keys()]) : `${lane}-K-${bets.size}`
    const made = Array.from({ length: 1 + draw.below(20) }, (): Kept => {
      const customerid = anyone()
      const own = { createtime: `${draw.day()} 10:00`, Value: amount(), Currency: 'EUR' }
      return { record: { eventname: 'Bet', customerid, ...own }, customer: customerid }
    })
    const kept = bets.get(name) ?? made
    const prediction = predict(
      ledger,
      kept.map((one, i) => ({ ...one, key: `activities ${name} ${i}` })),
    )
    bets.set(name, kept)
    const sent = { body: kept.map(({ record }) => record), headers: { 'Idempotency-Key': name } }
    const request = ask('POST', 'activities', sent)
    const { body } = await expectStatus(`POST ${at('activities')}, Idempotency-Key`, [200], request)
    if (isPredicted(body.summary, prediction)) return
    reportProblem(`${name}: ${JSON.stringify(body.summary)}, not ${JSON.stringify(prediction)}`)
  }

  const one = async () => {
    const id = anyone()
    const status = ledger.customers.has(id) ? 200 : 404
    const isByQuery = draw.below(2) === 0
    const request = ask('GET', isByQuery ? `customers/by-id?customerid=${id}` : `customers/${id}`)
    const route = `GET ${at('customers')}/${isByQuery ? 'by-id' : '{id}'}`
    const { body } = await expectStatus(route, [status], request)
    if (status === 200 && body.customerId !== id) reportProblem(`${id} is ${JSON.stringify(body)}`)
  }

  const acts: Act[] = [
    [5, () => post('customers', player)],
    [6, () => post('activities', event)],
    [4, () => post('activities', day)],
    [4, bet],
    [2, one],
    ...reads({ expectStatus, draw, ask, at, lists: ['customers', 'activities'] }),
    ...refusals({ expectStatus, draw, ask, at, resource: 'activities' }),
  ]
  return { acts, entries: () => entriesOf(ledger, entryOf), held: () => heldOf(ledger) }
}

const units = (value: unknown) => BigInt(Math.round(Number(value) * 100))

function entryOf(key: string, { record }: Kept): Entry {
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
