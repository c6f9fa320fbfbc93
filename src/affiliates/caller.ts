import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { viewOf } from '../platform/auth/affiliate-view.ts'
import { type AppEnv, authorize, type ReadAffiliate } from '../platform/auth/authorize.ts'
import { affiliateActor, type CallingAffiliate, type Grant } from '../platform/auth/grant.ts'
import { isSafe } from '../platform/auth/roles.ts'
import { digest, isWellFormed } from '../platform/auth/secret.ts'
import { affiliateKeyObjectName } from '../platform/auth/token-gate.ts'
import { resolveDatabase } from '../platform/db/database.ts'
import { findAccount, pseudonymKeyOf } from '../platform/directory/accounts.ts'
import { readProfiles } from '../platform/directory/affiliates.ts'
import { ApiError } from '../platform/errors.ts'
import { invalidQuery } from '../platform/http/query.ts'
import { acceptedLanguage } from '../platform/languages.ts'
import { findNamedCustomer } from './customer-names.ts'
import { noteUse } from './last-use.ts'
import { openLineId, viewContextOf } from './pseudonyms.ts'
import { visible } from './view.ts'

/**
 * Authenticates an affiliate by their key, applies the rate limit, and decides
 * what they see. Every route of affiliates passes here. A handler reads the affiliate from its grant, and
 * sends what `showTo` returns; a response that did not pass through it never leaves.
 *
 *
 * @throws ApiError `missing_credentials`, `invalid_affiliate_key`, `rate_limited`, `insufficient_scope`,
 * `affiliate_suspended`, `invalid_query`
 */
export const caller = createMiddleware<AppEnv>(async function caller(c, next) {
  const { objectName, accept } = await readKey(c)
  await authorize(c, next, objectName, invalidKey, async (grant) => {
    accept()
    return admit(c, grant)
  }).catch((error) => {
    if (error instanceof ApiError && error.code === 'invalid_affiliate_key') hideRate(c)
    throw error
  })
  const isHidden = c.res.ok && c.res.status !== 204 && !c.var.isShown
  if (isHidden) throw new Error('A response to an affiliate was not filtered.')
})

/** The 401 of a deleted affiliate is that of an invented key, which has no rate. */
function hideRate({ res: { headers } }: Context): void {
  headers.delete('RateLimit')
  headers.delete('RateLimit-Policy')
}

/** A key by the name of its object. `accept` is called once the object has admitted the request. */
interface Credential {
  readonly objectName: string
  readonly accept: () => void
}

async function readKey(c: Context<AppEnv>): Promise<Credential> {
  const [, key] = /^Bearer +(\S+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  if (key === undefined) throw missingKey()
  if (!isWellFormed(key, 'taf')) throw invalidKey()
  const found = await digest(key)
  return {
    objectName: affiliateKeyObjectName(found),
    accept: () => noteUse(c, found, Date.now()),
  }
}

/** An affiliate who calls, and what was read of them. */
export interface Caller {
  readonly grant: Grant
  readonly affiliate: ReadAffiliate
  /** Who makes a change, for the audit log. */
  readonly actor: string
}

/**
 * Reads who calls with a grant. `accepted` is the `Accept-Language` of the request.
 *
 * @throws ApiError `invalid_affiliate_key` if there is no such affiliate any more.
 */
export async function readCaller(
  env: Env,
  grant: Grant,
  accepted: string | undefined,
): Promise<Caller> {
  const { account, affiliate } = grant
  if (!affiliate) throw invalidKey()
  const profilesIn = (binding: string) =>
    readProfiles(resolveDatabase(env, binding), account, [affiliate.id])
  const [row, profiles] = await Promise.all([
    findAccount(env.DB, account),
    profilesIn(grant.binding),
  ])
  if (!row) throw invalidKey()
  // The grant of a session stays as it was at the sign-in, also if the account has moved since.
  const { binding } = row
  const found = binding === grant.binding ? profiles : await profilesIn(binding)
  const profile = found.get(affiliate.id)
  if (!profile) throw invalidKey()
  const view = viewOf(row)
  const pseudonymKey = await pseudonymKeyOf(env.DB, row)
  const { id } = affiliate
  const calling = { ...affiliate, view }
  return {
    grant: { ...grant, binding, affiliate: calling },
    actor: affiliateActor(affiliate),
    affiliate: {
      ...calling,
      account: row,
      profile,
      language: profile.language ?? acceptedLanguage(accepted),
      show: async (answer) => visible(answer, await viewContextOf(answer, view, pseudonymKey, id)),
      lineIdOf: (shown) => openLineId(pseudonymKey, id, shown),
      customerIdOf: (shown) => findNamedCustomer(env, row, id, shown),
    },
  }
}

/** What is asked: by a request, or by a page of the portal. */
export interface Asked {
  readonly method: string
  /** The parameters by name. */
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * Refuses what an affiliate must not ask for. Every call passes here, whichever door it comes through.
 *
 * @throws ApiError `invalid_affiliate_key` if the account is disabled, `insufficient_scope`, `affiliate_suspended`,
 * `invalid_query`.
 */
export function checkCaller({ grant, affiliate }: Caller, { method, params }: Asked): void {
  if (affiliate.account.disabled === 1) throw invalidKey()
  const needed = isSafe(method) ? 'read' : 'links'
  if (!grant.scope.split(' ').includes(needed)) throw insufficientScope(needed)
  if (affiliate.profile.status === 'suspended') throw suspended()
  refuseHidden(params, affiliate.view)
}

/** Refuses parameters that would reveal what is hidden: filters and groups by a hidden value. */
function refuseHidden(
  params: Asked['params'],
  { customer_ids, countries }: CallingAffiliate['view'],
): void {
  const groups = String(params.group_by ?? '').split(',')
  const isUsed = (name: string) => params[name] !== undefined || groups.includes(name)
  if (isUsed('affiliate_id')) {
    throw invalidQuery(
      '`affiliate_id` is not needed: every answer is about the affiliate who asks.',
    )
  }
  for (const name of ['kyc_status_id', 'sales_status_id']) {
    if (isUsed(name)) throw invalidQuery(`Affiliates do not see \`${name}\`.`)
  }
  if (isUsed('customer_id') && customer_ids === 'none') {
    throw invalidQuery(
      'The account does not show the ids of customers, so they cannot be filtered.',
    )
  }
  if (isUsed('country_code') && !countries) {
    throw invalidQuery('The account does not show the countries of customers.')
  }
}

/** Admits the caller of a request. */
async function admit(c: Context<AppEnv>, grant: Grant): Promise<Grant> {
  const caller = await readCaller(c.env, grant, c.req.header('Accept-Language'))
  const { searchParams } = new URL(c.req.url)
  // A repeated parameter is refused by the route.
  checkCaller(caller, { method: c.req.method, params: Object.fromEntries(searchParams) })
  c.set('affiliate', caller.affiliate)
  c.set('actor', caller.actor)
  return caller.grant
}

const CHALLENGE = 'Bearer realm="affiliate"'

const NO_KEY =
  'Send the header `Authorization: Bearer` with the key of an affiliate, which starts with `taf_`.'

const missingKey = () =>
  new ApiError('missing_credentials', {
    detail: NO_KEY,
    headers: { 'WWW-Authenticate': CHALLENGE },
  })

/** Returns the error of a key that is not valid, or of a session that has ended. */
export const invalidKey = () =>
  new ApiError('invalid_affiliate_key', {
    detail: 'The key is malformed, unknown or no longer valid.',
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  })

const suspended = () =>
  new ApiError('affiliate_suspended', {
    detail: 'The firm has suspended the affiliate, who earns on. Ask the firm.',
  })

/** The scope of a key that may read and change. */
const WRITING = 'read links'

const insufficientScope = (needed: 'read' | 'links') => {
  const scope = needed === 'read' ? needed : WRITING
  return new ApiError('insufficient_scope', {
    detail: `This request requires a key with the scope \`${scope}\`.`,
    headers: {
      'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"`,
    },
  })
}
