import { ulid, ulidPrefix, ulidTime } from '../platform/db/ulid.ts'
import { DAY_MS } from '../platform/durations.ts'

const PREFIX = 'dlv_'

/** Returns a new delivery id: a ULID, which starts with the time and so sorts by it. */
export const newDeliveryId = (now: number) => PREFIX + ulid(now)

/** Returns when the delivery was received, in milliseconds. */
export const deliveryTime = (id: string) => ulidTime(id.slice(PREFIX.length))

/** Returns a text that sorts before the id of every delivery received at `time` or later. */
export const firstIdAt = (time: number) => PREFIX + ulidPrefix(Math.max(time, 0))

/** How long the log keeps deliveries, in milliseconds. */
export const DELIVERY_LOG_MS = 30 * DAY_MS
