import type { Account } from '../../platform/db/schema.ts'
import type { Call } from '../../platform/http/operation.ts'
import { queueSoon } from '../causes.ts'

/**
 * Sends the webhook events that a change of an account has caused, after the response. A cron job sends
 * those that this does not.
 */
export const sendCaused = (
  { env, waitUntil }: Pick<Call, 'env' | 'waitUntil'>,
  { id, binding }: Pick<Account, 'id' | 'binding'>,
) => waitUntil(queueSoon(env, binding, id))
