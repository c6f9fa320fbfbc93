import type { Outcome } from '../../../src/ingest/response.ts'
import type { IssueCode } from '../../../src/validation/issue.ts'
import type { WireWarning } from '../../../src/validation/warnings.ts'

/** The expected result of a record: an error, a warning, an outcome, or none of them. */
export interface Expected {
  error?: IssueCode | undefined
  warning?: WireWarning
  outcome?: Outcome
}

/**
 * A record with its expected result. In its texts, `{run}` becomes a word that is unique to the
 * run; `placeholders.ts` lists the other words in braces.
 */
export interface Sample extends Expected {
  record: object
}

/** Records that are sent in one request. */
export interface Step {
  title: string
  resource: string
  /** Whether the request stores its records if the account allows it; others are dry runs. */
  stores?: true
  /** Whether the step needs the records that an earlier step stored. */
  needsStored?: true
  idempotencyKey?: string
  /** The expected error of the request as a whole. */
  wholeError?: IssueCode
  samples: readonly Sample[]
}

/** Returns the first steps of every sample run: a new customer, then the same one again. */
export const newCustomerSteps = (record: object): readonly Step[] => [
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

/** The sample run of a vertical. */
export interface SampleRun {
  steps: readonly Step[]
  /** Warnings that senders can receive but a sample run cannot cause, with the reason. */
  notShown: Partial<Record<WireWarning, string>>
}
