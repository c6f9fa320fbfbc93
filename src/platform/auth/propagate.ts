import { findAccount, markPropagated } from '../directory/accounts.ts'
import { type AffiliateKeyRow, keysOfAccount } from '../directory/affiliate-keys.ts'
import {
  type BrandTokenRow,
  type ClientRow,
  listBrandTokens,
  listClients,
} from '../directory/credentials.ts'
import { listDefinitions } from '../directory/event-definitions.ts'
import { listMappedStatuses } from '../directory/status-maps.ts'
import { DAY_MS } from '../durations.ts'
import { ApiError, errorName } from '../errors.ts'
import { viewOf } from './affiliate-view.ts'
import { type Grant, grantOf, settingsOf } from './grant.ts'
import { withObjectRetry } from './object-retry.ts'
import { affiliateKeyObjectName, brandTokenObjectName } from './token-gate.ts'

/** Which ended credentials a propagation includes: those that ended lately, or all, as after a restore. */
type EndedCredentials = 'lately' | 'all'

/** For so long an end is sent again, in milliseconds: it is sent until all objects have received it once. */
const LATELY_MS = 8 * DAY_MS

/** A Brand Token or the key of an affiliate. */
type KeyRow = Pick<BrandTokenRow, 'digest' | 'ends_at'>

const isEnded = ({ ends_at }: KeyRow, now: number) => ends_at !== null && ends_at <= now

/**
 * Sends the state of an account in the database to the objects of its credentials: activates live
 * tokens with the settings, ends the others. Safe to repeat; a cron repeats it until it succeeds.
 */
export async function propagate(
  env: Env,
  id: string,
  ended: EndedCredentials = 'lately',
): Promise<void> {
  const account = await findAccount(env.DB, id)
  if (!account) return
  const now = Date.now()
  const since = ended === 'all' ? 0 : now - LATELY_MS
  const [events, statuses, allTokens, clients, affiliateKeys] = await Promise.all([
    listDefinitions(env.DB, id),
    listMappedStatuses(env.DB, id),
    listBrandTokens(env.DB, id),
    listClients(env.DB, id),
    keysOfAccount(env.DB, id, since),
  ])
  const tokens = allTokens.filter(({ ends_at }) => ends_at === null || ends_at >= since)

  const settings = settingsOf(account, { events, statuses })
  const grant = grantOf(account, null, 'read write', { events, statuses })
  const send = (key: KeyRow, objectName: string, granted: Grant) => {
    const keyObject = () => env.TOKEN_GATE.getByName(objectName)
    return withObjectRetry(() =>
      isEnded(key, now) ? keyObject().end() : keyObject().open(granted, key.ends_at),
    )
  }
  const sendToken = (token: BrandTokenRow) => send(token, brandTokenObjectName(token.digest), grant)
  const sendAffiliateKey = ({ affiliate_id, id: keyId, scope, ...key }: AffiliateKeyRow) =>
    send(key, affiliateKeyObjectName(key.digest), {
      ...grantOf(account, null, scope),
      affiliate: { id: affiliate_id, member: null, key: keyId, view: viewOf(account) },
    })
  const sendClient = ({ client_id, version }: ClientRow) => {
    const clientObject = () => env.CLIENT_GATE.getByName(`client:${client_id}`)
    return withObjectRetry(() => clientObject().applySettings(version, settings))
  }
  await Promise.all([
    ...tokens.map(sendToken),
    ...affiliateKeys.map(sendAffiliateKey),
    ...clients.map(sendClient),
  ])
  await markPropagated(env.DB, id, account.version)
}

/**
 * Propagates the state of an account and returns when it takes effect. A failure is logged and not
 * thrown: the change is stored, a cron propagates it, and a new secret must still be shown.
 */
export async function propagateSettings(
  env: Env,
  id: string,
  ended?: EndedCredentials,
): Promise<'now' | 'within a minute'> {
  try {
    await propagate(env, id, ended)
    return 'now'
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), not_propagated: id }))
    return 'within a minute'
  }
}

/** Propagates the state of an account; throws `unavailable` if the change does not take effect at once. */
export async function propagateNow(env: Env, id: string): Promise<void> {
  if ((await propagateSettings(env, id)) === 'now') return
  throw new ApiError('unavailable', {
    detail: 'The change was stored and takes effect within a minute.',
    headers: { 'Retry-After': '10' },
  })
}
