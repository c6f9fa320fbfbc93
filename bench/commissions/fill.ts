import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../src/durations.ts'
import { ADMIN_KEY, adminOf } from '../cost/parties.ts'
import { expectOk } from '../http.ts'
import { MIGRATIONS } from '../schema.ts'
import { execute, type Running } from '../worker.ts'
import { affiliateId, FIRST_DAY, PERIOD, PLAN_NAMES, PLANS, parentOf } from './plans.ts'

/** The account whose statements are computed. */
export const ACCOUNT = 'commissions'

/** How many of what an account has. */
export interface Size {
  facts: number
  customers: number
  affiliates: number
  /** The customers of each of the first five affiliates, one for each plan. */
  large: number
}

/** The facts of a customer: transactions, and rows of trading activity. */
const TRANSACTIONS = 3
const ACTIVITY = 7

/** Returns the size of an account with so many facts. */
export function sizeOf(facts: number): Size {
  const customers = Math.floor(facts / (TRANSACTIONS + ACTIVITY))
  const affiliates = Math.max(10, Math.floor(customers / 100))
  const large = Math.min(1000, Math.floor(customers / 10))
  return { facts: customers * (TRANSACTIONS + ACTIVITY), customers, affiliates, large }
}

/** Creates the account with its affiliates, plans and rates, and fills it with facts. */
export async function fillAccount(running: Running, size: Size): Promise<void> {
  await execute(running, MIGRATIONS)
  const admin = adminOf(running)
  const account = { name: 'Bench', vertical: 'forex', unknown_customer: 'reject', mode: 'test' }
  await admin('POST', 'accounts', { account: ACCOUNT, ...account })
  await execute(running, [affiliates(size)])
  for (const [name, plan] of PLANS) await admin('PUT', `accounts/${ACCOUNT}/plans/${name}`, plan)
  const assignments = Array.from({ length: size.affiliates }, (_, n) => ({
    affiliate_id: affiliateId(n),
    plan: PLAN_NAMES[n % PLAN_NAMES.length],
    from: FIRST_DAY,
    customers: 'new',
  }))
  for (let i = 0; i < assignments.length; i += 1000) {
    await admin('PUT', `accounts/${ACCOUNT}/assignments`, assignments.slice(i, i + 1000))
  }
  await putRates(running)
  await execute(running, [customers(size), transactions(size), activity(size)])
}

/** Imports the published rates of the month and of the week before it. */
async function putRates(running: Running): Promise<void> {
  const [head, ...days] = readFileSync('data/ecb-euro-reference-rates.csv', 'utf8').split('\n')
  const wanted = days.filter((line) => line >= `${PERIOD.slice(0, 5)}02-20` && line < '2026-04-03')
  await expectOk(new URL('/admin/v1/fx-rates', running.url), {
    method: 'PUT',
    headers: { 'Content-Type': 'text/csv', Authorization: `Bearer ${ADMIN_KEY}` },
    body: `${[head, ...wanted].join('\n')}\n`,
  })
}

function affiliates({ affiliates: count }: Size): string {
  const rows = Array.from({ length: count }, (_, n) => [affiliateId(n), parentOf(n)])
  return `insert into affiliates (account, affiliate_id, parent)
    select '${ACCOUNT}', value ->> 0, value ->> 1 from json_each('${JSON.stringify(rows)}')`
}

const FIRST = Date.parse(FIRST_DAY) / DAY_MS
const DAYS = 31

const numbers = (count: number) =>
  `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})`

const customerId = (n: string) => `printf('CU-%06d', ${n})`

/** Half of the customers have signed up before the month. Those of an affiliate are spread over all ids. */
function customers({ customers: count, affiliates: all, large }: Size): string {
  const place = `(n * 7919) % ${count}`
  return `insert into customers (account, customer_id, affiliate_id, country_code, trading_account_type,
      signup_date, day, delivery, idx, revision)
    ${numbers(count)}, placed as (select n, ${place} as place from numbers)
    select '${ACCOUNT}', ${customerId('n')},
      printf('IB-%04d', iif(place < ${5 * large}, place / ${Math.max(1, large)}, 5 + place % ${all - 5})),
      iif(n % 3, 'DE', 'AT'), iif(n % 50, 'live', 'demo'),
      (${FIRST} + n % 60 - 30) * ${DAY_MS} + 30600000, ${FIRST} + n % 60 - 30, 'bench', n % 1000, 1
    from placed order by n`
}

const currencyOf = (customer: string) =>
  `case ${customer} % 4 when 0 then 'USD' when 1 then 'GBP' when 2 then 'CZK' else 'EUR' end`

/** Two deposits and a withdrawal for each customer; every tenth is not approved. */
function transactions({ customers: count }: Size): string {
  const size = count * TRANSACTIONS
  return `insert into transactions (account, transaction_id, customer_id, transaction_type,
      amount_currency, currency, transaction_date, status, amount_usd, transaction_subtype, day, held,
      delivery, idx, revision)
    ${numbers(size)}, dated as (
      select n, n / ${TRANSACTIONS} as customer, n % ${TRANSACTIONS} as k,
        ${FIRST} + (n / ${TRANSACTIONS} * 7 + n % ${TRANSACTIONS} * 9) % ${DAYS} as day from numbers)
    select '${ACCOUNT}', printf('TX-%07d', n), ${customerId('customer')},
      iif(k = 2, 'withdrawal', 'deposit'), (n * 7919 % 90000 + 1000) / 100.0, ${currencyOf('customer')},
      day * ${DAY_MS} + 34200000 + n % 1000, case n % 20 when 0 then 'pending' when 1 then 'declined'
      else 'approved' end, iif(n % 5, null, round((n * 7919 % 90000 + 1000) / 90.0, 2)), 'card', day, 0,
      'bench', n % 1000, 1
    from dated order by day, customer`
}

/** Seven rows of trading activity for each customer. */
function activity({ customers: count }: Size): string {
  const size = count * ACTIVITY
  const instruments = ['EURUSD', 'GBPUSD', 'USDJPY', 'XAUUSD', 'XAGUSD', 'US500', 'BTCUSD']
  const instrument = instruments.map((name, i) => `when ${i} then '${name}'`).join(' ')
  return `insert into activity (account, date, customer_id, instrument, currency, lots_traded, pnl,
      volume_usd, spread_cost, commission, held, delivery, idx, revision)
    ${numbers(size)}, dated as (
      select n, n / ${ACTIVITY} as customer, n % ${ACTIVITY} as k,
        ${FIRST} + (n / ${ACTIVITY} * 7 + n % ${ACTIVITY} * 4) % ${DAYS} as day from numbers)
    select '${ACCOUNT}', day, ${customerId('customer')}, case k ${instrument} end,
      ${currencyOf('customer')}, (n % 300 + 1) / 100.0, (n % 40001 - 20000) / 100.0, n % 9000 * 100,
      n % 1501 / 100.0, n % 701 / 100.0, 0, 'bench', n % 1000, 1
    from dated order by day, customer, k`
}
