import { passkeyOrigin } from '../development.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { digest, randomText, SECRET_LENGTH } from './secret.ts'
import { signText, verifyText } from './sign-text.ts'

// Links of notices are made when a notice is sent, from an id and a key: nobody who reads the outbox has one. Each is
// good for one act. Opening it never acts: a mail scanner opens all.

/** What links are good for, and for how long, in milliseconds. */
const LASTS_MS = {
  /** To register a passkey, by the digest of an invitation; its account is the home of the pages. */
  invitation: 72 * HOUR_MS,
  /** To prove the address of an application, by its id. */
  application: 72 * HOUR_MS,
  /** To block bank details, by the id of the notice of their change. */
  block: 14 * DAY_MS,
  /** To switch notices off, by the digest of the address: senders must accept it for a month. */
  off: 30 * DAY_MS,
} as const

/** What a link is good for. */
export type LinkAct = keyof typeof LASTS_MS

/** What a link names; the account of the team is ''. */
export interface Linked {
  readonly account: string
  readonly id: string
}

/** Returns the token of a link that is made at `now` (milliseconds). */
export const linkToken = (env: Env, act: LinkAct, { account, id }: Linked, now: number) =>
  signText(env, `notice ${act}`, JSON.stringify([account, id, now + LASTS_MS[act]]))

/** Returns what a token names at `now` (milliseconds); null if it was not issued for this act, or has ended. */
export async function readLink(
  env: Env,
  act: LinkAct,
  token: string,
  now: number,
): Promise<Linked | null> {
  const text = await verifyText(env, `notice ${act}`, token)
  if (text === null) return null
  const [account, id, until]: [string, string, number] = JSON.parse(text)
  return until > now ? { account, id } : null
}

/** Makes the link of an invitation to hand over, and what is stored of it. `home` is that of the pages. */
export async function newInvitationLink(env: Env, home: string, now: number) {
  const secret = randomText(SECRET_LENGTH)
  return {
    id: crypto.randomUUID(),
    digest: await digest(secret),
    created_at: new Date(now).toISOString(),
    ends_at: now + LASTS_MS.invitation,
    // The part of an address after `#` is never sent to a server, so no log of one has the secret.
    url: new URL(`${home}/invitation#${secret}`, passkeyOrigin(env)).href,
  }
}

/** Returns the digest of the invitation that a secret opens: one that was handed over, or the token of a notice. */
export async function digestOfInvitation(
  env: Env,
  home: string,
  secret: string,
  now: number,
): Promise<string> {
  const linked = await readLink(env, 'invitation', secret, now)
  return linked?.account === home ? linked.id : digest(secret)
}
