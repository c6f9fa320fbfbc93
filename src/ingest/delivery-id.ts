import { decodeTime, ulid } from 'ulid'

const PREFIX = 'dlv_'

/** A new delivery's id: a ULID, which begins with the time and so sorts by it. */
export const newDeliveryId = (now: number) => PREFIX + ulid(now)

/** When the delivery of this id was received, in milliseconds. */
export const deliveryTime = (id: string) => decodeTime(id.slice(PREFIX.length))

/** Smaller than the id of any delivery that was received from then on. */
export const firstIdAt = (time: number) => PREFIX + ulid(Math.max(time, 0)).slice(0, 10)

/** How long the log of deliveries is kept. */
export const DELIVERY_LOG_MS = 30 * 24 * 60 * 60 * 1000
