import { hash } from 'node:crypto'
import { newSecret } from '../../src/platform/auth/secret.ts'

/** The keys of the members of the demo, in place of the passkeys with which people sign in. */
export interface MemberKeys {
  readonly manager: string
  readonly approver: string
  readonly second_approver: string
}

const MEMBERS = [
  { id: 'manager', email: 'manager@demo.example', name: 'Mara Manager', role: 'manager' },
  { id: 'approver', email: 'approver@demo.example', name: 'Ada Approver', role: 'approver' },
  { id: 'second_approver', email: 'second@demo.example', name: 'Ben Second', role: 'approver' },
] as const

/**
 * Returns new keys of the members of the demo, and the SQL that stores both: the keys of the last start end. The
 * passkeys by which approvers count are of no device.
 */
export function demoMembers(): { keys: MemberKeys; sql: readonly string[] } {
  const at = '2026-01-01T00:00:00.000Z'
  const made = MEMBERS.map((member) => ({ ...member, key: newSecret('tmk', 'live') }))
  const sql = made.flatMap(({ id, email, name, role, key }) => [
    `insert or ignore into members
      (id, email, name, role, accounts, affiliates, language, created_at, created_by, joined_at)
      values ('${id}', '${email}', '${name}', '${role}', '"all"', '"all"', 'en', '${at}', 'root-key', '${at}')`,
    `insert or ignore into member_passkeys
      values ('demo-${id}', '${id}', 'AA', -7, 0, '[]', 0, 0, 'None', '${at}', '${at}')`,
    `delete from member_keys where id = 'demo-${id}'`,
    `insert into member_keys
      values ('${hash('sha256', key)}', 'demo-${id}', '${id}', 'Demo', '${role}', '"all"', '"all"', '${at}')`,
  ])
  const keys = Object.fromEntries(made.map(({ id, key }) => [id, key]))
  return { keys: keys as unknown as MemberKeys, sql }
}
