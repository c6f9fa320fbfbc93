import * as v from 'valibot'
import { positive, wholeNumber } from '../commission/plans/decimals.ts'
import { member, said } from '../platform/validation/fields.ts'
import { ruleMessage } from '../platform/validation/issue.ts'

// The parameters of fraud rules (contract §17): counts and days are numbers, other thresholds decimals as text.

/** The longest window of a rule, in days. */
export const MAX_DAYS = 400

/** A parameter as forms show it and the API documents it. */
export interface ParameterLabel {
  readonly label: string
  /** What is typed: a whole number, a decimal, a percentage, yes or no, names of events, or limits by challenge. */
  readonly is: 'whole' | 'amount' | 'percent' | 'flag' | 'events' | 'limits'
  /** What is counted, such as `days`; absent if the label says it. */
  readonly unit?: string
  /** Says in one sentence what the label does not. */
  readonly hint?: string
}

type Example = string | number | boolean | object

/** Documents the schema of a parameter with its label. */
export const documented = <S extends v.GenericSchema>(
  schema: S,
  { label, hint }: ParameterLabel,
  example: Example,
) =>
  member(
    schema,
    said(hint ? `${label}. ${hint}` : `${label}.`, example) as Parameters<typeof member>[1],
  )

/** Returns a parameter with its default. */
export const parameter = <const S extends v.GenericSchema>(
  schema: S,
  usual: v.InferInput<S> & Example,
  label: ParameterLabel,
) => ({ ...v.optional(documented(schema, label, usual), usual), label })

const parameterOf =
  <const S extends v.GenericSchema>(schema: S, is: ParameterLabel['is'], ofUnit?: string) =>
  (usual: v.InferInput<S> & Example, label: string, hint?: string, unit = ofUnit) =>
    parameter(schema, usual, { label, is, ...(unit && { unit }), ...(hint && { hint }) })

/** A number of days, from 1 to `MAX_DAYS`. */
export const days = parameterOf(wholeNumber(1, MAX_DAYS), 'whole', 'days')

/** A number of customers, signups or records, from 1 to a million. */
export const count = parameterOf(wholeNumber(1, 1_000_000), 'whole')

/** A factor or an amount above 0. */
export const above0 = parameterOf(positive, 'amount')

/** A percentage above 0. */
export const percent = parameterOf(positive, 'percent')

const isPercentage = v.check<string, string>(
  (text) => Number(text) <= 100,
  ruleMessage('maximum', '100'),
)

/** A percentage above 0 and at most 100. */
export const percentage = v.pipe(positive, isPercentage)

/** A share in percent, above 0 and at most 100. */
export const share = parameterOf(percentage, 'percent')

/** The share of an affiliate's customers from which a case opens. */
export const shareOfAll = (usual: string) => share(usual, 'Share from which a case opens')
