import type { Outcome } from '../../../src/ingest/outcome.ts'
import type { IssueCode } from '../../../src/validation/issue.ts'
import type { WireWarning } from '../../docs/explained/warnings.ts'

/** What a record shows: an error, a warning, an outcome; none: it is right, and there for another. */
export interface Shows {
  error?: IssueCode | undefined
  warning?: WireWarning
  outcome?: Outcome
}

/**
 * One record, and what it shows. Of its texts `{run}` becomes a word that no other run has, and
 * what else is in braces what the account makes of it: see `placesOf`.
 */
export interface Sample extends Shows {
  record: object
}

/** Records that are sent in one request. */
export interface Step {
  title: string
  resource: string
  /** Whether it is stored where that may be; all else is a dry run. */
  stores?: true
  /** Whether it shows something only if an earlier step was stored. */
  needsStored?: true
  idempotencyKey?: string
  /** The error of the request as a whole. */
  whole?: IssueCode
  samples: readonly Sample[]
}

/** How every lesson begins: a customer is new, and then the same. */
export const begunWith = (record: object): readonly Step[] => [
  {
    title: 'A new customer',
    resource: 'customers',
    stores: true,
    samples: [{ outcome: 'created', record }],
  },
  {
    title: 'The same customer again',
    resource: 'customers',
    needsStored: true,
    samples: [{ outcome: 'unchanged', record }],
  },
]

/** The first lesson of a vertical. */
export interface Lesson {
  steps: readonly Step[]
  /** What a sender can meet, and cannot bring about, and why. */
  elsewhere: Partial<Record<WireWarning, string>>
}
