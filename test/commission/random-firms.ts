import { stateOf } from '../../src/commission/engine/settlement.ts'
import type { PlanState } from '../../src/commission/engine/state.ts'
import type { Rule } from '../../src/commission/plans/types.ts'
import type { OpenAccount } from '../../src/commission/run/account.ts'
import type { Computing } from '../../src/commission/run/compute.ts'
import { resultsOf } from '../../src/commission/run/morning.ts'
import { startsOf } from '../../src/commission/run/starts.ts'
import { canonicalJson } from '../../src/platform/validation/canonical-json.ts'
import { bookRequests, bookRuns } from '../books/book-firm.ts'
import { brand, dailyStats, day, deposited, eve } from '../brand.ts'
import { at, linkOf } from '../days.ts'
import { ada, askAdmin, deposit, partner, traded } from '../partner.ts'
import { accountOf, assign, monthly, publish, storePlan } from './stored.ts'
import type { Source } from './worlds.ts'

// Firms whose records arrive through the service in any order: new, late, changed, moved to another day
// or customer, held and released, while everything else that statements depend on changes, too.

/** The time of the firms: December has begun. */
const NOW = '2030-12-05T00:00:00.000Z'
export const OPEN = '2030-12'
export const AFFILIATES = ['a-0', 'a-1', 'a-2', 'a-3']

const pad = (n: number) => String(n).padStart(2, '0')
const anyDay = (from: Source) => `2030-${pad(from.between(5, 12))}-${pad(from.pick([1, 2, 3, 28]))}`

const TIERS = {
  mode: 'whole' as const,
  window: 'quarter' as const,
  steps: [
    { from: '0', amount: '2' },
    { from: '9', amount: '3' },
  ],
}

/** A rule that pays once for each customer. */
export const CPA: Rule = {
  id: 'cpa',
  kind: 'once',
  amount: '50',
  trigger: { transactions: ['deposit'], min: '20' },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '60', within_days: 90 }],
}

const FOREX: Rule[] = [
  {
    id: 'net',
    kind: 'share',
    percent: '10',
    negative: 'carry',
    fence: { customer: '-40', affiliate: '-20' },
    base: [{ transactions: ['withdrawal'], times: '-1' }, { transactions: ['bonus'] }],
  },
  CPA,
  {
    id: 'earned',
    kind: 'share',
    percent: '20',
    recoups: 'cpa',
    base: [{ transactions: ['deposit'] }],
  },
  { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, tiers: TIERS },
  { id: 'up', kind: 'override', level: 1, of: { lines: ['share', 'unit'] }, percent: '5' },
  {
    ...{ id: 'fund', kind: 'override', level: 1, funded_by: 'downline', percent: '2' },
    of: { base: [{ transactions: ['deposit'] }] },
  },
] as Rule[]

/** What its statements lose is written off. */
const DOLLARS: Rule[] = [
  {
    ...{ id: 'own', kind: 'share', percent: '30', negative: 'offset' },
    base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal', 'bonus'], times: '-2' }],
  },
] as Rule[]

/** Runs the months of a firm, and closes them in their order. */
function books(account: string) {
  const { run } = bookRuns(account)
  const { path, approvePeriod } = bookRequests(`accounts/${account}`)
  let month = 4
  const close = async () => {
    const period = `2030-${pad(month)}`
    await run(period)
    const { status } = await approvePeriod(period)
    if (status === 200 && month < 11) month += 1
  }
  return { path, run, close }
}

/** Assigns a plan to all affiliates, or to one. */
async function withPlan(account: string, rules: readonly Rule[], more: object = {}, whom = '*') {
  await storePlan(account, 'ib', monthly([...rules], { effective_from: '2029-01-01', ...more }))
  await assign(account, 'ib', whom, '2029-01-01')
}

/** Makes one of some changes; one of an unknown customer changes nothing. */
const makeOne = (changes: readonly (() => Promise<Response>)[], from: Source) => async () => {
  const response = await from.pick(changes)()
  // What is unknown is 404, and terms of closed periods are refused.
  if (![404, 409, 422].includes(response.status) && !response.ok)
    throw new Error(await response.text())
  return response.ok
}

/** Creates a partner whose affiliates have a plan. */
export async function planned(...[account, ...plan]: Parameters<typeof withPlan>) {
  at(NOW)
  const firm = await partner('forex', { account, affiliates: AFFILIATES, unknown_customer: 'hold' })
  await withPlan(account, ...plan)
  return { ...firm, ...books(account) }
}

/** Creates a partner with a plan of each kind of rule. */
async function openPartner(account: string) {
  const firm = await planned(account, FOREX, { minimum_payout: '60.00' })
  const { path } = firm
  const own = { effective_from: '2029-01-01', currency: 'USD', negative: 'zero' } as const
  await storePlan(account, 'usd', monthly(DOLLARS, own))
  await assign(account, 'usd', 'a-3', '2029-01-01')
  await publish('2030-04-30', { USD: '1.25' })
  for (const month of [5, 6, 7, 8, 9, 10, 11, 12])
    for (const day of ['01', '08', '27']) await publish(`2030-${pad(month)}-${day}`, { USD: '1.2' })
  const below = ['a-1', 'a-3'].map((affiliate_id) => ({ affiliate_id, parent: 'a-0' }))
  await askAdmin(`${path}/affiliates`, 'PUT', below)
  return firm
}

/** Creates a partner, and returns a function that makes one change at random. */
export async function randomPartner(account: string, from: Source) {
  const firm = await openPartner(account)
  const { path } = firm
  const customer = () => `c-${from.between(0, 9)}`
  const signedUp = (customer_id: string, month: number) => ({
    ...ada,
    customer_id,
    country_code: from.pick(['DE', 'AT']),
    affiliate_id: from.pick([...AFFILIATES, 'nobody']),
    signup_date: `2030-${pad(month)}-03T08:00:00Z`,
  })
  const paid = (n: number) => ({
    ...deposit,
    transaction_id: `t-${n}`,
    customer_id: customer(),
    transaction_type: from.pick(['deposit', 'deposit', 'withdrawal', 'bonus']),
    currency: from.pick(['EUR', 'EUR', 'USD']),
    amount_currency: from.between(1, 90),
    amount_usd: undefined,
    status: from.pick(['approved', 'approved', 'reversed', 'pending', 'settled']),
    transaction_date: `${anyDay(from)}T${pad(from.between(0, 23))}:00:00Z`,
  })
  // Others are not known yet.
  const known = Array.from({ length: 7 }, (_, i) => signedUp(`c-${i}`, 4))
  await firm.post('customers', known)
  await firm.post(
    'transactions',
    Array.from({ length: 60 }, (_, n) => paid(n)),
  )
  const changes: (() => Promise<Response>)[] = [
    () => firm.post('customers', [signedUp(customer(), from.between(4, 12))]),
    ...Array.from(
      { length: 4 },
      () => () =>
        firm.post(
          'transactions',
          Array.from({ length: from.between(1, 3) }, (_, i) => paid(from.between(0, 19) + 20 * i)),
        ),
    ),
    ...Array.from(
      { length: 3 },
      () => () =>
        firm.post('trading-activity', [
          {
            ...traded,
            customer_id: customer(),
            date: anyDay(from),
            lots_traded: from.between(0, 5),
          },
        ]),
    ),
    () =>
      askAdmin(`${path}/customers/${customer()}/refusal`, 'PUT', {
        reason: 'Fraud',
        from: '2030-05-01',
      }),
    () => askAdmin(`${path}/customers/${customer()}/refusal`, 'DELETE'),
    () =>
      askAdmin(`${path}/customers/${customer()}/affiliations`, 'PUT', {
        reason: 'A mistake',
        affiliations: [
          { from: null, affiliate_id: from.pick(AFFILIATES) },
          { from: '2030-06-01', affiliate_id: from.pick(AFFILIATES) },
        ],
      }),
    () => askAdmin(`${path}/status-map`, 'PUT', from.pick([{ settled: 'approved' }, {}])),
    () =>
      askAdmin(`${path}/assignments`, 'PUT', [
        {
          affiliate_id: from.pick([...AFFILIATES, '*']),
          plan: from.pick(['ib', 'usd']),
          from: from.pick(['2030-09-03', '2030-11-01', '2030-12-02']),
          customers: from.pick(['new', 'all']),
        },
      ]),
    () =>
      askAdmin(`${path}/plans/ib`, 'PUT', {
        ...monthly(FOREX),
        effective_from: `2030-12-0${from.between(1, 5)}`,
        name: `Terms ${from.between(1, 99)}`,
      }),
    () =>
      askAdmin(`${path}/affiliates`, 'PUT', [
        ...Array.from({ length: 20 }, (_, i) => ({
          affiliate_id: `s-${from.between(i, 99)}-${i}`,
        })),
        { affiliate_id: from.pick(['a-1', 'a-2', 'a-3']), parent: from.pick([null, 'a-0']) },
        { affiliate_id: 'nobody' },
      ]),
  ]
  return { ...firm, change: makeOne(changes, from) }
}

const CASINO: Rule[] = [
  { id: 'ngr', kind: 'share', percent: '30', base: [{ event: 'DailyStats', kpi: 'NGR' }] },
  { id: 'ftd', kind: 'once', amount: '40', trigger: { event: 'Deposit', min: '20' } },
] as Rule[]

/** Creates a brand with links of its affiliates. */
async function openBrand(account: string) {
  at(NOW)
  const casino = await brand({
    account,
    unknown_customer: 'hold',
    events: { DailyStats: dailyStats, Deposit: { granularity: 'event', eventid: 'used' } },
  })
  const links = await Promise.all(AFFILIATES.map((affiliate) => linkOf(account, affiliate)))
  await withPlan(account, CASINO)
  return { ...casino, links, ...books(account) }
}

/** Creates a brand, and returns a function that makes one change at random. */
export async function randomBrand(account: string, from: Source) {
  const casino = await openBrand(account)
  const { links } = casino
  const customer = () => `p-${from.between(0, 7)}`
  const changes: (() => Promise<Response>)[] = [
    () =>
      casino.post('customers', {
        ...eve,
        customerId: customer(),
        regtime: `2030-${pad(from.between(4, 12))}-03 08:30`,
        ...(from.oneIn(4) ? {} : { tracking_data: from.pick(links).tracking_data }),
      }),
    ...Array.from(
      { length: 3 },
      () => () =>
        casino.post('activities', {
          ...day,
          customerid: customer(),
          createtime: anyDay(from),
          NGR: String(from.between(-50, 90)),
        }),
    ),
    ...Array.from(
      { length: 3 },
      () => () =>
        casino.post('activities', {
          ...deposited,
          customerid: customer(),
          eventid: `e-${from.between(0, 14)}`,
          createtime: from.oneIn(6) ? undefined : `${anyDay(from)} 10:${pad(from.between(0, 59))}`,
          Value: String(from.between(1, 90)),
          note: from.pick(['note-one', 'note-two']),
        }),
    ),
    () => askAdmin(`${casino.path}/customers/${customer()}/personal-data`, 'DELETE'),
  ]
  return { ...casino, change: makeOne(changes, from) }
}

async function textOf(account: OpenAccount, affiliates: readonly string[], how?: Computing) {
  const texts: string[] = []
  for await (const { results } of resultsOf(account, affiliates, how)) {
    for (const { affiliate, plan, period, closed, statement, state } of results) {
      const one = { id: period.id, affiliate, plan: plan.plan, statement, state }
      if (!closed) texts.push(canonicalJson(one))
    }
  }
  return texts.sort()
}

/** Returns the members of a state that are not empty: what it carries over. */
const carriedIn = ({ closing, ...maps }: PlanState): string[] => [
  ...(closing === '0' ? [] : ['closing']),
  ...Object.entries(maps).flatMap(([name, map]) => (Object.keys(map).length > 0 ? [name] : [])),
]

/**
 * Returns what affiliates earn in the open periods up to a period as text: from what closed periods left, and from the
 * first record on; the last day that the first way does not read, and what was left there.
 */
export async function bothWays(account: string, period = OPEN, affiliates = AFFILIATES) {
  const opened = await accountOf(account, period)
  const starts = await startsOf(opened, affiliates)
  const records = await textOf(opened, affiliates, { isWhole: true })
  const unread = Math.min(...starts.map(({ last }) => last))
  return {
    stored: await textOf(opened, affiliates),
    records,
    unread,
    carried: starts.flatMap((start) =>
      start.affiliates.flatMap((one) =>
        ['ib', 'usd'].flatMap((plan) => carriedIn(stateOf(start, one, plan))),
      ),
    ),
  }
}
