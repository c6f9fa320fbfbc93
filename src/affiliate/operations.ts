import type { AnyOperation } from '../http/operation.ts'
import { OWN_LINK_OPERATIONS } from './links.ts'
import { getAffiliateSelf } from './me.ts'
import { POSTBACK_OPERATIONS } from './postbacks.ts'
import { OWN_QUESTION_OPERATIONS } from './questions.ts'

/** The operations that only affiliates have, in the order of the reference. */
export const OWN_OPERATIONS: readonly AnyOperation[] = [
  getAffiliateSelf,
  ...OWN_LINK_OPERATIONS,
  ...OWN_QUESTION_OPERATIONS,
  ...POSTBACK_OPERATIONS,
]
