import { listAffiliateCustomers } from '../affiliates/customers.ts'
import { OWN_LINK_OPERATIONS } from '../affiliates/links.ts'
import { listSubAffiliates } from '../affiliates/lists.ts'
import { getAffiliateSelf } from '../affiliates/me.ts'
import { POSTBACK_OPERATIONS } from '../affiliates/postbacks.ts'
import { OWN_QUESTION_OPERATIONS } from '../affiliates/questions.ts'
import { listAffiliatePayouts } from '../payouts/own/money.ts'
import { getAffiliateOverview } from '../payouts/own/overview.ts'
import { getAffiliateStatement, listAffiliateStatements } from '../payouts/own/statements.ts'
import { listOwnNotices } from '../people/operations/notices.ts'
import type { AnyOperation } from '../platform/http/operation.ts'

/** The operations that only affiliates have, in the order of the reference. */
export const OWN_OPERATIONS: readonly AnyOperation[] = [
  getAffiliateSelf,
  getAffiliateOverview,
  listAffiliateStatements,
  getAffiliateStatement,
  listAffiliateCustomers,
  listAffiliatePayouts,
  listSubAffiliates,
  ...OWN_LINK_OPERATIONS,
  ...OWN_QUESTION_OPERATIONS,
  ...POSTBACK_OPERATIONS,
  listOwnNotices,
]
