import type { Context } from 'hono'
import type { Caller } from '../auth/bearer.ts'
import { databaseOf } from '../auth/database.ts'
import type { Grant } from '../auth/token-gate.ts'
import { deliver, type Parcel, type Row } from '../db/deliver.ts'
import { readBody } from './body.ts'
import { newDeliveryId } from './delivery-id.ts'
import type { Intake } from './intake.ts'
import { parseJson } from './json.ts'
import { type Judged, judge } from './judge.ts'
import { logged } from './log.ts'
import { type Preferences, readPrefer } from './prefer.ts'
import { readDryRun } from './query.ts'
import { answer } from './report.ts'

/**
 * Receives one delivery: reads and judges the body while the gate is asked, stores what may be
 * stored in one round trip, and says what became of each record.
 */
export function receive(c: Context<Caller>, intake: Intake): Promise<Response> {
  const work = handled(c, intake)
  // A caller that hangs up must not leave a turn taken, or a retry undone.
  c.executionCtx.waitUntil(work.catch(() => {}))
  return work
}

async function handled(c: Context<Caller>, intake: Intake): Promise<Response> {
  const preferences = readPrefer(c.req.header('Prefer'))
  const dryRun = readDryRun(c.req.url)
  const { text, release } = await readBody(c.req.raw, c.var.admitted)
  try {
    const judged = judge(parseJson(text), intake)
    const grant = await c.var.admitted
    const parcel = toParcel(judged, intake, grant, preferences, dryRun)
    const session = databaseOf(c.env, grant.binding).withSession('first-primary')
    const receipt = await deliver(session, intake.shelf, parcel)
    c.set('delivery', receipt.delivery)
    c.header('x-d1-bookmark', session.getBookmark() ?? undefined)
    if (preferences.applied) c.header('Preference-Applied', preferences.applied)
    return answer(c, { judged, intake, parcel, receipt, minimal: preferences.minimal })
  } finally {
    release()
  }
}

function toParcel(
  judged: Judged,
  intake: Intake,
  grant: Grant,
  { lenient, minimal }: Preferences,
  dryRun: boolean,
): Parcel {
  const receivedAt = Date.now()
  const policy = intake.policy(grant)
  // A minimal answer tells only of records with a warning: it can be known that there is none.
  const warns = policy === 'warn' || judged.good.some(({ warnings }) => warnings.length > 0)
  return {
    id: newDeliveryId(receivedAt),
    account: grant.account,
    resource: intake.name,
    form: judged.form,
    receivedAt,
    dryRun,
    lenient,
    policy,
    told: !minimal || warns,
    received: judged.sent.length,
    wrong: judged.wrong,
    errorsTotal: judged.errorsTotal,
    errors: logged(judged.issues),
    rows: judged.good.map(
      ({ index, record }): Row => ({ idx: index, values: intake.toValues(record) }),
    ),
    strays: judged.bad.map(
      ({ index, record }): Row => ({ idx: index, values: { ...record, stray: 1 } }),
    ),
  }
}
