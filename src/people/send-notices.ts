import { resolveDatabase } from '../platform/db/database.ts'
import { throughDoor } from '../platform/db/door.ts'
import { findAccount, listBindings } from '../platform/directory/accounts.ts'
import {
  claimNotice,
  endNoticeAttempt,
  type NoticeOutcome,
  type QueuedNotice,
  type StoredNotice,
} from '../platform/directory/outbox.ts'
import { loadWords } from '../platform/documents/texts.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { errorName } from '../platform/errors.ts'
import type { Language } from '../platform/languages.ts'
import { PAUSES_MS } from '../webhooks/limits.ts'
import { readFacts } from './db/facts.ts'
import {
  addressDigest,
  latestNotices,
  type Person,
  personsOfAffiliate,
  readStops,
  stopMail,
  stoppedFor,
} from './db/recipients.ts'
import { isSecurity, type Mail, mailOf } from './mail.ts'
import { teamOf } from './team.ts'

/** The limits of sending. */
export const SENDING = {
  /** The time for an e-mail to be taken by the platform, in milliseconds. */
  takenMs: 10_000,
}

/** The time after which an attempt that has not ended counts as interrupted, in milliseconds. */
const INTERRUPTED_AFTER_MS = 60_000

/** How long a notice waits while the platform's quota is spent, in milliseconds. */
const QUOTA_MS = HOUR_MS

/** Returns whom a notice reaches by e-mail now. */
async function personsOf(
  env: Env,
  db: D1Database,
  notice: StoredNotice,
): Promise<readonly Person[]> {
  const [, to = '', id = ''] = /^(\w+):(.*)$/s.exec(notice.recipient) ?? []
  switch (to) {
    case 'affiliate':
      return personsOfAffiliate(db, notice.account, id)
    case 'role':
    case 'member':
      return teamOf(env, notice)
    default:
      return [{ address: id, language: (notice.language ?? 'en') as Language }]
  }
}

/** Why the platform did not take an e-mail: its code, or the name of the error. */
const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : errorName(error)
}

/** The codes by which the platform says that a quota is spent: it is no failure. */
const SPENT: readonly string[] = ['E_RATE_LIMIT_EXCEEDED', 'E_DAILY_LIMIT_EXCEEDED']

/** The code by which the platform says that the address has bounced, or complained, before. */
const SUPPRESSED = 'E_RECIPIENT_SUPPRESSED'

/** The code of an e-mail that the platform has not taken in time. */
const TIMEOUT = 'timeout'

/** Sends an e-mail. Returns null, or the code of what failed. */
async function send(env: Env, mail: Mail): Promise<string | null> {
  const late = scheduler.wait(SENDING.takenMs).then(() => TIMEOUT)
  const sending = env.EMAIL.send(mail).then(() => null, codeOf)
  return Promise.race([sending, late])
}

/** An address that could end its header field is none. */
const isAddress = (text: string) => /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/u.test(text)

/** Returns the e-mails of a notice, as they are sent at `now` (milliseconds); null if its cause is no more. */
async function mailsOf(
  env: Env,
  db: D1Database,
  notice: StoredNotice,
  now: number,
): Promise<Mail[] | null> {
  const account = notice.account === '' ? null : await findAccount(env.DB, notice.account)
  if (notice.account !== '' && (!account || account.disabled === 1)) return null
  const [facts] = await readFacts(db, [notice], now)
  if (!facts) return null
  const persons = await personsOf(env, db, notice)
  return Promise.all(persons.map((one) => mailOf(env, account, notice, facts, one, now)))
}

/** Sends the e-mails of a notice to each address that has not got it. One that fails holds up the others only if the service is down. */
async function attempt(env: Env, db: D1Database, notice: StoredNotice): Promise<NoticeOutcome> {
  const sent: string[] = JSON.parse(notice.sent)
  const mails = await mailsOf(env, db, notice, Date.now())
  if (!mails) return { sent, error: 'no_cause', next_at: null }
  const digests = await Promise.all(mails.map(({ to }) => addressDigest(to)))
  const stops = await readStops(env.DB, stoppedFor(notice), digests)
  let failed: NoticeOutcome | null = null
  for (const [i, mail] of mails.entries()) {
    const address = digests[i] ?? ''
    const stop = stops.get(address)
    const isStopped = stop === 'bounced' || (stop === 'off' && !isSecurity(notice))
    if (sent.includes(address) || isStopped || !isAddress(mail.to)) continue
    const error = await send(env, mail)
    if (error === SUPPRESSED) {
      await stopMail(env.DB, { account: '', address, reason: 'bounced' })
    } else if (error !== null) {
      const waits = SPENT.includes(error)
      const pause = waits ? QUOTA_MS : PAUSES_MS[notice.attempts - 1]
      failed = { sent, error, waits, next_at: pause === undefined ? null : Date.now() + pause }
      // Others would wait as long, and the attempt would count as interrupted.
      if (waits || error === TIMEOUT) break
    } else sent.push(address)
  }
  return failed ?? { sent, error: null, next_at: null }
}

/** Sends a notice that was queued, unless another attempt has begun, and stores the result. */
async function sendNotice(env: Env, queued: QueuedNotice): Promise<void> {
  const db = resolveDatabase(env, queued.binding)
  await loadWords(env)
  const notice = await claimNotice(db, queued, Date.now() + INTERRUPTED_AFTER_MS)
  if (!notice) return
  const outcome = await attempt(env, db, notice)
  await endNoticeAttempt(throughDoor(db, notice.account), notice, outcome)
}

/** Returns the latest e-mails as they would be sent now, whether or not they were. For development: their links sign in. */
export async function latestMails(env: Env, now: number): Promise<(Mail & { at: number })[]> {
  await loadWords(env)
  const bindings = await listBindings(env.DB)
  const found = bindings.map(async (binding) => {
    const db = resolveDatabase(env, binding)
    const mails = (await latestNotices(db)).map(async (notice) =>
      ((await mailsOf(env, db, notice, now)) ?? []).map((one) => ({ ...one, at: notice.at })),
    )
    return (await Promise.all(mails)).flat()
  })
  return (await Promise.all(found)).flat().sort((a, b) => b.at - a.at)
}

/** What the platform tells of an e-mail that was sent. */
export interface MailEvent {
  readonly type: string
  readonly payload: {
    readonly recipient: string
    readonly bounce?: { readonly type: string }
  }
}

/** Stops notices to an address that does not exist, or whose person has complained. */
async function heed(env: Env, { type, payload }: MailEvent): Promise<void> {
  const isHard = type.endsWith('.message.bounced') && payload.bounce?.type === 'hard'
  if (!isHard && !type.endsWith('.message.complained')) return
  const address = await addressDigest(payload.recipient)
  await stopMail(env.DB, { account: '', address, reason: 'bounced' })
}

/**
 * Begins to send the notices of messages of the queue, which retries none: the outbox has what is to be sent, and a cron
 * queues again what was interrupted. `context` waits for the platform's service, and the queue does not. What the platform
 * tells of e-mails is heeded at once, or told again.
 */
export async function sendNotices(
  messages: readonly Message<QueuedNotice | MailEvent>[],
  env: Env,
  context: Pick<ExecutionContext, 'waitUntil'>,
): Promise<void> {
  for (const message of messages) {
    const { body } = message
    const failed = (error: unknown) => {
      console.error(JSON.stringify({ fault: errorName(error), delayed: 'notices' }))
    }
    if ('notice' in body) context.waitUntil(sendNotice(env, body).catch(failed))
    else {
      await heed(env, body).catch((error) => {
        failed(error)
        message.retry()
      })
    }
  }
}
