import { env } from 'cloudflare:workers'
import type { Rule } from '../../src/commission/plans/types.ts'
import { beginRun, finishRun, makeStep } from '../../src/commission/run/runs.ts'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { storeStarted } from '../commission/stored-runs.ts'
import { at } from '../days.ts'
import { ada, askAdmin, deposit, partner, resumed } from '../partner.ts'
import { builtOnce } from '../world.ts'
import { askAda, askBen, bookPaid } from './book-rows.ts'
import { type Booked, readStatements } from './check-books.ts'

/** The months of the firm, all of which are over. */
export const MONTHS = ['2030-06', '2030-07', '2030-08', '2030-09', '2030-10']
export const LAST_MONTH = '2030-11'
const NOW = '2030-12-05T00:00:00.000Z'

const base = [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }]
const TENTH: Rule = { id: 'tenth', kind: 'share', percent: '10', base }
const LOTS: Rule = { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '2.50' }
const MASTER: Rule = {
  id: 'up',
  kind: 'override',
  level: 1,
  of: { lines: ['share'] },
  percent: '5',
}

/**
 * Creates a firm whose six affiliates have plans that carry or drop losses, pay for lots in another
 * currency, pay uplines, and follow each other with a transfer.
 */
export async function bookFirm(account = 'acme-forex') {
  at(NOW)
  const { firm } = await builtOnce(account, () => build(account))
  const path = `accounts/${account}`
  return { ...(await resumed('forex', firm)), ...bookRequests(path), ...bookRuns(account) }
}

async function build(account: string) {
  const acme = await partner('forex', { account, affiliates: ['a-0', 'a-1', 'a-2', 'a-3', 'a-4'] })
  await env.DB.batch([
    env.DB.prepare(`insert into affiliate_parents values (?, 'a-0', -719528, 'a-4')`).bind(account),
    env.DB.prepare(`update affiliates set parent = 'a-4' where affiliate_id = 'a-0'`),
  ])
  const from = { effective_from: '2030-01-01' }
  await storePlan(account, 'ib', monthly([TENTH, MASTER], { ...from, minimum_payout: '5' }))
  await storePlan(account, 'zero', monthly([TENTH], { ...from, negative: 'zero' }))
  await storePlan(account, 'lots', monthly([LOTS], { ...from, currency: 'USD' }))
  await assign(account, 'ib', '*', '2030-01-01')
  await assign(account, 'zero', 'a-1', '2030-01-01')
  await assign(account, 'lots', 'a-2', '2030-01-01')
  await assign(account, 'ib', 'a-3', '2030-01-01')
  await assign(account, 'zero', 'a-3', '2030-09-01', 'all')
  await acme.post(
    'customers',
    [0, 1, 2, 3, 4].map((i) => ({
      ...ada,
      customer_id: `c-${i}`,
      affiliate_id: `a-${i}`,
      signup_date: '2030-05-20T08:00:00Z',
    })),
  )
  return { firm: acme.firm }
}

/** A day of the past in every world. */
const PAID_ON = '2000-01-02'

export const bookRequests = (path: string, account = path.replace('accounts/', '')) => ({
  path,
  getRun: (id: string) => askAdmin(`${path}/runs/${id}`),
  approve: (one: Pick<Booked, 'id' | 'hash'>, isAda = false) => {
    const body = { hash: one.hash, leave_out_holds: true }
    const to = `${path}/statements/${one.id}/approve`
    return isAda ? askAda(to, 'POST', body) : askBen(to, 'POST', body)
  },
  approvePeriod: (period: string, isAda = false) => {
    const to = `${path}/periods/${period}/approve`
    return isAda ? askAda(to, 'POST', {}) : askBen(to, 'POST', {})
  },
  enter: (affiliate_id: string, plan: string, amount: string, reference: string) =>
    askAdmin(`${path}/manual-entries`, 'POST', {
      affiliate_id,
      plan,
      amount,
      reference,
      reason: 'A bonus',
    }),
  /** Pays what has to be paid to each affiliate in a currency. Returns how many of these could not be. */
  payDue: async () => {
    const due = (await readStatements(account)).filter(
      ({ status, payable }) => status === 'approved' && /[1-9]/.test(payable),
    )
    const groups = Map.groupBy(due, ({ affiliate_id, head }) => `${affiliate_id} ${head?.currency}`)
    let refused = 0
    for (const own of groups.values()) {
      const ids = own.map(({ id }) => id)
      if (!(await bookPaid(ids, `due ${ids[0]}`, PAID_ON, account))) refused++
    }
    return refused
  },
})

export const bookRuns = (account: string) => ({
  /** Computes the drafts up to a period, as its Workflow does. */
  run: async (period: string, platform = env as Env) => {
    const parameters = await storeStarted(account, period)
    const steps = await beginRun(platform, parameters, Date.now())
    for (let step = 1; step <= steps; step++) {
      await makeStep(platform, parameters, step, Date.now())
    }
    await finishRun(platform, parameters, Date.now())
  },
})

export type BookFirm = Awaited<ReturnType<typeof bookFirm>>

/** A payment of a customer in a month; `amount` can be negative. */
export const payment = (id: number | string, customer: number, month: string, amount: number) => ({
  ...deposit,
  transaction_id: `t-${id}`,
  customer_id: `c-${customer}`,
  currency: 'EUR',
  transaction_type: amount < 0 ? 'withdrawal' : 'deposit',
  amount_currency: Math.abs(amount),
  transaction_date: `${month}-10T10:00:00Z`,
})

/** A day of trading of a customer in a month. */
export const lots = (customer: number, month: string, count: number) => ({
  date: `${month}-11`,
  customer_id: `c-${customer}`,
  instrument: 'EURUSD',
  currency: 'USD',
  lots_traded: count,
})
