import type { Entry } from '../books.ts'
import { AFFILIATE, type Firm } from '../parties.ts'
import { erasing, minting } from './credentials.ts'
import type { Desk, Place } from './desk.ts'
import { reads, refusals } from './reads.ts'
import {
  entriesOf,
  foretell,
  heldOf,
  isAsTold,
  isEqual,
  isHeld,
  type Kept,
  newShelf,
} from './shelf.ts'

const CUSTOMERS = 120
const RECORDS = 400

type Drawn = Kept & { key: string }

/** A desk of a firm. Where it may hold records, their customers come late, or never. */
export function firmDesk(place: Place, firm: Firm): Desk {
  const { heard, draw, ask, lane } = place
  const { hear, odd } = heard
  const at = (path: string) => `/api/v1/${firm.vertical}/${path}`
  const holds = firm.vertical === 'forex'
  const shelf = newShelf()
  const erased = new Set<string>()
  const anyone = () =>
    holds ? `${lane}-C-${draw.below(CUSTOMERS)}` : draw.one([...shelf.customers])

  const make = {
    customers(n: number): Drawn {
      const customer_id = `${lane}-C-${n}`
      const record = {
        customer_id,
        signup_date: `2026-10-0${1 + (n % 9)}T08:00:00.000Z`,
        affiliate_id: AFFILIATE,
        tracking_data: 'click-42',
        sales_status_id: draw.one(['new', 'hot', 'cold']),
        ...(!erased.has(customer_id) && { first_name: 'Ada', email: 'ada@example.org' }),
      }
      return { key: `customers ${customer_id}`, record, customer: null }
    },
    transactions(n: number): Drawn {
      const customer_id = anyone()
      const record = {
        transaction_id: `${lane}-T-${n}`,
        customer_id,
        transaction_type: draw.one(holds ? ['deposit', 'withdrawal'] : ['payout', 'refund']),
        amount_currency: draw.below(100_000_000) / 100,
        currency: draw.one(['EUR', 'USD']),
        transaction_date: `${draw.day()}T09:30:00.000Z`,
        status: draw.one(['pending', 'approved']),
      }
      return { key: `transactions ${record.transaction_id}`, record, customer: customer_id }
    },
    'trading-activity'(n: number): Drawn {
      const customer_id = anyone()
      const date = `2026-10-0${1 + (n % 9)}`
      const record = {
        ...{ date, customer_id, instrument: 'EURUSD', currency: 'USD' },
        lots_traded: draw.below(10_000) / 100,
        pnl: (draw.below(2_000_000) - 1_000_000) / 100,
      }
      return { key: `trading-activity ${date} ${customer_id}`, record, customer: customer_id }
    },
  }
  type Name = keyof typeof make

  /** Different records; of those that are stored a part is sent again as it is. */
  const drawn = (name: Name): Drawn[] => {
    if (name !== 'customers' && !holds && shelf.customers.size === 0) return []
    const numbers = draw.some(1 + draw.below(40), name === 'customers' ? CUSTOMERS : RECORDS)
    const records = new Map(numbers.map((n) => make[name](n)).map((one) => [one.key, one]))
    for (const [key] of records) {
      const before = shelf.kept.get(key)
      if (before && draw.below(4) === 0) records.set(key, { ...before, key })
    }
    return [...records.values()]
  }

  const post = async (name: Name) => {
    const all = drawn(name)
    if (all.length === 0) return
    const dryRun = draw.below(6) === 0
    const single = draw.below(5) === 0
    const records = single ? all.slice(0, 1) : all
    const told = foretell(shelf, records, dryRun)
    const bodies = records.map(({ record }) => record)
    const { body } = await hear(
      `POST ${at(name)}${dryRun ? '?dry_run=true' : ''}`,
      [single && told.created === 1 ? 201 : 200],
      ask('POST', `${name}${dryRun ? '?dry_run=true' : ''}`, {
        body: single ? bodies[0] : draw.below(2) ? bodies : { data: bodies },
        headers: { ...(draw.below(3) === 0 && { Prefer: 'return=minimal' }) },
      }),
    )
    if (!isAsTold(body.summary, told)) {
      odd(`${at(name)}: ${JSON.stringify(body.summary)}, not ${JSON.stringify(told)}`)
    }
    if (name !== 'customers' || dryRun) return
    for (const { record } of records) shelf.customers.add(String(record.customer_id))
  }

  const lenient = async () => {
    const good = drawn('transactions')
    if (good.length === 0) return
    const told = foretell(shelf, good)
    const bad = { ...good[0]!.record, transaction_id: `${lane}-bad`, currency: 'EUX' }
    const sent = [bad, ...good.map(({ record }) => record)]
    const headers = { Prefer: 'handling=lenient' }
    const asked = ask('POST', 'transactions', { body: sent, headers })
    const { body } = await hear(`POST ${at('transactions')}, lenient`, [207], asked)
    if (isAsTold(body.summary, told) && body.summary.rejected === 1) return
    odd(`lenient: ${JSON.stringify(body.summary)}, not ${JSON.stringify(told)}`)
  }

  const one = async () => {
    const [key, kept] = draw.one([...shelf.kept]) ?? []
    if (!key || !kept || key.startsWith('trading')) return
    const [name, id] = key.split(' ') as [string, string]
    const status = isHeld(shelf, kept) ? 404 : 200
    const asked = ask('GET', `${name}/${id}`)
    const { body } = await hear(`GET ${at(name)}/{id}`, [status], asked)
    if (status === 404 || isEqual(body, kept.record)) return
    odd(`${key} is ${JSON.stringify(body)}, not ${JSON.stringify(kept.record)}`)
  }

  return {
    acts: [
      [6, () => post('customers')],
      [10, () => post('transactions')],
      [6, () => post('trading-activity')],
      [2, lenient],
      [4, one],
      [0.5, erasing(place, firm, shelf, erased)],
      [1, minting(place, firm.vertical)],
      ...reads({ hear, draw, ask, at, lists: Object.keys(make) }),
      ...refusals({ hear, draw, ask, at, resource: 'transactions' }),
    ],
    entries: () => entriesOf(shelf, entryOf),
    held: () => heldOf(shelf),
  }
}

const units = (value: unknown) => BigInt(Math.round(Number(value) * 100))

function entryOf(key: string, { record }: Kept): Entry {
  const resource = key.split(' ')[0]!
  const { signup_date, transaction_date, date, transaction_type, status, currency } = record
  const day = String(signup_date ?? transaction_date ?? date).slice(0, 10)
  if (resource === 'customers') return { resource, day, group: {}, sums: {} }
  if (resource === 'transactions') {
    const sums = { amount_currency: units(record.amount_currency) }
    return { resource, day, group: { transaction_type, status, currency }, sums }
  }
  const sums = { lots_traded: units(record.lots_traded), pnl: units(record.pnl) }
  return { resource, day, group: { currency }, sums }
}
