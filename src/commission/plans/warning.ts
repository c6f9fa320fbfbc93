import { warning } from '../../platform/validation/answer-fields.ts'

/** A warning about the terms of a plan, or its assignments. */
export const planWarning = warning('PlanWarning', [
  'withdrawn_currency',
  'unknown_event',
  'unknown_kpi',
  'rebate_and_unit',
  'minor_unit',
  'over_100',
])
