import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { approvePeriod } from '../commission/books/approve-period.ts'
import { approveStatement } from '../commission/books/approve-statement.ts'
import { approval, payment, periodApproval } from '../commission/books/book-fields.ts'
import { payStatement } from '../commission/books/pay-statement.ts'
import { presentBooked } from '../commission/books/present.ts'
import { readPathPeriod } from '../commission/drafts/path-period.ts'
import type { Period } from '../commission/engine/calendar.ts'
import { plansOfKind } from '../db/commission/books/close-period.ts'
import { resolveDatabase } from '../db/database.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'
import { readFields, validationFailed } from './body.ts'
import { sendCaused } from './send-caused.ts'

/** Routes of the integrations team that close the books: approvals and payments of statements. */
export const approvals = new Hono<AppEnv>()
  .post('/statements/:statement_id/approve', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { hash, leave_out_holds: leaveOutHolds = false } = await readFields(c, approval)
    const id = c.req.param('statement_id')
    const db = resolveDatabase(c.env, account.binding)
    const request = { id, hash, leaveOutHolds, actor: c.var.actor, now: Date.now() }
    const found = await approveStatement(db, account, request)
    sendCaused(c, account)
    const statement = presentBooked(found.statement)
    if (statement.status !== 'draft') return c.json(statement)
    const given = found.approvals.map(({ actor, at }) => ({
      actor,
      at: new Date(at).toISOString(),
    }))
    const { message } = found
    const approvals_required = account.approvals
    return c.json({ ...statement, approvals: given, approvals_required, message }, 202)
  })

  .post('/statements/:statement_id/pay', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { reference, paid_on } = await readFields(c, payment)
    const id = c.req.param('statement_id')
    const db = resolveDatabase(c.env, account.binding)
    const request = { id, reference, paid_on, actor: c.var.actor, now: Date.now() }
    const paid = await payStatement(db, account.id, request)
    sendCaused(c, account)
    return c.json(presentBooked(paid))
  })

  .post('/periods/:period/approve', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const period = readPathPeriod(c.req.param('period'))
    const { plan, leave_out_holds: leaveOutHolds = false } = await readFields(c, periodApproval)
    const plans = await readPlans(c, account, period, plan)
    const request = { period, plans, leaveOutHolds, actor: c.var.actor, clock: Date.now }
    const db = resolveDatabase(c.env, account.binding)
    const result = await approvePeriod(db, account, request)
    sendCaused(c, account)
    return c.json(result, result.closed ? 200 : 202)
  })

/** Returns the plans with periods of this kind, or the one that is asked for. */
async function readPlans(
  c: Context<AppEnv>,
  { id, binding }: Awaited<ReturnType<typeof findRouteAccount>>,
  { kind }: Period,
  plan: string | undefined,
): Promise<string[]> {
  const plans = await plansOfKind(resolveDatabase(c.env, binding), id, kind)
  if (plan === undefined) return plans
  if (plans.includes(plan)) return [plan]
  const expected = `a plan with periods of a ${kind}`
  throw validationFailed([
    { pointer: '/plan', code: 'unknown_reference', expected, value: plan, suggestions: plans },
  ])
}
