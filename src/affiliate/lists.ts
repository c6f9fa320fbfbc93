import type { Context } from 'hono'
import { tooManyGroups } from '../admin/attribution.ts'
import { presentLink } from '../admin/links.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { readParents } from '../db/commission/histories.ts'
import { resolveDatabase } from '../db/database.ts'
import { countClicks } from '../db/directory/attribution.ts'
import { linksOf, listLinks } from '../db/directory/links.ts'
import { ReadMemory } from '../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readDayRange, readQuery } from '../http/query.ts'
import { sendJson } from '../http/send.ts'
import { computeReport } from '../reports/compute.ts'
import { parseReport } from '../reports/report.ts'
import { bookZoneOf, dayInZone } from '../zone.ts'
import { callerOf } from './me.ts'

/** Responds with one page of the links of the affiliate. */
export async function respondWithLinks(c: Context<AppEnv>): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  const { id, grant } = await callerOf(c)
  const context = JSON.stringify([grant.account, 'links', id])
  const page = await readPage(c.env, context, query)
  const list = await listLinks(c.env.DB, grant.account, id, page)
  const data = list.data.map((link) => presentLink(c.env, link))
  return respondWithPage(c, context, page, { ...list, data }, new ReadMemory(grant.account))
}

/** Responds with the clicks on the links of the affiliate, by day and link. */
export async function respondWithClicks(c: Context<AppEnv>): Promise<Response> {
  const { from, to } = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const { id, grant } = await callerOf(c)
  const { account, binding } = grant
  const [rows, links] = await Promise.all([
    countClicks(resolveDatabase(c.env, binding), account, from, to),
    linksOf(c.env.DB, account, [id]),
  ])
  if (!rows) throw tooManyGroups('clicks')
  const own = new Set(links)
  const data = rows.filter(({ link_id }) => own.has(link_id))
  return sendJson(c, { data }, new ReadMemory(account))
}

/** Returns the affiliates below one on a day, with their levels, in the order of the levels. */
function belowOf(parents: Awaited<ReturnType<typeof readParents>>, id: string, today: string) {
  const children = Map.groupBy(parents, (one) => {
    return one.parents.findLast(({ from }) => from === null || from <= today)?.parent ?? null
  })
  const found = new Map([[id, 0]])
  for (const [parent, level] of found) {
    for (const { affiliate_id } of children.get(parent) ?? []) {
      if (!found.has(affiliate_id)) found.set(affiliate_id, level + 1)
    }
  }
  found.delete(id)
  return found
}

/** What is shown of the affiliates below: counts, which tell nothing of a customer. */
const METRICS = 'signups,active_customers'

/** Responds with the affiliates below, with their counts on some days; nobody if the account shows none. */
export async function respondWithSubAffiliates(c: Context<AppEnv>): Promise<Response> {
  const sent = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const { id, account, grant, view } = await callerOf(c)
  const memory = new ReadMemory(account.id)
  if (view.sub_affiliates === 'none') return sendJson(c, { ...sent, data: [] }, memory)
  const { vertical } = grant
  const db = resolveDatabase(c.env, grant.binding)
  const query = parseReport(vertical, { ...sent, group_by: 'affiliate_id', metrics: METRICS })
  const databases = { session: db.withSession('first-primary'), directory: c.env.DB }
  const [parents, report] = await Promise.all([
    readParents(db, account.id, null),
    computeReport(databases, { account: account.id, vertical }, query, Date.now()),
  ])
  const rows = new Map(report.data.map(({ groups, metrics }) => [groups.affiliate_id, metrics]))
  const below = belowOf(parents, id, dayInZone(bookZoneOf(account), Date.now()))
  const data = [...below].map(([affiliate_id, level]) => ({
    affiliate_id,
    level,
    signups: rows.get(affiliate_id)?.signups ?? 0,
    active_customers: rows.get(affiliate_id)?.active_customers ?? 0,
  }))
  return sendJson(c, { ...sent, data }, memory)
}
