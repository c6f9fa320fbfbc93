import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import { affiliateExists } from '../db/directory/affiliates.ts'
import { withAudit } from '../db/directory/audit.ts'
import {
  findAccountLink,
  insertLink,
  type LinkChange,
  type LinkRow,
  listLinks,
  rejectDisabledByTeam,
  rejectFull,
  updateLink,
} from '../db/directory/links.ts'
import { readQuery } from '../http/query.ts'
import { newLinkId } from '../tracking/code.ts'
import { findRouteAccount } from './accounts.ts'
import { notFound, readFields, validationFailed } from './body.ts'
import { linkChange, newLink } from './link-fields.ts'
import { respondWithAffiliateList } from './list-route.ts'

/** Returns a link as accounts and affiliates see it. */
export function presentLink(env: Env, { link_id, disabled, pass_query, ...link }: LinkRow) {
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

/** Returns the link that the path names, with the id of its account. */
async function findRouteLink(c: Context<AppEnv>): Promise<{ account: string; link: LinkRow }> {
  const { id: account } = await findRouteAccount(c)
  const id = c.req.param('link_id') ?? ''
  const link = await findAccountLink(c.env.DB, account, id)
  if (!link) throw notFound('link', id)
  return { account, link }
}

/** Who makes or changes a link. What an affiliate may have is limited. */
type By = 'team' | 'affiliate'

/** Creates a link. The batch fails if an affiliate who makes one has as many as they may have. */
export async function createLink(
  c: Context<AppEnv>,
  account: string,
  fields: NewLink,
  by: By,
): Promise<object> {
  const { DB, TRACKING_KEYS } = c.env
  const link = {
    link_id: await newLinkId(TRACKING_KEYS),
    ...fields,
    name: fields.name ?? null,
    pass_query: fields.pass_query ?? false,
    created_at: new Date().toISOString(),
  }
  const entry = { actor: c.var.actor, action: 'link.create', account, details: link }
  const limits = by === 'affiliate' ? [rejectFull(DB, { ...link, account })] : []
  await withAudit(DB, entry, [...limits, insertLink(DB, account, link)])
  const pass_query = Number(link.pass_query)
  return presentLink(c.env, { ...link, pass_query, disabled: 0, disabled_by: null })
}

type NewLink = Pick<LinkRow, 'affiliate_id' | 'landing_page'> & {
  readonly name?: string | undefined
  readonly pass_query?: boolean | undefined
}

/**
 * Changes a link. The batch fails if an affiliate activates one and has as many as they may have, or
 * activates or disables one that the team has disabled.
 */
export async function changeLink(
  c: Context<AppEnv>,
  account: string,
  { link_id, affiliate_id }: LinkRow,
  { change, by }: { readonly change: LinkChange; readonly by: By },
): Promise<void> {
  // An empty change is not in the audit log.
  if (Object.keys(change).length === 0) return
  const { DB } = c.env
  const entry = {
    ...{ actor: c.var.actor, action: 'link.change', account },
    details: { link_id, ...change },
  }
  const link = { account, affiliate_id, link_id }
  const limits = [
    ...(change.disabled === undefined ? [] : [rejectDisabledByTeam(DB, account, link_id)]),
    ...(change.disabled === false ? [rejectFull(DB, link)] : []),
  ]
  const update = updateLink(DB, account, link_id, change, by)
  await withAudit(DB, entry, [...(by === 'affiliate' ? limits : []), update])
}

/** Routes for links. A link belongs to an affiliate of the account and leads to a landing page. */
export const links = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await findRouteAccount(c)
    const fields = await readFields(c, newLink)
    const { affiliate_id: value } = fields
    if (!(await affiliateExists(resolveDatabase(c.env, binding), account, value))) {
      throw validationFailed([{ pointer: '/affiliate_id', code: 'unknown_affiliate', value }])
    }
    return c.json(await createLink(c, account, fields, 'team'), 201)
  })

  .get('/', (c) =>
    respondWithAffiliateList(c, 'links', async ({ id }, page, _, affiliate) => {
      const list = await listLinks(c.env.DB, id, affiliate, page)
      return { ...list, data: list.data.map((link) => presentLink(c.env, link)) }
    }),
  )

  .get('/:link_id', async (c) => {
    readQuery(c.req.url)
    return c.json(presentLink(c.env, (await findRouteLink(c)).link))
  })

  .patch('/:link_id', async (c) => {
    readQuery(c.req.url)
    const { account, link } = await findRouteLink(c)
    const change = await readFields(c, linkChange)
    await changeLink(c, account, link, { change, by: 'team' })
    return c.json(presentLink(c.env, (await findRouteLink(c)).link))
  })
