import { findAccountLink, listLinks, MAX_ACTIVE_LINKS, MAX_LINKS } from '../attribution/db/links.ts'
import { isAllowedPage, linkChange, ownLink } from '../attribution/operations/link-fields.ts'
import {
  link,
  link_id,
  presentLink,
  storeLink,
  storeLinkChange,
} from '../attribution/operations/links.ts'
import { isAssertionFailure } from '../platform/db/retry.ts'
import { landingPagesOf } from '../platform/directory/accounts.ts'
import { ApiError } from '../platform/errors.ts'
import { type Call, list, operation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { asCsv, csvWords } from '../platform/money/csv-list.ts'
import { described } from '../platform/validation/described.ts'

// Links that affiliates make and change: by the functions of the team, within what the account allows.

/** Refuses a landing page that the account does not allow its affiliates. */
function checkPage({ affiliate }: Call<'affiliate'>, page: string | undefined): void {
  const allowed = landingPagesOf(affiliate.account)
  if (page === undefined || isAllowedPage(page, allowed)) return
  const message =
    allowed.length === 0
      ? 'The account has not named pages to which your links may lead. Ask the firm.'
      : `Your links may lead to these pages, and to pages below them: ${allowed.join(' ')}`
  throw validationFailed([{ pointer: '/landing_page', code: 'pattern', message }])
}

/** The error for a batch that was aborted, because the affiliate has too many links. */
const tooMany = () =>
  validationFailed([
    {
      pointer: '',
      code: 'maximum',
      message: `You have as many links as you can: at most ${MAX_ACTIVE_LINKS} active ones, and ${MAX_LINKS} in all. Disable one of them first, or change one.`,
    },
  ])

/** Returns a link of the affiliate. That of another one does not exist. */
async function findOwnLink({ env, grant, affiliate }: Call<'affiliate'>, id: string) {
  const found = await findAccountLink(env.DB, grant.account, id)
  if (found?.affiliate_id === affiliate.id) return found
  throw new ApiError('not_found', { detail: 'You have no such link.' })
}

const ofLinks = { of: 'affiliate', topic: 'affiliate-tools', path: '/links' } as const
const ofLink = {
  of: 'affiliate',
  topic: 'affiliate-tools',
  path: '/links/{link_id}',
  params: { link_id },
} as const

const COLUMNS = [
  'link_id',
  'url',
  'name',
  'landing_page',
  'pass_query',
  'disabled',
  'disabled_by',
  'created_at',
]

export const listOwnLinks = list({
  ...ofLinks,
  id: 'listOwnLinks',
  files: asCsv('links', COLUMNS),
  words: described(() => ({
    description: 'Lists the links of the affiliate.',
    answer: link,
    files: csvWords(COLUMNS),
  })),
  async list({ env, grant, affiliate }, _filter, page) {
    const found = await listLinks(env.DB, grant.account, affiliate.id, page)
    return { ...found, data: found.data.map((one) => presentLink(env, one)) }
  },
})

export const createOwnLink = operation({
  ...ofLinks,
  id: 'createOwnLink',
  method: 'POST',
  body: ownLink,
  status: 201,
  words: described(() => ({
    description: `Creates a link of the affiliate to a page that the account allows: \`landing_pages\` of \`GET me\`, and the pages below. The affiliate has at most ${MAX_ACTIVE_LINKS} active links, and ${MAX_LINKS} in all. A key needs the scope \`read links\`.`,
    answer: link,
  })),
  run(call, fields) {
    checkPage(call, fields.landing_page)
    const own = { affiliate_id: call.affiliate.id, ...fields }
    return storeLink(call, call.grant.account, own, 'affiliate').catch((error) => {
      throw isAssertionFailure(error) ? tooMany() : error
    })
  },
})

export const getOwnLink = operation({
  ...ofLink,
  id: 'getOwnLink',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a link of the affiliate.',
    answer: link,
  })),
  run: async (call, { link_id: id }) => presentLink(call.env, await findOwnLink(call, id)),
})

export const changeOwnLink = operation({
  ...ofLink,
  id: 'changeOwnLink',
  method: 'PATCH',
  body: linkChange,
  words: described(() => ({
    description:
      'Changes a link of the affiliate, or disables it. Visitors see the change within 60 seconds. The affiliate cannot activate what the firm has disabled. A key needs the scope `read links`.',
    answer: link,
  })),
  async run(call, { link_id: id, ...change }) {
    const stored = await findOwnLink(call, id)
    checkPage(call, change.landing_page)
    const made = { change, by: 'affiliate' } as const
    await storeLinkChange(call, call.grant.account, stored, made).catch(async (error) => {
      if (!isAssertionFailure(error)) throw error
      const { disabled_by } = await findOwnLink(call, id)
      if (disabled_by !== 'team') throw tooMany()
      const message = 'The firm has disabled this link. Ask the firm.'
      throw validationFailed([{ pointer: '/disabled', code: 'not_applicable', message }])
    })
    return presentLink(call.env, await findOwnLink(call, id))
  },
})

/** The operations on the links of the affiliate who calls. */
export const OWN_LINK_OPERATIONS = [listOwnLinks, createOwnLink, getOwnLink, changeOwnLink]
