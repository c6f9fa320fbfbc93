import { isAtLeast, type Role } from '../platform/auth/roles.ts'
import { hasAccount, listMembers, type StoredMember } from '../platform/directory/members.ts'
import type { StoredNotice } from '../platform/directory/outbox.ts'
import { accountsOfMember, type Person } from './db/recipients.ts'
import { isVisible } from './members.ts'

/** Returns the members of the team whom a notice reaches now: one, or those with a role whose scope has what it is about. */
export async function teamOf(env: Env, notice: StoredNotice): Promise<Person[]> {
  const { account, affiliate_id: about, except_actor } = notice
  const [to, name = ''] = notice.recipient.split(':')
  const members = await listMembers(env.DB)
  // The accounts of the member whom a notice of the team itself is about.
  const theirs = account === '' && about !== null ? await accountsOfMember(env.DB, about) : 'all'
  const isInScope = (one: StoredMember) =>
    account === ''
      ? isVisible({ ...one, accounts: theirs }, one.accounts)
      : hasAccount(one, account)
  return members
    .filter(({ id }) => to !== 'member' || id === name)
    .filter(
      (one) =>
        to === 'member' ||
        (isAtLeast(one.role, name as Role) &&
          one.actor !== except_actor &&
          one.waiting?.kind !== 'invitation' &&
          one.affiliates === 'all' &&
          isInScope(one)),
    )
    .map(({ email, language }) => ({ address: email, language }))
}
