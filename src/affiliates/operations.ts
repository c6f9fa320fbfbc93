import type { AnyOperation } from '../platform/http/operation.ts'
import { listAffiliatePayouts } from './books.ts'
import { listAffiliateCustomers } from './customers.ts'
import { OWN_LINK_OPERATIONS } from './links.ts'
import { listSubAffiliates } from './lists.ts'
import { getAffiliateSelf } from './me.ts'
import { getAffiliateOverview } from './overview.ts'
import { POSTBACK_OPERATIONS } from './postbacks.ts'
import { OWN_QUESTION_OPERATIONS } from './questions.ts'

/** The operations that only affiliates have, in the order of the reference. */
export const OWN_OPERATIONS: readonly AnyOperation[] = [
  getAffiliateSelf,
  getAffiliateOverview,
  listAffiliateCustomers,
  listAffiliatePayouts,
  listSubAffiliates,
  ...OWN_LINK_OPERATIONS,
  ...OWN_QUESTION_OPERATIONS,
  ...POSTBACK_OPERATIONS,
]
