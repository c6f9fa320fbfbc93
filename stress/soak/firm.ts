import type { Entry } from '../books.ts'
import { AFFILIATE, type Firm } from '../parties.ts'
import type { Actor, ActorContext } from './actor.ts'
import { erasing, minting } from './credentials.ts'
import {
  entriesOf,
  heldOf,
  isEqual,
  isHeld,
  isPredicted,
  type Kept,
  newLedger,
  predict,
} from './ledger.ts'
import { reads, refusals } from './reads.ts'

const CUSTOMERS = 120
const RECORDS = 400

type Drawn = Kept & { key: string }

/** Makes an actor of a firm. If the firm holds records, their customers come late or never. */
export function firmActor(context: ActorContext, firm: Firm): Actor {
  const { responses, draw, ask, lane } = context
  const { expectStatus, reportProblem } = responses
  const at = (path: string) => `/api/v1/${firm.vertical}/${path}`
  const holds = firm.vertical === 'forex'
  const ledger = newLedger()
  const erased = new Set<string>()
  const anyone = () =>
    holds ? `${lane}-C-${draw.below(CUSTOMERS)}` : draw.one([...ledger.customers])

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

  /** Returns distinct records. Some of those that are stored are sent again unchanged. */
  const drawn = (name: Name): Drawn[] => {
    if (name !== 'customers' && !holds && ledger.customers.size === 0) return []
    const numbers = draw.some(1 + draw.below(40), name === 'customers' ? CUSTOMERS : RECORDS)
    const records = new Map(numbers.map((n) => make[name](n)).map((one) => [one.key, one]))
    for (const [key] of records) {
      const before = ledger.kept.get(key)
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
    const prediction = predict(ledger, records, dryRun)
    const bodies = records.map(({ record }) => record)
    const { body } = await expectStatus(
      `POST ${at(name)}${dryRun ? '?dry_run=true' : ''}`,
      [single && prediction.created === 1 ? 201 : 200],
      ask('POST', `${name}${dryRun ? '?dry_run=true' : ''}`, {
        body: single ? bodies[0] : draw.below(2) ? bodies : { data: bodies },
        headers: { ...(draw.below(3) === 0 && { Prefer: 'return=minimal' }) },
      }),
    )
    if (!isPredicted(body.summary, prediction)) {
      reportProblem(
        `${at(name)}: ${JSON.stringify(body.summary)}, not ${JSON.stringify(prediction)}`,
      )
    }
    if (name !== 'customers' || dryRun) return
    for (const { record } of records) ledger.customers.add(String(record.customer_id))
  }

  const lenient = async () => {
    const good = drawn('transactions')
    if (good.length === 0) return
    const prediction = predict(ledger, good)
    const bad = { ...good[0]!.record, transaction_id: `${lane}-bad`, currency: 'EUX' }
    const sent = [bad, ...good.map(({ record }) => record)]
    const headers = { Prefer: 'handling=lenient' }
    const request = ask('POST', 'transactions', { body: sent, headers })
    const { body } = await expectStatus(`POST ${at('transactions')}, lenient`, [207], request)
    if (isPredicted(body.summary, prediction) && body.summary.rejected === 1) return
    reportProblem(`lenient: ${JSON.stringify(body.summary)}, not ${JSON.stringify(prediction)}`)
  }

  const one = async () => {
    const [key, kept] = draw.one([...ledger.kept]) ?? []
    if (!key || !kept || key.startsWith('trading')) return
    const [name, id] = key.split(' ') as [string, string]
    const status = isHeld(ledger, kept) ? 404 : 200
    const isByQuery = draw.below(2) === 0
    const request = ask(
      'GET',
      isByQuery
        ? `${name}/by-id?${name === 'customers' ? 'customer_id' : 'transaction_id'}=${id}`
        : `${name}/${id}`,
    )
    const route = `GET ${at(name)}/${isByQuery ? 'by-id' : '{id}'}`
    const { body } = await expectStatus(route, [status], request)
    if (status === 404 || isEqual(body, kept.record)) return
    reportProblem(`${key} is ${JSON.stringify(body)}, not ${JSON.stringify(kept.record)}`)
  }

  return {
    acts: [
      [6, () => post('customers')],
      [10, () => post('transactions')],
      [6, () => post('trading-activity')],
      [2, lenient],
      [4, one],
      [0.5, erasing(context, firm, ledger, erased)],
      [1, minting(context, firm.vertical)],
      ...reads({ expectStatus, draw, ask, at, lists: Object.keys(make) }),
      ...refusals({ expectStatus, draw, ask, at, resource: 'transactions' }),
    ],
    entries: () => entriesOf(ledger, entryOf),
    held: () => heldOf(ledger),
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
