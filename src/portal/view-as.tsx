import type { Context } from 'hono'
import { beginViewerSession } from '../affiliates/member-session.ts'
import { readOwnForm } from '../pages/change.ts'
import { respond } from '../pages/respond.ts'
import { readSession, usesAccess } from '../pages/session.ts'
import { findByName } from '../platform/auth/admin-keys.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { readProfiles } from '../platform/directory/affiliates.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { PLACES, Problem, portalPath } from './layout.tsx'
import { MemberPage } from './member-page.tsx'
import { type MemberVisit, portalVisit } from './visit.ts'

// The portal as an affiliate sees it, for a member of the team: read-only, and in the audit log.

/** Begins to show the portal as an affiliate sees it, if the form is one of the console's session. */
export async function beginView(c: Context<AppEnv>): Promise<Response> {
  const { account, db, now } = await portalVisit(c)
  const session = await readSession(c, now)
  if (!session) return c.redirect('/console/sign-in', 303)
  const affiliate_id = (await readOwnForm(c, session))('affiliate_id')
  const profiles = await readProfiles(db, account.id, [affiliate_id])
  const profile = profiles.get(affiliate_id)
  if (!profile) throw new ApiError('not_found')
  const { actor, role } = session.member
  const member = usesAccess(c.env) ? null : await findByName(actor, c.env)
  const viewer = { id: session.id, actor, role, fingerprint: member?.fingerprint ?? null }
  const details = { affiliate_id }
  await withAudit(db, { actor, action: 'affiliate-view.begin', account: account.id, details }, [])
  const { suspensions } = profile
  const shown = { affiliate_id, viewer, suspensions, until: session.until }
  await beginViewerSession(c, account, shown, now)
  return c.redirect(portalPath(account.id), 303)
}

/** Responds that somebody who only looks cannot do this. */
export const refuseViewer = (c: Context<AppEnv>, visit: MemberVisit, detail: string) => {
  const at = new URL(c.req.url).pathname.slice(portalPath(visit.account.id).length)
  const here = Object.entries(PLACES).find(([, path]) => path === at)?.[0]
  return respond(
    c,
    <MemberPage
      visit={visit}
      here={(here ?? 'overview') as keyof typeof PLACES}
      title={visit.words.failed}
    >
      <div lang="en">
        <Problem text={detail} />
      </div>
    </MemberPage>,
    403,
  )
}
