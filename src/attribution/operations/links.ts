import * as v from 'valibot'
import { affiliateExists } from '../../platform/directory/affiliates.ts'
import { changesOf, withAudit } from '../../platform/directory/audit.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { newLinkId } from '../code.ts'
import * as rows from '../db/links.ts'
import { linkChange, newLink } from './link-fields.ts'

/** Returns a link as accounts and affiliates see it. */
export function presentLink(env: Env, { link_id, disabled, pass_query, ...link }: rows.LinkRow) {
  return {
    link_id,
    url: new URL(`/go/${link_id}`, env.BASE_URL).href,
    affiliate_id: link.affiliate_id,
    name: link.name,
    landing_page: link.landing_page,
    pass_query: pass_query === 1,
    disabled: disabled === 1,
    disabled_by: link.disabled_by,
    created_at: link.created_at,
  }
}

/** Who makes or changes a link. What an affiliate may have is limited. */
type By = 'team' | 'affiliate'

/** Stores a new link. The batch fails if an affiliate who makes one has as many as they may have. */
export async function storeLink(
  { env, actor }: Pick<Call, 'env' | 'actor'>,
  account: string,
  fields: NewLink,
  by: By,
) {
  const { DB } = env
  const link = {
    link_id: newLinkId(),
    ...fields,
    name: fields.name ?? null,
    pass_query: fields.pass_query ?? false,
    created_at: new Date().toISOString(),
  }
  const entry = { actor, action: 'link.create', account, details: link }
  const limits = by === 'affiliate' ? [rows.rejectFull(DB, { ...link, account })] : []
  await withAudit(DB, entry, [...limits, rows.insertLink(DB, account, link)])
  const row = { ...link, pass_query: Number(link.pass_query), disabled: 0, disabled_by: null }
  return presentLink(env, row)
}

type NewLink = Pick<rows.LinkRow, 'affiliate_id' | 'landing_page'> & {
  readonly name?: string | undefined
  readonly pass_query?: boolean | undefined
}

/**
 * Stores the change of a link. The batch fails if an affiliate activates one and has as many as they may have, or
 * activates or disables one that the team has disabled.
 */
export async function storeLinkChange(
  { env, actor }: Pick<Call, 'env' | 'actor'>,
  account: string,
  stored: rows.LinkRow,
  { change, by }: { readonly change: rows.LinkChange; readonly by: By },
): Promise<void> {
  // An empty change is not in the audit log.
  if (Object.keys(change).length === 0) return
  const { link_id, affiliate_id } = stored
  const changes = changesOf(presentLink(env, stored), change)
  const details = { link_id, affiliate_id, changes }
  const entry = { actor, action: 'link.change', account, details }
  const { DB } = env
  const link = { account, affiliate_id, link_id }
  const limits = [
    ...(change.disabled === undefined ? [] : [rows.rejectDisabledByTeam(DB, account, link_id)]),
    ...(change.disabled === false ? [rows.rejectFull(DB, link)] : []),
  ]
  const update = rows.updateLink(DB, account, link_id, change, by)
  await withAudit(DB, entry, [...(by === 'affiliate' ? limits : []), update])
}

/** The id of a link. */
export const link_id = member(v.string(), said('The id of the link.', 'Lk7Qm2Xv'))

/** A link as accounts and affiliates see it. */
export const link = component('Link', () => ({
  link_id,
  url: member(v.string(), 'The address that visitors follow.'),
  affiliate_id: member(v.string(), 'The affiliate that the link belongs to.'),
  name: nullable(v.string(), 'The display name of the link.'),
  landing_page: member(v.string(), 'The page that visitors are redirected to.'),
  pass_query: member(v.boolean(), 'Whether the query of a visitor is passed on.'),
  disabled: member(v.boolean(), 'Whether the link has stopped redirecting.'),
  disabled_by: nullable(
    v.picklist(['team', 'affiliate']),
    'Who disabled the link. Null if it is active.',
  ),
  created_at: time,
}))

async function findLink({ env, account }: Call, id: string): Promise<rows.LinkRow> {
  const found = await rows.findAccountLink(env.DB, account.id, id)
  if (!found) throw notFound('link', id)
  return found
}

const ofLinks = { topic: 'affiliates', path: '/links' } as const
const ofLink = { topic: 'affiliates', path: '/links/{link_id}', params: { link_id } } as const

export const createLink = operation({
  ...ofLinks,
  id: 'createLink',
  shows: 'affiliate',
  method: 'POST',
  role: 'manager',
  body: newLink,
  status: 201,
  words: described(() => ({
    description:
      'Creates a link from an affiliate to a landing page. The affiliate of a link cannot change.',
    answer: link,
    command: { name: 'links create', recovery: 'Run `links list` before you repeat the command.' },
  })),
  async run(call, fields) {
    const { affiliate_id: value } = fields
    if (await affiliateExists(call.db, call.account.id, value))
      return storeLink(call, call.account.id, fields, 'team')
    throw validationFailed([{ pointer: '/affiliate_id', code: 'unknown_affiliate', value }])
  },
})

export const listLinks = list({
  ...ofLinks,
  id: 'listLinks',
  shows: 'affiliate',
  params: {
    affiliate_id: optional(v.string(), said('Returns only the links of this affiliate.', 'IB-07')),
  },
  words: described(() => ({
    description: 'Lists the links of an account, ordered by id.',
    answer: link,
    command: { name: 'links list' },
  })),
  async list({ env, account }, { affiliate_id = null }, page) {
    const found = await rows.listLinks(env.DB, account.id, affiliate_id, page)
    return { ...found, data: found.data.map((one) => presentLink(env, one)) }
  },
})

export const getLink = operation({
  ...ofLink,
  id: 'getLink',
  shows: 'affiliate',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a link with its settings.',
    answer: link,
  })),
  run: async (call, { link_id: id }) => presentLink(call.env, await findLink(call, id)),
})

export const changeLink = operation({
  ...ofLink,
  id: 'changeLink',
  shows: 'affiliate',
  method: 'PATCH',
  role: 'manager',
  body: linkChange,
  words: described(() => ({
    description:
      'Changes the landing page or the name, or disables the link. Visitors see the change within 60 seconds.',
    answer: link,
    command: { name: 'links change' },
  })),
  async run(call, { link_id: id, ...change }) {
    const found = await findLink(call, id)
    await storeLinkChange(call, call.account.id, found, { change, by: 'team' })
    return presentLink(call.env, await findLink(call, id))
  },
})

/** The operations on links. A link belongs to an affiliate of the account and leads to a landing page. */
export const LINK_OPERATIONS = [createLink, listLinks, getLink, changeLink]
