import { JSON_EACH } from '../../records/sql-fragments.ts'
import { withD1Retry } from '../../retry.ts'
import type { manualEntries } from '../../schema.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Connection } from '../facts.ts'

/** An amount that the integrations team entered. `statement` is the approved one that has it. */
export type ManualEntry = Omit<typeof manualEntries.$inferSelect, 'account'>

const COLUMNS =
  'm.id, m.affiliate_id, m.plan, m.currency, m.amount, m.reason, m.reference, m.actor, m.at, m.statement'

/** Reads the entries of some affiliates that no approved statement has. */
export const READ_OPEN_MANUAL_ENTRIES = compileStatement(`
  select ${COLUMNS}
  from ${JSON_EACH}(:affiliates) a
  cross join manual_entries m indexed by manual_entries_open
    on m.account = :account and m.affiliate_id = a.value and m.statement is null
  order by m.id`)

/** Returns the entries of some affiliates that no approved statement has, in order of their time. */
export async function readOpenManualEntries(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ManualEntry[]> {
  const values = { account, affiliates: JSON.stringify(affiliates) }
  const { results } = await withD1Retry(() =>
    bindStatement(db, READ_OPEN_MANUAL_ENTRIES, values).all<ManualEntry>(),
  )
  return results
}
