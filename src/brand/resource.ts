import type * as v from 'valibot'
import type { Shown } from '../db/records/list.ts'
import type { Tally } from '../db/records/totals.ts'
import type { Intake } from '../ingest/resource.ts'

/** A resource of brands, as a value: how it is judged, kept, shown and summed. */
export interface BrandResource extends Intake, Shown, Tally {
  /** What one record is called, and what it is: for its readers. */
  readonly title: string
  readonly says: string
  /** The members that we know; there may be others. */
  readonly fields: Readonly<Record<string, v.GenericSchema>>
  readonly required: readonly string[]
  /** Members that never fail a call, whatever they are. */
  readonly forgiven: readonly string[]
  /** Whether one record has an address of its own. */
  readonly single: boolean
}
