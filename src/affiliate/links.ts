import type { Context } from 'hono'
import { isAllowedPage, linkChange, ownLink } from '../admin/link-fields.ts'
import { presentLink, storeLink, storeLinkChange } from '../admin/links.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { landingPagesOf } from '../db/directory/accounts.ts'
import {
  countOtherLinks,
  findAccountLink,
  MAX_ACTIVE_LINKS,
  MAX_LINKS,
} from '../db/directory/links.ts'
import { isAssertionFailure } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { readQuery } from '../http/query.ts'
import { readFields, validationFailed } from '../http/read-fields.ts'
import { showTo } from '../http/show.ts'
import { callerOf } from './me.ts'

// Links that affiliates make and change: by the functions of the team, within what the account allows.

/** Refuses a landing page that the account does not allow its affiliates. */
function checkPage(account: Account, page: string | undefined): void {
  const allowed = landingPagesOf(account)
  if (page === undefined || isAllowedPage(page, allowed)) return
  const message =
    allowed.length === 0
      ? 'The account has not named pages to which your links may lead. Ask the firm.'
      : `Your links may lead to these pages, and to pages below them: ${allowed.join(' ')}`
  throw validationFailed([{ pointer: '/landing_page', code: 'pattern', message }])
}

/** Returns the error for a batch that was aborted, because the affiliate has too many links. */
async function tooMany(
  c: Context<AppEnv>,
  link: Parameters<typeof countOtherLinks>[1],
): Promise<ApiError> {
  const { active } = await countOtherLinks(c.env.DB, link)
  const message =
    active >= MAX_ACTIVE_LINKS
      ? `You have ${MAX_ACTIVE_LINKS} active links, which is the most. Disable one of them first.`
      : `You have ${MAX_LINKS} links, disabled ones included, which is the most. Change one of them.`
  return validationFailed([{ pointer: '', code: 'maximum', message }])
}

/** Makes a link of the affiliate. */
export async function respondWithNewLink(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const { id: affiliate_id, account } = await callerOf(c)
  const fields = await readFields(c, ownLink)
  checkPage(account, fields.landing_page)
  const link = { affiliate_id, ...fields }
  const made = storeLink({ env: c.env, actor: c.var.actor }, account.id, link, 'affiliate').catch(
    async (error) => {
      if (!isAssertionFailure(error)) throw error
      throw await tooMany(c, { account: account.id, affiliate_id, link_id: '' })
    },
  )
  return c.json(await showTo(c, await made), 201)
}

/** Returns the link of the affiliate that the path names. That of another one does not exist. */
async function findOwnLink(c: Context<AppEnv>, account: string, affiliate_id: string) {
  const link = await findAccountLink(c.env.DB, account, c.req.param('link_id') ?? '')
  if (link?.affiliate_id === affiliate_id) return link
  throw new ApiError('not_found', { detail: 'You have no such link.' })
}

/** Responds with a link of the affiliate. */
export async function respondWithLink(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const { id: affiliate_id, account } = await callerOf(c)
  const link = await findOwnLink(c, account.id, affiliate_id)
  return c.json(await showTo(c, presentLink(c.env, link)))
}

/** Changes a link of the affiliate. */
export async function respondWithChangedLink(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const { id: affiliate_id, account } = await callerOf(c)
  const link = await findOwnLink(c, account.id, affiliate_id)
  const change = await readFields(c, linkChange)
  checkPage(account, change.landing_page)
  await storeLinkChange({ env: c.env, actor: c.var.actor }, account.id, link, {
    change,
    by: 'affiliate',
  }).catch(async (error) => {
    if (!isAssertionFailure(error)) throw error
    const { disabled_by } = await findOwnLink(c, account.id, affiliate_id)
    if (disabled_by !== 'team') throw await tooMany(c, { ...link, account: account.id })
    const message = 'The firm has disabled this link. Ask the firm.'
    throw validationFailed([{ pointer: '/disabled', code: 'not_applicable', message }])
  })
  const changed = await findOwnLink(c, account.id, affiliate_id)
  return c.json(await showTo(c, presentLink(c.env, changed)))
}
