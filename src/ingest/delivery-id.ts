import { decodeTime, ulid } from 'ulid'

const PREFIX = 'dlv_'

/** A new delivery's id: a ULID, which begins with the time and so sorts by it. */
export const newDeliveryId = (now: number) => PREFIX + ulid(now)

/** When the delivery of this id was received, in milliseconds. */
export const receivedAt = (id: string) => decodeTime(id.slice(PREFIX.length))

/** Smaller than the id of any delivery that was received from then on. */
export const idsFrom = (time: number) => PREFIX + ulid(Math.max(time, 0)).slice(0, 10)

/** How long the log of deliveries is kept. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000
