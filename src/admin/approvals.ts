import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { approvePeriod, approveStatement } from '../commission/books/approve.ts'
import {
  approval,
  heldPayment,
  paymentReturn,
  periodApproval,
} from '../commission/books/book-fields.ts'
import { payStatement, returnPayment } from '../commission/books/payments.ts'
import { presentBooked } from '../commission/books/present.ts'
import type { Period } from '../commission/engine/calendar.ts'
import { readPathPeriod } from '../commission/statements/path-period.ts'
import { type PlanOfKind, plansOfKind } from '../db/commission/books/approve.ts'
import { resolveDatabase } from '../db/database.ts'
import { readQuery } from '../http/query.ts'
import { readFields, validationFailed } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { sendCaused } from './send-caused.ts'

/** Routes of the integrations team that close the books: approvals, payments and returns. */
export const approvals = new Hono<AppEnv>()
  .post('/statements/:statement_id/approve', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { hash, leave_out_holds: leaveOutHolds = false } = await readFields(c, approval)
    const id = c.req.param('statement_id')
    const request = { id, hash, leaveOutHolds, actor: c.var.actor, now: Date.now() }
    const found = await approveStatement(c.env, account, request)
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
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
    const sent = await readFields(c, heldPayment)
    const id = c.req.param('statement_id')
    const db = resolveDatabase(c.env, account.binding)
    const persons = account.approvals
    const request = { id, ...sent, persons, actor: c.var.actor, now: Date.now() }
    const paid = await payStatement(db, account.id, request)
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
    return c.json(presentBooked(paid))
  })

  .post('/statements/:statement_id/return', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const sent = await readFields(c, paymentReturn)
    const id = c.req.param('statement_id')
    const db = resolveDatabase(c.env, account.binding)
    const request = { id, ...sent, actor: c.var.actor, now: Date.now() }
    const returned = await returnPayment(db, account.id, request)
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
    return c.json(presentBooked(returned))
  })

  .post('/periods/:period/approve', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const period = readPathPeriod(c.req.param('period'))
    const { plan = null, leave_out_holds: leaveOutHolds = false } = await readFields(
      c,
      periodApproval,
    )
    const known = await readPlans(c, account, period, plan)
    const request = { period, known, plan, leaveOutHolds, actor: c.var.actor, clock: Date.now }
    const result = await approvePeriod(c.env, account, request)
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
    return c.json(result, result.closed ? 200 : 202)
  })

/** Returns the plans with periods of a kind. Throws if the plan that is asked for is none of them. */
async function readPlans(
  c: Context<AppEnv>,
  { id, binding }: Awaited<ReturnType<typeof findRouteAccount>>,
  { kind }: Period,
  requested: string | null,
): Promise<PlanOfKind[]> {
  const plans = await plansOfKind(resolveDatabase(c.env, binding), id, kind)
  if (requested === null || plans.some(({ plan }) => plan === requested)) return plans
  const expected = `a plan with periods of a ${kind}`
  const suggestions = plans.map(({ plan }) => plan)
  throw validationFailed([
    { pointer: '/plan', code: 'unknown_reference', expected, value: requested, suggestions },
  ])
}
