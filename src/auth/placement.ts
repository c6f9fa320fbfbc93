import type { Account } from '../db/schema.ts'
import { isDevelopment } from '../development.ts'

/**
 * Returns the options under which an object of an account is created: near the account's region.
 * Without a region Cloudflare creates it near the caller. An object that exists never moves.
 *
 * @see [Location hints](https://developers.cloudflare.com/durable-objects/reference/data-location/)
 */
export const placementOf = ({ region }: Pick<Account, 'region'>) =>
  region === null ? {} : { locationHint: region }

/**
 * Returns the objects of a namespace within the account's jurisdiction. workerd knows no
 * jurisdictions, so in development all objects are in one namespace.
 */
export function withinJurisdiction<T extends Rpc.DurableObjectBranded>(
  env: Env,
  namespace: DurableObjectNamespace<T>,
  { jurisdiction }: Pick<Account, 'jurisdiction'>,
): DurableObjectNamespace<T> {
  return jurisdiction === null || isDevelopment(env)
    ? namespace
    : namespace.jurisdiction(jurisdiction)
}
