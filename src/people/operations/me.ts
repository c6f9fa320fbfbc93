import * as v from 'valibot'
import { digest, newSecret } from '../../platform/auth/secret.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import {
  deleteMemberKey,
  insertMemberKey,
  listMemberKeys,
  MAX_KEYS,
} from '../../platform/directory/member-changes.ts'
import {
  findMemberByEmail,
  lesserOf,
  type Member,
  ROOT_ACTOR,
} from '../../platform/directory/members.ts'
import { ApiError } from '../../platform/errors.ts'
import { operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf, withMembers } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { isWider } from '../members.ts'
import { scopeFields, shownPerson, shownScope } from './members.ts'

const key_id = member(
  v.string(),
  said('The id of the key. It is not the key itself.', 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11'),
)

const shownKey = described(() => ({
  id: key_id,
  name: member(v.string(), 'What the key is for.'),
  ...shownScope,
  created_at: time,
}))

const ofMe = { of: 'team', shows: 'public', topic: 'members', path: '/me', role: 'viewer' } as const
const ofKeys = { ...ofMe, path: '/me/keys' } as const

/** Refuses the root key, which has no keys. */
function requirePerson({ actor }: Member): void {
  if (actor !== ROOT_ACTOR) return
  throw new ApiError('conflict', { detail: 'The root key is not a person and has no keys.' })
}

/** Returns the keys of a member who calls, without those that may do more than the key of the call: it ends none of them. */
async function keysOf(env: Env, own: Member) {
  const whole = (await findMemberByEmail(env.DB, own.email)) ?? own
  const keys = await listMemberKeys(env.DB, own.id)
  return keys.filter((key) => !isWider(lesserOf(whole, key), own))
}

export const getMe = operation({
  ...ofMe,
  id: 'getMe',
  method: 'GET',
  words: described(() => ({
    description:
      'Returns who calls, with what they may do by their key: the lesser of what the key and its member may.',
    answer: component('Me', () => shownPerson),
    command: { name: 'me' },
  })),
  async run({ member: { id, name, email, role, accounts, affiliates, language } }) {
    return { id, name, email, role, accounts, affiliates, language }
  },
})

export const makeMyKey = operation({
  ...ofKeys,
  id: 'makeMyKey',
  method: 'POST',
  body: {
    name: member(f.labelOf(100), said('What the key is for.', 'Month end script')),
    role: v.optional(scopeFields.role),
    accounts: v.optional(scopeFields.accounts),
    affiliates: v.optional(scopeFields.affiliates),
  },
  status: 201,
  words: described(() => ({
    description: `Makes a key of the member who calls, for the command line and for scripts. It is shown only once. What is left out is what the caller may do. A member has at most ${MAX_KEYS} keys.`,
    answer: withMembers(v.object(shownKey), {
      member_key: member(v.string(), 'The key. It is shown only in this response.'),
    }),
    errors: ['conflict'],
    command: {
      name: 'keys make',
      secret: 'member_key',
      recovery: 'The key may have been made and lost. Run `keys list`, and end the unknown key.',
    },
  })),
  async run({ env, actor, member: own }, { name, ...asked }) {
    requirePerson(own)
    const member_key = newSecret('tmk', 'live')
    const { role = own.role, accounts = own.accounts, affiliates = own.affiliates } = asked
    const key = {
      ...{ id: crypto.randomUUID(), name, ...lesserOf(own, { role, accounts, affiliates }) },
      created_at: new Date().toISOString(),
    }
    const stored = { ...key, digest: await digest(member_key), member: own.id }
    const entry = {
      actor,
      action: 'member-key.create',
      account: null,
      details: { member: own.id, ...key },
    }
    await withAudit(env.DB, entry, insertMemberKey(env.DB, stored)).catch((error) => {
      if (!isAssertionFailure(error)) throw error
      const detail = `A member has at most ${MAX_KEYS} keys. End one first.`
      throw new ApiError('conflict', { detail, cause: error })
    })
    return { ...key, member_key }
  },
})

export const listMyKeys = operation({
  ...ofKeys,
  id: 'listMyKeys',
  method: 'GET',
  words: described(() => ({
    description:
      'Lists the keys of the member who calls, without those that may do more than they may here. The keys themselves are not stored.',
    answer: listOf(component('MemberKey', () => shownKey)),
    command: { name: 'keys list' },
  })),
  async run({ env, member: own }) {
    return { data: await keysOf(env, own) }
  },
})

export const endMyKey = operation({
  ...ofKeys,
  path: '/me/keys/{key_id}',
  id: 'endMyKey',
  method: 'DELETE',
  params: { key_id },
  words: described(() => ({
    description: 'Ends a key of the member who calls. Its next request is refused.',
    answer: null,
    command: { name: 'keys end', done: 'Ended key {key_id}.' },
  })),
  async run({ env, actor, member: own }, { key_id: key }) {
    const found = (await keysOf(env, own)).find((one) => one.id === key)
    if (!found) throw notFound('key', key)
    const details = { member: own.id, id: key, name: found.name }
    const entry = { actor, action: 'member-key.end', account: null, details }
    await withAudit(env.DB, entry, deleteMemberKey(env.DB, own.id, key))
    return null
  },
})

/** The operations of a member on what is theirs. */
export const ME_OPERATIONS = [getMe, makeMyKey, listMyKeys, endMyKey]
