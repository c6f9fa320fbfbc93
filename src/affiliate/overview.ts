import type { Context } from 'hono'
import { amountOf, daysOf } from '../admin/affiliate-figures.ts'
import { presentBalances } from '../admin/ledger.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { dayNumber, periodOf, periodUntil } from '../commission/engine/calendar.ts'
import { withinLimit } from '../commission/statements/on-request.ts'
import { periodFor } from '../commission/why/routes.ts'
import { listQualifications } from '../commission/why/unearned.ts'
import { readBalances } from '../db/commission/books/ledger.ts'
import { readEarned } from '../db/directory/affiliate-figures.ts'
import { ReadMemory } from '../http/memory.ts'
import { readDayRange, readQuery } from '../http/query.ts'
import { type Reader, withReadSession } from '../http/read-session.ts'
import { sendJson } from '../http/send.ts'
import { computeReport } from '../reports/compute.ts'
import { reportOfAffiliate } from '../reports/own-report.ts'
import { parseReport } from '../reports/report.ts'
import { todayOf } from '../zone.ts'
import { presentDue, readHeld, readPending } from './books.ts'
import { type AdmittedAffiliate, callerOf } from './me.ts'

const COUNTS: Readonly<Record<string, string>> = {
  forex: 'clicks,signups,attributed,first_deposit_count',
}

const DEFAULT_COUNTS = 'clicks,signups,attributed'

const NARROW = 'Ask for fewer days.'

/** Reads the counts of each day, with the customers who qualified on it. */
async function readDays(c: Context<AppEnv>, reader: Reader, caller: AdmittedAffiliate, days: Days) {
  const { id, grant } = caller
  const { account, vertical } = grant
  const metrics = COUNTS[vertical] ?? DEFAULT_COUNTS
  const query = parseReport(vertical, { ...days, group_by: 'day', metrics })
  const databases = { session: reader.session, directory: c.env.DB }
  const period = periodOf(dayNumber(days.to), 'month')
  const report = await reportOfAffiliate(caller, vertical, query, (one, of) =>
    computeReport(databases, { account, vertical }, one, Date.now(), of),
  )
  const qualifications = await withinLimit(grant, NARROW, async () =>
    listQualifications(
      await periodFor(c, reader, period),
      periodUntil(period, dayNumber(days.to)),
      { affiliate_id: id },
    ),
  )
  const qualified = qualifications.flatMap(({ qualified_on }) =>
    qualified_on !== null && qualified_on >= days.from && qualified_on <= days.to
      ? [qualified_on]
      : [],
  )
  const byDay = new Map(report.data.map(({ groups, metrics: of }) => [String(groups.day), of]))
  const all = [...new Set([...byDay.keys(), ...qualified])].sort()
  return {
    days: all.map((day) => ({
      day,
      metrics: byDay.get(day) ?? {},
      qualified: qualified.filter((one) => one === day).length,
    })),
    totals: { metrics: report.totals.metrics, qualified: qualified.length },
    waiting: qualifications.filter(({ status }) => status === 'waiting').length,
  }
}

interface Days {
  readonly from: string
  readonly to: string
}

/**
 * Responds with the figures of some days, what was earned in the last periods, the balance, and what is
 * pending and why.
 */
export async function respondWithOverview(c: Context<AppEnv>): Promise<Response> {
  const days = readDayRange(readQuery(c.req.url, 'from', 'to'))
  const caller = await callerOf(c)
  const { id, account } = caller
  const { periods } = daysOf(todayOf(account))
  return withReadSession(c, async (reader) => {
    const { waiting, ...counted } = await readDays(c, reader, caller, days)
    const [earned, sums, held, pending] = await Promise.all([
      caller.view.drafts ? readEarned(reader.session, account.id, [id], periods) : [],
      readBalances(reader.session, account.id, id),
      readHeld(reader.session, caller),
      readPending(reader.session, caller),
    ])
    const due = presentDue(caller, { sums, held, later: pending.hold_period })
    const overview = {
      ...days,
      ...counted,
      // The sums include drafts.
      earned: earned.map((sum) => ({
        period: sum.period,
        currency: sum.currency,
        total: amountOf(sum),
      })),
      balances: presentBalances(sums),
      pending: { waiting, ...due, ...pending },
    }
    return sendJson(c, overview, new ReadMemory(account.id))
  })
}
