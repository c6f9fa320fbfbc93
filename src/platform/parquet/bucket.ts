import { unavailable } from '../errors.ts'
import { withRetry } from '../retry.ts'

// Objects are named by the SHA-256 of their bytes: a reader never sees half of one, and equal bytes are written
// once. R2 keeps the digest beside the object and verifies it while it is written.

const toHex = (bytes: ArrayBuffer) => new Uint8Array(bytes).toHex()

/** Returns the SHA-256 of bytes, in hex. */
export const digestOf = async (bytes: BufferSource): Promise<string> =>
  toHex(await crypto.subtle.digest('SHA-256', bytes))

/**
 * Returns the bucket for the objects of an account whose records are in a jurisdiction: `EXPORTS_EU` for `eu`.
 *
 * @throws ApiError `unavailable` if the deployment lacks the bucket: objects never leave their jurisdiction.
 */
export function resolveBucket(env: Env, jurisdiction: string | null): R2Bucket {
  const binding = jurisdiction === null ? 'EXPORTS' : `EXPORTS_${jurisdiction.toUpperCase()}`
  const bucket = (env as unknown as Record<string, R2Bucket | undefined>)[binding]
  if (!bucket) throw unavailable(new Error(`No R2 binding has the name ${binding}.`))
  return bucket
}

/** An object that is not what its name says. It must not be used. */
export class DamagedObject extends Error {
  override name = 'DamagedObject'

  constructor(key: string, cause: 'missing' | 'size' | 'digest') {
    super(`The object ${key} is damaged: ${cause}.`)
  }
}

/** R2 has too many requests, at all (10058) or for this object: a retry at once would add to them. */
const OVERLOADED = /overloaded|\(10058\)$/

/** Calls R2, with retries: all of these calls may be repeated. */
const withR2Retry = <T>(call: () => Promise<T>): Promise<T> =>
  withRetry(call, (error) => {
    if (error instanceof DamagedObject) return 'rethrow'
    return error instanceof Error && OVERLOADED.test(error.message) ? 'unavailable' : 'retry'
  })

/** What is known about an object apart from R2. */
export interface KnownObject {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
}

/** Returns whether an object of R2 has the size and the digest that it had when it was written. */
const isGenuine = (object: R2Object, { bytes, sha256 }: KnownObject): boolean =>
  object.size === bytes &&
  object.checksums.sha256 !== undefined &&
  toHex(object.checksums.sha256) === sha256

/**
 * Throws unless R2 has the object with its size and digest.
 *
 * @throws DamagedObject
 */
function verify<T extends R2Object>(object: T | null, known: KnownObject): T {
  if (!object) throw new DamagedObject(known.key, 'missing')
  if (object.size !== known.bytes) throw new DamagedObject(known.key, 'size')
  if (!isGenuine(object, known)) throw new DamagedObject(known.key, 'digest')
  return object
}

/**
 * Stores bytes under a key that ends with their digest. An object that is there already and is genuine is not
 * written again. R2 refuses bytes that lack the digest.
 *
 * @returns whether the object was written.
 */
export async function putObject(
  bucket: R2Bucket,
  known: KnownObject,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const stored = await withR2Retry(() => bucket.head(known.key))
  if (stored && isGenuine(stored, known)) return false
  await withR2Retry(() => bucket.put(known.key, bytes, { sha256: known.sha256 }))
  return true
}

/**
 * Reads a whole object as a stream.
 *
 * @throws DamagedObject if it is missing, or its size or digest is not that of `known`.
 */
export const getObject = (bucket: R2Bucket, known: KnownObject): Promise<R2ObjectBody> =>
  withR2Retry(async () => verify(await bucket.get(known.key), known))

/** Deletes objects. Keys without an object are ignored. */
export async function deleteObjects(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  // R2 deletes at most 1000 objects in one call.
  for (let i = 0; i < keys.length; i += 1000) {
    await withR2Retry(() => bucket.delete(keys.slice(i, i + 1000)))
  }
}

/** The objects that R2 lists in one call, and the calls that one invocation makes. */
const LIST_LIMITS = { objects: 1000, calls: 20 }

/** Yields the objects whose keys begin with a text, at most 20,000. */
export async function* listObjects(bucket: R2Bucket, prefix: string): AsyncGenerator<R2Object[]> {
  let cursor: string | undefined
  for (let call = 0; call < LIST_LIMITS.calls; call++) {
    const options = { prefix, limit: LIST_LIMITS.objects, ...(cursor !== undefined && { cursor }) }
    const found = await withR2Retry(() => bucket.list(options))
    if (found.objects.length > 0) yield found.objects
    if (!found.truncated) return
    cursor = found.cursor
  }
}

/** Deletes the objects whose keys begin with a text, at most 20,000. */
export async function deleteAll(bucket: R2Bucket, prefix: string): Promise<void> {
  for await (const objects of listObjects(bucket, prefix)) {
    await deleteObjects(
      bucket,
      objects.map(({ key }) => key),
    )
  }
}
