import * as v from 'valibot'
import { affiliateActor } from '../../platform/auth/grant.ts'
import { newInvitationLink } from '../../platform/auth/notice-links.ts'
import { listAffiliateKeys } from '../../platform/directory/affiliate-keys.ts'
import { readProfiles } from '../../platform/directory/affiliates.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { hasMail, noticeStatement } from '../../platform/directory/outbox.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { described, listOf, withMembers } from '../../platform/validation/described.ts'
import { email, member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import * as rows from '../db/affiliate-members.ts'
import { affiliate_id, endAffiliateKeyNow, requireAffiliate } from './affiliate-keys.ts'

const instant = (time: number) => new Date(time).toISOString()

/** Returns what became of an invitation. `now` is in milliseconds. */
function stateOf({ used_at, ends_at }: rows.Invitation, now: number): 'used' | 'open' | 'ended' {
  if (used_at !== null) return 'used'
  return ends_at > now ? 'open' : 'ended'
}

/** Returns an invitation as the administration API shows it. */
const presentInvitation = (invitation: rows.Invitation, now: number) => ({
  id: invitation.id,
  status: stateOf(invitation, now),
  created_at: invitation.created_at,
  created_by: invitation.created_by,
  ends_at: instant(invitation.ends_at),
  used_at: invitation.used_at,
  email: invitation.email,
})

/**
 * Makes an invitation of an affiliate: its row, the statements that store it, their entry for the audit log, and its
 * link. `created_by` is who invites.
 */
export async function newInvitation(
  { env, actor, db, account }: Call,
  affiliate_id: string,
  created_by: string,
  email: string | null,
) {
  const { url, digest, ...made } = await newInvitationLink(env, `/portal/${account.id}`, Date.now())
  const row = { ...made, affiliate_id, created_by, used_at: null, email }
  const details = { affiliate_id, id: row.id }
  const entry = { actor, action: 'affiliate-invitation.create', account: account.id, details }
  const statements = rows.insertInvitation(db, account.id, { ...row, digest })
  return { row, entry, statements, url }
}

const UUID = 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'
const invitation_id = member(
  v.string(),
  said('The id of the invitation. It is not its link.', UUID),
)
const member_id = member(v.string(), said('The id of the member.', UUID))

const invitation = described(() =>
  v.object({
    id: invitation_id,
    status: member(
      v.picklist(['open', 'used', 'ended']),
      '`open`, `used`, or `ended`: it has expired or was ended.',
    ),
    created_at: member(time, 'When it was made.'),
    created_by: member(v.string(), 'Who made it.'),
    ends_at: member(time, 'When it stops to work: 72 hours later, or when it was ended.'),
    used_at: nullable(time, 'When somebody registered a passkey with it, or null.'),
    email: nullable(v.string(), 'Whom it was sent to, or null.'),
  }),
)

const ofInvitations = {
  topic: 'affiliates',
  path: '/affiliates/{affiliate_id}/invitations',
} as const

const ofMembers = { ...ofInvitations, path: '/affiliates/{affiliate_id}/members' } as const

export const inviteAffiliate = operation({
  ...ofInvitations,
  id: 'inviteAffiliate',
  shows: 'affiliate',
  method: 'POST',
  role: 'manager',
  params: { affiliate_id },
  body: {
    email: optional(
      email,
      said(
        'Where the link is sent, and from then on what concerns the affiliate. Without it, hand over the link.',
        'ada@friends.example',
      ),
    ),
  },
  status: 201,
  words: described(() => ({
    description:
      'Makes a link for one person, who registers a passkey with it and is signed in to the portal. It works once within 72 hours and is shown only here. With `email` it is also sent there, if the service sends e-mail: `sent` says so. Nobody is invited while the affiliate is suspended. Somebody who has lost their passkeys is invited anew, and removed as the earlier member.',
    answer: withMembers(invitation, {
      invitation_url: member(v.string(), 'The link to hand over.'),
      sent: member(v.boolean(), 'Whether it is sent by e-mail, too.'),
    }),
    errors: ['conflict'],
    command: {
      name: 'affiliate-members invite',
      secret: 'invitation_url',
      recovery:
        'The link may have been made: run `affiliate-members invitations`, and end the unknown invitation.',
    },
  })),
  async run(call, { affiliate_id: affiliate, email = null }) {
    const { env, actor, db, account } = call
    await requireAffiliate(call, affiliate)
    const now = Date.now()
    const profiles = await readProfiles(db, account.id, [affiliate])
    const profile = profiles.get(affiliate)
    if (profile?.status === 'suspended') {
      const detail = 'The affiliate is suspended, so nobody can join. Reinstate it first.'
      throw new ApiError('conflict', { detail })
    }
    const { row, entry, statements, url } = await newInvitation(call, affiliate, actor, email)
    const recipient = { address: email ?? '', language: profile?.language ?? 'en' } as const
    const notice = { account: account.id, kind: 'invitation', cause: row.id, recipient } as const
    const notices = email ? [noticeStatement(db, { ...notice, about: affiliate })] : []
    await withAudit(db, entry, [...statements, ...notices])
    sendCaused(call, account)
    const sent = email !== null && hasMail(env)
    return { ...presentInvitation(row, now), invitation_url: url, sent }
  },
})

export const listInvitations = operation({
  ...ofInvitations,
  id: 'listInvitations',
  shows: 'affiliate',
  method: 'GET',
  params: { affiliate_id },
  words: described(() => ({
    description:
      'Lists the invitations of an affiliate, the latest first. Their links are not stored.',
    answer: listOf(invitation),
    command: { name: 'affiliate-members invitations' },
  })),
  async run(call, { affiliate_id: affiliate }) {
    await requireAffiliate(call, affiliate)
    const now = Date.now()
    const found = await rows.listInvitations(call.db, call.account.id, affiliate)
    return { data: found.map((row) => presentInvitation(row, now)) }
  },
})

export const endInvitation = operation({
  ...ofInvitations,
  path: `${ofInvitations.path}/{invitation_id}`,
  id: 'endInvitation',
  shows: 'affiliate',
  method: 'DELETE',
  role: 'manager',
  params: { affiliate_id, invitation_id },
  words: described(() => ({
    description: 'Ends an invitation. Its link stops working at once.',
    answer: null,
    command: {
      name: 'affiliate-members uninvite',
      done: 'Ended invitation {invitation_id} of affiliate {affiliate_id}.',
    },
  })),
  async run(call, { affiliate_id: affiliate, invitation_id: id }) {
    const { actor, db, account } = call
    await requireAffiliate(call, affiliate)
    const now = Date.now()
    const invitations = await rows.listInvitations(db, account.id, affiliate)
    const found = invitations.find((row) => row.id === id)
    if (!found) throw notFound('invitation', id)
    if (stateOf(found, now) === 'open') {
      const details = { affiliate_id: affiliate, id }
      const entry = { actor, action: 'affiliate-invitation.end', account: account.id, details }
      await withAudit(db, entry, rows.endInvitation(db, account.id, found, now))
    }
    return null
  },
})

export const listMembers = operation({
  ...ofMembers,
  id: 'listMembers',
  shows: 'affiliate',
  method: 'GET',
  params: { affiliate_id },
  words: described(() => ({
    description: 'Lists the persons who sign in for an affiliate.',
    answer: listOf(
      v.object({
        id: member_id,
        name: member(v.string(), 'What the member calls themself.'),
        email: nullable(v.string(), 'Where notices are sent, or null.'),
        passkeys: member(count, 'The number of their passkeys.'),
        created_at: member(time, 'When they registered.'),
        last_seen_at: member(
          time,
          'When they signed in last, or when they first looked at the portal on a later day.',
        ),
      }),
    ),
    command: { name: 'affiliate-members list' },
  })),
  async run(call, { affiliate_id: affiliate }) {
    await requireAffiliate(call, affiliate)
    const members = await rows.listMembers(call.db, call.account.id, affiliate)
    return { data: members.map(({ affiliate_id: _, ...one }) => one) }
  },
})

export const removeMember = operation({
  ...ofMembers,
  path: `${ofMembers.path}/{member_id}`,
  id: 'removeMember',
  shows: 'affiliate',
  method: 'DELETE',
  role: 'manager',
  params: { affiliate_id, member_id },
  words: described(() => ({
    description:
      'Removes a member with their passkeys and the keys that they made. They are signed out at once.',
    answer: null,
    command: {
      name: 'affiliate-members remove',
      done: 'Removed member {member_id} of affiliate {affiliate_id}, and ended their keys.',
    },
  })),
  async run(call, { affiliate_id: affiliate, member_id: id }) {
    const { env, actor, db, account } = call
    await requireAffiliate(call, affiliate)
    const members = await rows.listMembers(db, account.id, affiliate)
    if (!members.some((row) => row.id === id)) throw notFound('member', id)
    const author = affiliateActor({ id: affiliate, member: id, key: null })
    // Before the member: if one fails, the removal is repeated and ends it.
    for (const key of await listAffiliateKeys(env.DB, account.id, affiliate)) {
      if (key.created_by === author) await endAffiliateKeyNow(call, account.id, affiliate, key.id)
    }
    const details = { affiliate_id: affiliate, id }
    const entry = { actor, action: 'affiliate-member.remove', account: account.id, details }
    await withAudit(db, entry, rows.deleteMember(db, account.id, affiliate, id))
    return null
  },
})

/** The operations on the members of affiliates, and on the links that invite them. A link is shown only once. */
export const AFFILIATE_MEMBER_OPERATIONS = [
  inviteAffiliate,
  listInvitations,
  endInvitation,
  listMembers,
  removeMember,
]
