import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { affiliateActor } from '../auth/grant.ts'
import { digest, randomText, SECRET_LENGTH } from '../auth/secret.ts'
import { resolveDatabase } from '../db/database.ts'
import { type AffiliateKeyRow, listAffiliateKeys } from '../db/directory/affiliate-keys.ts'
import {
  deleteMember,
  endInvitation,
  type Invitation,
  insertInvitation,
  type ListedMember,
  listInvitations,
  listMembers,
} from '../db/directory/affiliate-members.ts'
import { affiliateExists, readProfiles } from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import { passkeyOrigin } from '../development.ts'
import { HOUR_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { readFlag } from '../http/query.ts'
import { notFound, readFields, validationFailed } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { endAffiliateKeyNow } from './affiliate-keys.ts'
import { MAX_OPEN_INVITATIONS, newInvitation } from './invitation-fields.ts'
import { readAffiliate } from './ledger.ts'

/** The contract: an invitation works for 72 hours. */
const INVITATION_MS = 72 * HOUR_MS

const instant = (time: number) => new Date(time).toISOString()

/** Returns what became of an invitation. `now` is in milliseconds. */
function stateOf({ used_at, ends_at }: Invitation, now: number): 'used' | 'open' | 'ended' {
  if (used_at !== null) return 'used'
  return ends_at > now ? 'open' : 'ended'
}

/** Returns an invitation as the administration API shows it. */
const presentInvitation = (invitation: Invitation, now: number) => ({
  id: invitation.id,
  status: stateOf(invitation, now),
  member: invitation.member,
  created_at: invitation.created_at,
  created_by: invitation.created_by,
  ends_at: instant(invitation.ends_at),
  used_at: invitation.used_at,
})

/** Returns the valid keys that a member made. */
const madeBy = ({ affiliate_id, id }: ListedMember, keys: AffiliateKeyRow[], now: number) =>
  keys.filter(
    ({ created_by, ends_at }) =>
      created_by === affiliateActor({ id: affiliate_id, member: id, key: null }) &&
      (ends_at === null || ends_at > now),
  )

const presentKey = ({ id, name }: AffiliateKeyRow) => ({ id, name })

const presentMember = (member: ListedMember, keys: AffiliateKeyRow[]) => {
  const { id, name, passkeys, created_at, last_seen_at } = member
  const made = madeBy(member, keys, Date.now()).map(presentKey)
  return { id, name, passkeys, created_at, last_seen_at, keys: made }
}

/** Returns the affiliate that a request names, with its account. Throws `not_found`. */
export async function findRouteAffiliate(c: Context<AppEnv>, names: readonly 'keep_keys'[] = []) {
  const { affiliate: affiliate_id, query } = readAffiliate(c, names)
  const row = await findRouteAccount(c)
  const { id: account, binding } = row
  const db = resolveDatabase(c.env, binding)
  if (await affiliateExists(db, account, affiliate_id))
    return { account, row, db, affiliate_id, query }
  throw notFound('affiliate', affiliate_id)
}

async function invite(c: Context<AppEnv>): Promise<Response> {
  const { member = null } = await readFields(c, newInvitation)
  const { account, db, affiliate_id } = await findRouteAffiliate(c)
  const now = Date.now()
  const [profiles, members, invitations] = await Promise.all([
    readProfiles(db, account, [affiliate_id]),
    member === null ? [] : listMembers(db, account, affiliate_id),
    listInvitations(db, account, affiliate_id),
  ])
  if (profiles.get(affiliate_id)?.status === 'suspended') {
    const detail = 'The affiliate is suspended, so nobody can join. Reinstate it first.'
    throw new ApiError('conflict', { detail })
  }
  if (member !== null && !members.some(({ id }) => id === member)) {
    const message = 'The affiliate has no member with this id.'
    throw validationFailed([{ pointer: '/member', code: 'unknown_reference', message }])
  }
  const open = invitations.filter((one) => stateOf(one, now) === 'open')
  if (open.length >= MAX_OPEN_INVITATIONS) {
    const detail = `The affiliate has ${MAX_OPEN_INVITATIONS} open invitations. End one of them first.`
    throw new ApiError('conflict', { detail })
  }
  const secret = randomText(SECRET_LENGTH)
  const row = {
    ...{ affiliate_id, id: crypto.randomUUID(), member, created_by: c.var.actor, used_at: null },
    ...{ created_at: instant(now), ends_at: now + INVITATION_MS },
  }
  const { actor } = c.var
  const details = { affiliate_id, id: row.id, ...(member !== null && { member }) }
  const entry = { actor, action: 'affiliate-invitation.create', account, details }
  const stored = { ...row, digest: await digest(secret) }
  await withAudit(db, entry, insertInvitation(db, account, stored))
  // The part of an address after `#` is never sent to a server, so no log of one has the secret.
  const { href } = new URL(`/portal/${account}/invitation#${secret}`, passkeyOrigin(c.env))
  return c.json({ ...presentInvitation(row, now), invitation_url: href }, 201)
}

async function respondWithInvitations(c: Context<AppEnv>): Promise<Response> {
  const { account, db, affiliate_id } = await findRouteAffiliate(c)
  const now = Date.now()
  const rows = await listInvitations(db, account, affiliate_id)
  return c.json({ data: rows.map((row) => presentInvitation(row, now)) })
}

async function endOne(c: Context<AppEnv>): Promise<Response> {
  const { account, db, affiliate_id } = await findRouteAffiliate(c)
  const id = c.req.param('invitation_id') ?? ''
  const now = Date.now()
  const found = (await listInvitations(db, account, affiliate_id)).find((row) => row.id === id)
  if (!found) throw notFound('invitation', id)
  if (stateOf(found, now) === 'open') {
    const details = { affiliate_id, id }
    const entry = { actor: c.var.actor, action: 'affiliate-invitation.end', account, details }
    await withAudit(db, entry, [endInvitation(db, account, found, now)])
  }
  return c.body(null, 204)
}

async function respondWithMembers(c: Context<AppEnv>): Promise<Response> {
  const { account, db, affiliate_id } = await findRouteAffiliate(c)
  const [members, keys] = await Promise.all([
    listMembers(db, account, affiliate_id),
    listAffiliateKeys(c.env.DB, account, affiliate_id),
  ])
  return c.json({ data: members.map((member) => presentMember(member, keys)) })
}

async function removeOne(c: Context<AppEnv>): Promise<Response> {
  const { account, row, db, affiliate_id, query } = await findRouteAffiliate(c, ['keep_keys'])
  const keeps = readFlag('keep_keys', query.keep_keys)
  const id = c.req.param('member_id') ?? ''
  const found = (await listMembers(db, account, affiliate_id)).find((row) => row.id === id)
  if (!found) throw notFound('member', id)
  const now = Date.now()
  const keys = madeBy(found, await listAffiliateKeys(c.env.DB, account, affiliate_id), now)
  // Before the member: if one fails, the removal is repeated and ends it.
  if (!keeps) for (const key of keys) await endAffiliateKeyNow(c, row, affiliate_id, key.id)
  const details = {
    affiliate_id,
    id,
    ...(keys.length > 0 && { keys: keys.map(({ name }) => name), keep_keys: keeps }),
  }
  const entry = { actor: c.var.actor, action: 'affiliate-member.remove', account, details }
  await withAudit(db, entry, deleteMember(db, account, found, now))
  return c.json({ keys: keys.map((key) => ({ ...presentKey(key), ended: !keeps })) })
}

/**
 * Routes for the members of affiliates, and for the links that invite them. A link is shown only once. URL parsers
 * drop the segments `.` and `..`, so that an affiliate with such an id is named in the query.
 */
export const affiliateMembers = new Hono<AppEnv>()
for (const at of ['/:affiliate_id', ''] as const) {
  affiliateMembers
    .post(`${at}/invitations`, invite)
    .get(`${at}/invitations`, respondWithInvitations)
    .delete(`${at}/invitations/:invitation_id`, endOne)
    .get(`${at}/members`, respondWithMembers)
    .delete(`${at}/members/:member_id`, removeOne)
}
