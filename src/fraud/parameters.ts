import * as v from 'valibot'
import { notNegative, positive, wholeNumber } from '../commission/plans/decimals.ts'
import { member, type said } from '../validation/fields.ts'
import { ruleMessage } from '../validation/issue.ts'

// The parameters of fraud rules (contract §17): counts and days are numbers, other thresholds decimals as text.

/** The longest window of a rule, in days. */
export const MAX_DAYS = 400

type Documentation = ReturnType<typeof said>

const withDefault = <const S extends v.GenericSchema>(
  schema: S,
  usual: v.InferInput<S>,
  documentation: Documentation,
) => v.optional(member(schema, documentation && { ...documentation, examples: [usual] }), usual)

/** A number of days, from 1 to `MAX_DAYS`. */
export const days = (usual: number, documentation: Documentation) =>
  withDefault(wholeNumber(1, MAX_DAYS), usual, documentation)

/** A number of customers, signups or records, from 1 to a million. */
export const count = (usual: number, documentation: Documentation) =>
  withDefault(wholeNumber(1, 1_000_000), usual, documentation)

/** A factor or an amount above 0. */
export const above0 = (usual: string, documentation: Documentation) =>
  withDefault(positive, usual, documentation)

/** An amount of 0 or more. */
export const atLeast0 = (usual: string, documentation: Documentation) =>
  withDefault(notNegative, usual, documentation)

const isPercentage = v.check<string, string>(
  (text) => Number(text) <= 100,
  ruleMessage('maximum', '100'),
)

/** A percentage above 0 and at most 100. */
export const percentage = v.pipe(positive, isPercentage)

/** A share in percent, above 0 and at most 100. */
export const share = (usual: string, documentation: Documentation) =>
  withDefault(percentage, usual, documentation)

/** The label of a share from which a case opens. */
export const SHARE_LABEL = { label: 'Share from which a case opens', is: 'percent' } as const
