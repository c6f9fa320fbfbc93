import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { about } from '../about.ts'
import type { Caller } from '../auth/admission.ts'
import { databaseOf } from '../auth/database.ts'
import { isAffiliate } from '../db/affiliates.ts'
import { audited } from '../db/audit.ts'
import { insertLink, type LinkRow, linkOf, listLinks, updateLink } from '../db/links.ts'
import * as f from '../fields.ts'
import { readQuery } from '../ingest/query.ts'
import { newLinkId } from '../tracking/code.ts'
import { accountOf } from './accounts.ts'
import { missing, readFields, refused } from './body.ts'
import { listed } from './listed.ts'

const MAX_ADDRESS = 2000

/** Whether visitors may be led there: a page on the web, with nobody's password in its address. */
function isPage(text: string): boolean {
  if (!URL.canParse(text) || text.length > MAX_ADDRESS) return false
  const { protocol, username, password } = new URL(text)
  return ['https:', 'http:'].includes(protocol) && username === '' && password === ''
}

const landingPage = v.pipe(
  v.string(),
  v.check(
    isPage,
    `pattern an address that begins with https:// or http://, of at most ${MAX_ADDRESS} characters`,
  ),
  v.transform((text) => new URL(text).href),
)

/** What a new link is made of. */
export const newLink = {
  affiliate_id: about(
    f.id,
    'Who is paid for whom it leads; must be configured. For good.',
    'IB-07',
  ),
  landing_page: about(landingPage, 'Where it leads.', 'https://acme.example/start'),
  name: v.optional(about(f.text, 'What people call it.', 'Spring newsletter')),
}

/** What of a link may change. */
export const linkChange = {
  landing_page: v.optional(newLink.landing_page),
  name: v.optional(v.nullable(newLink.name.wrapped)),
  disabled: v.optional(about(v.boolean(), 'Whether visitors are answered 404.')),
}

function present(env: Env, { link_id, disabled, ...link }: LinkRow) {
  return {
    link_id,
    url: new URL(`/go/${link_id}`, env.BASE_URL).href,
    affiliate_id: link.affiliate_id,
    name: link.name,
    landing_page: link.landing_page,
    disabled: disabled === 1,
    created_at: link.created_at,
  }
}

async function ownLink(c: Context<Caller>): Promise<{ account: string; link: LinkRow }> {
  const { id: account } = await accountOf(c)
  const id = c.req.param('link_id') ?? ''
  const link = await linkOf(c.env.DB, account, id)
  if (!link) throw missing('link', id)
  return { account, link }
}

/** Links of an account, each of an affiliate, to a landing page. */
export const links = new Hono<Caller>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await accountOf(c)
    const said = await readFields(c, newLink)
    const { affiliate_id: value } = said
    if (!(await isAffiliate(databaseOf(c.env, binding), account, value))) {
      throw refused([{ pointer: '/affiliate_id', code: 'unknown_affiliate', value }])
    }
    const created_at = new Date().toISOString()
    const link = { link_id: newLinkId(), ...said, name: said.name ?? null, created_at }
    const act = { actor: c.var.actor, action: 'link.create', account, details: link }
    await audited(c.env.DB, act, [insertLink(c.env.DB, account, link)])
    return c.json(present(c.env, { ...link, disabled: 0 }), 201)
  })

  .get('/', (c) =>
    listed(c, 'links', async ({ id }, page) => {
      const found = await listLinks(c.env.DB, id, page)
      return { ...found, data: found.data.map((link) => present(c.env, link)) }
    }),
  )

  .get('/:link_id', async (c) => {
    readQuery(c.req.url)
    return c.json(present(c.env, (await ownLink(c)).link))
  })

  .patch('/:link_id', async (c) => {
    readQuery(c.req.url)
    const { account, link } = await ownLink(c)
    const change = await readFields(c, linkChange)
    const details = { link_id: link.link_id, ...change }
    const act = { actor: c.var.actor, action: 'link.change', account, details }
    // What changes nothing leaves no line behind.
    if (Object.keys(change).length > 0) {
      await audited(c.env.DB, act, [updateLink(c.env.DB, account, link.link_id, change)])
    }
    return c.json(present(c.env, (await ownLink(c)).link))
  })
