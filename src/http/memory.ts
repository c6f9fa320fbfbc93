import { ApiError } from '../errors.ts'
import { tooSlow, unreadResults } from './body-errors.ts'
import { QUEUES } from './memory-queues.ts'
import type { Claim, Lease, WeightedQueue } from './weighted-queue.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** How long a request may read, store or wait before its memory counts as lost, in milliseconds. */
const LEASE_MS = 30_000

/** How long a sender or a client may take to begin while others wait, in milliseconds. */
const GRACE_MS = 2000

/** The time between two checks, in milliseconds. */
const TICK_MS = 1000

/** Waits for `promise`, and meanwhile calls `check` every second, which may throw. */
async function waitAndCheck<T>(promise: Promise<T>, check: () => void): Promise<T> {
  let settled: { value: T } | undefined
  const settling = promise.then((value) => {
    settled = { value }
  })
  settling.catch(() => {}) // Nothing awaits it once `check` has thrown.
  for (;;) {
    await waitOrTick(settling)
    if (settled) return settled.value
    check()
  }
}

/** Waits until `promise` settles, or for `TICK_MS`. */
async function waitOrTick(promise: Promise<unknown>): Promise<void> {
  // Not `scheduler.wait`: its timer costs eight times as much to cancel.
  let timer: number | null = null
  const tick = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, TICK_MS)
  })
  await Promise.race([promise, tick]).finally(() => clearTimeout(timer))
}

/** The rate at which a client must take a response after `GRACE_MS`, while others wait. */
const MIN_SENT_BYTES_PER_MS = 256

/** How long a client may read nothing, even if no other request waits. */
const MAX_STALL_MS = 30_000

/** A response that is being sent, and the lease of its memory; null if there was no room for one. */
export class Sending {
  readonly #queue: WeightedQueue
  readonly #lease: Lease | null
  #since = Date.now()
  #progressAt = 0

  constructor(queue: WeightedQueue, lease: Lease | null) {
    this.#queue = queue
    this.#lease = lease
    this.sent(0)
  }

  /** Extends the lease to the time that the client may take for this many bytes in total. */
  sent(bytes: number): void {
    this.#progressAt = Date.now()
    if (this.#lease) this.#lease.until = this.#since + GRACE_MS + bytes / MIN_SENT_BYTES_PER_MS
  }

  /**
   * Waits until the client has taken a piece of the response.
   *
   * @throws Error if the lease is revoked meanwhile, or if the client takes nothing for 30 seconds.
   */
  waitFor(writing: Promise<void>): Promise<void> {
    return waitAndCheck(writing, () => {
      if (this.#lease && !this.#queue.isReserved(this.#lease)) throw new Error('Others wait')
      if (Date.now() - this.#progressAt >= MAX_STALL_MS) throw new Error('The client reads nothing')
    })
  }

  /** Waits for more rows of the response: that is not the client's time. */
  async readMore<T>(reading: Promise<T>): Promise<T> {
    const start = Date.now()
    if (this.#lease) this.#lease.until = start + LEASE_MS
    try {
      return await reading
    } finally {
      this.#progressAt = Date.now()
      this.#since += this.#progressAt - start
    }
  }

  /** Releases the lease. */
  release(): void {
    if (this.#lease) this.#queue.release(this.#lease)
  }
}

/** The size up to which a response needs no lease, in bytes. */
export const SMALL_RESPONSE_BYTES = 64 * KIB

/** The memory that a byte of rows takes while a response is built: JSON from the database, values, text, bytes. */
const BUILD_WEIGHT = 6

/** The bytes that a byte of rows takes at most in the response, where quotes are escaped. */
const RESPONSE_WEIGHT = 2

/** When to repeat a read that was refused because of others, in seconds. */
const RETRY_AFTER_SECONDS = 10

const tooManyReads = () =>
  new ApiError('unavailable', {
    detail: `Too many large responses are being sent. Responses of up to 64 KiB do not wait: ask for a smaller page or fewer days, and read each response at once.`,
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    cause: new Error('Too many large responses'),
  })

/** The leases of one read: from the first row until the client has received the response. */
export class ReadMemory {
  readonly #claim: Omit<Claim, 'weight'>
  #response: Lease | null = null
  #build: Lease | null = null

  constructor(account: string) {
    // Reads and deliveries of an account do not wait for each other.
    this.#claim = { account: `reads of ${account}`, isWaitLimited: false, refusal: tooManyReads }
  }

  /** Takes leases for this many bytes of rows if there is room at once. Returns whether it did. */
  tryReserve(bytes: number): boolean {
    const { account } = this.#claim
    const until = Date.now() + LEASE_MS
    this.#response = QUEUES.readResponses.tryTake(RESPONSE_WEIGHT * bytes, account, until)
    this.#build = this.#response && QUEUES.process.tryTake(BUILD_WEIGHT * bytes, account, until)
    if (!this.#build) this.release()
    return this.#build !== null
  }

  /**
   * Waits until this many bytes of rows may be read.
   *
   * @throws ApiError `unavailable` after 20 seconds in a queue.
   */
  async reserve(bytes: number): Promise<void> {
    this.release()
    try {
      this.#response = await QUEUES.readResponses.take({
        ...this.#claim,
        weight: RESPONSE_WEIGHT * bytes,
      })
      this.#response.until = Date.now() + LEASE_MS
      this.#build = await QUEUES.process.take({ ...this.#claim, weight: BUILD_WEIGHT * bytes })
      this.#build.until = Date.now() + LEASE_MS
    } catch (error) {
      this.release()
      throw error
    }
  }

  /**
   * Keeps or takes a lease for a response of this many bytes while it is sent.
   *
   * @throws ApiError `unavailable` after 20 seconds in a queue.
   */
  async startSending(bytes: number): Promise<Sending> {
    this.#releaseBuild()
    this.#response ??= await QUEUES.readResponses.take({ ...this.#claim, weight: bytes })
    QUEUES.readResponses.shrink(this.#response, bytes)
    return new Sending(QUEUES.readResponses, this.#response)
  }

  /** Releases all leases. */
  release(): void {
    this.#releaseBuild()
    if (this.#response) QUEUES.readResponses.release(this.#response)
    this.#response = null
  }

  #releaseBuild() {
    if (this.#build) QUEUES.process.release(this.#build)
    this.#build = null
  }
}

/** The bytes of a body that are read at once. No more are read before the caller is admitted. */
export const HEAD_BYTES = 64 * KIB

/** Above this size, in bytes, at most four of an account's bodies may wait to be read. */
const LARGE_BODY_BYTES = MIB

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

/** The rate at which a sender must send a body after `GRACE_MS`, while others wait. */
const MIN_BYTES_PER_MS = 1024

/** A promise of the account whose memory a body counts towards. It rejects if the caller is refused. */
export type CallerPromise = Promise<{ readonly account: string }>

/** The size of a body before it is read. */
interface AnnouncedSize {
  /** Bytes; NaN if it is not known. */
  length: number
  isGzip: boolean
  /** The limit on a body, in bytes. */
  limit: number
}

/** The leases of one body. */
export class BodyMemory {
  readonly #caller: CallerPromise
  readonly #size: AnnouncedSize
  #queue: WeightedQueue = QUEUES.unadmitted
  #lease: Lease | null = null
  /** The lease of the bytes, until they are decoded. */
  #rawQueue: WeightedQueue = QUEUES.unadmitted
  #rawLease: Lease | null = null
  #since = 0

  constructor(caller: CallerPromise, size: AnnouncedSize) {
    this.#caller = caller
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
    const { account } = await this.#caller
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
    if (bytes > HEAD_BYTES) await this.#caller
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
    const { account } = await this.#caller
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
    const { account } = await this.#caller
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

/** The memory of the responses to deliveries of many records. */
const memories = new WeakMap<Request, ResultMemory>()

/**
 * Waits until there is room for a response of about this many bytes, unless it is small.
 *
 * @throws ApiError `unavailable` after 20 seconds, or at once if four deliveries of the account wait.
 */
export async function reserveMemory(
  request: Request,
  account: string,
  bytes: number,
): Promise<void> {
  const memory = new ResultMemory(account)
  await memory.reserve(bytes)
  memories.set(request, memory)
}

/** Returns the memory of the response to a delivery; undefined if none was reserved. */
export const resultMemoryOf = (request: Request): ResultMemory | undefined => memories.get(request)

/** The memory of the response to a delivery, from before the delivery is stored until it is received. */
class ResultMemory {
  readonly #account: string
  #lease: Lease | null = null

  constructor(account: string) {
    this.#account = account
  }

  /** Takes a lease, as `reserveMemory` describes. */
  async reserve(bytes: number): Promise<void> {
    if (bytes <= SMALL_RESPONSE_BYTES) return
    const claim = {
      weight: bytes,
      account: this.#account,
      isWaitLimited: true,
      refusal: unreadResults,
    }
    this.#lease = await QUEUES.deliveryResponses.take(claim)
    this.#lease.until = Date.now() + LEASE_MS
  }

  /** Adjusts the lease to the response, which must be sent even if there is no room for its excess. */
  startSending(bytes: number): Sending {
    const lease = this.#lease
    if (lease && bytes <= lease.weight) QUEUES.deliveryResponses.shrink(lease, bytes)
    else {
      const larger = QUEUES.deliveryResponses.tryTake(bytes, this.#account, Date.now() + LEASE_MS)
      if (larger) this.release()
      this.#lease = larger ?? lease
    }
    return new Sending(QUEUES.deliveryResponses, this.#lease)
  }

  /** Releases the lease. */
  release(): void {
    if (this.#lease) QUEUES.deliveryResponses.release(this.#lease)
    this.#lease = null
  }
}
