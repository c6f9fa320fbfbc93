import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { readHolds } from '../commission/books/holds.ts'
import { resolveDatabase } from '../db/database.ts'
import { findCase } from '../db/fraud/cases.ts'
import { storeNote } from '../db/fraud/decisions.ts'
import { ulid } from '../db/ulid.ts'
import { ApiError } from '../errors.ts'
import { decideCase, noCase } from '../fraud/decide.ts'
import { caseDecision, caseNote } from '../fraud/decision-fields.ts'
import { DECISION_LIMITS } from '../fraud/limits.ts'
import { presentWholeCase } from '../fraud/present-case.ts'
import { readQuery } from '../http/query.ts'
import { readFields, validationFailed } from '../http/read-fields.ts'
import type { Issue } from '../validation/issue.ts'
import { findRouteAccount } from './accounts.ts'
import { sendCaused } from './send-caused.ts'

/** Routes by which the team decides cases, and writes notes about them. */
export const fraudDecisions = new Hono<AppEnv>()
  .post('/:case_id/decide', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const sent = await readFields(c, caseDecision)
    const { decision, reason, keep_hold: keepHold = false, from = null, shown = null } = sent
    const refuse = [...new Set(sent.refuse)].sort()
    const wrong = misplaced({ ...sent, keep_hold: keepHold || undefined })
    if (wrong.length > 0) throw validationFailed(wrong)
    const decided = await decideCase(c.env, account, {
      ...{ id: c.req.param('case_id'), decision, reason, keepHold, refuse, from, shown },
      ...{ actor: c.var.actor, now: Date.now() },
    })
    if (decided.issues) throw validationFailed(placeIssues(decided.issues, sent.refuse ?? []))
    sendCaused({ env: c.env, waitUntil: (sent) => c.executionCtx.waitUntil(sent) }, account)
    const { whole, message } = decided
    const { affiliate_id } = whole.found
    const db = resolveDatabase(c.env, account.binding)
    const holds = await readHolds(db, account.id, [affiliate_id])
    const found = presentWholeCase(whole, holds.get(affiliate_id))
    if (message === null) return c.json(found)
    return c.json({ ...found, approvals_required: account.approvals, message }, 202)
  })

  .post('/:case_id/note', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { text } = await readFields(c, caseNote)
    const case_id = c.req.param('case_id')
    const db = resolveDatabase(c.env, account.binding)
    const whole = await findCase(db, account.id, case_id)
    if (!whole) throw noCase(case_id)
    if (whole.notes.length >= DECISION_LIMITS.notes) throw tooManyNotes()
    const now = Date.now()
    const [id, at] = [`note_${ulid(now)}`, new Date(now).toISOString()]
    const { actor } = c.var
    await storeNote(db, { account: account.id, case_id, id, text, actor, at })
    return c.json({ note_id: id, text, actor, at }, 201)
  })

const tooManyNotes = () =>
  new ApiError('conflict', { detail: `A case has at most ${DECISION_LIMITS.notes} notes.` })

/** Members that have a meaning only with others, and what they need. */
function misplaced({
  decision,
  keep_hold,
  refuse,
  from,
}: {
  readonly decision: string
  readonly keep_hold?: boolean | undefined
  readonly refuse?: readonly string[] | undefined
  readonly from?: string | undefined
}): Issue[] {
  const isDismissed = decision === 'dismissed'
  const found: [name: string, isWrong: boolean, expected: string][] = [
    ['keep_hold', isDismissed && keep_hold === true, 'a dismissed case holds nothing'],
    ['refuse', isDismissed && refuse !== undefined, 'a dismissed case refuses nobody'],
    ['from', from !== undefined && refuse === undefined, 'it needs customers in `refuse`'],
  ]
  return found.flatMap(([name, isWrong, expected]) =>
    isWrong ? [{ pointer: `/${name}`, code: 'not_applicable' as const, expected }] : [],
  )
}

/** Returns issues of customers with their positions in the list as it was sent. */
const placeIssues = (issues: readonly Issue[], sent: readonly string[]): Issue[] =>
  issues.map((issue) => ({ ...issue, pointer: `/refuse/${sent.indexOf(String(issue.value))}` }))
