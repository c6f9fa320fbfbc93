import { WeightedQueue } from './weighted-queue.ts'

const MIB = 1024 * 1024

/** The limit on the weight of one body: what all bodies that are processed may weigh together. */
export const MAX_WEIGHT = 74 * MIB

/**
 * The memory of all requests in an isolate, which has 128 MiB: 116 MiB, and about 10 MiB of code. A
 * request takes leases only in this order, so that no two wait for each other.
 */
export const QUEUES = {
  /** Small bodies from their first byte to their response, before their caller is admitted. */
  unadmitted: new WeightedQueue(4 * MIB),
  /** Small bodies of admitted callers, if the first is full. */
  small: new WeightedQueue(4 * MIB, MIB),
  /** Bodies of up to 2 MiB, while they are read and until they are processed. */
  readMedium: new WeightedQueue(8 * MIB, 4 * MIB),
  /** Larger bodies likewise: two of the maximal size. */
  readLarge: new WeightedQueue(16 * MIB, 8 * MIB),
  /** Responses to reads above 64 KiB, until the client has received them. */
  readResponses: new WeightedQueue(6 * MIB, 3 * MIB),
  /**
   * Bodies that are parsed and stored, unless they are small, and reads of more than 64 KiB. An account has
   * one large body and one large read in process at a time, or several that weigh 6 MiB together. A database
   * works on one request at a time, so a request of another account waits there for at most these.
   */
  process: new WeightedQueue(MAX_WEIGHT, 6 * MIB),
  /** Responses to deliveries above 64 KiB, until the client has received them. */
  deliveryResponses: new WeightedQueue(4 * MIB, 2 * MIB),
}
