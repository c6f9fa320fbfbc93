import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { line } from './statements.ts'

/** A line on the wire, without its id (§13). */
export type LineJson = Omit<Fixed<v.InferOutput<typeof line>>, 'id'>

/** A part of a measure and the step at which it is paid. */
export type Part = Exclude<LineJson['step'], string | null>[number]
