import { setTimeout as wait } from 'node:timers/promises'
import { expectBody, until } from './ask.ts'
import type { Lane } from './lanes.ts'
import { isHeld, resourceOf } from './ledger.ts'
import { asAffiliate, newPostback, newWebhook } from './parties.ts'
import { asTeam, currentMonth, isOver, MONTHS, type World } from './world.ts'

// The books of the firm that holds records: each of its lanes is an affiliate, who earns a tenth of deposits.

const HOOKS = ['/ok/hook', '/once/hook']
const TRACKERS = ['ok', 'slow', 'once']
const HOOK_EVENTS = ['delivery.refused', 'statement.approved', 'statement.paid']
const POSTBACK_EVENTS = ['signup', 'commission.approved', 'commission.adjusted', 'statement.paid']

const affiliates = ({ lanes }: World): Lane[] => lanes.filter(({ account }) => account === 'forex')

/** Stores the plan, the webhooks of the firm and the postbacks of its affiliates. */
export async function prepareBooks(world: World, names: readonly string[]): Promise<void> {
  const { receiver, admin } = world
  const put = (path: string, body: unknown, status = 200) =>
    expectBody(status, admin('PUT', `accounts/forex/${path}`, { body }))
  await put(
    'affiliates',
    names.map((affiliate_id) => ({ affiliate_id })),
  )
  const view = { affiliate_view: { customer_ids: 'plain' } }
  await expectBody(200, admin('PATCH', 'accounts/forex', { body: view }))
  const base = [{ transactions: ['deposit'] }]
  const terms = {
    ...{ name: 'A tenth', currency: 'EUR', period: 'month', effective_from: `${MONTHS[0]}-01` },
    ...{ terms: 'signup', negative: 'carry', minimum_payout: '0', hold_days: 0 },
    rules: [{ id: 'tenth', kind: 'share', percent: '10', base, per: 'customer' }],
  }
  await put('plans/ib', terms, 201)
  await put('assignments', [
    { affiliate_id: '*', plan: 'ib', from: `${MONTHS[0]}-01`, customers: 'all' },
  ])
  for (const path of HOOKS) await newWebhook(world, receiver, 'forex', path, HOOK_EVENTS)
  for (const secret of receiver.secrets.values()) world.sensitive.add(secret)
  for (const name of names) {
    const ask = await asAffiliate(world, 'forex', name)
    for (const kind of TRACKERS) {
      await newPostback(ask, receiver, `/${kind}/${name}`, POSTBACK_EVENTS)
    }
  }
}

/** Computes the drafts of a month and of open ones before it. */
async function computeDrafts(world: World, month: string): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const { body } = await asTeam(world, 'forex', ['POST', `/periods/${month}/run`], [202])
    const status = async () =>
      (await asTeam(world, 'forex', ['GET', `/runs/${body.id}`])).body.status
    await until(async () => (await status()) !== 'running', 60)
    if ((await status()) === 'done') return
  }
  world.check(false, `no run of ${month} has ended`)
}

interface Statement {
  readonly id: string
  readonly affiliate_id: string
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly hash: string
  readonly payable: string
}

const listStatements = async (world: World, query = ''): Promise<Statement[]> =>
  (await asTeam(world, 'forex', ['GET', `/statements${query || '?per_page=200'}`])).body.data

/** Approves and pays the statements of some months, if their records have not changed since they were computed. */
async function settle(world: World, months: readonly string[], statuses: readonly number[]) {
  for (const { id, hash, status, period, affiliate_id } of await listStatements(world)) {
    if (!months.includes(period)) continue
    const at = `/statements/${id}`
    if (status === 'draft') {
      await asTeam(world, 'forex', ['POST', `${at}/approve`, { body: { hash } }], statuses)
    }
    const [found] = await listStatements(world, `?period=${period}&affiliate_id=${affiliate_id}`)
    if (found?.status !== 'approved' || Number(found.payable) === 0) continue
    const body = { reference: `P-${id}`, paid_on: new Date().toISOString().slice(0, 10) }
    await asTeam(world, 'forex', ['POST', `${at}/pay`, { body }])
  }
}

/** Computes, approves and pays statements while records arrive. The last month stays open. */
export async function keepBooks(world: World): Promise<void> {
  while (!isOver(world)) {
    const current = currentMonth(world)
    await computeDrafts(world, MONTHS[current]!)
    // An approval is refused if the records have changed since.
    await settle(world, MONTHS.slice(0, Math.min(current, 2)), [200, 409])
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

interface Entry {
  readonly kind: string
  readonly amount: string
  readonly statement: string
}

const centsOf = (entries: readonly { readonly amount: string }[]): number =>
  entries.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0)

/**
 * Settles all months and checks the books: drafts are what a fresh computation comes to, everybody was paid a
 * tenth of their deposits, each statement once, and balances are the sums of the ledger.
 */
export async function checkBooks(world: World): Promise<string> {
  const { check } = world
  await computeDrafts(world, MONTHS[2]!)
  for (const { id, affiliate_id, period, status, hash } of await listStatements(world)) {
    if (status !== 'draft') continue
    const query = `?affiliate_id=${affiliate_id}&period=${period}&fresh=true`
    const [fresh] = await listStatements(world, query)
    check(fresh?.hash === hash, `a fresh computation of ${id} (${period}) differs`)
  }
  await settle(world, MONTHS, [200])
  const statements = await listStatements(world)
  for (const lane of affiliates(world)) {
    const at = `/affiliates/${lane.name}`
    const entries: Entry[] = (await asTeam(world, 'forex', ['GET', `${at}/ledger?per_page=200`]))
      .body.data
    const { body } = await asTeam(world, 'forex', ['GET', `${at}/balance`])
    const [balance, earned] = [centsOf(entries), earningsOf(lane)]
    const of = (...kinds: string[]) => entries.filter(({ kind }) => kinds.includes(kind))
    const found = centsOf(of('earned', 'adjusted'))
    check(found === earned, `${lane.name} earned ${found} cents, not ${earned}`)
    const shown = centsOf(
      body.balances.map((one: { balance: string }) => ({ amount: one.balance })),
    )
    check(shown === balance, `the balance of ${lane.name} is ${shown}, not ${balance} cents`)
    for (const { id, payable, affiliate_id, status } of statements) {
      if (affiliate_id !== lane.name) continue
      const paid = of('paid').filter(({ statement }) => statement === id)
      const due = Math.round(Number(payable) * 100)
      check(status !== 'draft', `${id} is not approved`)
      const isRight = paid.length === Number(due > 0) && centsOf(paid) === -due
      check(isRight, `${id} of ${due} cents was paid ${paid.length} times: ${centsOf(paid)} cents`)
    }
    await checkPostbacks(world, lane, of('earned', 'adjusted'), of('paid'))
  }
  await checkWebhooks(world, statements)
  return `${statements.length} statements paid, ${world.receiver.received.length} events`
}

/** Returns the events that arrived at a path, each id once. */
const eventsAt = ({ receiver }: World, path: string) => [
  ...new Map(receiver.at(path).map((one) => [one.id, one])).values(),
]

const sorted = (list: readonly unknown[]) => JSON.stringify(list.map(String).sort())

/** Waits until nothing is left to send, and until a path has got so many events. */
const hasArrived = (world: World, path: string, count: number) =>
  until(() => eventsAt(world, path).length >= count, 60)

/** Checks that each tracker of an affiliate got each cause once: customers, earnings and payments. */
async function checkPostbacks(
  world: World,
  { name, ledger }: Lane,
  earned: readonly Entry[],
  paid: readonly Entry[],
): Promise<void> {
  const joined = [...ledger.customers].filter((id) => id.includes('-new-'))
  for (const kind of TRACKERS) {
    const path = `/${kind}/${name}`
    const of = (type: string) =>
      eventsAt(world, path)
        .filter(({ values }) => values.ev === type)
        .map(({ values }) => values)
    const amounts = () =>
      centsOf(
        [...of('commission.approved'), ...of('commission.adjusted')].map(({ amt }) => ({
          amount: amt ?? '',
        })),
      )
    const problems = () =>
      [
        sorted(of('signup').map(({ c }) => c)) === sorted(joined) || 'signups',
        amounts() === centsOf(earned) || 'earnings',
        sorted(of('statement.paid').map(({ amt }) => Math.round(Number(amt) * 100))) ===
          sorted(paid.map((one) => -centsOf([one]))) || 'payments',
      ].filter((one) => one !== true)
    await until(() => problems().length === 0, 120)
    world.check(problems().length === 0, `${path} got other ${problems().join()}`)
  }
}

/** Checks that each webhook got each cause once: refused deliveries, approvals and payments. */
async function checkWebhooks(world: World, statements: readonly Statement[]): Promise<void> {
  const { check, service, receiver } = world
  const database = await service.miniflare.getD1Database('DB_3')
  const { results } = await database
    .prepare(`select id from deliveries where account = 'forex' and rejected > 0`)
    .all<{ id: string }>()
  const paid = statements.filter(({ payable }) => Number(payable) !== 0)
  const causes = [
    ...results.map(({ id }) => `delivery.refused ${id}`),
    ...statements.map(({ id }) => `statement.approved ${id}`),
    ...paid.map(({ id }) => `statement.paid ${id}`),
  ]
  for (const path of HOOKS) {
    await hasArrived(world, path, causes.length)
    const found = eventsAt(world, path).map(
      ({ event: { type, data } }) => `${type} ${data.delivery_id ?? data.statement_id}`,
    )
    const isSame = sorted(found) === sorted(causes)
    check(isSame, `${path} got ${found.length} events of ${causes.length} causes`)
    check(
      receiver.at(path).every(({ isSigned }) => isSigned),
      `${path} got a wrong signature`,
    )
  }
}
