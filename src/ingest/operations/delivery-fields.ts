import * as v from 'valibot'
import { described, referred } from '../../platform/validation/described.ts'
import { member, said } from '../../platform/validation/fields.ts'
import type { ResourceName } from '../db/list.ts'

// Members of deliveries, records and what is counted of them.

const RESOURCES: readonly ResourceName[] = [
  'customers',
  'transactions',
  'trading-activity',
  'activities',
]

/** The name of a resource. */
export const resourceName = member(
  v.picklist(RESOURCES),
  said('The resource, as it is named in the address.', 'transactions'),
)

/** The name of a resource, as rows have it. */
export const resource: v.GenericSchema<string> = resourceName

/** A record as its sender reads it, of any resource. */
export const record = described(() => referred<Readonly<Record<string, unknown>>>('AnyRecord'))
