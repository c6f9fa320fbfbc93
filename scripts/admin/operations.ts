import { DERIVED } from './derived.ts'
import type { Operation } from './operation.ts'
import { EXPORTS } from './operations/exports.ts'

/** All operations in the order in which help lists them. */
export const OPERATIONS: readonly Operation[] = [...EXPORTS, ...DERIVED]
