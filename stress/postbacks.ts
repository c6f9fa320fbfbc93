import { expectBody } from './ask.ts'
import { asFirm, newToken } from './parties.ts'
import { runProgram, type Setting } from './program.ts'
import {
  checkHits,
  killAfter,
  type Progress,
  readRows,
  sendAll,
  sweep,
  sweepUntil,
  withReceiver,
} from './webhooks/killed.ts'
import type { Received } from './webhooks/receiver.ts'
import { asAffiliate, newPostback } from './webhooks/tracker.ts'
import { until } from './webhooks/world.ts'

// Kills workerd again and again while customers sign up and statements are approved and paid, and compares
// what the trackers of affiliates got with the records and the books:
// `npm run postbacks [-- --times 20 --customers 20 --seed N]`.

const ACCOUNT = 'kill-postbacks'
const AT = `accounts/${ACCOUNT}`
const PERIOD = '2026-09'

/** About how long a load and the attempts of its events take, in milliseconds. */
const LOAD_MS = 2000

/** The trackers of each affiliate: one answers at once, one after 300 ms, one fails the first time. */
const KINDS = ['ok', 'slow', 'once']

const EVENTS = ['signup', 'first_deposit', 'commission.approved', 'statement.paid']

const affiliateOf = (round: number) => `K-${round}`

/** Kills the service a number of times: each time while an affiliate gets customers and is paid. */
export const provePostbacks = (
  setting: Setting,
  { times, customers }: { times: number; customers: number },
): Promise<void> =>
  withReceiver(
    setting,
    { folder: 'postbacks', account: ACCOUNT, unknownCustomer: 'hold' },
    async (progress) => {
      await storeBooks(progress, times)
      for (let round = 1; round <= times; round++) await killOnce(progress, round, customers)
      checkHits(progress, times)
      await finish(progress, times)
    },
  )

/** Stores a draft and the postbacks of each affiliate. */
async function storeBooks({ service, receiver, firm }: Progress, times: number): Promise<void> {
  const { admin } = service
  const affiliates = Array.from({ length: times }, (_, i) => affiliateOf(i + 1))
  const body = affiliates.map((affiliate_id) => ({ affiliate_id }))
  await expectBody(200, admin('PUT', `${AT}/affiliates`, { body }))
  await expectBody(200, admin('PATCH', AT, { body: { affiliate_view: { customer_ids: 'plain' } } }))
  const base = [{ transactions: ['deposit'] }]
  const terms = {
    ...{ name: 'A tenth', currency: 'EUR', period: 'month', effective_from: '2026-01-01' },
    ...{ terms: 'signup', negative: 'carry', minimum_payout: '0', hold_days: 0 },
    rules: [{ id: 'tenth', kind: 'share', percent: '10', base, per: 'customer' }],
  }
  await expectBody(201, admin('PUT', `${AT}/plans/ib`, { body: terms }))
  const assignment = { affiliate_id: '*', plan: 'ib', from: '2026-01-01', customers: 'all' }
  await expectBody(200, admin('PUT', `${AT}/assignments`, { body: [assignment] }))
  const ask = asFirm(service, firm, await newToken(service, firm))
  const own = affiliates.flatMap((affiliate_id) =>
    [1, 2, 3].map((i) => ({ affiliate_id, customer_id: `old-${affiliate_id}-${i}` })),
  )
  const joined = { signup_date: `${PERIOD}-01T08:00:00Z`, tracking_data: 'click' }
  const old = own.map((one) => ({ ...one, ...joined }))
  await expectBody(200, ask('POST', 'customers', { body: old }))
  const paid = own.map(({ customer_id }, i) => depositOf(customer_id, 100 + i, `${PERIOD}-10`))
  await expectBody(200, ask('POST', 'transactions', { body: paid }))
  const { id } = await expectBody(202, admin('POST', `${AT}/periods/${PERIOD}/run`))
  const isDone = async () =>
    (await expectBody(200, admin('GET', `${AT}/runs/${id}`))).status !== 'running'
  if (!(await until(isDone))) throw new Error('The run did not end.')
  for (const affiliate of affiliates) {
    const sender = await asAffiliate(service, ACCOUNT, affiliate)
    for (const kind of KINDS) await newPostback(sender, receiver, `/${kind}/${affiliate}`, EVENTS)
  }
}

const depositOf = (customer_id: string, amount_currency: number, day: string) => ({
  ...{ transaction_id: `t-${customer_id}`, customer_id, transaction_type: 'deposit' },
  ...{ amount_currency, currency: 'EUR', status: 'approved' },
  transaction_date: day.includes('T') ? day : `${day}T10:00:00Z`,
})

/** Sends new customers and deposits in any order, approves and pays a statement, and kills the service. */
async function killOnce(progress: Progress, round: number, customers: number): Promise<void> {
  const { service, setting, receiver } = progress
  const before = receiver.received.length
  const affiliate_id = affiliateOf(round)
  const firm = asFirm(service, progress.firm, await newToken(service, progress.firm))
  const join = async (i: number) => {
    const customer_id = `new-${round}-${i}`
    const now = new Date().toISOString()
    const customer = { customer_id, affiliate_id, signup_date: now, tracking_data: 'click' }
    const sendings = [
      () => firm('POST', 'customers', { body: [customer] }),
      () => firm('POST', 'transactions', { body: [depositOf(customer_id, 50 + i, now)] }),
    ]
    for (const send of i % 2 === 0 ? sendings : sendings.reverse()) await send()
  }
  const pay = async () => {
    const path = `${AT}/statements?period=${PERIOD}&affiliate_id=${affiliate_id}`
    const { data } = await expectBody(200, service.admin('GET', path))
    const [{ id, hash }] = data
    await service.admin('POST', `${AT}/statements/${id}/approve`, { body: { hash } })
    const body = { reference: `P-${round}`, paid_on: '2026-11-20' }
    await service.admin('POST', `${AT}/statements/${id}/pay`, { body })
  }
  // The first request of a service is slow. The kill comes at any moment of the load and the attempts.
  await firm('GET', 'account')
  const moment = Math.ceil(setting.random() * LOAD_MS)
  const loading = Promise.allSettled([
    pay(),
    ...Array.from({ length: customers }, (_, i) => join(i)),
  ])
  const sweeping = (async () => {
    for (;;) await sweep(progress)
  })().catch(() => {})
  const pending = await killAfter(progress, moment, [loading, sweeping])
  const sent = receiver.received.length - before
  setting.print(
    `Kill ${round} after ${moment} ms: ${sent} requests arrived, ${pending} are pending.`,
  )
  if (sent === 0 || pending > 0) progress.hits += 1
}

/** Runs the cron until it has read the causes that are stored now. */
function readCauses(progress: Progress): Promise<void> {
  const now = Date.now()
  const areRead = async () => {
    const [row] = await readRows(progress, 'select read_to from postback_progress')
    return Number(row?.read_to) >= now
  }
  return sweepUntil(progress, areRead, 'some causes were not read')
}

/** Sends what is left, and compares what is stored with what arrived. */
async function finish(progress: Progress, times: number): Promise<void> {
  const { setting, receiver } = progress
  await readCauses(progress)
  await sendAll(progress)
  const read = (sql: string) => readRows(progress, sql)
  const joined = await read(
    `select customer_id, affiliate_id from customers where customer_id like 'new-%'`,
  )
  const deposits = await read(
    `select t.customer_id, c.affiliate_id, t.amount_currency as amount
     from transactions t join customers c using (account, customer_id)
     where t.customer_id like 'new-%' and t.held = 0`,
  )
  const ledger = await read('select affiliate_id, kind, amount from ledger')
  for (let round = 1; round <= times; round++) {
    const own = (rows: Record<string, string>[]) =>
      rows.filter(({ affiliate_id }) => affiliate_id === affiliateOf(round))
    for (const kind of KINDS) {
      const path = `/${kind}/${affiliateOf(round)}`
      compare(progress, path, {
        signup: own(joined).map(({ customer_id }) => String(customer_id)),
        first_deposit: own(deposits).map(({ customer_id, amount }) => `${customer_id} ${amount}`),
        earned: own(ledger).filter((one) => one.kind === 'earned'),
        paid: own(ledger).filter((one) => one.kind === 'paid'),
      })
    }
  }
  setting.print(
    `${receiver.received.length} requests with ${joined.length} signups, ${deposits.length} first deposits and ${ledger.length} entries of the ledger.`,
  )
}

/** What is stored of an affiliate. */
interface Stored {
  readonly signup: string[]
  readonly first_deposit: string[]
  readonly earned: Record<string, string>[]
  readonly paid: Record<string, string>[]
}

const cents = (amounts: readonly (string | undefined)[]) =>
  amounts.reduce((sum, one) => sum + Math.round(Number(one) * 100), 0)

/** Compares what arrived at a tracker with what is stored: each cause has one id, and each id one cause. */
function compare({ setting, receiver }: Progress, path: string, stored: Stored): void {
  const { check } = setting
  const events = [...new Map(receiver.at(path).map((one) => [one.id, one])).values()]
  const of = (type: string) => events.filter(({ values }) => values.ev === type)
  const same = (type: string, causes: string[], causeOf: (one: Received) => string) => {
    const arrived = of(type).map(causeOf).sort()
    check(
      JSON.stringify(arrived) === JSON.stringify([...causes].sort()),
      `${path} got ${arrived.length} events ${type} of ${causes.length} causes`,
    )
  }
  same('signup', stored.signup, ({ values }) => values.c ?? '')
  same('first_deposit', stored.first_deposit, ({ values }) => `${values.c} ${values.amt}`)
  const amountsOf = (type: string) => of(type).map(({ values }) => values.amt)
  const earned = cents(stored.earned.map(({ amount }) => amount))
  check(cents(amountsOf('commission.approved')) === earned, `${path} got another commission`)
  const paid = stored.paid.map(({ amount }) => String(amount).replace('-', ''))
  same('statement.paid', paid, ({ values }) => values.amt ?? '')
}

await runProgram(
  import.meta.url,
  'Kills workerd while postbacks are sent, and checks that trackers get each cause once.',
  {
    times: { help: 'how often workerd is killed', value: 20, least: 1, most: 50 },
    customers: { help: 'customers who join before each kill', value: 20, least: 1, most: 200 },
  },
  provePostbacks,
)
