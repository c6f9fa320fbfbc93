import { grantOf, settingsOf } from '../auth/grant.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { brandTokenObjectName } from '../auth/token-gate.ts'
import { accountsToPropagate, findAccount, markPropagated } from '../db/directory/accounts.ts'
import { listBrandTokens, listClients } from '../db/directory/credentials.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { ApiError, errorName } from '../errors.ts'

/** A Brand Token that ended longer ago than this has been told so by many tries. */
const ENDED_TOKEN_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Tells the live tokens of an account what the database says of it: new ones open, others end, and
 * all learn its settings. It may be told any number of times; a cron tells what could not be told.
 * `since`: which Brand Tokens are told that they ended, from that time on (milliseconds).
 */
export async function propagate(
  env: Env,
  id: string,
  since = Date.now() - ENDED_TOKEN_MS,
): Promise<void> {
  const account = await findAccount(env.DB, id)
  if (!account) return
  const [definitions, tokens, clients] = await Promise.all([
    listDefinitions(env.DB, id),
    listBrandTokens(env.DB, id),
    listClients(env.DB, id),
  ])
  const settings = settingsOf(account, definitions)
  const grant = grantOf(account, null, 'read write', definitions)
  await Promise.all([
    ...tokens
      .filter(({ ends_at }) => ends_at === null || ends_at > since)
      .map(({ digest, ends_at }) => {
        const gate = () => env.TOKEN_GATE.getByName(brandTokenObjectName(digest))
        return withObjectRetry(() =>
          ends_at !== null && ends_at <= Date.now() ? gate().end() : gate().open(grant, ends_at),
        )
      }),
    ...clients.map(({ client_id, version }) =>
      withObjectRetry(() =>
        env.CLIENT_GATE.getByName(`client:${client_id}`).applySettings(version, settings),
      ),
    ),
  ])
  await markPropagated(env.DB, id, account.version)
}

/**
 * Tells them, or says that it could not be told now: it is stored, and a cron will tell it. What was
 * made must not be lost over it, a secret above all.
 */
export async function propagateSettings(
  env: Env,
  id: string,
  since?: number,
): Promise<'now' | 'within a minute'> {
  try {
    await propagate(env, id, since)
    return 'now'
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), untold: id }))
    return 'within a minute'
  }
}

/** The same for what has no other answer: nobody shall believe that it has taken effect. */
export async function propagateNow(env: Env, id: string): Promise<void> {
  if ((await propagateSettings(env, id)) === 'now') return
  throw new ApiError('unavailable', {
    detail: 'It is stored, and takes effect within a minute. To repeat it does no harm.',
    headers: { 'Retry-After': '10' },
  })
}

/** Tells what could not be told when it changed. */
export async function propagatePending(env: Env): Promise<void> {
  for (const id of await accountsToPropagate(env.DB)) await propagateSettings(env, id)
}
