import { newInvitationLink } from '../platform/auth/notice-links.ts'
import { isAtLeast } from '../platform/auth/roles.ts'
import {
  type AuditEntry,
  changesOf,
  newAuditId,
  tryWithAudit,
} from '../platform/directory/audit.ts'
import * as rows from '../platform/directory/member-changes.ts'
import {
  hasAccount,
  type Member,
  ROOT_ACTOR,
  type Scope,
  type StoredMember,
  type Waiting,
} from '../platform/directory/members.ts'
import { noticeStatement } from '../platform/directory/outbox.ts'
import { ApiError, unavailable } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { quoteAll } from '../platform/validation/quote.ts'

// Who may change whom (§21.1). Every rule is a function of the whole team as it was read, and the batch of a change
// asserts that it still is so: two changes at once are decided one after the other.

/** How often a change is decided anew when another one came first. */
const ATTEMPTS = 5

type Team = rows.Team

/** Somebody who changes the team, and when, in milliseconds. */
interface Author extends Pick<Call<'team'>, 'env' | 'member'> {
  readonly now: number
}

/** A link that was made: it is shown once. */
export interface Link {
  readonly url: string
  readonly ends_at: number
}

/** A member after a change; the link to hand over, if one was made. */
export interface Changed {
  readonly member: StoredMember
  readonly link: Link | null
}

/** What is written of a decision: the audit log names the change. */
interface Decision extends Changed {
  readonly action: string
  readonly details: object
  readonly statements: readonly D1PreparedStatement[]
}

const refuse = (code: 'same_person' | 'conflict' | 'last_approver' | 'insufficient_role') => {
  return (detail: string) => new ApiError(code, { detail })
}
const samePerson = refuse('same_person')
const conflict = refuse('conflict')
const outOfScope = refuse('insufficient_role')

/** Returns whether some accounts are all among others. */
const areWithin = (some: Scope['accounts'], all: Scope['accounts']): boolean =>
  all === 'all' || (some !== 'all' && some.every((id) => all.includes(id)))

/** Returns whether a scope has something that another one lacks. */
export const isWider = (after: Scope, before: Scope): boolean =>
  !isAtLeast(before.role, after.role) ||
  !areWithin(after.accounts, before.accounts) ||
  (before.affiliates !== 'all' && after.affiliates === 'all')

const isInvited = ({ waiting }: StoredMember) => waiting?.kind !== 'invitation'

/** Returns the approvers of an account who have come: they count, also while they have lost their passkeys. */
const joinedOf = ({ members }: Team, account: string): readonly StoredMember[] =>
  members.filter(
    (one) => one.role === 'approver' && isInvited(one) && one.joined_at && hasAccount(one, account),
  )

/** Returns whether an account of these scopes asks for two persons, and has two approvers. */
const needsTwo = (team: Team, scopes: readonly Scope[]): boolean =>
  team.accounts.some(
    ({ id, approvals }) =>
      approvals > 1 &&
      scopes.some((scope) => hasAccount(scope, id)) &&
      joinedOf(team, id).length > 1,
  )

/** Refuses what would leave an account with fewer approvers than it asks for. Throws `last_approver`. */
function requireApprovers(team: Team, before: StoredMember, after: Scope | null): void {
  const { id: self } = before
  const short = team.accounts.filter(({ id, approvals }) => {
    const joined = joinedOf(team, id)
    const goes = !(after?.role === 'approver' && hasAccount(after, id))
    const others = joined.filter((one) => one.id !== self && one.passkeys > 0)
    return goes && joined.some((one) => one.id === self) && others.length < approvals
  })
  if (short.length === 0) return
  const names = quoteAll(short.slice(0, 5).map(({ id }) => id))
  throw refuse('last_approver')(
    `Without ${before.email}, fewer approvers with a passkey would be left than ${names} asks for. Invite another approver first.`,
  )
}

/** Returns the approvers who may agree to what another one has asked for about a member. */
const agreersOf = (team: Team, by: string, about: StoredMember, scopes: readonly Scope[]) =>
  team.members.filter(
    (one) =>
      one.role === 'approver' &&
      isInvited(one) &&
      one.passkeys > 0 &&
      one.id !== about.id &&
      one.email !== by &&
      scopes.every(({ accounts }) => areWithin(accounts, one.accounts)),
  )

/** Refuses accounts that do not exist, or that the author does not have; and approvers of some affiliates. */
function requireScope({ member }: Author, team: Team, scope: Scope): void {
  const { accounts, affiliates, role } = scope
  const isUnknown = (id: string) =>
    !hasAccount(member, id) || !team.accounts.some((one) => one.id === id)
  const unknown = (accounts === 'all' ? [] : accounts).flatMap((id, i) =>
    isUnknown(id)
      ? [{ pointer: `/accounts/${i}`, code: 'enum' as const, expected: 'an account of yours' }]
      : [],
  )
  if (unknown.length > 0) throw validationFailed(unknown)
  if (role === 'approver' && affiliates !== 'all') {
    const expected = '`all`, because an approver decides for whole accounts'
    throw validationFailed([{ pointer: '/affiliates', code: 'not_applicable', expected }])
  }
  requireWithin(member, scope)
}

/** Refuses what is beyond the accounts of the author. */
function requireWithin(member: Member, { accounts }: Scope): void {
  if (areWithin(accounts, member.accounts) && member.affiliates === 'all') return
  throw outOfScope(
    'This concerns accounts that you do not have. An approver of all of them can do it.',
  )
}

/** Returns a member whom the author sees: of an account of theirs. Throws `not_found`. */
export function visibleMember(team: Team, { accounts }: Member, id: string): StoredMember {
  const found = team.members.find((one) => one.id === id)
  if (found && isVisible(found, accounts)) return found
  throw notFound('member', id)
}

/** Returns whether a member has an account that a caller has. */
export const isVisible = ({ accounts }: Scope, own: Scope['accounts']): boolean =>
  own === 'all' || accounts === 'all' || accounts.some((id) => own.includes(id))

/** Decides about the team as it is now, and writes it; anew if somebody else came first. */
async function decide(
  author: Author,
  decideBy: (team: Team) => Decision | Promise<Decision>,
): Promise<Changed> {
  const { env, member } = author
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const team = await rows.readTeam(env.DB)
    const self = team.members.find(({ id }) => id === member.id)
    const isStill = self && isInvited(self) && self.role === 'approver'
    if (!isStill && member.actor !== ROOT_ACTOR) throw new ApiError('invalid_admin')
    const { action, details, statements, ...changed } = await decideBy(team)
    const entry: AuditEntry = {
      actor: member.actor,
      action,
      account: null,
      details: { member: changed.member.id, ...details },
    }
    const audit = newAuditId()
    const notices = noticesOfChange(author, team, changed.member, audit)
    const batch = [rows.requireTeam(env.DB, team), ...statements, ...notices]
    if (await tryWithAudit(env.DB, entry, batch, audit)) return changed
  }
  throw unavailable(new Error('The team changes too often.'), 1)
}

/** Returns the statements that tell approvers of a change of one of them, or that it waits for one of them. */
function noticesOfChange(
  { env, member: by }: Author,
  { members }: Team,
  after: StoredMember,
  audit: string,
): D1PreparedStatement[] {
  const before = members.find(({ id }) => id === after.id)
  const waits = after.waiting !== null && after.waiting.id !== before?.waiting?.id
  const isOfApprover = [before, after].some((one) => one?.role === 'approver')
  if (!waits && !isOfApprover) return []
  const kind = waits ? 'approval_waits' : 'approver_changed'
  const whom = { recipient: { role: 'approver' }, about: after.id, except: by.actor } as const
  return [noticeStatement(env.DB, { account: null, kind, cause: audit, ...whom })]
}

/** Finds whom a change is about. Nobody changes themselves, or somebody with accounts that they do not have. */
function findOther({ member }: Author, team: Team, id: string): StoredMember {
  const found = visibleMember(team, member, id)
  if (found.id === member.id)
    throw samePerson('Nobody changes themselves: another approver does it.')
  requireWithin(member, found)
  return found
}

/** Returns a request of the author that waits for another approver. Throws `same_person` for the root key. */
function requestBy(
  { member, now }: Author,
  kind: Waiting['kind'],
  change?: Waiting['change'],
): Waiting {
  if (member.actor === ROOT_ACTOR) {
    throw samePerson(
      'The root key is not a person, and this account asks for two. An approver asks, and another one agrees.',
    )
  }
  const at = new Date(now).toISOString()
  return { id: crypto.randomUUID(), kind, by: member.actor, at, ...(change && { change }) }
}

/** Makes a link by which a member registers a passkey. What they had before ends. */
async function makeLink({ env, member, now }: Author, id: string) {
  const { url, ...made } = await newInvitationLink(env, '/console', now)
  const { ends_at } = made
  const invitation = { ...made, member: id, created_by: member.actor }
  return {
    link: { url, ends_at },
    statements: [
      ...rows.endAccess(env.DB, id, now),
      rows.insertInvitation(env.DB, invitation),
      noticeStatement(env.DB, {
        ...{ account: null, kind: 'member_invitation', cause: invitation.id },
        recipient: { member: id },
      }),
    ],
  }
}

/** What is asked for of a member: `before` is what they are, `after` what they are to be. */
interface Request {
  readonly action: string
  readonly before: StoredMember
  readonly after: StoredMember
  readonly kind: Waiting['kind']
  readonly change?: Waiting['change']
}

/** What a person gives a member. */
const givenTo = ({ name, language, role, accounts, affiliates }: StoredMember) => ({
  ...{ name, language, role, accounts, affiliates },
})

/**
 * Decides what is asked for: stores what a member is to be, with a new link unless it is only a change. Who has not come yet
 * gets a new link for more than they were invited for: whoever had asked for it has the old one.
 */
async function grant(author: Author, request: Request, details: object = {}): Promise<Decision> {
  const { action, before, after, kind } = request
  const isSame = kind === 'change' && (before.joined_at !== null || !isWider(after, before))
  const made = isSame ? null : await makeLink(author, after.id)
  const ends_at = made && { passkeys: 0, link_ends_at: made.link.ends_at }
  const member = { ...after, waiting: null, ...ends_at }
  return {
    action,
    details: { ...details, changes: changesOf(before, givenTo(after)) },
    statements: [...(made?.statements ?? []), ...rows.updateMember(author.env.DB, member)],
    member,
    link: made?.link ?? null,
  }
}

/** Leaves what is asked for to another approver if it `waits`, and else grants it. A request ends what has waited. */
function ask(author: Author, request: Request, waits: boolean): Decision | Promise<Decision> {
  if (!waits) return grant(author, request)
  const { action, before, after, kind, change } = request
  const member = { ...before, waiting: requestBy(author, kind, change) }
  return {
    action,
    details: { waits, changes: changesOf(before, givenTo(after)) },
    statements: rows.updateMember(author.env.DB, member),
    member,
    link: null,
  }
}

/** What a new member is given. */
export type NewMember = Pick<Member, 'name' | 'email' | 'language'> & Scope

const NEW = {
  ...{ actor: '', joined_at: null, removed_at: null, version: 1, passkeys: 0, last_seen_at: null },
  ...{ waiting: null, link_ends_at: null },
}

/** Invites somebody. A new approver of an account with two waits until another approver agrees. */
export const inviteMember = (author: Author, { email: sent, ...given }: NewMember) =>
  decide(author, async (team) => {
    const { env, member: by, now } = author
    const email = sent.toLowerCase()
    requireScope(author, team, given)
    if (team.members.some((one) => one.email === email)) {
      throw new ApiError('already_exists', {
        detail: 'Somebody with this e-mail address is a member, or invited.',
      })
    }
    const id = crypto.randomUUID()
    const created_at = new Date(now).toISOString()
    const after = { ...NEW, ...given, id, email, created_at, created_by: by.actor }
    const request = { action: 'member.invite', before: after, after, kind: 'invitation' } as const
    const waits = given.role === 'approver' && needsTwo(team, [given])
    const asked = await ask(author, request, waits)
    const { role, accounts, affiliates } = given
    return {
      ...asked,
      details: { role, accounts, affiliates, ...(waits && { waits }) },
      statements: [rows.insertMember(env.DB, after), ...asked.statements],
    }
  })

/** What a change of a member may name. */
export type MemberChange = NonNullable<Waiting['change']>

/** Changes a member at once, or leaves what gives more to another approver. */
export const changeMember = (author: Author, id: string, change: MemberChange) =>
  decide(author, (team) => {
    const before = findOther(author, team, id)
    if (!isInvited(before)) {
      throw conflict(`${before.email} waits for a second approver. Remove and invite them instead.`)
    }
    const after = { ...before, ...change }
    requireScope(author, team, after)
    const waits = isWider(after, before) && needsTwo(team, [before, after])
    if (!waits) requireApprovers(team, before, after)
    return ask(author, { action: 'member.change', before, after, kind: 'change', change }, waits)
  })

/** Makes a new link for a member in place of what they lost: passkeys, sessions and keys end when it is made. */
export const renewMember = (author: Author, id: string) =>
  decide(author, (team) => {
    const before = findOther(author, team, id)
    const kind = isInvited(before) ? 'lost' : 'invitation'
    const waits = before.role === 'approver' && needsTwo(team, [before])
    return ask(author, { action: 'member.lost', before, after: before, kind }, waits)
  })

/** Agrees to what another approver has asked for; `request` names it, so that nobody agrees to what they have not seen. */
export const agreeToMember = (author: Author, id: string, request: string | undefined) =>
  decide(author, (team) => {
    const { actor } = author.member
    const before = findOther(author, team, id)
    const { waiting } = before
    if (!waiting || (request ?? waiting.id) !== waiting.id) {
      throw conflict('Nothing waits for a second approver, or something else does. Look again.')
    }
    const { kind, by, change } = waiting
    const after = { ...before, ...change }
    requireScope(author, team, after)
    const isAsker = (one: StoredMember) =>
      one.email === by && one.role === 'approver' && areWithin(after.accounts, one.accounts)
    if (!team.members.some(isAsker)) {
      throw conflict(`${by} asked for it, who may not any more. Ask for it yourself.`)
    }
    if (by === actor) throw samePerson('You have asked for it: another approver agrees.')
    const others = agreersOf(team, by, before, [before, after])
    if (actor === ROOT_ACTOR && others.length > 0) {
      const names = quoteAll(others.map(({ email }) => email))
      throw samePerson(`The root key agrees only where nobody else can. These may: ${names}.`)
    }
    requireApprovers(team, before, after)
    return grant(author, { action: 'member.agree', before, after, kind }, { kind, asked_by: by })
  })

/** Removes a member: no session, key or link of theirs works any more. */
export const removeMember = (author: Author, id: string) =>
  decide(author, (team) => {
    const { env, member: by, now } = author
    const before = findOther(author, team, id)
    requireApprovers(team, before, null)
    const statements = rows.removeMember(env.DB, id, by.actor, now)
    return { action: 'member.remove', details: {}, statements, member: before, link: null }
  })
