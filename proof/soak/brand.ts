import type { Entry } from '../books.ts'
import type { Desk, Place } from './desk.ts'
import type { Act } from './draw.ts'
import { reads, refusals } from './reads.ts'
import { entriesOf, foretell, heldOf, isAsTold, type Kept, newShelf } from './shelf.ts'

const CUSTOMERS = 120
const RECORDS = 400

/** A desk of a brand: its players, events by `eventid`, days, and events under Idempotency-Keys. */
export function brandDesk({ heard, draw, ask, lane }: Place): Desk {
  const { hear, odd } = heard
  const at = (path: string) => `/tracking/events/${path}`
  const shelf = newShelf()
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
    const told = foretell(shelf, records, dryRun)
    const query = dryRun ? '?dry_run=true' : ''
    const body = records.map(({ record }) => record)
    const answer = await hear(`POST ${at(path)}`, [200], ask('POST', path + query, { body }))
    const { summary } = answer.body
    if (!isAsTold(summary, told)) {
      odd(`${at(path)} was answered ${JSON.stringify(summary)}, not ${JSON.stringify(told)}`)
    }
    if (path !== 'customers' || dryRun) return
    for (const { record } of records) shelf.customers.add(String(record.customerId))
  }

  /** Events that nothing tells apart: their request is repeatable, and is repeated. */
  const bet = async () => {
    const isAgain = bets.size > 0 && draw.below(2) === 0
    const name = isAgain ? draw.one([...bets.keys()]) : `${lane}-K-${bets.size}`
    const made = Array.from({ length: 1 + draw.below(20) }, (): Kept => {
      const customerid = anyone()
      const own = { createtime: `${draw.day()} 10:00`, Value: amount(), Currency: 'EUR' }
      return { record: { eventname: 'Bet', customerid, ...own }, customer: customerid }
    })
    const kept = bets.get(name) ?? made
    const told = foretell(
      shelf,
      kept.map((one, i) => ({ ...one, key: `activities ${name} ${i}` })),
    )
    bets.set(name, kept)
    const sent = { body: kept.map(({ record }) => record), headers: { 'Idempotency-Key': name } }
    const asked = ask('POST', 'activities', sent)
    const { body } = await hear(`POST ${at('activities')}, Idempotency-Key`, [200], asked)
    if (isAsTold(body.summary, told)) return
    odd(`${name}: ${JSON.stringify(body.summary)}, not ${JSON.stringify(told)}`)
  }

  const one = async () => {
    const id = anyone()
    const status = shelf.customers.has(id) ? 200 : 404
    const asked = ask('GET', `customers/${id}`)
    const { body } = await hear(`GET ${at('customers')}/{id}`, [status], asked)
    if (status === 200 && body.customerId !== id) odd(`${id} is ${JSON.stringify(body)}`)
  }

  const acts: Act[] = [
    [5, () => post('customers', player)],
    [6, () => post('activities', event)],
    [4, () => post('activities', day)],
    [4, bet],
    [2, one],
    ...reads({ hear, draw, ask, at, lists: ['customers', 'activities'] }),
    ...refusals({ hear, draw, ask, at, resource: 'activities' }),
  ]
  return { acts, entries: () => entriesOf(shelf, entryOf), held: () => heldOf(shelf) }
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
