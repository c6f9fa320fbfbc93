import { ApiError } from '../errors.ts'
import { Gate, type Reservation } from './gate.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** The limit on the weight of one body. */
export const MAX_WEIGHT = 74 * MIB

/**
 * The memory of an isolate, which has 128 MiB, in two parts: bodies that arrive, and what is parsed, stored, built and
 * sent. A body waits for the second part while it holds some of the first, never the other way round.
 */
export const ARRIVING = new Gate(40 * MIB, 20 * MIB)

/** The memory of work: a body from when it has arrived until its response is made, and responses to reads. */
export const WORKING = new Gate(76 * MIB, 6 * MIB)

/** The size up to which a response needs no reservation, in bytes. */
export const SMALL_RESPONSE_BYTES = 64 * KIB

/** The memory that a byte of rows takes while a response is built: JSON, values, text and bytes. */
const BUILD_WEIGHT = 8

const tooManyReads = () =>
  new ApiError('unavailable', {
    detail:
      'Too many large responses are being made. Responses of up to 64 KiB do not wait: ask for a smaller page or fewer days.',
    headers: { 'Retry-After': '10' },
    cause: new Error('Too many large responses'),
  })

/** The memory of one read, while its response is built. */
export class ReadMemory {
  readonly #account: string
  #reservation: Reservation | null = null

  /** All affiliates share that of one account: a firm never waits for its affiliates. */
  constructor(account: string, affiliate?: unknown) {
    // Reads and deliveries of an account do not wait for each other.
    this.#account = affiliate ? 'affiliates' : `reads of ${account}`
  }

  /**
   * Waits until this many bytes of rows may be read, of which each takes `weight` bytes.
   *
   * @throws ApiError `unavailable` if there is no memory in time.
   */
  async reserve(bytes: number, weight = BUILD_WEIGHT): Promise<void> {
    this.release()
    this.#reservation = await WORKING.reserve(this.#account, weight * bytes, tooManyReads)
  }

  /** Releases the memory. */
  release(): void {
    this.#reservation?.release()
    this.#reservation = null
  }
}
