import * as v from 'valibot'
import { resolveDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { findAccount, listBindings } from '../platform/directory/accounts.ts'
import { type AuditRecord, type Changes, listAudit } from '../platform/directory/audit.ts'
import { actorOf, namesOfMembers } from '../platform/directory/members.ts'
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

/**
 * The page of the console that shows what an action has changed, by its first words: below that of the account, or of
 * the service if it begins with `/`. The address ends before a part whose detail an entry does not have.
 */
export const PLACES: Readonly<Record<string, string>> = {
  account: 'account',
  affiliate: 'affiliates/{affiliate_id}',
  'affiliate-question': 'questions/{id}',
  affiliates: 'affiliates/{affiliate_id}',
  affiliations: 'customers/{customer_id}',
  agreement: 'affiliates/{affiliate_id}',
  application: 'applications',
  assignment: 'affiliates/{affiliate_id}',
  assignments: 'affiliates/{affiliate_id}',
  'bank-answer': 'answers?hash={hash}',
  batch: 'batches/{batch}',
  'batch.discard': 'batches',
  'brand-token': 'credentials',
  client: 'credentials',
  customer: 'customers/{customer_id}',
  erasures: 'customers',
  'event-definition': 'mappings',
  export: 'account',
  'fraud-case': 'cases/{case}',
  'fraud-rule': 'fraud-rules/{rule}',
  invoice: 'invoices?number={number}',
  invoices: 'invoices',
  link: 'links?link_id={link_id}',
  'manual-entry': 'affiliates/{affiliate_id}',
  member: '/team',
  movements: 'paid?affiliate_id={affiliate_id}',
  payee: 'affiliates/{affiliate_id}',
  payer: 'payers',
  period: 'statements?period={period}',
  plan: 'plans/{plan}',
  postback: 'affiliates/{affiliate_id}',
  refusal: 'customers/{customer_id}',
  statement: 'statements/{statement}',
  status: 'mappings',
  transfers: 'paid?affiliate_id={affiliate_id}',
  webhook: 'webhooks/{id}',
  'webhook.delete': 'webhooks',
}

/** Returns the place of the longest first words of an action that have one. */
function placeOf(action: string): string | undefined {
  const own = PLACES[action]
  const shorter = action.replace(/[.-]?[^.-]+$/, '')
  return own ?? (shorter && placeOf(shorter))
}

/** Returns whether a detail names something; `*` stands for every affiliate. */
const isNamed = (value: unknown) => typeof value === 'string' && value !== '*'

/** Returns the address of the page that shows what an entry has changed; null if there is none. */
function urlOf(env: Env, { action, account, details }: AuditRecord): string | null {
  const place = placeOf(action)
  if (!place || (account === null && !place.startsWith('/'))) return null
  const parts = place.split(/(?=[/?])/)
  const missing = parts.findIndex((part) =>
    [...part.matchAll(/\{(\w+)\}/g)].some(([, name = '']) => !isNamed(details[name])),
  )
  const path = parts
    .slice(0, missing < 0 ? parts.length : missing)
    .join('')
    .replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(details[name])))
  const at = account === null ? path : `/accounts/${encodeURIComponent(account)}/${path}`
  return new URL(`/console${at}`, env.BASE_URL).href
}

const value = v.unknown()

export const listAuditLog = list({
  of: 'team',
  id: 'listAuditLog',
  shows: 'affiliate',
  topic: 'accounts',
  path: '/audit-log',
  params: {
    account: optional(v.string(), said('Returns only the entries of this account.', 'demo-forex')),
    ...daysWanted,
    member: optional(
      v.string(),
      said(
        'Returns only what this member did: their id or e-mail address. Another actor of the log also finds its entries.',
        'ada@team.example',
      ),
    ),
    affiliate_id: optional(
      v.string(),
      said('Returns only the entries about this affiliate.', 'IB-07'),
    ),
    action: optional(
      v.string(),
      said(
        'Returns only these actions, or what begins so, separated by commas.',
        'plan,link.change',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Lists administrative actions with actor and time, newest first. Days are those of UTC. `member`, `affiliate_id` and `action` are searched for in the latest 100,000 entries of the days.',
    answer: component('Audited', () => ({
      id: v.string(),
      at: member(time, 'When the action happened.'),
      actor: member(
        v.string(),
        'Who acted: the e-mail address of a member, or what the log calls others.',
      ),
      name: nullable(
        v.string(),
        'The name of the member who acted. Null if nobody of the team did.',
      ),
      action: member(v.string(), 'The action, such as `customer.erase`.'),
      account: nullable(v.string(), 'The account. Null if the action concerns several.'),
      url: nullable(
        v.string(),
        'The page of the console that shows what was changed. Null if none does.',
      ),
      changes: member(
        v.array(v.object({ field: v.string(), before: value, after: value })),
        'The fields that were changed, with their former and new values. What is hidden elsewhere is hidden here.',
      ),
      details: member(
        v.record(v.string(), v.unknown()),
        'Details that depend on the action. They contain no secrets.',
      ),
    })),
    command: { name: 'audit-log', columns: ['at', 'actor', 'action', 'account', 'details'] },
  })),
  async list({ env }, query, page) {
    const { account: id = null, member: who, affiliate_id, action } = query
    const { from, to } = readDays(query)
    const filter = {
      account: id,
      ...(who !== undefined && { actor: await actorOf(env.DB, who) }),
      ...(affiliate_id !== undefined && { affiliate_id }),
      ...(action !== undefined && { actions: action.split(',') }),
      ...(from !== undefined && { start: Date.parse(from) }),
      ...(to !== undefined && { end: Date.parse(to) + DAY_MS }),
    }
    const found = id === null ? null : findAccount(env.DB, id)
    const sources = auditSources(env, found)
    const [account, list] = await Promise.all([found, listAudit(env.DB, sources, filter, page)])
    if (id !== null && !account) throw invalidQuery(`There is no account ${quote(id)}.`)
    const actors = [...new Set(list.data.map(({ actor }) => actor))]
    const names = await namesOfMembers(env.DB, actors)
    const data = list.data.map((entry) => {
      const { changes = {}, ...details } = entry.details
      return {
        ...entry,
        name: names.get(entry.actor) ?? null,
        url: urlOf(env, entry),
        changes: Object.entries(changes as Changes).map(([field, [before, after]]) => ({
          ...{ field, before, after },
        })),
        details,
      }
    })
    return { ...list, data }
  },
})
