import * as v from 'valibot'
import { describeField, documentation } from '../../validation/describe.ts'
import * as f from '../../validation/fields.ts'
import { ruleMessage } from '../../validation/issue.ts'
import type { PlanTerms } from '../engine/plan.ts'
import { hasMinorUnit } from '../minor-digits.ts'
import { notNegative, wholeNumber } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'
import { rule } from './rules.ts'
import { listOf, objectOf } from './shapes.ts'

/** Text that is shown to people: without control characters and bidirectional formatting. */
const label = v.pipe(
  f.text,
  v.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, ruleMessage('pattern', 'printable characters')),
)

const planCurrency = v.pipe(
  f.currency,
  v.check(
    hasMinorUnit,
    ruleMessage(
      'pattern',
      'a currency with a minor unit in ISO 4217, to which amounts are rounded',
    ),
  ),
)

/** A version of a plan. */
export const planTerms = objectOf({
  name: describeField(label, documentation('The display name of the plan.', 'Standard IB')),
  currency: describeField(
    planCurrency,
    documentation(
      'The ISO 4217 currency of all amounts and thresholds, with a minor unit. It never changes.',
      'EUR',
    ),
  ),
  period: describeField(
    f.oneOf('month', 'week'),
    documentation(
      'The length of a period: a calendar month or a week of ISO 8601. It never changes.',
    ),
  ),
  effective_from: describeField(
    f.day,
    documentation(
      'The first day on which the version is in force. The first version applies to earlier days, too.',
      '2026-12-01',
    ),
  ),
  terms: describeField(
    f.oneOf('signup', 'current'),
    documentation(
      '`signup`: a customer keeps the version in force at signup, or at the start of the assignment if that is later. `current`: all customers move to the version in force on the first day of the period. It never changes.',
    ),
  ),
  negative: describeField(
    f.oneOf('carry', 'zero'),
    documentation(
      'Negative carryover of the statement’s balance (opening + total): `carry` carries it over, `zero` writes it off.',
    ),
  ),
  minimum_payout: describeField(
    notNegative,
    documentation(
      'A lower balance is carried to the next period. Applies per plan, not per affiliate.',
      '50.00',
    ),
  ),
  hold_days: describeField(
    wholeNumber(0, PLAN_LIMITS.holdDays),
    documentation('The days after the end of the period until the payout is payable.', 14),
  ),
  rules: describeField(
    listOf(rule, PLAN_LIMITS.rules),
    documentation('The rules. Each pays lines of its own.'),
  ),
})

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T
type Extends<Part extends Whole, Whole> = Part

/** Does not compile if the schema and the types of the engine differ. */
export type SchemaIsOfEngine = [
  Extends<v.InferOutput<typeof planTerms>, PlanTerms>,
  Extends<PlanTerms, DeepReadonly<v.InferOutput<typeof planTerms>>>,
]
