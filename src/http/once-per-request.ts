import type { Context } from 'hono'

const MADE = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Makes something once for all that a request asks: a page of the console asks several routes within one
 * request. A failure is not kept.
 *
 * @param key Names what is made, with the account.
 */
export function oncePerRequest<T>(
  { executionCtx }: Pick<Context, 'executionCtx'>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const made = MADE.get(executionCtx) ?? new Map<string, Promise<unknown>>()
  MADE.set(executionCtx, made)
  // A key always names what the same function makes.
  const found = (made.get(key) as Promise<T> | undefined) ?? make()
  made.set(key, found)
  found.catch(() => made.delete(key))
  return found
}
