import { unavailable } from '../errors.ts'

/** A function that makes something of a secret's text once an isolate: keys cost much to read. */
export function memoizePerSecret<T>(make: (secret: string) => T): (secret: string) => T {
  const made = new Map<string, T>()
  return (secret) => {
    const found = made.get(secret) ?? make(secret)
    made.set(secret, found)
    return found
  }
}

/**
 * The same for a set of keys as JSON.
 *
 * @throws ApiError `unavailable` where it has no key, or one that cannot be read: nobody who shows
 * what such a key has signed, or would, may be told to be wrong.
 */
export const memoizePerKeySet = <K, T>(make: (keys: [K, ...K[]]) => Promise<T>) =>
  memoizePerSecret(async (json): Promise<T> => {
    try {
      const { keys } = JSON.parse(json)
      if (keys.length === 0) throw new Error('The set has no key.')
      return await make(keys)
    } catch (error) {
      throw unavailable(error)
    }
  })
