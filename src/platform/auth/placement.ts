import type { Account } from '../db/schema.ts'

/**
 * Returns the options under which an object of an account is created: near the account's region.
 * Without a region Cloudflare creates it near the caller. An object that exists never moves.
 *
 * @see [Location hints](https://developers.cloudflare.com/durable-objects/reference/data-location/)
 */
export const placementOf = ({ region }: Pick<Account, 'region'>) =>
  region === null ? {} : { locationHint: region }

/**
 * Returns the objects of a namespace within the account's jurisdiction. workerd, which runs the
 * service in development, has no jurisdictions: there all objects are in one namespace.
 */
export function withinJurisdiction<T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  { jurisdiction }: Pick<Account, 'jurisdiction'>,
): DurableObjectNamespace<T> {
  if (jurisdiction === null) return namespace
  try {
    return namespace.jurisdiction(jurisdiction)
  } catch (error) {
    if (String(error).includes('not implemented in workerd')) return namespace
    throw error
  }
}
