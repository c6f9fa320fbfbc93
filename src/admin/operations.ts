import type { AnyOperation } from '../http/operation.ts'
import { LINK_OPERATIONS } from './links.ts'

/** The operations of the administration API, in the order of the reference. */
export const OPERATIONS: readonly AnyOperation[] = [...LINK_OPERATIONS]
