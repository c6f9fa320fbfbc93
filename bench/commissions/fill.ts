import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../src/durations.ts'
import { ADMIN_KEY, adminOf } from '../cost/parties.ts'
import { expectOk } from '../http.ts'
import { MIGRATIONS } from '../schema.ts'
import { execute, type Running } from '../worker.ts'
import { affiliateId, FIRST_DAY, PLAN_NAMES, PLANS, parentOf } from './plans.ts'

/** The account whose statements are computed. */
export const ACCOUNT = 'commissions'

/** The size of an account. */
export interface Size {
  account: string
  /** The first day of its records, and the number of days that they cover. */
  firstDay: string
  days: number
  /** How many times each customer has the records of one month. */
  months: number
  facts: number
  customers: number
  affiliates: number
  /** The customers of each of the first five affiliates, one for each plan. */
  large: number
}

/** The facts of a customer and month: transactions, and rows of trading activity. */
const TRANSACTIONS = 3
const ACTIVITY = 7

const MONTH = { account: ACCOUNT, firstDay: FIRST_DAY, days: 31, months: 1 }

/** Returns the size of an account with so many facts, by default those of one month. */
export function sizeOf(facts: number, time: Pick<Size, keyof typeof MONTH> = MONTH): Size {
  const perCustomer = (TRANSACTIONS + ACTIVITY) * time.months
  const customers = Math.max(10, Math.floor(facts / perCustomer))
  const affiliates = Math.max(10, Math.floor(customers / 100))
  const large = Math.min(1000, Math.floor(customers / 10))
  return { ...time, facts: customers * perCustomer, customers, affiliates, large }
}

/** Migrates an empty database and fills an account. */
export async function fillAccount(running: Running, size: Size): Promise<void> {
  await execute(running, MIGRATIONS)
  await addAccount(running, size)
}

/** Creates an account with its affiliates, plans and rates, and fills it with facts. */
export async function addAccount(running: Running, size: Size): Promise<void> {
  const { account: name, firstDay } = size
  const admin = adminOf(running)
  const account = { name: 'Bench', vertical: 'forex', unknown_customer: 'reject', mode: 'test' }
  await admin('POST', 'accounts', { account: name, ...account })
  await execute(running, [affiliates(size)])
  for (const [plan, terms] of PLANS) {
    const body = { ...terms, effective_from: firstDay }
    await admin('PUT', `accounts/${name}/plans/${plan}`, body)
  }
  const assignments = Array.from({ length: size.affiliates }, (_, n) => ({
    affiliate_id: affiliateId(n),
    plan: PLAN_NAMES[n % PLAN_NAMES.length],
    from: firstDay,
    customers: 'new',
  }))
  for (let i = 0; i < assignments.length; i += 1000) {
    await admin('PUT', `accounts/${name}/assignments`, assignments.slice(i, i + 1000))
  }
  await putRates(running, firstDay)
  await execute(running, [customers(size), transactions(size), activity(size)])
}

/** Imports the published rates from the week before a day to the end of the month. */
async function putRates(running: Running, firstDay: string): Promise<void> {
  const [head, ...days] = readFileSync('data/ecb-euro-reference-rates.csv', 'utf8').split('\n')
  const from = new Date(Date.parse(firstDay) - 9 * DAY_MS).toISOString().slice(0, 10)
  const wanted = days.filter((line) => line >= from && line < '2026-04-03')
  await expectOk(new URL('/admin/v1/fx-rates', running.url), {
    method: 'PUT',
    headers: { 'Content-Type': 'text/csv', Authorization: `Bearer ${ADMIN_KEY}` },
    body: `${[head, ...wanted].join('\n')}\n`,
  })
}

function affiliates({ account, affiliates: count }: Size): string {
  const rows = Array.from({ length: count }, (_, n) => [affiliateId(n), parentOf(n)])
  return `insert into affiliates (account, affiliate_id, parent)
    select '${account}', value ->> 0, value ->> 1 from json_each('${JSON.stringify(rows)}')`
}

const dayOf = (date: string): number => Date.parse(date) / DAY_MS

const numbers = (count: number) =>
  `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})`

const customerId = (n: string) => `printf('CU-%06d', ${n})`

/** Half of the customers signed up before the month. The ids of an affiliate's customers are scattered. */
function customers({ account, firstDay, customers: count, affiliates: all, large }: Size): string {
  const first = dayOf(firstDay)
  const place = `(n * 7919) % ${count}`
  return `insert into customers (account, customer_id, affiliate_id, country_code, trading_account_type, email,
      signup_date, day, delivery, idx, revision)
    ${numbers(count)}, placed as (select n, ${place} as place from numbers)
    select '${account}', ${customerId('n')},
      printf('IB-%04d', iif(place < ${5 * large}, place / ${Math.max(1, large)}, 5 + place % ${all - 5})),
      iif(n % 3, 'DE', 'AT'), iif(n % 50, 'live', 'demo'),
      printf('Customer.%06d+new@gmail.com', n),
      (${first} + n % 61 - 30) * ${DAY_MS} + 30600000, ${first} + n % 61 - 30, 'bench', n % 1000, 1
    from placed order by n`
}

const currencyOf = (customer: string) =>
  `case ${customer} % 4 when 0 then 'USD' when 1 then 'GBP' when 2 then 'CZK' else 'EUR' end`

/**
 * Two deposits and a withdrawal for each customer and month; every tenth is not approved. The modulus
 * of the amounts is a prime, so that each affiliate has customers with small and with large ones.
 */
function transactions({ account, firstDay, days, months, customers: count }: Size): string {
  const each = TRANSACTIONS * months
  const size = count * each
  return `insert into transactions (account, transaction_id, customer_id, transaction_type,
      amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, day, held,
      delivery, idx, revision)
    ${numbers(size)}, dated as (
      select n, n / ${each} as customer, n % ${each} as k,
        ${dayOf(firstDay)} + (n / ${each} * 7 + n % ${each} * 9) % ${days} as day from numbers)
    select '${account}', printf('TX-%07d', n), ${customerId('customer')},
      iif(k % ${TRANSACTIONS} = 2, 'withdrawal', 'deposit'), (n * 7919 % 89989 + 1000) / 100.0, ${currencyOf('customer')},
      day * ${DAY_MS} + 34200000 + n % 1000, case n % 20 when 0 then 'pending' when 1 then 'declined'
      else 'approved' end, iif(n % 5, null, round((n * 7919 % 89989 + 1000) / 90.0, 2)), 'card', day, 0,
      'bench', n % 1000, 1
    from dated order by day, customer`
}

/** Seven rows of trading activity for each customer and month. */
function activity({ account, firstDay, days, months, customers: count }: Size): string {
  const each = ACTIVITY * months
  const size = count * each
  const instruments = ['EURUSD', 'GBPUSD', 'USDJPY', 'XAUUSD', 'XAGUSD', 'US500', 'BTCUSD']
  const instrument = instruments.map((name, i) => `when ${i} then '${name}'`).join(' ')
  return `insert into activity (account, date, customer_id, instrument, currency, lots_traded, pnl,
      volume_usd, spread_cost, commission, held, delivery, idx, revision)
    ${numbers(size)}, dated as (
      select n, n / ${each} as customer, n % ${each} as k,
        ${dayOf(firstDay)} + (n / ${each} * 7 + n % ${each} * 4) % ${days} as day from numbers)
    select '${account}', day, ${customerId('customer')}, case k % ${ACTIVITY} ${instrument} end,
      ${currencyOf('customer')}, (n % 300 + 1) / 100.0, (n % 40001 - 20000) / 100.0, n % 9000 * 100,
      n % 1501 / 25.0, n % 701 / 100.0, 0, 'bench', n % 1000, 1
    from dated order by day, customer, k`
}
