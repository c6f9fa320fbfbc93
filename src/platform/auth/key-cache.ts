import { badSecret } from '../errors.ts'

/** Returns a function that runs `make` once per secret and isolate, because importing keys is slow. */
export function memoizePerSecret<T>(make: (secret: string) => T): (secret: string) => T {
  const cache = new Map<string, T>()
  return (secret) => {
    const value = cache.get(secret) ?? make(secret)
    cache.set(secret, value)
    return value
  }
}

/**
 * Returns a function that runs `make` once per JWK set and isolate. `name` is the secret that holds
 * the set as JSON.
 *
 * The function throws ApiError `unavailable` if the set is empty or a key cannot be read. If our own
 * keys are unreadable, respond 503, not 401.
 */
export const memoizePerKeySet = <K, T>(name: string, make: (keys: [K, ...K[]]) => Promise<T>) =>
  memoizePerSecret(async (json): Promise<T> => {
    try {
      const { keys } = JSON.parse(json)
      if (keys.length === 0) throw new Error('The set has no key.')
      return await make(keys)
    } catch (error) {
      throw badSecret(name, error)
    }
  })
