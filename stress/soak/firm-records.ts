import type { Entry } from '../books.ts'
import { AFFILIATE, type Firm } from '../parties.ts'
import type { ActorContext } from './actor.ts'
import type { KeyedRecord, Ledger, LedgerRecord } from './ledger.ts'

const CUSTOMERS = 120
const RECORDS = 400

/** A lane on the account of a firm: its tools, and the records that it stored. */
export interface FirmLane extends ActorContext {
  firm: Firm
  /** Whether the firm holds records whose customer is unknown. */
  holds: boolean
  ledger: Ledger
  /** The ids of the customers whose personal data was erased. */
  erased: Set<string>
}

/** The resources of a firm. */
export const RESOURCES = ['customers', 'transactions', 'trading-activity'] as const

/** One resource of a firm. */
export type Resource = (typeof RESOURCES)[number]

/** Returns distinct records. Some of those that are stored are sent again unchanged. */
export function drawRecords(lane: FirmLane, resource: Resource): KeyedRecord[] {
  const { draw, holds, ledger } = lane
  if (resource !== 'customers' && !holds && ledger.customers.size === 0) return []
  const numbers = draw.some(1 + draw.below(40), resource === 'customers' ? CUSTOMERS : RECORDS)
  const records = new Map(
    numbers.map((n) => NEW_RECORD[resource](lane, n)).map((one) => [one.key, one]),
  )
  for (const [key] of records) {
    const before = ledger.records.get(key)
    if (before && draw.below(4) === 0) records.set(key, { ...before, key })
  }
  return [...records.values()]
}

const NEW_RECORD: Record<Resource, (lane: FirmLane, n: number) => KeyedRecord> = {
  customers: newCustomer,
  transactions: newTransaction,
  'trading-activity': newTradingActivity,
}

/** Draws the customer of a record. If the firm holds records, the customer may be unknown. */
const drawCustomer = ({ draw, holds, ledger, lane }: FirmLane) =>
  holds ? `${lane}-C-${draw.below(CUSTOMERS)}` : draw.one([...ledger.customers])

function newCustomer({ draw, erased, lane }: FirmLane, n: number): KeyedRecord {
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
}

function newTransaction(firmLane: FirmLane, n: number): KeyedRecord {
  const { draw, holds, lane } = firmLane
  const customer_id = drawCustomer(firmLane)
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
}

function newTradingActivity(firmLane: FirmLane, n: number): KeyedRecord {
  const { draw } = firmLane
  const customer_id = drawCustomer(firmLane)
  const date = `2026-10-0${1 + (n % 9)}`
  const record = {
    date,
    customer_id,
    instrument: 'EURUSD',
    currency: 'USD',
    lots_traded: draw.below(10_000) / 100,
    pnl: (draw.below(2_000_000) - 1_000_000) / 100,
  }
  return { key: `trading-activity ${date} ${customer_id}`, record, customer: customer_id }
}

const units = (value: unknown) => BigInt(Math.round(Number(value) * 100))

/** Returns a record of a firm as an entry of the control totals. */
export function entryOf(key: string, { record }: LedgerRecord): Entry {
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
