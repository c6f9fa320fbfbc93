import * as v from 'valibot'
import { readTeam } from '../../platform/directory/member-changes.ts'
import { ROLES, type Scope, type StoredMember } from '../../platform/directory/members.ts'
import { type Call, operation, reply } from '../../platform/http/operation.ts'
import { LANGUAGES } from '../../platform/languages.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf, withMembers } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import {
  agreeToMember,
  type Changed,
  changeMember,
  inviteMember,
  isVisible,
  removeMember,
  renewMember,
  visibleMember,
} from '../members.ts'

const name = f.labelOf(100)
const language = f.oneOf(...LANGUAGES)
const role = f.oneOf(...ROLES)

const ACCOUNTS = ruleMessage('pattern', '`all`, or a list of ids of accounts')
const accounts = v.union(
  [v.literal('all'), v.pipe(v.array(f.id), v.minLength(1, ACCOUNTS))],
  ACCOUNTS,
)

const AFFILIATES = ruleMessage('pattern', '`all`, or `{"own": true}`')
const affiliates = v.union([v.literal('all'), v.strictObject({ own: v.literal(true) })], AFFILIATES)

/** What a member or a key may do, as a body has it. */
export const scopeFields = {
  role: member(
    role,
    said(
      '`viewer` reads, `manager` changes, `approver` decides about money and members.',
      'manager',
    ),
  ),
  accounts: member(accounts, said('`all`, or the ids of the accounts.', ['demo-forex'])),
  affiliates: member(
    affiliates,
    said('`all`, or `{"own": true}`: those whose manager the member is.', 'all'),
  ),
}

/** The same, as answers show it. */
export const shownScope = described(() => ({
  ...scopeFields,
  accounts: member(
    v.union([v.literal('all'), v.array(v.string())]),
    '`all`, or the ids of the accounts.',
  ),
}))

const UUID = 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'
const member_id = member(v.string(), said('The id of the member.', UUID))

/** Who a member is, as answers show it. */
export const shownPerson = described(() => ({
  id: member_id,
  name: member(v.string(), 'Their name.'),
  email: member(v.string(), 'Their e-mail address, under which they act.'),
  ...shownScope,
  language: member(v.picklist(LANGUAGES), 'The language in which they are written to.'),
}))

const shown = described(() => ({
  ...shownPerson,
  created_at: member(time, 'When they were invited.'),
  created_by: member(v.string(), 'Who has invited them: an e-mail address, or `root-key`.'),
  joined_at: nullable(time, 'When they first registered a passkey, or null.'),
  last_seen_at: nullable(time, 'When they last signed in with a passkey, or null.'),
  passkeys: member(count, 'How many passkeys they have.'),
  invited_until: nullable(time, 'When the open link of their invitation ends, or null.'),
  waiting: nullable(
    v.object({
      id: member(v.string(), 'The id of the request.'),
      kind: member(
        v.picklist(['invitation', 'change', 'lost']),
        'What was asked for: to invite them, to change them, or a link in place of what they lost.',
      ),
      by: member(v.string(), 'Who asked for it.'),
      at: member(time, 'When.'),
      change: member(
        v.partial(v.object({ name: v.string(), language: v.picklist(LANGUAGES), ...shownScope })),
        'What they are to have.',
      ),
    }),
    'What waits until another approver agrees, or null.',
  ),
}))

const linked = described(() =>
  withMembers(v.object(shown), {
    invitation_url: nullable(
      v.string(),
      'The link to hand over. It works once within 72 hours and is shown only here. Null if none was made.',
    ),
  }),
)

/** Returns a member as a caller sees them, who does not learn of accounts that they do not have. */
function present(stored: StoredMember, own: Scope['accounts']) {
  const { actor: _, removed_at: __, version: ___, link_ends_at: until, ...one } = stored
  const seen = ({ accounts: all }: Partial<Scope>) =>
    all && { accounts: all === 'all' || own === 'all' ? all : all.filter((id) => own.includes(id)) }
  const { waiting } = one
  return {
    ...one,
    ...seen(one),
    invited_until: until !== null && until > Date.now() ? new Date(until).toISOString() : null,
    waiting: waiting && {
      ...waiting,
      change: { ...waiting.change, ...seen(waiting.change ?? {}) },
    },
  }
}

/** Answers a change: 202 if it waits for another approver. */
function answerTo({ member: caller }: Call<'team'>, done: Changed, status: 200 | 201) {
  const { member: one, link } = done
  const waits = one.waiting !== null && link === null
  return reply(waits ? 202 : status, {
    ...present(one, caller.accounts),
    invitation_url: link?.url ?? null,
  })
}

const authorOf = ({ env, member: caller }: Call<'team'>) => ({
  env,
  member: caller,
  now: Date.now(),
})

const ofMembers = { of: 'team', shows: 'account', topic: 'members', path: '/members' } as const
const ofMember = { ...ofMembers, path: '/members/{member}', params: { member: member_id } } as const

const WAITS =
  'If an account of the member asks for two persons and has two approvers, what gives more waits (202) until another approver agrees.'

const LOST_LINK =
  'The link may have been made and lost. Run `members list`, and then `members lost` for a new link.'

export const makeMember = operation({
  ...ofMembers,
  id: 'makeMember',
  method: 'POST',
  role: 'approver',
  body: {
    name: member(name, said('Their name.', 'Ada Lovelace')),
    email: member(
      f.address,
      said('Their e-mail address, which never changes.', 'ada@team.example'),
    ),
    ...scopeFields,
    language: member(language, said('The language in which they are written to.', 'en')),
  },
  status: 201,
  words: described(() => ({
    description: `Invites somebody to the team: a link with which they register a passkey. ${WAITS}`,
    answer: component('NewMember', () => linked.entries),
    others: { 202: linked },
    errors: ['already_exists', 'same_person'],
    command: { name: 'members make', secret: 'invitation_url', recovery: LOST_LINK },
  })),
  async run(call, fields) {
    return answerTo(call, await inviteMember(authorOf(call), fields), 201)
  },
})

export const listTeam = operation({
  ...ofMembers,
  id: 'listTeam',
  method: 'GET',
  words: described(() => ({
    description:
      'Lists the members of the team who have an account of the caller, also those who are invited.',
    answer: listOf(component('TeamMember', () => shown)),
    command: {
      name: 'members list',
      columns: [
        'id',
        'name',
        'email',
        'role',
        'accounts',
        'affiliates',
        'passkeys',
        'invited_until',
      ],
    },
  })),
  async run({ env, member: { accounts: own } }) {
    const { members } = await readTeam(env.DB)
    return { data: members.filter((one) => isVisible(one, own)).map((one) => present(one, own)) }
  },
})

export const getMember = operation({
  ...ofMember,
  id: 'getMember',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a member of the team.',
    answer: v.object(shown),
    command: { name: 'members get' },
  })),
  async run({ env, member: caller }, { member: id }) {
    return present(visibleMember(await readTeam(env.DB), caller, id), caller.accounts)
  },
})

export const patchMember = operation({
  ...ofMember,
  id: 'patchMember',
  method: 'PATCH',
  role: 'approver',
  body: {
    name: optional(name, said('Their name.', 'Ada King')),
    role: v.optional(scopeFields.role),
    accounts: v.optional(scopeFields.accounts),
    affiliates: v.optional(scopeFields.affiliates),
    language: optional(language, said('The language in which they are written to.', 'de')),
  },
  words: described(() => ({
    description: `Changes a member, in whose place the request decides what may be done from the next moment on. ${WAITS}`,
    answer: linked,
    others: { 202: linked },
    errors: ['conflict', 'same_person', 'last_approver'],
    command: { name: 'members change' },
  })),
  async run(call, { member: id, ...fields }) {
    const change = Object.fromEntries(
      Object.entries(fields).filter(([, value]) => value !== undefined),
    )
    return answerTo(call, await changeMember(authorOf(call), id, change), 200)
  },
})

export const endMember = operation({
  ...ofMember,
  id: 'endMember',
  method: 'DELETE',
  role: 'approver',
  words: described(() => ({
    description: 'Removes a member. Their passkeys, sessions, keys and invitation end at once.',
    answer: null,
    errors: ['same_person', 'last_approver'],
    command: { name: 'members remove', done: 'Removed member {member}.' },
  })),
  async run(call, { member: id }) {
    await removeMember(authorOf(call), id)
    return null
  },
})

export const makeMemberLink = operation({
  ...ofMember,
  id: 'makeMemberLink',
  method: 'POST',
  path: '/members/{member}/invitations',
  role: 'approver',
  status: 201,
  words: described(() => ({
    description:
      'Makes a new link for a member who has lost their passkeys, or whose link has ended. Their passkeys, sessions, keys and former link end. For an approver of an account that asks for two persons it waits (202) until another approver agrees.',
    answer: linked,
    others: { 202: linked },
    errors: ['same_person'],
    command: { name: 'members lost', secret: 'invitation_url', recovery: LOST_LINK },
  })),
  async run(call, { member: id }) {
    return answerTo(call, await renewMember(authorOf(call), id), 201)
  },
})

export const approveMember = operation({
  ...ofMember,
  id: 'approveMember',
  method: 'POST',
  path: '/members/{member}/approve',
  role: 'approver',
  body: {
    request: optional(
      f.text,
      said(
        'The id of the request that was seen. If another one waits by now, it is refused.',
        UUID,
      ),
    ),
  },
  words: described(() => ({
    description:
      'Agrees to what another approver has asked for. The root key agrees only where no other approver is left.',
    answer: linked,
    errors: ['conflict', 'same_person', 'last_approver'],
    command: { name: 'members approve', secret: 'invitation_url', recovery: LOST_LINK },
  })),
  async run(call, { member: id, request }) {
    return answerTo(call, await agreeToMember(authorOf(call), id, request), 200)
  },
})

/** The operations on the members of the team. */
export const MEMBER_OPERATIONS = [
  makeMember,
  listTeam,
  getMember,
  patchMember,
  endMember,
  makeMemberLink,
  approveMember,
]
