import { env } from 'cloudflare:workers'
import * as v from 'valibot'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { queuePostbacks } from '../src/affiliate/postback-causes.ts'
import type { Rule } from '../src/commission/engine/plan.ts'
import { KEEPING } from '../src/commission/statements/kept.ts'
import { readMonth } from '../src/db/archive/months.ts'
import { DAY_MS, MINUTE_MS } from '../src/durations.ts'
import { kindsOf } from '../src/fraud/kinds.ts'
import { archive, keepTotals, monthOf, restoreWanted } from './archive-steps.ts'
import { bookRuns } from './commission/book-firm.ts'
import { approve } from './commission/closed.ts'
import { keepEagerly } from './commission/kept-firms.ts'
import { assign, monthly, storePlan } from './commission/stored.ts'
import { signedIn } from './console/browser.ts'
import { deliverJob, listing, type Sent } from './crons.ts'
import { at } from './dated.ts'
import { storeRules } from './fraud/evaluated-cases.ts'
import { overriding } from './overriding.ts'
import { ada, askAdmin, deposit, json, partner, traded } from './partner.ts'
import { signedInFor } from './portal/join.ts'

// The ordinary work of an account of three years, whose old months are archived, needs none of them.

const ACCOUNT = 'acme-forex'
const PATH = `accounts/${ACCOUNT}`

const USUAL = { ...KEEPING }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
})

const RULES = [
  {
    ...{ id: 'cpa', kind: 'once', amount: '50', trigger: { transactions: ['deposit'], min: '20' } },
    qualify: [{ sum: [{ transactions: ['deposit'] }], min: '60', within_days: 90 }],
  },
  { id: 'share', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] },
  {
    ...{ id: 'net', kind: 'share', percent: '10', negative: 'carry' },
    base: [{ transactions: ['withdrawal'], times: '-1' }, { activity: 'pnl' }],
  },
  { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '2' },
  { id: 'up', kind: 'override', level: 1, of: { lines: ['share', 'unit'] }, percent: '5' },
] as Rule[]

const dayOf = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)

/** The first months that a fraud rule never looks at: it looks back 400 days at most. */
const OLDEST = 36 * 30
const KEPT = 401 + 31

/** Returns a firm with deposits and trading of three years, its plan, its rules and a postback. */
async function firm() {
  const acme = await partner('forex', { affiliates: ['own', 'other'] })
  await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'other', parent: 'own' }])
  await storePlan(ACCOUNT, 'ib', monthly(RULES, { effective_from: '2020-01-01' }))
  await assign(ACCOUNT, 'ib', '*', '2020-01-01')
  const customers = Array.from({ length: 12 }, (_, i) => ({
    ...{ ...ada, customer_id: `c-${i}`, affiliate_id: i % 3 ? 'own' : 'other' },
    ...{ email: `c${i % 5}@x.example`, signup_date: `${dayOf(OLDEST - 90 * i)}T08:00:00Z` },
  }))
  await acme.post('customers', customers)
  for (let i = 0; i < customers.length; i++) {
    const days = Array.from({ length: 200 }, (_, n) => OLDEST - 90 * i - 9 * n).filter((n) => n > 1)
    const sent = await acme.post(
      'transactions',
      days.map((ago, n) => ({
        ...{ ...deposit, customer_id: `c-${i}`, transaction_id: `t-${i}-${n}`, currency: 'EUR' },
        ...{ transaction_type: n % 4 === 3 ? 'withdrawal' : 'deposit', amount_currency: 25 + n },
        transaction_date: `${dayOf(ago)}T09:00:00Z`,
      })),
    )
    expect((await json(Promise.resolve(sent))).summary.rejected).toBe(0)
    await acme.post(
      'trading-activity',
      days.map((ago) => ({ ...traded, customer_id: `c-${i}`, date: dayOf(ago) })),
    )
  }
  await storeRules(
    ACCOUNT,
    kindsOf('forex').map(({ kind, parameters }) => ({
      ...{ rule: kind.replaceAll('_', '-'), version: 1, kind, effective_from: dayOf(20) },
      parameters: v.parse(parameters, {}) as never,
    })),
  )
  return { ...acme, ...bookRuns(ACCOUNT) }
}

/** Archives the months before the kept ones. Returns their number. */
async function archiveOld() {
  await keepTotals(ACCOUNT, 'forex', dayOf(OLDEST + 31), dayOf(0))
  const months = new Set(
    Array.from({ length: OLDEST - KEPT }, (_, i) => dayOf(OLDEST - i).slice(0, 7)),
  )
  let archived = 0
  for (const name of [...months].slice(0, -1)) {
    for (const resource of ['transactions', 'trading-activity'] as const) {
      const month = monthOf(ACCOUNT, resource, name)
      await archive(month)
      if ((await readMonth(env.DB, month))?.state === 'archived') archived += 1
    }
  }
  return archived
}

/** Reads a whole response; fails unless it is a success. */
async function whole(response: Promise<Response>): Promise<void> {
  const { status, url } = await response
  await (await response).text()
  if (status !== 200) throw new Error(`${url}: ${status}`)
}

/** Returns what the service says of the customers of a period. */
const answers = (period: string) =>
  Promise.all(
    [
      ...[`unearned?period=${period}`, `qualifications?period=${period}`, 'statements', 'cases'],
      ...[`customers/c-0/lines?period=${period}`, `customers/c-5/lines?period=${period}`],
    ].map(async (path) => {
      const response = await askAdmin(`${PATH}/${path}`)
      expect([path, response.status]).toEqual([path, 200])
      return json(response)
    }),
  )

test('a normal morning brings no month back', { timeout: 120_000 }, async () => {
  const acme = await firm()
  // Deliveries that arrive shortly before a run may be the cause of a correction.
  at(new Date(Date.now() + 20 * MINUTE_MS).toISOString())
  const period = dayOf(0).slice(0, 7)
  const evaluate = async () => {
    for (let done = false; !done; ) {
      const answer = await json(askAdmin(`${PATH}/fraud-rules/run`, 'POST'))
      expect(answer).toHaveProperty('done')
      done = answer.done
    }
  }
  await acme.run(period)
  await approve(dayOf(40).slice(0, 7))
  await acme.run(period)
  await evaluate()
  const portal = await signedInFor(ACCOUNT, 'own')
  const browser = await signedIn()
  const before = await answers(period)
  expect(await archiveOld()).toBeGreaterThan(30)
  expect(await answers(period)).toEqual(before)
  expect(await restoreWanted()).toBe(0)

  const work: [string, () => Promise<unknown>][] = [
    [
      'records',
      async () => {
        const day = dayOf(1)
        await acme.post('customers', [
          { ...ada, customer_id: 'new', affiliate_id: 'own', signup_date: `${day}T08:00:00Z` },
          { ...ada, customer_id: 'c-0', affiliate_id: 'other', country_code: 'AT' },
        ])
        const records = ['new', 'c-0', 'c-5'].map((customer_id) => ({
          ...{ ...deposit, customer_id, transaction_id: `${customer_id}-y`, currency: 'EUR' },
          ...{ amount_currency: 70, transaction_date: `${day}T09:00:00Z` },
        }))
        expect((await json(acme.post('transactions', records))).summary.rejected).toBe(0)
        await acme.post('trading-activity', [{ ...traded, customer_id: 'c-1', date: day }])
      },
    ],
    ['run', () => acme.run(period)],
    ['fraud', evaluate],
    [
      'postbacks',
      async () => {
        const sent: Sent[] = []
        const world = overriding(env as Env, { ACCOUNT_JOBS: listing(sent) })
        await queuePostbacks(world, 'DB', Date.now())
        for (const { body } of sent) await deliverJob(body, world)
      },
    ],
    ...[
      ...['', '/reports', '/statements', '/payouts', '/affiliates', '/customers', '/deliveries'],
      ...['/customers/c-0', '/cases', `/statements?period=${period}`],
    ].map((page): [string, () => Promise<unknown>] => [
      `console ${page}`,
      () => whole(browser.get(`/console/${PATH}${page}`)),
    ]),
    ...['', '/statements', '/links', '/customers'].map((page): [string, () => Promise<unknown>] => [
      `portal ${page}`,
      () => whole(portal.get(`/portal/${ACCOUNT}${page}`)),
    ]),
    ...[
      ...[
        'changes',
        'attention',
        `totals?from=${dayOf(30)}&to=${dayOf(0)}`,
        'statements',
        'cases',
        `unearned?period=${period}`,
      ],
      `reports?from=${dayOf(30)}&to=${dayOf(0)}&group_by=affiliate_id`,
    ].map((path): [string, () => Promise<unknown>] => [
      `GET ${path}`,
      () => whole(askAdmin(`${PATH}/${path}`)),
    ]),
  ]
  const wanted: Record<string, unknown> = {}
  for (const [name, make] of [...work, ...work]) {
    const failure = await Promise.resolve(make()).catch((error: unknown) => error)
    const months = await restoreWanted()
    if (months > 0 || failure instanceof Error)
      wanted[name] = failure instanceof Error ? failure.message : months
    if (months > 0) await archiveOld()
  }
  expect(wanted).toEqual({})
})
