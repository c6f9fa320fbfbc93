import * as v from 'valibot'
import { asCsv, csvWords } from '../commission/csv-list.ts'
import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { type DatedTree, datedTree } from '../commission/statements/tree.ts'
import { readParents } from '../ingest/db/histories.ts'
import { ApiError } from '../platform/errors.ts'
import { affiliateOperation } from '../platform/http/operation.ts'
import { readDayRange } from '../platform/http/query.ts'
import { count, day, daysNeeded } from '../platform/validation/answer-fields.ts'
import { described, named } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import { computeReport } from '../reports/compute.ts'
import { type Figures, parseReport } from '../reports/report.ts'

/** An affiliate who stood below another one, so many levels, from one day to another (since 1970). */
interface Below {
  readonly affiliate_id: string
  readonly level: number
  first: number
  readonly last: number
}

/** Returns the affiliates below one on a day, with their levels. */
function belowOn(tree: DatedTree, id: string, day: number): Map<string, number> {
  const found = new Map([[id, 0]])
  for (let level = 1; ; level++) {
    const fresh = tree.below(id, level, day).filter((one) => !found.has(one))
    if (fresh.length === 0) break
    for (const one of fresh) found.set(one, level)
  }
  found.delete(id)
  return found
}

/** Returns who stood below an affiliate on some days, by level: from when to when, as the tree changed. */
function belowOf(tree: DatedTree, id: string, { first, last }: DaysSince1970): Below[] {
  const found: Below[] = []
  for (let day = last, start: number; day >= first; day = start - 1) {
    start = Math.max(first, tree.changeBefore(day))
    for (const [affiliate_id, level] of belowOn(tree, id, day)) {
      const later = found.find(
        (one) => one.affiliate_id === affiliate_id && one.level === level && one.first === day + 1,
      )
      if (later) later.first = start
      else found.push({ affiliate_id, level, first: start, last: day })
    }
  }
  return found.sort(
    (a, b) => a.level - b.level || compareText(a.affiliate_id, b.affiliate_id) || a.first - b.first,
  )
}

interface DaysSince1970 {
  readonly first: number
  readonly last: number
}

/** The ranges of days that are counted for one list: affiliates who stood below on other days have others. */
const MAX_RANGES = 6

const tooManyRanges = () =>
  new ApiError('validation_failed', {
    detail: 'The tree of affiliates changed on too many of these days. Ask for fewer days.',
  })

/** What is counted of the affiliates below: this tells nothing of a customer. */
const METRICS = 'signups,active_customers'

const BELOW_COLUMNS = ['affiliate_id', 'level', 'from', 'to', 'signups', 'active_customers']

const below = described(() =>
  named(
    'SubAffiliate',
    v.object({
      affiliate_id: v.string(),
      level: member(v.pipe(v.number(), v.integer(), v.minValue(1)), '1: directly below.'),
      from: member(day, 'The first of the days on which they stood there.'),
      to: member(day, 'The last of the days on which they stood there.'),
      signups: count,
      active_customers: member(count, 'The customers with records on these days.'),
    }),
  ),
)

export const listSubAffiliates = affiliateOperation({
  topic: 'affiliate-api',
  id: 'listSubAffiliates',
  method: 'GET',
  path: '/sub-affiliates',
  weight: 20,
  params: daysNeeded,
  files: asCsv('sub-affiliates', BELOW_COLUMNS),
  words: described(() => ({
    description:
      'Lists the affiliates who stood below on some days, with their counts on the days on which they did. One who moved has a row for each place. The list is empty if the account shows none.',
    answer: v.object({ from: day, to: day, data: v.array(below) }),
    errors: ['validation_failed'],
    files: csvWords(BELOW_COLUMNS),
  })),
  async run({ env, session, grant, affiliate: { id, view } }, query) {
    const sent = readDayRange(query)
    if (view.sub_affiliates === 'none') return { ...sent, data: [] }
    const { account, vertical } = grant
    const databases = { session, directory: env.DB }
    const tree = datedTree(await readParents(session, account, null))
    const days = { first: dayNumber(sent.from), last: dayNumber(sent.to) }
    const found = belowOf(tree, id, days).map(({ first, last, ...one }) => ({
      ...{ ...one, from: dayText(first), to: dayText(last) },
    }))
    const ranges = Map.groupBy(found, ({ from, to }) => `${from} ${to}`)
    if (ranges.size > MAX_RANGES) throw tooManyRanges()
    const counts = new Map<string, Figures['metrics']>()
    for (const [range, own] of ranges) {
      const [{ from, to } = sent] = own
      const of = { ids: own.map(({ affiliate_id }) => affiliate_id), drafts: view.drafts }
      const report = await computeReport(
        databases,
        { account, vertical },
        parseReport(vertical, { from, to, group_by: 'affiliate_id', metrics: METRICS }),
        Date.now(),
        of,
      )
      for (const { groups, metrics } of report.data) {
        counts.set(`${range} ${groups.affiliate_id}`, metrics)
      }
    }
    const data = found.map((one) => {
      const metrics = counts.get(`${one.from} ${one.to} ${one.affiliate_id}`)
      return {
        ...one,
        signups: Number(metrics?.signups ?? 0),
        active_customers: Number(metrics?.active_customers ?? 0),
      }
    })
    return { ...sent, data }
  },
})
