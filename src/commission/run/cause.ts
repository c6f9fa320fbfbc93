import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { Difference } from '../engine/books.ts'
import type { causes } from '../shapes/statements.ts'

/** The causes of an adjustment; the first are listed. */
export type Causes = Fixed<v.InferOutput<v.ObjectSchema<typeof causes, undefined>>>

/** Why a line of a closed period differs from what was approved: a record or a setting that changed. */
export type Cause = Causes['causes'][number]

/** A record that changed. */
export type RecordCause = Extract<Cause, { kind: 'record' }>

/** A line of a closed period of an affiliate and plan. */
export interface CorrectedLine extends Pick<Difference, 'period' | 'line'> {
  readonly affiliate_id: string
  readonly plan: string
}

/** Returns the causes of a correction. */
export type CausesOf = (line: CorrectedLine) => Causes

/** Returns no causes. */
export const NO_CAUSES: CausesOf = () => ({ causes: [], causes_total: 0 })
