import { tooSlow } from './body-errors.ts'
import { QUEUES } from './memory-queues.ts'
import { waitAndCheck } from './wait-and-check.ts'
import type { Lease, WeightedQueue } from './weighted-queue.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** The bytes of a body that are read at once. No more are read before the caller is admitted. */
export const HEAD_BYTES = 64 * KIB

/** Above this size, in bytes, at most four of an account's bodies may wait to be read. */
export const LARGE_BODY_BYTES = MIB

/** The size up to which a body is read in the queue for medium ones. */
const MEDIUM_BYTES = 2 * MIB

/** Above this weight at most four of an account's bodies may wait to be processed. */
const WAIT_LIMITED_WEIGHT = 16 * MIB

/** What a small body may weigh: ten times as much per byte if gzipped. */
const BASE_WEIGHT = 8 * KIB
const WEIGHT_PER_BYTE = 16
const WEIGHT_PER_GZIP_BYTE = 160

/** The largest weight that a body may have and still be small. */
const MAX_SMALL_WEIGHT = MIB

/** How long a sender may take to begin, and the rate that it must then keep while others wait. */
const GRACE_MS = 2000
const MIN_BYTES_PER_MS = 1024

/** How long a request may take to store its body, or to wait, before it counts as lost. */
const LEASE_MS = 30_000

/** A promise of the account whose memory a body counts towards. It rejects if the caller is refused. */
export type AdmissionPromise = Promise<{ readonly account: string }>

/** The size of a body before it is read. */
export interface AnnouncedSize {
  /** Bytes; NaN if it is not known. */
  length: number
  isGzip: boolean
  /** The limit on a body, in bytes. */
  limit: number
}

/** The leases of one body. */
export class BodyMemory {
  readonly #admission: AdmissionPromise
  readonly #size: AnnouncedSize
  #queue: WeightedQueue = QUEUES.unadmitted
  #lease: Lease | null = null
  /** The lease of the bytes, until they are decoded. */
  #rawQueue: WeightedQueue = QUEUES.unadmitted
  #rawLease: Lease | null = null
  #since = 0

  constructor(admission: AdmissionPromise, size: AnnouncedSize) {
    this.#admission = admission
    this.#size = size
  }

  /** Waits until the first 64 KiB may be read: before admission if there is room. */
  async startReading(): Promise<void> {
    const { length, isGzip } = this.#size
    const isLong = length > HEAD_BYTES
    const perByte = isGzip ? WEIGHT_PER_GZIP_BYTE : WEIGHT_PER_BYTE
    const weight = isLong
      ? HEAD_BYTES
      : Math.min(
          BASE_WEIGHT + perByte * (Number.isNaN(length) ? HEAD_BYTES : length),
          MAX_SMALL_WEIGHT,
        )
    this.#since = Date.now()
    this.#lease = this.#queue.tryTake(weight, '', this.#since + GRACE_MS)
    if (this.#lease) return
    const { account } = await this.#admission
    if (isLong) return this.continueReading()
    await this.#move(QUEUES.small, { weight, account, isWaitLimited: false })
  }

  /** Waits until the caller is admitted and the rest of the body may be read. */
  async continueReading(): Promise<void> {
    if (this.#isReading()) return
    const { length, isGzip, limit } = this.#size
    await this.#moveToReading((Number.isNaN(length) ? limit : length) + (isGzip ? limit : 0))
  }

  /** Waits until there is room for this many bytes, compressed and decompressed. */
  async decompress(bytes: number): Promise<void> {
    if (bytes > HEAD_BYTES) await this.#admission
    const lease = this.#validLease()
    if (bytes > lease.weight) return this.#moveToReading(bytes)
    this.extend()
    if (this.#isReading()) this.#queue.shrink(lease, bytes)
  }

  /** Waits until a body of this weight may be decoded, parsed and stored. */
  async process(weight: number): Promise<void> {
    const lease = this.#validLease()
    this.extend()
    if (!this.#isReading() && weight <= lease.weight) return this.#queue.shrink(lease, weight)
    const { account } = await this.#admission
    const [rawQueue, rawLease] = [this.#queue, lease]
    this.#rawQueue = rawQueue
    this.#rawLease = rawLease
    this.#lease = await QUEUES.process.take({
      weight,
      account,
      isWaitLimited: weight > WAIT_LIMITED_WEIGHT,
    })
    this.#queue = QUEUES.process
    this.extend()
  }

  /** Releases the lease of the bytes, which are no longer needed once the text is decoded. */
  decoded(): void {
    if (this.#rawLease) this.#rawQueue.release(this.#rawLease)
    this.#rawLease = null
  }

  /** Extends the lease to the time that this many bytes in total may take. */
  received(bytes: number): void {
    const lease = this.#validLease()
    lease.until = Math.max(lease.until, this.#since + GRACE_MS + bytes / MIN_BYTES_PER_MS)
  }

  /** Extends the lease to the time that processing, or waiting for it, may take. */
  extend(): void {
    if (this.#lease) this.#lease.until = Date.now() + LEASE_MS
  }

  /** Releases all memory but the buffer of one read, which is used until the body is drained. */
  discard(): void {
    this.extend()
    if (this.#lease) this.#queue.shrink(this.#lease, HEAD_BYTES)
  }

  /**
   * Waits for the next chunk.
   *
   * @throws ApiError `unavailable` if the lease is revoked meanwhile.
   */
  waitFor<T>(chunk: Promise<T>): Promise<T> {
    return waitAndCheck(chunk, () => this.#validLease())
  }

  /** Releases all leases. */
  release(): void {
    this.decoded()
    if (this.#lease) this.#queue.release(this.#lease)
  }

  #isReading() {
    return this.#queue === QUEUES.readMedium || this.#queue === QUEUES.readLarge
  }

  async #moveToReading(bytes: number) {
    this.extend()
    const { account } = await this.#admission
    const queue = bytes > MEDIUM_BYTES ? QUEUES.readLarge : QUEUES.readMedium
    await this.#move(queue, { weight: bytes, account, isWaitLimited: bytes > LARGE_BODY_BYTES })
  }

  async #move(
    queue: WeightedQueue,
    claim: { weight: number; account: string; isWaitLimited: boolean },
  ) {
    this.extend()
    const lease = await queue.take(claim)
    if (this.#lease) this.#queue.release(this.#lease)
    this.#queue = queue
    this.#lease = lease
    this.#since = Date.now()
    lease.until = this.#since + GRACE_MS
  }

  #validLease(): Lease {
    if (this.#lease && this.#queue.isReserved(this.#lease)) return this.#lease
    throw tooSlow()
  }
}
