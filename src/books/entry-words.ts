import type { ledger } from '../platform/db/schema.ts'

/** What an entry of the ledger booked, before the name of its period. */
export const ENTRY_WORDS: Readonly<Record<(typeof ledger.$inferSelect)['kind'], string>> = {
  earned: 'Earned for',
  adjusted: 'Corrections of earlier periods, with the statement of',
  manual: 'Entered by hand, with the statement of',
  dropped: 'A negative balance written off, with the statement of',
  transferred: 'Moved between plans, with the statement of',
  vat: 'VAT of the invoice for',
  paid: 'Paid for',
  returned: 'A payment came back for',
}
