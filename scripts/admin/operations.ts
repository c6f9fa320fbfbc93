import { DERIVED } from './derived.ts'
import type { Operation } from './operation.ts'
import { AFFILIATES } from './operations/affiliates.ts'
import { BOOKS } from './operations/books.ts'
import { CUSTOMERS } from './operations/customers.ts'
import { EXPORTS } from './operations/exports.ts'
import { FRAUD_SIMULATION } from './operations/fraud-simulation.ts'
import { MONITORING } from './operations/monitoring.ts'
import { PLANS } from './operations/plans.ts'
import { RATES } from './operations/rates.ts'
import { WHY } from './operations/why.ts'

/** All operations in the order in which help lists them. */
export const OPERATIONS: readonly Operation[] = [
  ...AFFILIATES,
  ...PLANS,
  ...FRAUD_SIMULATION,
  ...RATES,
  ...BOOKS,
  ...WHY,
  ...EXPORTS,
  ...CUSTOMERS,
  ...MONITORING,
  ...DERIVED,
]
