import type { Outcome } from '../../../src/ingest/outcome.ts'

/** What each outcome of a record means to its sender, and what to do about it. */
export const OUTCOME: Record<Outcome, string> = {
  created: 'The record is new, and stored. Nothing is to be done.',
  updated:
    'It took the place of the stored record: of a partner as a whole, so that what it leaves out ' +
    'is gone; to a customer of a brand it was added, and what it leaves out is kept.',
  unchanged:
    'The same is stored already: nothing was written. This is what a repeated request is ' +
    'answered, so to repeat one after a timeout is safe.',
  stale:
    'Its `last_modified_date` is older than that of the stored customer: nothing was written. ' +
    'Send the newest version, with its own `last_modified_date`; if it is the newest, the date ' +
    'is wrong.',
  held:
    'It is stored, but names a customer that was not sent yet, and is counted nowhere until ' +
    'then. Send the customer: that releases it, and nothing has to be sent again. `GET held` ' +
    'lists what waits.',
  rejected:
    'It breaks a rule, and was not stored; the others of the request were (`handling=lenient`). ' +
    'Mend what its `errors` name, and send this record again.',
}
