import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { dayText } from '../commission/engine/calendar.ts'
import { inTurn } from '../commission/statements/on-request.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import { evaluateRules } from '../fraud/evaluate.ts'
import { EVALUATION_LIMITS } from '../fraud/limits.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'

/** The route that evaluates the fraud rules of an account at once; calling it again goes on. */
export const fraudRuns = new Hono<AppEnv>().post('/run', async (c) => {
  readQuery(c.req.url)
  const account = await findRouteAccount(c)
  const done = await inTurn({ account: account.id }, () =>
    evaluateRules(
      c.env,
      account,
      { actor: c.var.actor, persons: account.approvals, now: Date.now() },
      EVALUATION_LIMITS.requestFacts,
    ),
  )
  const answer = {
    done: done.isDone,
    evaluated_through: done.through === null ? null : dayText(done.through),
    last_day: dayText(done.last),
    affiliates_left: done.left,
    cases_opened: done.opened,
    cases_closed: done.closed,
    too_large: done.tooLarge,
  }
  const { evaluated_through, cases_opened, cases_closed } = answer
  const details = { evaluated_through, cases_opened, cases_closed }
  const entry = { actor: c.var.actor, action: 'fraud-rule.run', account: account.id, details }
  await withAudit(resolveDatabase(c.env, account.binding), entry, [])
  return c.json(answer)
})
