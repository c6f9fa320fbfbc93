import type { Context } from 'hono'
import type { AppEnv, ReadAffiliate } from '../auth/authorize.ts'

/**
 * Returns what the caller may see of an answer: all of it, unless an affiliate calls, or a member of the team with own
 * affiliates. Members that are hidden
 * are left out, so those of `T` are not certain to exist; the formats write nothing for them.
 */
export async function showTo<T extends object>(c: Context<AppEnv>, answer: T): Promise<T> {
  const { affiliate, show = affiliate?.show } = c.var
  if (!show) return answer
  const shown = await show(answer)
  c.set('isShown', true)
  return shown as T
}

/** A caller, who may be an affiliate. */
type Namer = { readonly affiliate?: ReadAffiliate | undefined }

/**
 * Returns the id of the line or adjustment that the caller names; null if an affiliate calls and sees none under
 * this name.
 */
export const namedLine = async ({ affiliate }: Namer, name: string): Promise<string | null> =>
  affiliate ? affiliate.lineIdOf(name) : name

/** Returns the id of the customer whom the caller names; null if an affiliate calls and has none of this name. */
export const namedCustomer = async ({ affiliate }: Namer, name: string): Promise<string | null> =>
  affiliate ? affiliate.customerIdOf(name) : name
