import * as v from 'valibot'
import { resolveDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { findAccount, listBindings } from '../platform/directory/accounts.ts'
import { listAudit } from '../platform/directory/audit.ts'
import { DAY_MS } from '../platform/durations.ts'
import { list } from '../platform/http/operation.ts'
import { invalidQuery, readDays } from '../platform/http/query.ts'
import { daysWanted, time } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { quote } from '../platform/validation/quote.ts'

/** Returns the databases, besides the directory, that have entries of one account, or of all. */
async function auditSources(
  env: Env,
  found: Promise<Account | null> | null,
): Promise<D1Database[]> {
  const bindings = found ? [(await found)?.binding ?? 'DB'] : await listBindings(env.DB)
  return bindings
    .filter((binding) => binding !== 'DB')
    .map((binding) => resolveDatabase(env, binding))
}

export const listAuditLog = list({
  of: 'team',
  id: 'listAuditLog',
  shows: 'affiliate',
  topic: 'accounts',
  path: '/audit-log',
  params: {
    account: optional(v.string(), said('Returns only the entries of this account.', 'demo-forex')),
    ...daysWanted,
    actor: optional(v.string(), said('Returns only what this actor did.', 'ada@team.example')),
    kind: optional(
      v.string(),
      said(
        'Returns only actions that begin with one of these words, separated by commas.',
        'plan,assignments',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Lists administrative actions with actor and time, newest first. Days are those of UTC. `actor` and `kind` are searched for in the latest 100,000 entries of the days.',
    answer: component('Audited', () => ({
      id: v.string(),
      at: member(time, 'When the action happened.'),
      actor: member(v.string(), 'Who acted.'),
      action: member(v.string(), 'The action, such as `customer.erase`.'),
      account: nullable(v.string(), 'The account. Null if the action concerns several.'),
      details: member(
        v.record(v.string(), v.unknown()),
        'Details that depend on the action. They contain no secrets.',
      ),
    })),
    command: { name: 'audit-log', columns: ['at', 'actor', 'action', 'account', 'details'] },
  })),
  async list({ env }, query, page) {
    const { account: id = null, actor, kind } = query
    const { from, to } = readDays(query)
    const filter = {
      account: id,
      ...(actor !== undefined && { actor }),
      ...(from !== undefined && { start: Date.parse(from) }),
      ...(to !== undefined && { end: Date.parse(to) + DAY_MS }),
      ...(kind !== undefined && { kinds: kind.split(',') }),
    }
    const found = id === null ? null : findAccount(env.DB, id)
    const sources = auditSources(env, found)
    const [account, list] = await Promise.all([found, listAudit(env.DB, sources, filter, page)])
    if (id !== null && !account) throw invalidQuery(`There is no account ${quote(id)}.`)
    return list
  },
})
