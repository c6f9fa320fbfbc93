import { grantOf, settingsOf } from '../auth/grant.ts'
import { asked } from '../auth/object-retry.ts'
import { brandGate } from '../auth/token-gate.ts'
import { findAccount, notePushed, unpushed } from '../db/directory/accounts.ts'
import { brandTokensOf, clientsOf } from '../db/directory/credentials.ts'
import { definitionsOf } from '../db/directory/event-definitions.ts'
import { ApiError, faultOf } from '../errors.ts'

/** A Brand Token that ended longer ago than this has been told so by many tries. */
const TOLD_MS = 7 * 24 * 60 * 60 * 1000

/**
 * Tells the live tokens of an account what the database says of it: new ones open, others end, and
 * all learn its settings. It may be told any number of times; a cron tells what could not be told.
 * `since`: which Brand Tokens are told that they ended, from that time on (milliseconds).
 */
export async function push(env: Env, id: string, since = Date.now() - TOLD_MS): Promise<void> {
  const account = await findAccount(env.DB, id)
  if (!account) return
  const [definitions, tokens, clients] = await Promise.all([
    definitionsOf(env.DB, id),
    brandTokensOf(env.DB, id),
    clientsOf(env.DB, id),
  ])
  const settings = settingsOf(account, definitions)
  const grant = grantOf(account, null, 'read write', definitions)
  await Promise.all([
    ...tokens
      .filter(({ ends_at }) => ends_at === null || ends_at > since)
      .map(({ digest, ends_at }) => {
        const gate = () => env.TOKEN_GATE.getByName(brandGate(digest))
        return asked(() =>
          ends_at !== null && ends_at <= Date.now() ? gate().end() : gate().open(grant, ends_at),
        )
      }),
    ...clients.map(({ client_id, version }) =>
      asked(() => env.CLIENT_GATE.getByName(`client:${client_id}`).settle(version, settings)),
    ),
  ])
  await notePushed(env.DB, id, account.version)
}

/**
 * Tells them, or says that it could not be told now: it is stored, and a cron will tell it. What was
 * made must not be lost over it, a secret above all.
 */
export async function pushed(
  env: Env,
  id: string,
  since?: number,
): Promise<'now' | 'within a minute'> {
  try {
    await push(env, id, since)
    return 'now'
  } catch (error) {
    console.error(JSON.stringify({ fault: faultOf(error), untold: id }))
    return 'within a minute'
  }
}

/** The same for what has no other answer: nobody shall believe that it has taken effect. */
export async function pushedNow(env: Env, id: string): Promise<void> {
  if ((await pushed(env, id)) === 'now') return
  throw new ApiError('unavailable', {
    detail: 'It is stored, and takes effect within a minute. To repeat it does no harm.',
    headers: { 'Retry-After': '10' },
  })
}

/** Tells what could not be told when it changed. */
export async function pushAll(env: Env): Promise<void> {
  for (const id of await unpushed(env.DB)) await pushed(env, id)
}
