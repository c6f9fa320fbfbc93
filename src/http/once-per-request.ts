import type { Context } from 'hono'

const MADE = new WeakMap<object, Map<string, Promise<unknown>>>()

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
  const made = MADE.get(executionCtx) ?? new Map<string, Promise<unknown>>()
  MADE.set(executionCtx, made)
  // A key always names the promises of the same function.
  const known = made.get(key) as Promise<T> | undefined
  if (known) return known
  const promise = make()
  made.set(key, promise)
  promise.catch(() => made.delete(key))
  return promise
}
