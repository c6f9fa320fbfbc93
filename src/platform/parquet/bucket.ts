import { unavailable } from '../errors.ts'
import { withRetry } from '../retry.ts'

// Objects are named by the SHA-256 of their bytes, which R2 verifies while it writes them: a name always stands for the
// same bytes.

/** Returns the SHA-256 of bytes, in hex. */
export const digestOf = async (bytes: BufferSource): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()

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

/** R2 has too many requests, at all (10058) or for this object: a retry at once would add to them. */
const OVERLOADED = /overloaded|\(10058\)$/

/** Calls R2, with retries: all of these calls may be repeated. */
const withR2Retry = <T>(call: () => Promise<T>): Promise<T> =>
  withRetry(call, (error) =>
    error instanceof Error && OVERLOADED.test(error.message) ? 'unavailable' : 'retry',
  )

/** Stores bytes under a key. R2 refuses them if they lack the digest. */
export const putObject = async (
  bucket: R2Bucket,
  { key, sha256 }: { readonly key: string; readonly sha256: string },
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> => {
  await withR2Retry(() => bucket.put(key, bytes, { sha256 }))
}

/** Reads a whole object as a stream; null if it is not there. */
export const getObject = (bucket: R2Bucket, key: string): Promise<R2ObjectBody | null> =>
  withR2Retry(() => bucket.get(key))

/** Deletes objects. Keys without an object are ignored. */
export async function deleteObjects(bucket: R2Bucket, keys: readonly string[]): Promise<void> {
  // R2 deletes at most 1000 objects in one call.
  for (let i = 0; i < keys.length; i += 1000) {
    await withR2Retry(() => bucket.delete(keys.slice(i, i + 1000)))
  }
}

/** The objects that R2 lists in one call, and the calls that one invocation makes. */
const LIST_LIMITS = { objects: 1000, calls: 20 }

/** Deletes the objects whose keys begin with a text, at most 20,000. */
export async function deleteAll(bucket: R2Bucket, prefix: string): Promise<void> {
  let cursor: string | undefined
  for (let call = 0; call < LIST_LIMITS.calls; call++) {
    const options = { prefix, limit: LIST_LIMITS.objects, ...(cursor !== undefined && { cursor }) }
    const found = await withR2Retry(() => bucket.list(options))
    await deleteObjects(
      bucket,
      found.objects.map(({ key }) => key),
    )
    if (!found.truncated) return
    cursor = found.cursor
  }
}
