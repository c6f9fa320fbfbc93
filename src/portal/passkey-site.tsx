import type { Context } from 'hono'
import { type FoundInvitation, findInvitation } from '../affiliates/db/affiliate-members.ts'
import {
  acceptInvitation,
  countUse,
  type FoundPasskey,
  findPasskey,
  PASSKEYS,
  type SignedIn,
} from '../affiliates/db/affiliate-passkeys.ts'
import {
  beginMemberSession,
  type MemberSession,
  PORTAL_SESSIONS,
} from '../affiliates/member-session.ts'
import { type OwnPasskeys, type PasskeySite, storedPasskeys } from '../pages/passkeys/site.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { affiliateActor } from '../platform/auth/grant.ts'
import type { Account } from '../platform/db/schema.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { WORDS } from '../platform/documents/texts.ts'
import { fill, type Language } from '../platform/languages.ts'
import { PortalPage, portalPath } from './layout.tsx'

/** The portal of an account, as its visitors sign in to it. */
interface Portal {
  readonly account: Account
  readonly db: D1Database
  readonly language: Language
  readonly now: number
}

/** Returns the portal of an account as a site with passkeys: a passkey is of a member of an affiliate. */
export function portalSite(
  c: Context<AppEnv>,
  { account, db, language, now }: Portal,
): PasskeySite<FoundPasskey, FoundInvitation> {
  const { id, name } = account
  return {
    ...{ c, now, language, home: portalPath(id), service: name, inviter: name },
    Frame: (frame) => <PortalPage account={account} {...frame} />,
    find: (credential_id) => findPasskey(db, id, credential_id),
    countUse: (passkey) => countUse(db, id, passkey, now),
    countedAs: ({ affiliate_id }) => JSON.stringify([id, affiliate_id]),
    refusalOf: ({ status }, language) =>
      status === 'suspended' ? fill(WORDS[language].suspended, { account: name }) : null,
    begin: ({ member, credential_id }, { affiliate_id, suspensions }) =>
      beginMemberSession(c, account, { affiliate_id, member, credential_id, suspensions }, now),
    findInvitation: (digest) => findInvitation(db, id, digest),
    introduce({ display_name, affiliate_id }, language) {
      const affiliate = display_name ?? affiliate_id
      const text = fill(WORDS[language].invited, { account: name, affiliate })
      return { text, owner: `${affiliate} · ${name}` }
    },
    async accept({ id: invitation, affiliate_id, display_name }, digest, passkey, typed) {
      const details = { affiliate_id, id: invitation, member: passkey.member }
      const entry = { actor: 'portal', action: 'affiliate-member.join', account: id, details }
      const made = { name: typed || (display_name ?? affiliate_id), now }
      const stored = { ...passkey, affiliate_id }
      await withAudit(db, entry, acceptInvitation(db, id, digest, { ...made, passkey: stored }))
    },
  }
}

/** Returns the passkeys of a member who is signed in to a portal. */
export async function ownPasskeys(
  c: Context<AppEnv>,
  portal: Portal,
  session: MemberSession,
  { display_name, affiliate_id }: SignedIn,
): Promise<OwnPasskeys> {
  const { account, db } = portal
  const { member } = session
  const actor = affiliateActor({ id: affiliate_id, member, key: null })
  const columns = { account: account.id, affiliate_id, member }
  const stored = storedPasskeys(db, PASSKEYS, columns, (verb) => ({
    ...{ actor, action: `affiliate-passkey.${verb}`, account: account.id },
    details: { affiliate_id, id: member },
  }))
  return {
    site: portalSite(c, portal),
    session,
    csrf: await PORTAL_SESSIONS.csrfToken(c.env, session),
    owner: `${display_name ?? affiliate_id} · ${account.name}`,
    ...stored,
  }
}
