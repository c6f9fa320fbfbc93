import * as v from 'valibot'
import { readEarned } from '../../affiliates/db/affiliate-figures.ts'
import { amountOf, latestIds } from '../../affiliates/operations/affiliate-figures.ts'
import { currency } from '../../books/operations/ledger.ts'
import type { QualificationReport } from '../../commission/engine/once-report.ts'
import { withinLimit } from '../../commission/run/on-request.ts'
import { periodIn } from '../../commission/why/period.ts'
import { listQualifications } from '../../commission/why/unearned.ts'
import { type Call, operation } from '../../platform/http/operation.ts'
import { readDayRange } from '../../platform/http/query.ts'
import { dayNumber, periodOf, periodUntil } from '../../platform/money/calendar.ts'
import { count, day, daysNeeded, money } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { reportOfAffiliate } from '../../reports/own-report.ts'
import { type Figures, metricsOf, parseReport } from '../../reports/report.ts'
import { owedMembers, ownBalances, readOwed } from './money.ts'

const NARROW = 'Ask for fewer days.'

interface Days {
  readonly from: string
  readonly to: string
}

/** Counts by metric. */
const counted = (metrics: Figures['metrics']) =>
  Object.fromEntries(
    Object.entries(metrics).map(([name, one]) => [name, one === null ? null : Number(one)]),
  )

/** What is counted. */
const COUNTED = ['clicks', 'signups', 'attributed', 'first_deposit_count']

/** Reads the counts of each of some days. */
function readCounts({ env, session, grant, affiliate }: Call<'affiliate'>, days: Days) {
  const { account, vertical } = grant
  const metrics = metricsOf(vertical)
    .map(({ name }) => name)
    .filter((name) => COUNTED.includes(name))
    .join()
  const sent = { ...days, metrics, group_by: 'day' }
  const databases = { session, directory: env.DB }
  return reportOfAffiliate(databases, { account, vertical }, affiliate, parseReport(vertical, sent))
}

/** Returns the days of some qualifications. */
const qualifiedIn = (all: readonly QualificationReport[], { from, to }: Days): string[] =>
  all.flatMap(({ qualified_on: on }) => (on !== null && on >= from && on <= to ? [on] : []))

/** Reads the counts of each day, with the customers who qualified on it. */
async function readDays(call: Call<'affiliate'>, days: Days) {
  const { grant, affiliate } = call
  const report = await readCounts(call, days)
  const period = periodOf(dayNumber(days.to), 'month')
  const all = await withinLimit(grant, NARROW, async () =>
    listQualifications(await periodIn(call, period), periodUntil(period, dayNumber(days.to)), {
      affiliate_id: affiliate.id,
    }),
  )
  const qualified = qualifiedIn(all, days)
  const byDay = new Map(report.data.map(({ groups, metrics }) => [String(groups.day), metrics]))
  return {
    days: [...new Set([...byDay.keys(), ...qualified])].sort().map((one) => ({
      day: one,
      metrics: counted(byDay.get(one) ?? {}),
      qualified: qualified.filter((on) => on === one).length,
    })),
    totals: { metrics: counted(report.totals.metrics), qualified: qualified.length },
    waiting: all.filter(({ status }) => status === 'waiting').length,
  }
}

const metrics = described(() =>
  member(
    v.record(v.string(), v.nullable(v.pipe(v.number(), v.integer()))),
    'The counts by metric. Null if it cannot be told.',
  ),
)

const totals = described(() => v.object({ metrics, qualified: count }))

export const getAffiliateOverview = operation({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'getAffiliateOverview',
  method: 'GET',
  path: '/overview',
  params: daysNeeded,
  words: described(() => ({
    description:
      'Returns the figures of some days, what was earned in the last periods, the balance, and what is pending and why.',
    answer: component('AffiliateOverview', () => ({
      from: day,
      to: day,
      days: member(
        v.array(
          v.object({
            day,
            metrics,
            qualified: member(count, 'The customers who qualified on it.'),
          }),
        ),
        'The figures of each day that has any.',
      ),
      totals,
      earned: member(
        v.array(v.object({ period: v.string(), currency, total: money })),
        'What the statements of the last periods earned, without manual entries.',
      ),
      balances: ownBalances,
      pending: member(
        v.object({
          waiting: member(count, 'The customers of whom something is missing under a rule.'),
          ...owedMembers,
        }),
        'What is not paid yet, and why.',
      ),
    })),
    errors: ['validation_failed'],
  })),
  async run(call, query) {
    const days = readDayRange(query)
    const { session, affiliate } = call
    const { id, account, view } = affiliate
    const { waiting: missing, ...figures } = await readDays(call, days)
    const [earned, { balances, owed }] = await Promise.all([
      view.drafts ? readEarned(session, account.id, [id], latestIds(todayOf(account))) : [],
      readOwed(call),
    ])
    return {
      ...days,
      ...figures,
      // The sums include drafts.
      earned: earned.map((sum) => ({
        period: sum.period,
        currency: sum.currency,
        total: amountOf(sum),
      })),
      balances,
      pending: { waiting: missing, ...owed },
    }
  },
})
