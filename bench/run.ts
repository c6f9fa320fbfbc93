import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { DAY_MS } from '../src/durations.ts'
import { firstRules } from '../src/fraud/rule-sets.ts'
import type { Scale } from './compete.ts'
import { type Chapter, format, median } from './print.ts'
import { MIGRATIONS } from './schema.ts'
import { callAdmin, setClock, startMetered, takeCounts } from './service.ts'
import { execute, type Running } from './worker.ts'

const ACCOUNT = 'bench'
const AT = `accounts/${ACCOUNT}`

/** The month of the records, and the morning after its last day. */
const PERIOD = '2026-03'
const FIRST_DAY = `${PERIOD}-01`
const LAST_DAY = `${PERIOD}-31`
const DAYS = 31
const MORNING = Date.parse(LAST_DAY) + DAY_MS + 3 * 3_600_000

/** The plans: affiliate n has the plan n % 4. */
const PLANS = ['cpa', 'hybrid', 'ib-per-lot', 'master-ib']

const RULES = firstRules('forex', LAST_DAY)

/** What something used. */
interface Used {
  readonly ms: number
  readonly cpuMs: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/**
 * Measures the statement run of a month, and the run of a morning on which fraud rules evaluate the last day,
 * against the sums of the same facts in plain SQL. The three take turns.
 */
export async function run(folder: string, { facts, rounds }: Scale): Promise<Chapter> {
  const running = await startMetered(folder)
  try {
    await setClock(running, MORNING)
    const customers = Math.max(20, Math.floor(facts / (TRANSACTIONS + ACTIVITY)))
    await fill(running, customers)
    // The first run of both kinds is not counted: it computes statements and cases that the others find.
    await morning(running)
    const used: { sql: Used; run: Used; morning: Used }[] = []
    for (let round = 0; round < rounds; round++) {
      const sql = await measure(running, () => sums(running))
      const withdraw = (at: string) =>
        execute(running, [`update fraud_rule_versions set withdrawn_at = ${at}`])
      await withdraw(`'now'`)
      const statements = await measure(running, () => statementRun(running))
      await withdraw('null')
      await execute(running, ['update fraud_progress set changed_from = through'])
      used.push({
        sql,
        run: statements,
        morning: await measure(running, () => morning(running)),
      })
    }
    return chapterOf(customers * (TRANSACTIONS + ACTIVITY), customers, used)
  } finally {
    await running.end()
  }
}

async function measure(
  running: Running,
  act: () => Promise<{ rowsRead: number } | undefined>,
): Promise<Used> {
  await takeCounts(running)
  const cpuBefore = running.cpu() ?? Number.NaN
  const started = performance.now()
  const own = await act()
  const ms = performance.now() - started
  const cpuMs = (running.cpu() ?? Number.NaN) - cpuBefore
  const { rowsRead, rowsWritten } = await takeCounts(running)
  return { ms, cpuMs, rowsRead: own?.rowsRead ?? rowsRead, rowsWritten }
}

/** What the rules of the plans sum, as one pass over each table, without days, tiers and statements. */
const SUMS = [
  `select c.affiliate_id, t.transaction_type, t.currency, count(*) as n, sum(t.amount_currency) as amount
   from transactions t not indexed
   join customers c on c.account = t.account and c.customer_id = t.customer_id
   where t.account = '${ACCOUNT}' and t.held = 0 and t.status = 'approved' group by 1, 2, 3`,
  `select c.affiliate_id, t.instrument, t.currency, count(*) as n, sum(t.lots_traded) as lots,
     sum(t.spread_cost) as spread, sum(t.commission) as fees, sum(t.pnl) as pnl
   from activity t not indexed
   join customers c on c.account = t.account and c.customer_id = t.customer_id
   where t.account = '${ACCOUNT}' and t.held = 0 group by 1, 2, 3`,
]

async function sums({ database }: Running) {
  const answers = await database.batch(SUMS.map((sql) => database.prepare(sql)))
  return { rowsRead: answers.reduce((all, { meta }) => all + meta.rows_read, 0) }
}

const POLL_MS = 20
const PATIENCE_MS = 600_000

async function until(what: string, isDone: () => Promise<boolean>): Promise<undefined> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(POLL_MS)) {
    if (await isDone()) return
  }
  throw new Error(`${what} did not end.`)
}

/** Starts a run over the statements of the month, and waits for its end. */
async function statementRun(running: Running): Promise<undefined> {
  const { id } = await callAdmin(running, 'POST', `${AT}/periods/${PERIOD}/run`, {})
  await until('The run', async () => {
    const { status } = await callAdmin(running, 'GET', `${AT}/runs/${id}`)
    if (status === 'failed') throw new Error('The run failed.')
    return status === 'done'
  })
}

/** Does the same, and waits until the rules are evaluated for all days: the run has ended before. */
async function morning(running: Running): Promise<undefined> {
  await statementRun(running)
  const sql = `select 1 from fraud_progress where account = ? and first is null and changed_from is null
    and through = unixepoch('${LAST_DAY}') / 86400`
  await until(
    'The fraud rules',
    async () => (await running.database.prepare(sql).bind(ACCOUNT).first()) !== null,
  )
}

function chapterOf(
  facts: number,
  customers: number,
  used: readonly { sql: Used; run: Used; morning: Used }[],
): Chapter {
  const of = (name: 'sql' | 'run' | 'morning', figure: keyof Used) =>
    median(used.map((one) => one[name][figure]))
  const against = (name: 'run' | 'morning', figure: keyof Used) =>
    format(median(used.map((one) => one[name][figure] / one.sql[figure])), 2)
  const row = (title: string, name: 'sql' | 'run' | 'morning') => [
    title,
    ...(name === 'sql' ? ['1.00', '1.00'] : [against(name, 'cpuMs'), against(name, 'rowsRead')]),
    format(of(name, 'cpuMs')),
    format(of(name, 'ms')),
    format(of(name, 'rowsRead') / facts, 2),
    format(of(name, 'rowsWritten')),
  ]
  return {
    title: 'A run against its sums in SQL',
    notes: `A month of ${format(facts)} facts (transactions and rows of trading activity) of ${format(customers)} customers. The sums are one pass over each table, in the same database. The run computes all statements again by the Workflow; on the morning ${Object.keys(RULES).length} fraud rules evaluate the last day besides. CPU is that of the whole local runtime, with the database and the engine of Workflows. Medians of ${used.length} rounds, in which the three take turns.`,
    tables: [
      [
        ['', 'CPU ÷ SQL', 'rows read ÷ SQL', 'CPU-ms', 'ms', 'rows read a fact', 'rows written'],
        row('the sums in SQL', 'sql'),
        row('a statement run', 'run'),
        row('a run with fraud rules', 'morning'),
      ],
    ],
  }
}

/** The facts of a customer. */
const TRANSACTIONS = 3
const ACTIVITY = 7

const affiliateId = (n: number) => `IB-${String(n).padStart(4, '0')}`

/** Creates the account with its affiliates, plans, rates and rules, and fills it with the facts of the month. */
async function fill(running: Running, customers: number): Promise<void> {
  await execute(running, MIGRATIONS)
  const put = (path: string, body: object | string) => callAdmin(running, 'PUT', path, body)
  const policies = { name: 'Bench', vertical: 'forex', unknown_customer: 'reject', mode: 'test' }
  await callAdmin(running, 'POST', 'accounts', { account: ACCOUNT, ...policies })
  const count = Math.min(1000, Math.max(10, Math.floor(customers / 100)))
  const affiliates = Array.from({ length: count }, (_, n) => ({
    affiliate_id: affiliateId(n),
    // Of ten affiliates the first is above the others.
    ...(n % 10 > 0 && { parent: affiliateId(n - (n % 10)), from: FIRST_DAY }),
  }))
  await put(`${AT}/affiliates`, affiliates)
  for (const plan of PLANS) {
    const terms = JSON.parse(readFileSync(`examples/plans/${plan}.json`, 'utf8'))
    await put(`${AT}/plans/${plan}`, { ...terms, effective_from: FIRST_DAY })
  }
  const assignments = affiliates.map(({ affiliate_id }, n) => ({
    ...{ affiliate_id, plan: PLANS[n % PLANS.length], from: FIRST_DAY, customers: 'new' },
  }))
  await put(`${AT}/assignments`, assignments)
  await put('fx-rates', ratesOfMonth())
  for (const [rule, terms] of Object.entries(RULES)) {
    await put(`${AT}/fraud-rules/${rule}`, terms)
  }
  await execute(running, [
    customerRows(customers, count),
    transactionRows(customers),
    activityRows(customers),
  ])
}

/** Returns the published rates of the month and of the days before it. */
function ratesOfMonth(): string {
  const [head, ...days] = readFileSync('data/ecb-euro-reference-rates.csv', 'utf8').split('\n')
  const wanted = days.filter((line) => line >= '2026-02-15' && line < '2026-04')
  return `${[head, ...wanted].join('\n')}\n`
}

const numbers = (count: number) =>
  `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ${count})`

const FIRST = Date.parse(FIRST_DAY) / DAY_MS
const customerId = (n: string) => `printf('CU-%06d', ${n})`
const currencyOf = (customer: string) =>
  `case ${customer} % 4 when 0 then 'USD' when 1 then 'GBP' when 2 then 'CZK' else 'EUR' end`

/** The customers of an affiliate are scattered. */
const customerRows = (count: number, affiliates: number) =>
  `insert into customers (account, customer_id, affiliate_id, country_code, trading_account_type, email,
      signup_date, day, delivery, idx, revision)
    ${numbers(count)}
    select '${ACCOUNT}', ${customerId('n')}, printf('IB-%04d', n * 7919 % ${affiliates}),
      iif(n % 3, 'DE', 'AT'), iif(n % 50, 'live', 'demo'), printf('customer.%06d@example.com', n),
      (${FIRST} + n % ${DAYS}) * ${DAY_MS} + 30600000, ${FIRST} + n % ${DAYS}, 'bench', n % 1000, 1
    from numbers order by n`

/** Two deposits and a withdrawal for each customer; every tenth is not approved. */
const transactionRows = (customers: number) =>
  `insert into transactions (account, transaction_id, customer_id, transaction_type,
      amount_currency, currency, transaction_date, status, transaction_subtype, day, held,
      delivery, idx, revision)
    ${numbers(customers * TRANSACTIONS)}, dated as (
      select n, n / ${TRANSACTIONS} as customer, n % ${TRANSACTIONS} as k,
        ${FIRST} + (n / ${TRANSACTIONS} * 7 + n % ${TRANSACTIONS} * 9) % ${DAYS} as day from numbers)
    select '${ACCOUNT}', printf('TX-%07d', n), ${customerId('customer')},
      iif(k = 2, 'withdrawal', 'deposit'), (n * 7919 % 89989 + 1000) / 100.0,
      ${currencyOf('customer')}, day * ${DAY_MS} + 34200000 + n % 1000,
      case n % 20 when 0 then 'pending' when 1 then 'declined' else 'approved' end, 'card', day, 0,
      'bench', n % 1000, 1
    from dated order by day, customer`

/** Seven rows of trading activity for each customer. */
const activityRows = (customers: number) =>
  `insert into activity (account, date, customer_id, instrument, currency, lots_traded, pnl,
      volume_usd, spread_cost, commission, held, delivery, idx, revision)
    ${numbers(customers * ACTIVITY)}, dated as (
      select n, n / ${ACTIVITY} as customer, n % ${ACTIVITY} as k,
        ${FIRST} + (n / ${ACTIVITY} * 7 + n % ${ACTIVITY} * 4) % ${DAYS} as day from numbers)
    select '${ACCOUNT}', day, ${customerId('customer')}, iif(k % 2, 'EURUSD', 'XAUUSD'),
      ${currencyOf('customer')}, (n % 300 + 1) / 100.0, (n % 40001 - 20000) / 100.0, n % 9000 * 100,
      n % 1501 / 25.0, n % 701 / 100.0, 0, 'bench', n % 1000, 1
    from dated order by day, customer, k`
