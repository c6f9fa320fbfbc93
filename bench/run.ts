import { readFileSync } from 'node:fs'
import { expectOk, type Sent, until } from '../chaos/ask.ts'
import { asFirm, newFirm, newToken } from '../chaos/parties.ts'
import {
  migrate,
  newHome,
  newSecrets,
  type Service,
  serve,
  setClock,
  takeRows,
} from '../chaos/service.ts'
import { cpuOf, execute, memoryOf } from '../chaos/workerd.ts'
import { firstRules } from '../src/fraud/rule-sets.ts'
import { DAY_MS } from '../src/platform/durations.ts'
import type { Scale } from './compete.ts'
import { pageAims, pages } from './pages.ts'
import { beside, type Chapter, format, median, type Table } from './print.ts'
import { LAST_DAY, newBulks, PERIOD } from './records.ts'

/** The account whose run is measured. */
export const ACCOUNT = 'bench'

/** The morning after the last day of the records. */
export const MORNING = Date.parse(LAST_DAY) + DAY_MS + 3 * 3_600_000

/** The plans: affiliate n has the plan n % 4. */
const PLANS = ['cpa', 'hybrid', 'ib-per-lot', 'master-ib']

/** The facts of a customer. */
const TRANSACTIONS = 3
const ACTIVITY = 7

/** Returns how many customers have so many facts. */
export const customersOf = (facts: number) =>
  Math.max(20, Math.floor(facts / (TRANSACTIONS + ACTIVITY)))

/** How long a run may take, in seconds. */
const PATIENCE = 600

/** What something used. */
export interface Used {
  readonly ms: number
  readonly cpuMs: number
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** What is measured: the statement run of a month, also with the rules of its last day, and sums in plain SQL. */
const RUNS = {
  'the sums in SQL': sums,
  'a statement run': (service: Service) => runOf(service, ACCOUNT),
  'a run with fraud rules': (service: Service) => morningOf(service, ACCOUNT),
}
type Name = keyof typeof RUNS

/** Measures the three in turn. */
export async function run(folder: string, { facts, rounds }: Scale): Promise<Chapter> {
  const { script, end } = await newHome()
  const secrets = await newSecrets()
  const serving = { script, state: folder, secrets }
  let service = await serve(serving)
  try {
    const customers = customersOf(facts)
    await migrate(service)
    await fill(service, ACCOUNT, customers)
    await putRules(service, ACCOUNT)
    await setClock(service, MORNING)
    // The first run of both kinds is not counted: it computes statements and cases that the others find.
    await morningOf(service, ACCOUNT)
    const used: Record<Name, Used>[] = []
    for (let round = 0; round < rounds; round++) {
      const one = {} as Record<Name, Used>
      for (const [name, act] of Object.entries(RUNS) as [Name, typeof sums][]) {
        await judgeAgain(service, { isDisabled: name !== 'a run with fraud rules' })
        one[name] = await measure(service, act)
      }
      used.push(one)
    }
    const explained = await rowsOfExplanation(service)
    const shown = await pages(service, {
      ...{ key: secrets.ADMIN_KEY, account: ACCOUNT, affiliate: affiliateId(1) },
    })
    await service.end()
    service = await serve({ ...serving, isLimited: true })
    const memory = await memoryOfRun(service)
    return chapterOf(customers, used, { explained, shown, memory })
  } finally {
    await service.end()
    end()
  }
}

/** Gives an account the usual fraud rules, from the last day of the records on. */
export async function putRules({ admin }: Service, account: string): Promise<void> {
  for (const [rule, body] of Object.entries(firstRules('forex', LAST_DAY))) {
    await expectOk(admin('PUT', `accounts/${account}/fraud-rules/${rule}`, { body }))
  }
}

/** Lets the next run evaluate the last day once more, with the rules or without them. */
export const judgeAgain = (service: Service, { isDisabled }: { isDisabled: boolean }) =>
  execute(service, [
    // A version never changes; the bench disables the rules of a run without them.
    'drop trigger if exists fraud_rule_versions_no_change',
    `update fraud_rule_versions set terms = json_set(terms, '$.disabled', json('${isDisabled}'))`,
    `insert into changed select account, value, through, position + 1
      from fraud_progress cross join json_each('["transactions", "trading-activity"]') where true
      on conflict do update set seq = excluded.seq`,
  ])

/** Measures what a service uses for an act, which may return the rows that it read. */
export async function measure(
  service: Service,
  act: (service: Service) => Promise<number | undefined>,
): Promise<Used> {
  await takeRows(service)
  const [cpuBefore, started] = [cpuOf(service.pids), performance.now()]
  const own = await act(service)
  const [ms, cpuMs] = [performance.now() - started, cpuOf(service.pids) - cpuBefore]
  const { read, written } = await takeRows(service)
  return { ms, cpuMs, rowsRead: own ?? read, rowsWritten: written }
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

/** Computes the sums, and returns the rows that they read. */
export async function sums({ database }: Service): Promise<number | undefined> {
  const answers = await database.batch(SUMS.map((sql) => database.prepare(sql)))
  return answers.reduce((all, { meta }) => all + meta.rows_read, 0)
}

async function expectEnd(what: string, isDone: () => Promise<boolean>): Promise<void> {
  if (!(await until(isDone, PATIENCE))) throw new Error(`${what} did not end.`)
}

/** Starts a run over the statements of the month, and waits for its end. */
export async function runOf({ admin }: Service, account: string): Promise<undefined> {
  const at = `accounts/${account}`
  const { id } = await expectOk(admin('POST', `${at}/periods/${PERIOD}/run`, { body: {} }))
  await expectEnd('The run', async () => {
    const { status } = await expectOk(admin('GET', `${at}/runs/${id}`))
    if (status === 'failed') throw new Error('The run failed.')
    return status === 'done'
  })
}

/** Does the same, and waits until the rules are evaluated for all days: the run has ended before. */
export async function morningOf(service: Service, account: string): Promise<undefined> {
  await runOf(service, account)
  const done = service.database.prepare(`select 1 from fraud_progress where account = '${account}'
    and first is null and through = unixepoch('${LAST_DAY}') / 86400 and not exists (
      select 1 from changed c where c.account = fraud_progress.account and c.seq > position and c.day <= through
        and c.resource <> '')`)
  await expectEnd('The fraud rules', async () => (await done.first()) !== null)
}

/** Returns the most rows that the explanation of a line reads, of three lines of each statement of a page. */
async function rowsOfExplanation(service: Service): Promise<number> {
  const read = (path: string) => expectOk(service.admin('GET', `accounts/${ACCOUNT}/${path}`))
  let most = 0
  for (const { id } of (await read('statements')).data) {
    for (const line of (await read(`statements/${id}`)).lines.slice(0, 3)) {
      await takeRows(service)
      await read(`lines/${line.id}/explain`)
      most = Math.max(most, (await takeRows(service)).read)
    }
  }
  return most
}

/** Returns the most memory, in MiB, that a run adds to that of a runtime which has just started. */
export async function memoryOfRun(service: Service): Promise<number> {
  await setClock(service, MORNING)
  await expectOk(service.admin('GET', 'accounts'))
  const { now } = memoryOf(service.pids)
  await runOf(service, ACCOUNT)
  return memoryOf(service.pids).most - now
}

function chapterOf(
  customers: number,
  used: readonly Record<Name, Used>[],
  { explained, shown, memory }: { explained: number; shown: Table; memory: number },
): Chapter {
  const facts = customers * (TRANSACTIONS + ACTIVITY)
  const ratio = (name: Name, base: Name, figure: keyof Used) =>
    format(median(used.map((one) => one[name][figure] / one[base][figure])), 2)
  const row = (name: Name) => {
    const of = (figure: keyof Used) => median(used.map((one) => one[name][figure]))
    const against = (figure: keyof Used) => ratio(name, 'the sums in SQL', figure)
    return [
      ...[name, against('cpuMs'), against('rowsRead'), format(of('cpuMs')), format(of('ms'))],
      ...[format(of('rowsRead') / facts, 2), format(of('rowsWritten'))],
    ]
  }
  return {
    title: 'A run against its sums in SQL',
    notes: `A month of ${format(facts)} facts (transactions and rows of trading activity) of ${format(customers)} customers. The sums are one pass over each table, in the same database. The run computes all statements again by the Workflow; on the morning the usual fraud rules evaluate the last day besides. CPU is that of the whole local runtime, with the database and the engine of Workflows. Medians of ${used.length} rounds, in which the three take turns. The explanation of a line reads at most ${format(explained)} rows. Memory is what the process of the runtime holds at most in a run beyond what it held before: Worker, database and engine of Workflows, with heaps of at most 100 MiB.`,
    tables: [
      [
        ['', 'CPU ÷ SQL', 'rows read ÷ SQL', 'CPU-ms', 'ms', 'rows read a fact', 'rows written'],
        ...(Object.keys(RUNS) as Name[]).map(row),
      ],
      shown,
    ],
    figures: [
      ...beside(
        [
          'CPU of a run ÷ its sums in SQL',
          ratio('a statement run', 'the sums in SQL', 'cpuMs'),
          '2',
        ],
        [
          'CPU of a run with fraud rules ÷ without them, one month',
          ratio('a run with fraud rules', 'a statement run', 'cpuMs'),
          '1.5',
        ],
        ['MiB of a run, with the database', format(memory), '64'],
        ['rows read for an explanation', format(explained), '50'],
      ),
      ...pageAims(shown),
    ],
  }
}

const affiliateId = (n: number) => `IB-${String(n).padStart(4, '0')}`

/** Sends records as the firm. */
export type Send = (resource: string, body: unknown) => Promise<unknown>

/**
 * Creates an account with its affiliates, plans and rates, and sends the records of its months, of which each has the same
 * number. Its customers signed up in the first one.
 */
export async function fill(
  service: Service,
  account: string,
  customers: number,
  months: readonly string[] = [PERIOD],
): Promise<Send> {
  const at = `accounts/${account}`
  const begin = `${months[0]}-01`
  const firm = await newFirm(service, account, 'forex', 'reject')
  const put = (path: string, body: unknown, headers: Sent['headers'] = {}) =>
    expectOk(service.admin('PUT', path, { body, headers }))
  const count = Math.min(1000, Math.max(10, Math.floor(customers / 100)))
  const affiliates = Array.from({ length: count }, (_, n) => ({
    affiliate_id: affiliateId(n),
    // Of ten affiliates the first is above the others.
    ...(n % 10 > 0 && { parent: affiliateId(n - (n % 10)), from: begin }),
  }))
  await put(`${at}/affiliates`, affiliates)
  for (const plan of PLANS) {
    const terms = JSON.parse(readFileSync(`examples/plans/${plan}.json`, 'utf8'))
    await put(`${at}/plans/${plan}`, { ...terms, effective_from: begin })
  }
  const assignments = affiliates.map(({ affiliate_id }, n) => ({
    ...{ affiliate_id, plan: PLANS[n % PLANS.length], from: begin, customers: 'new' },
  }))
  await put(`${at}/assignments`, assignments)
  await put('fx-rates', ratesFrom(months[0]!), { 'Content-Type': 'text/csv' })
  // A token admits 1000 requests a minute.
  const newSend = async (): Promise<Send> => {
    const ask = asFirm(service, firm, await newToken(service, firm))
    return (resource, body) => expectOk(ask('POST', resource, { body }))
  }
  const affiliateOf = (n: number) => affiliateId((n * 7919) % count)
  const draw = { customers, isChanged: true, affiliateOf }
  const counts = { customers: 1, transactions: TRANSACTIONS, 'trading-activity': ACTIVITY }
  for (const [resource, each] of Object.entries(counts)) {
    const send = await newSend()
    for (const body of newBulks(resource as keyof typeof counts, each * customers, draw)) {
      const named = resource === 'customers' ? months.slice(0, 1) : months
      for (const month of named) await send(resource, inMonth(body, month))
    }
  }
  return newSend()
}

/** Returns the records of the month as those of another one. */
export const inMonth = <R extends object>(records: readonly R[], month: string): R[] =>
  JSON.parse(JSON.stringify(records).replaceAll(PERIOD, month).replaceAll('"TX-', `"TX-${month}-`))

/** Returns the published rates of the months from one on, and of the days before them. */
function ratesFrom(first: string): string {
  const before = new Date(Date.parse(first) - 14 * DAY_MS).toISOString().slice(0, 10)
  const [head, ...days] = readFileSync('src/data/ecb-euro-reference-rates.csv', 'utf8').split('\n')
  const wanted = days.filter((line) => line >= before && line < '2026-04')
  return `${[head, ...wanted].join('\n')}\n`
}
