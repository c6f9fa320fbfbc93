import { deposited, eve } from '../brand.ts'
import type { Route } from './routes.ts'
import { recordsOf } from './worlds.ts'

const delivery = { as: 'account', writes: true, records: true } as const
const forex = { ...delivery, vertical: 'forex', id: 'sendForexTransactions' } as const
const [payment] = recordsOf('forex').transactions!

/** One record moves, one is new, one names an unknown customer, and one is invalid. */
const mixed = [
  { ...payment, transaction_date: '2026-10-05T00:00:00Z' },
  { ...payment, transaction_id: 't-3' },
  { ...payment, transaction_id: 't-4', customer_id: 'c-8' },
  { ...payment, transaction_id: 't-5', currency: 'EUX' },
]
const lenient = { Prefer: 'handling=lenient' }

/** Deliveries with other options than a bulk with a full response. */
export const WAYS: Route[] = [
  { ...forex, way: 'lenient, where unknown customers are held', headers: lenient, body: mixed },
  {
    ...forex,
    way: 'lenient, where unknown customers are rejected',
    policy: 'reject',
    headers: lenient,
    body: mixed,
  },
  {
    ...forex,
    way: 'with a minimal response',
    headers: { Prefer: 'return=minimal' },
    body: mixed.slice(0, 3),
  },
  { ...forex, way: 'one record', body: mixed[1] },
  {
    ...forex,
    way: 'dry run',
    query: '?dry_run=true',
    body: mixed.slice(0, 3),
    repeats: 'each has its row in the log',
  },
  {
    ...delivery,
    vertical: 'igaming',
    id: 'sendIgamingActivities',
    way: 'lenient, with a minimal response',
    headers: { Prefer: 'handling=lenient, return=minimal', 'Idempotency-Key': 'part-1' },
    body: [
      { ...deposited, Value: '7.00', createtime: '2026-10-05 10:00' },
      { ...deposited, eventid: undefined, customerid: 'p-8' },
      { ...deposited, eventid: 'e-3', Currency: 'EUX' },
    ],
  },
  {
    ...delivery,
    vertical: 'igaming',
    id: 'sendIgamingCustomers',
    way: 'one record',
    body: { ...eve, regtime: '2026-10-05 10:00' },
  },
]
