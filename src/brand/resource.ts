import type { Shown } from '../db/list.ts'
import type { Tally } from '../db/totals.ts'
import type { Intake } from '../ingest/intake.ts'

/** A resource of brands, as a value: how it is judged, kept, shown and summed. */
export interface BrandResource extends Intake, Shown, Tally {
  /** Whether one record has an address of its own. */
  readonly single: boolean
}
