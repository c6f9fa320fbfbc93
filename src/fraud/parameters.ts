import * as v from 'valibot'
import { notNegative, positive, wholeNumber } from '../commission/plans/decimals.ts'
import { ruleMessage } from '../validation/issue.ts'

// The parameters of fraud rules (contract §17): counts and days are numbers, other thresholds decimals as text.

/** The longest window of a rule, in days. */
export const MAX_DAYS = 400

/** A number of days, from 1 to `MAX_DAYS`. */
export const days = (usual: number) => v.optional(wholeNumber(1, MAX_DAYS), usual)

/** A number of customers, signups or records, from 1 to a million. */
export const count = (usual: number) => v.optional(wholeNumber(1, 1_000_000), usual)

/** A factor or an amount above 0. */
export const above0 = (usual: string) => v.optional(positive, usual)

/** An amount of 0 or more. */
export const atLeast0 = (usual: string) => v.optional(notNegative, usual)

const isPercentage = v.check<string, string>(
  (text) => Number(text) <= 100,
  ruleMessage('maximum', '100'),
)

/** A share in percent, above 0 and at most 100. */
export const share = (usual: string) => v.optional(v.pipe(positive, isPercentage), usual)
