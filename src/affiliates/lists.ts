import * as v from 'valibot'
import type { Tree } from '../commission/engine/tree.ts'
import { storedTree } from '../commission/run/stored-account.ts'
import { compareText } from '../platform/compare-text.ts'
import { readParents } from '../platform/directory/affiliates.ts'
import { operation } from '../platform/http/operation.ts'
import { readDayRange } from '../platform/http/query.ts'
import { dayNumber } from '../platform/money/calendar.ts'
import { asCsv, csvWords } from '../platform/money/csv-list.ts'
import { count, day, daysNeeded } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import { computeReport } from '../reports/compute.ts'
import { parseReport } from '../reports/report.ts'

/** Returns the affiliates below one on a day, with their levels. */
function belowOn(tree: Tree, id: string, day: number): Map<string, number> {
  const found = new Map([[id, 0]])
  for (let level = 1; ; level++) {
    const fresh = tree.below(id, level, day).filter((one) => !found.has(one))
    if (fresh.length === 0) break
    for (const one of fresh) found.set(one, level)
  }
  found.delete(id)
  return found
}

/** Returns who stands below an affiliate on the last of some days, by level, and who of them did on all days. */
function belowOf(tree: Tree, id: string, first: number, last: number) {
  const now = belowOn(tree, id, last)
  const all = new Set(now.keys())
  for (let day = tree.changeBefore(last) - 1; day >= first; day = tree.changeBefore(day) - 1) {
    const then = belowOn(tree, id, day)
    for (const one of all) if (!then.has(one)) all.delete(one)
  }
  const below = [...now].map(([affiliate_id, level]) => ({ affiliate_id, level }))
  below.sort((a, b) => a.level - b.level || compareText(a.affiliate_id, b.affiliate_id))
  return { below, all }
}

/** What is counted of the affiliates below: this tells nothing of a customer. */
const METRICS = 'signups,active_customers'

const BELOW_COLUMNS = ['affiliate_id', 'level', 'signups', 'active_customers']

const below = component('SubAffiliate', () => ({
  affiliate_id: v.string(),
  level: member(v.pipe(v.number(), v.integer(), v.minValue(1)), '1: directly below.'),
  signups: nullable(count, 'Null unless they stood below on all of the days.'),
  active_customers: nullable(count, 'The customers with records on these days. Null likewise.'),
}))

export const listSubAffiliates = operation({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'listSubAffiliates',
  method: 'GET',
  path: '/sub-affiliates',
  params: daysNeeded,
  files: asCsv('sub-affiliates', BELOW_COLUMNS),
  words: described(() => ({
    description:
      'Lists the affiliates below on the last of some days, with their counts if they stood below on all of them. The list is empty if the account shows none.',
    answer: v.object({ from: day, to: day, data: v.array(below) }),
    errors: ['validation_failed'],
    files: csvWords(BELOW_COLUMNS),
  })),
  async run({ env, session, grant, affiliate: { id, view } }, query) {
    const sent = readDayRange(query)
    if (view.sub_affiliates === 'none') return { ...sent, data: [] }
    const { account, vertical } = grant
    const databases = { session, directory: env.DB }
    const tree = storedTree(await readParents(session, account, null))
    const { below, all } = belowOf(tree, id, dayNumber(sent.from), dayNumber(sent.to))
    const { data } = await computeReport(
      databases,
      { account, vertical },
      parseReport(vertical, { ...sent, group_by: 'affiliate_id', metrics: METRICS }),
      Date.now(),
      { ids: [...all], drafts: view.drafts },
    )
    const counts = new Map(data.map(({ groups, metrics }) => [groups.affiliate_id, metrics]))
    const countOf = (affiliate_id: string, metric: string) =>
      all.has(affiliate_id) ? Number(counts.get(affiliate_id)?.[metric] ?? 0) : null
    return {
      ...sent,
      data: below.map(({ affiliate_id, level }) => ({
        affiliate_id,
        level,
        signups: countOf(affiliate_id, 'signups'),
        active_customers: countOf(affiliate_id, 'active_customers'),
      })),
    }
  },
})
