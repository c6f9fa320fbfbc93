import { setTimeout as wait } from 'node:timers/promises'
import { expectBody, until } from './ask.ts'
import { isHeld, resourceOf } from './ledger.ts'
import { asAffiliate, newPostback, newWebhook } from './parties.ts'
import { ACCOUNTS, asTeam, currentMonth, isOver, type Lane, MONTHS, type World } from './world.ts'

// The books of the firm that holds records: each of its lanes is an affiliate, who earns a tenth of deposits.

const HOOKS = ['/ok/hook', '/once/hook']
const TRACKERS = ['ok', 'slow', 'once']
const HOOK_EVENTS = ['delivery.refused', 'statement.approved', 'statement.paid']
const POSTBACK_EVENTS = ['signup', 'commission.approved', 'commission.adjusted', 'statement.paid']

/** Stores the plan, the webhooks of the firm and the postbacks of its affiliates. */
export async function prepareBooks(world: World, names: readonly string[]): Promise<void> {
  const { receiver, admin } = world
  const put = (path: string, body: unknown, status = 200) =>
    expectBody(status, admin('PUT', `accounts/forex/${path}`, { body }))
  const affiliates = names.map((affiliate_id) => ({ affiliate_id }))
  await put('affiliates', affiliates)
  const view = { affiliate_view: { customer_ids: 'plain' } }
  await expectBody(200, admin('PATCH', 'accounts/forex', { body: view }))
  const base = [{ transactions: ['deposit'] }]
  const terms = {
    ...{ name: 'A tenth', currency: 'EUR', period: 'month', effective_from: `${MONTHS[0]}-01` },
    ...{ terms: 'signup', negative: 'carry', minimum_payout: '0', hold_days: 0 },
    rules: [{ id: 'tenth', kind: 'share', percent: '10', base, per: 'customer' }],
  }
  await put('plans/ib', terms, 201)
  const all = { affiliate_id: '*', plan: 'ib', from: `${MONTHS[0]}-01`, customers: 'all' }
  await put('assignments', [all])
  for (const path of HOOKS) await newWebhook(world, receiver, 'forex', path, HOOK_EVENTS)
  for (const secret of receiver.secrets.values()) world.sensitive.add(secret)
  for (const name of names) {
    const ask = await asAffiliate(world, 'forex', name)
    const paths = TRACKERS.map((kind) => `/${kind}/${name}`)
    for (const path of paths) await newPostback(ask, receiver, path, POSTBACK_EVENTS)
  }
}

/** Computes the drafts of a month and of open ones before it. */
async function computeDrafts(world: World, month: number): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const { body } = await asTeam(world, 'forex', ['POST', `/periods/${MONTHS[month]}/run`], [202])
    const status = async () =>
      (await asTeam(world, 'forex', ['GET', `/runs/${body.id}`])).body.status
    await until(async () => (await status()) !== 'running', 60)
    if ((await status()) === 'done') return
  }
  world.check(false, `no run of ${MONTHS[month]} has ended`)
}

type Statement = Record<'id' | 'affiliate_id' | 'period' | 'status' | 'hash' | 'payable', string>

const listStatements = async (world: World, query: string): Promise<Statement[]> =>
  (await asTeam(world, 'forex', ['GET', `/statements?${query}`])).body.data

/** Approves and pays the statements of some months. A draft is refused if its records have changed since. */
async function settle(world: World, months: readonly string[], statuses: readonly number[]) {
  for (const month of months) {
    await asTeam(world, 'forex', ['POST', `/periods/${month}/approve`, { body: {} }], statuses)
  }
  for (const { id, payable } of await listStatements(world, 'status=approved&per_page=200')) {
    const body = { reference: `P-${id}`, paid_on: new Date().toISOString().slice(0, 10) }
    if (Number(payable) > 0) {
      await asTeam(world, 'forex', ['POST', `/statements/${id}/pay`, { body }])
    }
  }
}

/** Computes, approves and pays statements while records arrive. The last month stays open. */
export async function keepBooks(world: World): Promise<void> {
  while (!isOver(world)) {
    const current = currentMonth(world)
    await computeDrafts(world, current)
    await settle(world, MONTHS.slice(0, Math.min(current, 2)), [200, 202])
    await wait(500)
  }
}

/** What the affiliate of a lane earns: a tenth of approved deposits, in cents. */
const earningsOf = ({ ledger }: Lane): number =>
  [...ledger.records.values()]
    .filter((one) => resourceOf(one) === 'transactions' && !isHeld(ledger, one))
    .map(({ record }) => record)
    .filter((one) => one.transaction_type === 'deposit' && one.status === 'approved')
    .reduce((sum, { amount_currency }) => sum + Math.round(Number(amount_currency) * 10), 0)

type Entry = Record<'kind' | 'amount' | 'statement', string>

const cents = (amount: string | undefined): number => Math.round(Number(amount) * 100)

const centsOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { amount }) => sum + cents(amount), 0)

/**
 * Settles all months and checks the books: drafts are what a fresh computation comes to, everybody was paid a
 * tenth of their deposits, each statement once, and balances are the sums of the ledger.
 */
export async function checkBooks(world: World): Promise<string> {
  await computeDrafts(world, 2)
  for (const one of await listStatements(world, 'status=draft&per_page=200')) {
    const query = `affiliate_id=${one.affiliate_id}&period=${one.period}&fresh=true`
    const [fresh] = await listStatements(world, query)
    world.check(fresh?.hash === one.hash, `a fresh computation of ${one.id} differs`)
  }
  await settle(world, MONTHS, [200])
  const statements = await listStatements(world, 'per_page=200')
  for (const lane of world.lanes.filter(({ account }) => account === 'forex')) {
    const own = statements.filter(({ affiliate_id }) => affiliate_id === lane.name)
    await checkAffiliate(world, lane, own)
  }
  await checkWebhooks(world, statements)
  return `${statements.length} statements, ${world.receiver.received.length} events`
}

/** Checks what an affiliate has earned and was paid, and what their trackers got. */
async function checkAffiliate(world: World, lane: Lane, statements: readonly Statement[]) {
  const get = async (path: string) =>
    (await asTeam(world, 'forex', ['GET', `/affiliates/${lane.name}/${path}`])).body
  const entries: Entry[] = (await get('ledger?per_page=200')).data
  const of = (...kinds: string[]) => entries.filter(({ kind }) => kinds.includes(kind))
  const [found, earned] = [centsOf(of('earned', 'adjusted')), earningsOf(lane)]
  world.check(found === earned, `${lane.name} earned ${found} cents, not ${earned}`)
  const [shown] = (await get('balance')).balances as { balance: string }[]
  const balance = cents(shown?.balance ?? '0')
  const sum = centsOf(entries)
  world.check(balance === sum, `the balance of ${lane.name} is ${balance}, not ${sum} cents`)
  for (const { id, payable, status } of statements) {
    const paid = of('paid').filter(({ statement }) => statement === id)
    const due = cents(payable)
    const isRight = paid.length === Number(due > 0) && centsOf(paid) === -due
    const what = `${id}, ${status}, of ${due} cents`
    world.check(isRight && status !== 'draft', `${what} was paid ${paid.length} times`)
  }
  const joined = [...lane.ledger.customers].filter((id) => id.includes('-new-'))
  const payments = of('paid').map(({ amount }) => -cents(amount))
  await checkPostbacks(world, lane.name, [joined.sort(), earned, payments.sort()])
}

/** Returns the events that arrived at a path, each id once. */
const eventsAt = ({ receiver }: World, path: string) => [
  ...new Map(receiver.at(path).map((one) => [one.id, one])).values(),
]

/** Checks that each tracker of an affiliate got each cause once: customers, earnings and payments. */
async function checkPostbacks(world: World, name: string, causes: readonly unknown[]) {
  for (const kind of TRACKERS) {
    const path = `/${kind}/${name}`
    await expectEvents(world, path, causes, () => {
      const events = eventsAt(world, path).map(({ values }) => values)
      const of = (type: RegExp) => events.filter(({ ev }) => type.test(ev ?? ''))
      const earned = of(/^commission/).reduce((sum, { amt }) => sum + cents(amt), 0)
      const paid = of(/^statement/).map(({ amt }) => cents(amt))
      const joined = of(/^signup/).map(({ c }) => c)
      return [joined.sort(), earned, paid.sort()]
    })
  }
}

/** Waits until a path has got what was caused. */
async function expectEvents(world: World, path: string, causes: unknown, got: () => unknown) {
  const isWhole = await until(() => JSON.stringify(got()) === JSON.stringify(causes), 240)
  const what = `${JSON.stringify(got())}, not ${JSON.stringify(causes)}`
  world.check(isWhole, `${path} got ${what}`)
}

/** Checks that each webhook got each cause once: refused deliveries, approvals and payments. */
async function checkWebhooks(world: World, statements: readonly Statement[]): Promise<void> {
  const database = await world.service.miniflare.getD1Database(ACCOUNTS.forex)
  const refused = await database
    .prepare(`select id from deliveries where account = 'forex' and rejected > 0`)
    .all<{ id: string }>()
  const paid = statements.filter(({ payable }) => Number(payable) > 0)
  const causes = [
    ...refused.results.map(({ id }) => `delivery.refused ${id}`),
    ...statements.map(({ id }) => `statement.approved ${id}`),
    ...paid.map(({ id }) => `statement.paid ${id}`),
  ].sort()
  for (const path of HOOKS) {
    await expectEvents(world, path, causes, () => {
      const events = eventsAt(world, path).map(({ event }) => event)
      return events
        .map(({ type, data }) => `${type} ${data.delivery_id ?? data.statement_id}`)
        .sort()
    })
    const isSigned = world.receiver.at(path).every((one) => one.isSigned)
    world.check(isSigned, `${path} got a wrong signature`)
  }
}
