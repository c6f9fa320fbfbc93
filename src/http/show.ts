import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'

/**
 * Returns what the caller may see of an answer: all of it, unless an affiliate calls. Members that are hidden
 * are left out, so those of `T` are not certain to exist; the formats write nothing for them.
 */
export async function showTo<T extends object>(c: Context<AppEnv>, answer: T): Promise<T> {
  const { show } = c.var
  if (!show) return answer
  const shown = await show(answer)
  c.set('isShown', true)
  return shown as T
}

/**
 * Returns the id of the line or adjustment that the caller names; null if an affiliate calls and sees none under
 * this name.
 */
export async function namedLine(c: Context<AppEnv>, name: string): Promise<string | null> {
  await c.var.grantPromise
  return c.var.lineIdOf ? c.var.lineIdOf(name) : name
}

/** Returns the id of the customer whom the caller names; null if an affiliate calls and has none of this name. */
export async function namedCustomer(c: Context<AppEnv>, name: string): Promise<string | null> {
  await c.var.grantPromise
  return c.var.customerIdOf ? c.var.customerIdOf(name) : name
}
