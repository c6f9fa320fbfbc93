import { env } from 'cloudflare:workers'
import { digest, newSecret } from '../src/platform/auth/secret.ts'
import type { Scope } from '../src/platform/directory/members.ts'
import { ask } from './partner.ts'

/** A member to store; all that is absent is `all`. */
interface NewMember extends Partial<Scope> {
  /** Their name, and what their address begins with: `mia` is `mia@team.example`. */
  readonly name: string
  readonly role: Scope['role']
  /** False: they have been invited, and have not come. */
  readonly hasPasskey?: boolean
}

/** Returns the actor of a member that `memberKey` stores. */
export const actorOf = (name: string) => `${name.toLowerCase()}@team.example`

const keys = new Map<string, string>()

/**
 * Stores a member of the team with a passkey and a key, in the database directly, unless they are stored. Returns the
 * key, which is the same whenever it is asked for.
 */
export async function memberKey(member: NewMember): Promise<string> {
  const { name, role, accounts = 'all', affiliates = 'all', hasPasskey = true } = member
  const of = JSON.stringify(member)
  const key = keys.get(of) ?? newSecret('tmk', 'live')
  keys.set(of, key)
  const id = `member-${name}`
  const at = '2026-01-01T00:00:00.000Z'
  const scope = [role, JSON.stringify(accounts), JSON.stringify(affiliates)]
  await env.DB.batch([
    env.DB.prepare(
      `insert or ignore into members (id, email, name, role, accounts, affiliates, language, created_at, created_by, joined_at)
       values (?, ?, ?, ?, ?, ?, 'en', ?, 'root-key', ?)`,
    ).bind(id, actorOf(name), name, ...scope, at, hasPasskey ? at : null),
    ...(hasPasskey
      ? [
          env.DB.prepare(
            `insert or ignore into member_passkeys values (?, ?, 'AA', -7, 0, '[]', 0, 0, 'Laptop', ?, ?)`,
          ).bind(`passkey-${name}`, id, at, at),
        ]
      : []),
    env.DB.prepare(`insert or ignore into member_keys values (?, ?, ?, 'Script', ?, ?, ?, ?)`).bind(
      ...[await digest(key), `key-${name}`, id, ...scope, at],
    ),
  ])
  return key
}

/** Stores a member named by their role, and returns their key. */
export const keyOfRole = (role: Scope['role']) => memberKey({ name: `the-${role}`, role })

/** Sends a request to the administration API with the key of a member. */
export async function askAs(key: string, path: string, method = 'GET', body?: unknown) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return ask(`/admin/v1/${path}`, {
    ...{ method, headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
