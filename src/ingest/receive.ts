import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { accountDatabase } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import { readBody } from '../platform/http/body.ts'
import { parseJson } from '../platform/http/json.ts'
import { readPrefer } from '../platform/http/prefer.ts'
import { deliveryUrl } from './account-url.ts'
import { answer } from './answer.ts'
import { newDeliveryId } from './delivery-id.ts'
import { readItems } from './read-items.ts'
import type { Resource } from './resource/resource.ts'
import { store } from './store.ts'

/**
 * Receives a delivery. Stores all records or none (lenient: the valid ones) in one batch, and responds with each
 * outcome.
 */
export function receive(
  c: Context<AppEnv>,
  resource: Resource,
  dryRun: boolean,
): Promise<Response> {
  const handling = handle(c, resource, dryRun)
  // If the caller disconnects, the work still finishes: it must release the memory of the body.
  c.executionCtx.waitUntil(handling.catch(() => {}))
  return handling
}

async function handle(c: Context<AppEnv>, resource: Resource, dryRun: boolean): Promise<Response> {
  const { grant } = c.var
  const preferences = readPrefer(c.req.header('Prefer'))
  const idempotencyKey = resource.acceptsIdempotencyKey
    ? readIdempotencyKey(c.req.header('Idempotency-Key'))
    : null
  const body = await readBody(c.req.raw, grant.account)
  try {
    const receivedAt = Date.now()
    const id = newDeliveryId(receivedAt)
    const request = { env: c.env, grant, id, receivedAt, dryRun, preferences, idempotencyKey }
    const delivery = await readItems(
      parseJson(body.takeText(), body.mayBeInexact),
      resource,
      request,
    )
    const db = accountDatabase(c.env, { id: grant.account, binding: grant.binding })
    const decision = await store(db.withSession('first-primary'), resource, delivery)
    c.set('delivery', { delivery_id: delivery.id, outcomes: decision.summary })
    const { applied, minimal } = preferences
    if (applied) c.header('Preference-Applied', applied)
    const url = deliveryUrl(c.env, grant, delivery.id)
    return answer(c, resource, delivery, decision, { url, isMinimal: minimal })
  } finally {
    body.memory.release()
  }
}

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the `Idempotency-Key`, or null if none was sent.
 *
 * @throws ApiError `invalid_request` for a malformed key.
 */
function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (KEY_PATTERN.test(header)) return header
  throw new ApiError('invalid_request', {
    detail: 'The header `Idempotency-Key` must have 1 to 255 visible ASCII characters.',
  })
}
