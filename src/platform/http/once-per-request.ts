import type { Context } from 'hono'

const PROMISES = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Memoizes a promise for the duration of a request: a page of the console calls several routes within one
 * request. A failure is not cached.
 *
 * @param key Names the function and the account.
 */
export function oncePerRequest<T>(
  { executionCtx }: Pick<Context, 'executionCtx'>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const promises = PROMISES.get(executionCtx) ?? new Map<string, Promise<unknown>>()
  PROMISES.set(executionCtx, promises)
  // A key always names the promises of the same function.
  const known = promises.get(key) as Promise<T> | undefined
  if (known) return known
  const promise = make()
  promises.set(key, promise)
  promise.catch(() => promises.delete(key))
  return promise
}
