import type { Account } from '../db/schema.ts'

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
