import { randomSource } from '../../test/commission/worlds.ts'
import type {
  ActivityRecord,
  BrandActivityRecord,
  BrandCustomerRecord,
  CustomerRecord,
  TransactionRecord,
} from './worlds.ts'

// Records in the shapes of the real ones, at random, for clones without the real ones.

const from = randomSource(17)
const day = (year: number) =>
  `${year}-${String(from.between(1, 12)).padStart(2, '0')}-${String(from.between(1, 28)).padStart(2, '0')}`

export const customers: CustomerRecord[] = Array.from({ length: 60 }, (_, index) => ({
  customer_id: `c${index}`,
  signup_date: `${day(1995)}T00:00:00Z`,
  affiliate_id: `BRANCH-${from.between(1, 7)}`,
}))

export const transactions: TransactionRecord[] = Array.from({ length: 400 }, (_, index) => ({
  transaction_id: `t${index}`,
  customer_id: from.pick(customers).customer_id,
  transaction_type: from.pick(['deposit', 'deposit', 'withdrawal']),
  amount_currency: from.pick([200, 999, 1000, 3000, 4999.5, 6000]),
  currency: 'CZK',
  transaction_date: `${day(from.pick([1995, 1996]))}T00:00:00Z`,
  status: 'approved',
}))

export const activity: ActivityRecord[] = Array.from({ length: 300 }, (_, index) => ({
  date: day(from.pick([2024, 2025])),
  customer_id: from.pick(customers).customer_id,
  instrument: `${from.pick(['ALL', 'BTC', 'PURR'])}${index % 3 === 0 ? '' : index}`,
  currency: 'USD',
  lots_traded: from.between(0, 999) / 100,
  pnl: from.between(-99_999, 99_999) / 1000,
  commission: from.between(0, 99_999_999) / 10 ** 6,
}))

export const brandCustomers: BrandCustomerRecord[] = Array.from({ length: 80 }, (_, index) => ({
  customerId: `${from.pick(['BB', 'PK'])}-${index}`,
  regtime: `${day(2016)} 04:20`,
  ...(!from.oneIn(20) && { tracking_data: 't' }),
}))

export const brandActivities: BrandActivityRecord[] = Array.from({ length: 500 }, (_, index) => ({
  eventname: 'DailyStats',
  customerid: from.pick(brandCustomers).customerId,
  eventid: `e${index}`,
  createtime: day(2016),
  Product: from.pick(['Casino', 'Poker']),
  NGR: String(from.between(-99_999, 99_999) / 100),
  Currency: from.pick(['EUR', 'USD']),
}))
