import type { Context } from 'hono'
import { tooManyGroups } from '../admin/attribution.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { type DatedTree, datedTree } from '../commission/statements/tree.ts'
import { readParents } from '../db/commission/histories.ts'
import { resolveDatabase } from '../db/database.ts'
import { countClicks } from '../db/directory/attribution.ts'
import { linksOf } from '../db/directory/links.ts'
import { ApiError } from '../errors.ts'
import { ReadMemory } from '../http/memory.ts'
import { readDayRange, readQuery } from '../http/query.ts'
import { sendJson } from '../http/send.ts'
import { computeReport } from '../reports/compute.ts'
import { type Figures, parseReport } from '../reports/report.ts'
import { readCustomersBelow } from './customers-below.ts'
import { callerOf } from './me.ts'

/** Responds with the clicks on the links of the affiliate, by day and link. */
export async function respondWithClicks(c: Context<AppEnv>): Promise<Response> {
  const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const { id, grant } = await callerOf(c)
  const { account, binding } = grant
  const links = [...(await linksOf(c.env.DB, account, [id])).keys()]
  const data = await countClicks(resolveDatabase(c.env, binding), account, { from, to, links })
  if (!data) throw tooManyGroups('clicks')
  return sendJson(c, { data }, new ReadMemory(account))
}

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

/**
 * Responds with the affiliates who stood below on some days, with their counts on the days on which they did, and
 * with their customers if the account shows these; nobody if it shows none.
 */
export async function respondWithSubAffiliates(c: Context<AppEnv>): Promise<Response> {
  const sent = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const { id, account, grant, view } = await callerOf(c)
  const memory = new ReadMemory(account.id)
  if (view.sub_affiliates === 'none') return sendJson(c, { ...sent, data: [] }, memory)
  const { vertical } = grant
  const db = resolveDatabase(c.env, grant.binding)
  const databases = { session: db.withSession('first-primary'), directory: c.env.DB }
  const tree = datedTree(await readParents(databases.session, account.id, null))
  const days = { first: dayNumber(sent.from), last: dayNumber(sent.to) }
  const below = belowOf(tree, id, days).map(({ first, last, ...one }) => ({
    ...{ ...one, from: dayText(first), to: dayText(last) },
  }))
  const ranges = Map.groupBy(below, ({ from, to }) => `${from} ${to}`)
  if (ranges.size > MAX_RANGES) throw tooManyRanges()
  const counts = new Map<string, Figures['metrics']>()
  // One computation of an account runs at a time.
  for (const [range, found] of ranges) {
    const [{ from, to } = sent] = found
    const query = parseReport(vertical, { from, to, group_by: 'affiliate_id', metrics: METRICS })
    const report = await computeReport(
      databases,
      { account: account.id, vertical },
      query,
      Date.now(),
      { ids: found.map(({ affiliate_id }) => affiliate_id), drafts: view.drafts },
    )
    for (const { groups, metrics } of report.data) {
      counts.set(`${range} ${groups.affiliate_id}`, metrics)
    }
  }
  const customers =
    view.sub_affiliates === 'customers'
      ? await readCustomersBelow({ db, directory: c.env.DB }, account.id, below)
      : []
  const data = below.map((one, i) => {
    const metrics = counts.get(`${one.from} ${one.to} ${one.affiliate_id}`)
    return {
      ...one,
      signups: metrics?.signups ?? 0,
      active_customers: metrics?.active_customers ?? 0,
      ...customers[i],
    }
  })
  return sendJson(c, { ...sent, data }, memory)
}
