import { accountDatabase, resolveDatabase } from '../platform/db/database.ts'
import { placesOf } from '../platform/directory/accounts.ts'
import { errorName } from '../platform/errors.ts'
import { type QueuedMessage, queueDue } from './causes.ts'
import { urlProblem } from './check-url.ts'
import { type ClaimedMessage, claimMessages, deadLetterMessages, storeOutcome } from './db/queue.ts'
import { PAUSES_MS, WEBHOOK_LIMITS } from './limits.ts'
import { decryptSecret, signMessage } from './secrets.ts'

/** An encrypted secret of an endpoint, and when it ends in milliseconds; null for the current one. */
interface StoredSecret {
  readonly encrypted: string
  readonly endsAt: number | null
}

/** Returns the secrets of an endpoint that are valid at `now` (milliseconds), the current one first. */
export const validSecrets = (secrets: string, now: number): StoredSecret[] =>
  (JSON.parse(secrets) as [string, number | null][])
    .map(([encrypted, endsAt]) => ({ encrypted, endsAt }))
    .filter(({ endsAt }) => endsAt === null || endsAt > now)

/** Returns secrets in the form in which an endpoint stores them. */
export const storedSecrets = (secrets: readonly StoredSecret[]): string =>
  JSON.stringify(secrets.map(({ encrypted, endsAt }) => [encrypted, endsAt]))

/** Returns the secrets that sign the requests of an endpoint now, the current one first. */
export async function openSecrets(env: Env, account: string, endpoint: string, secrets: string) {
  const opened = validSecrets(secrets, Date.now()).map(({ encrypted }) =>
    decryptSecret(env, account, endpoint, encrypted),
  )
  return (await Promise.all(opened)).filter((secret) => secret !== null)
}

/** The time after which an attempt that has not ended counts as interrupted, in milliseconds. */
const INTERRUPTED_AFTER_MS = 3 * WEBHOOK_LIMITS.attemptMs

/** The status with which a receiver ends its webhook. */
const GONE = 410

/** Where an event is sent, and its data as JSON. */
interface Addressed {
  /** Null if a value makes the URL one that is not allowed. */
  readonly url: string | null
  readonly data: string
}

/** Returns where the event of a postback is sent, and what its affiliate may see of it. */
export type AddressPostback = (
  env: Env,
  message: ClaimedMessage & { readonly affiliate_id: string },
) => Promise<Addressed>

/**
 * Begins to send the events of messages of the queue, all at the same time. `context` waits for the receivers, and
 * the queue does not: so no receiver, however slow, delays the batches after this one, which have events of
 * other accounts. The queue retries nothing: the database stores what is to be sent, and a cron queues again
 * what was interrupted.
 */
export async function sendWebhookBatch(
  batch: readonly Message<QueuedMessage>[],
  env: Env,
  context: Pick<ExecutionContext, 'waitUntil'>,
  address: AddressPostback,
): Promise<void> {
  const byBinding = Map.groupBy(batch, ({ body }) => body.binding)
  await Promise.all(
    [...byBinding].map(async ([binding, messages]) => {
      const bodies = messages.map(({ body }) => body)
      const begun = await logDelay(binding, () => beginAttempts(env, binding, bodies, address))
      if (begun) context.waitUntil(logDelay(binding, begun))
    }),
  )
}

/** Runs a task on a database. A failure is logged: the cron of each minute queues its messages again. */
async function logDelay<T>(binding: string, task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task()
  } catch (error) {
    console.error(JSON.stringify({ fault: errorName(error), delayed: 'webhooks', binding }))
    return undefined
  }
}

/**
 * Claims messages of a database. Returns a function that sends their events. Those of an account that has moved since
 * they were queued are left out: a cron queues them again where it is now.
 */
async function beginAttempts(
  env: Env,
  binding: string,
  messages: readonly QueuedMessage[],
  address: AddressPostback,
): Promise<() => Promise<unknown>> {
  const db = resolveDatabase(env, binding)
  const [claimed, places] = await Promise.all([
    claimMessages(db, messages, Date.now() + INTERRUPTED_AFTER_MS),
    placesOf(
      env.DB,
      messages.map(({ account }) => account),
    ),
  ])
  const mayBeSent = (one: ClaimedMessage) =>
    one.url !== null && one.type !== null && places.get(one.account)?.disabled === 0
  const [sent, dead] = [claimed.filter(mayBeSent), claimed.filter((one) => !mayBeSent(one))]
  if (dead.length > 0) await deadLetterMessages(db, dead)
  // After each attempt more events are queued, so that they need not wait for the slowest one of the batch.
  return () =>
    Promise.all(
      sent.map(async (message) => {
        await attemptMessage(env, binding, message, address)
        await queueDue(env, binding, message.account, Date.now())
      }),
    )
}

/** Sends an event once and stores the result of the attempt. */
async function attemptMessage(
  env: Env,
  binding: string,
  message: ClaimedMessage,
  address: AddressPostback,
): Promise<void> {
  const { account, endpoint, event, attempts, secrets, type, at: causedAt, affiliate_id } = message
  const { url, data } =
    affiliate_id === null ? message : await address(env, { ...message, affiliate_id })
  const at = Date.now()
  const open = await openSecrets(env, account, endpoint, secrets ?? '[]')
  const outgoing = { id: event, type: type ?? '', at: causedAt, data }
  const target = { url, method: message.method ?? 'POST', isChecked: affiliate_id !== null }
  const { answer, error } = await sendEvent(env, target, open, outgoing)
  const pause = error === null || answer === GONE ? undefined : PAUSES_MS[attempts - 1]
  const next_at = pause === undefined ? null : Date.now() + pause
  const disables = disableReason(message, { answer, error }, at)
  // If the account moves, this fails: the event is sent again after the move, with the same id.
  const db = accountDatabase(env, { id: account, binding })
  const attempted = { account, endpoint, event, attempt: attempts, at }
  await storeOutcome(db, { ...attempted, answer, error, next_at, disables })
}

/** Returns why the result of an attempt disables its endpoint; null if it does not. */
function disableReason(
  { failing_since }: ClaimedMessage,
  { error, answer }: Omit<AttemptResult, 'body'>,
  now: number,
): 'gone' | 'failing' | null {
  if (error === null) return null
  if (answer === GONE) return 'gone'
  const isLasting = failing_since !== null && now - failing_since >= WEBHOOK_LIMITS.failingMs
  return isLasting ? 'failing' : null
}

/** An event as it is sent. */
interface OutgoingEvent {
  readonly id: string
  readonly type: string
  /** When it was caused, in milliseconds. */
  readonly at: number
  /** The data as JSON. */
  readonly data: string
}

/** Why attempts fail. */
export const ATTEMPT_ERRORS = [
  'timeout',
  'connection_failed',
  'redirect',
  'http_status',
  'url_not_allowed',
  'no_secret',
] as const

/** Why an attempt failed. */
export type AttemptError = (typeof ATTEMPT_ERRORS)[number]

/** The result of an attempt. */
interface AttemptResult {
  /** The status of the response; null without one. */
  readonly answer: number | null
  /** Null after a success. */
  readonly error: AttemptError | null
  /** The first characters of the response, if they were asked for. */
  readonly body: string
}

/** Returns the body of an event. */
const bodyOf = ({ type, at, data }: OutgoingEvent): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(at).toISOString()}","data":${data}}`

/** Where an event is sent. */
interface Target {
  /** Null: the URL is not allowed. */
  readonly url: string | null
  readonly method: 'GET' | 'POST'
  /** Whether the URL is that of a postback, which was checked before its macros got values. */
  readonly isChecked: boolean
}

/** Returns the header fields and the body of a request, signed with each of `secrets`; GET has neither. */
async function signedParts(
  secrets: readonly string[],
  event: OutgoingEvent,
  timestamp: number,
): Promise<RequestInit> {
  const body = bodyOf(event)
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': await signMessage(secrets, { id: event.id, timestamp, body }),
  }
  return { headers, body }
}

/**
 * Sends an event once, signed with each of `secrets`. Redirects are not followed, because they could lead
 * to an address that is not allowed. Of the body of the response the first `shown` characters are read.
 */
export async function sendEvent(
  env: Env,
  { url, method, isChecked }: Target,
  secrets: readonly string[],
  event: OutgoingEvent,
  shown = 0,
): Promise<AttemptResult> {
  if (url === null || (!isChecked && urlProblem(url, env) !== null)) {
    return { answer: null, error: 'url_not_allowed', body: '' }
  }
  if (method === 'POST' && secrets.length === 0)
    return { answer: null, error: 'no_secret', body: '' }
  const timestamp = Math.floor(Date.now() / 1000)
  try {
    const parts = method === 'POST' ? await signedParts(secrets, event, timestamp) : {}
    const response = await fetch(url, {
      ...parts,
      method,
      headers: { ...parts.headers, 'User-Agent': 'Tributary-Webhooks/1' },
      redirect: 'manual',
      signal: AbortSignal.timeout(WEBHOOK_LIMITS.attemptMs),
    })
    const body = shown > 0 ? await beginningOf(response, shown) : ''
    if (shown === 0) response.body?.cancel().catch(() => {})
    return { answer: response.status, error: errorOf(response.status), body }
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return { answer: null, error: isTimeout ? 'timeout' : 'connection_failed', body: '' }
  }
}

/** Returns the first characters of a response. The rest is not read. */
async function beginningOf({ body }: Response, length: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= length) break
  }
  return text.slice(0, length)
}

function errorOf(status: number): AttemptError | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'http_status'
}
