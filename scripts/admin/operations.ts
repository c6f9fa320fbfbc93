import { DERIVED } from './derived.ts'
import type { Operation } from './operation.ts'
import { EXPORTS } from './operations/exports.ts'
import { FRAUD_SIMULATION } from './operations/fraud-simulation.ts'
import { MONITORING } from './operations/monitoring.ts'
import { PLANS } from './operations/plans.ts'

/** All operations in the order in which help lists them. */
export const OPERATIONS: readonly Operation[] = [
  ...PLANS,
  ...FRAUD_SIMULATION,
  ...EXPORTS,
  ...MONITORING,
  ...DERIVED,
]
