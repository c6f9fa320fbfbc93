import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import type { manualEntries } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { eventOf } from '../../webhooks/db/events.ts'

/**
 * Returns a reference as it is compared, the `folded_reference` of its row: without white space around it
 * and without the case of letters. A letter has the same form as all letters of its upper case: `ß` is `ss`.
 */
export const foldReference = (reference: string): string =>
  reference.normalize('NFC').trim().toUpperCase().toLowerCase()

/** An amount that the integrations team entered. `statement` is the approved one that has it. */
export type ManualEntry = Omit<typeof manualEntries.$inferSelect, 'account' | 'folded_reference'>

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
  return all<ManualEntry>(db, READ_OPEN_MANUAL_ENTRIES, values)
}

/** Reads an entry by its reference. */
export const FIND_MANUAL_ENTRY = compileStatement(`
  select ${COLUMNS} from manual_entries m
  where m.account = :account and m.folded_reference = :folded_reference`)

/** Returns the entry of an account with a reference; null if there is none. */
export const findManualEntry = (
  db: Connection,
  account: string,
  reference: string,
): Promise<ManualEntry | null> =>
  first(db, FIND_MANUAL_ENTRY, { account, folded_reference: foldReference(reference) })

/** Counts the entries of an affiliate that no approved statement has. */
export const OPEN_ENTRIES = `(
    select count(*) from manual_entries m indexed by manual_entries_open
    where m.account = :account and m.affiliate_id = :affiliate_id and m.statement is null)`

const REJECT_REFERENCE = compileStatement(`
  select ${ABORT} from manual_entries
  where account = :account and folded_reference = :folded_reference`)

const REJECT_TOO_MANY = compileStatement(`
  select ${ABORT} where ${OPEN_ENTRIES} >= :most`)

const INSERT_MANUAL_ENTRY = compileStatement(`
  insert into manual_entries (account, id, affiliate_id, plan, currency, amount, reason, reference,
    actor, at, folded_reference)
  values (:account, :id, :affiliate_id, :plan, :currency, :amount, :reason, :reference, :actor, :at,
    :folded_reference)`)

const NOTIFY_ADJUSTED = eventOf(
  'adjustment.created',
  `select id as about, json_object('kind', 'manual', 'manual_entry_id', id, 'affiliate_id', affiliate_id,
      'plan', plan, 'currency', currency, 'amount', amount) as data
    from manual_entries where account = :account and id = :id`,
)

/**
 * Returns the statements that insert an entry. They abort their batch if the reference is taken, or if
 * the affiliate has `most` open entries.
 */
export const insertManualEntry = (
  db: D1Database,
  account: string,
  entry: Omit<ManualEntry, 'statement'>,
  most: number,
) =>
  [REJECT_REFERENCE, REJECT_TOO_MANY, INSERT_MANUAL_ENTRY, NOTIFY_ADJUSTED].map((statement) =>
    bindStatement(db, statement, {
      account,
      most,
      ...entry,
      folded_reference: foldReference(entry.reference),
    }),
  )

/** Reads one page of the entries of an account, by time; those of one affiliate if it is not null. */
export const listManualEntries = (
  db: Parameters<typeof paginate>[0],
  account: string,
  affiliate_id: string | null,
  page: Page,
): Promise<FoundPage<ManualEntry>> =>
  paginate(
    db,
    {
      columns: COLUMNS.split(', ').map((name) => name.slice('m.'.length)),
      from:
        affiliate_id === null
          ? 'manual_entries where account = :account'
          : `manual_entries indexed by manual_entries_affiliate
              where account = :account and affiliate_id = :affiliate_id`,
      key: ['id'],
      values: { account, ...(affiliate_id !== null && { affiliate_id }) },
    },
    page,
  )
