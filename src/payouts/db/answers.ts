import type { Connection } from '../../platform/db/database.ts'
import { type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import type { payoutAnswers } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { Chosen } from '../answers/csv.ts'
import type { Booking, Change } from '../answers/match.ts'
import type { Movement } from '../answers/movements.ts'
import { PAYOUT_LIMITS, type StoredDetails, type StoredMovement } from '../model.ts'

/** A stored answer. */
export type StoredAnswer = Omit<typeof payoutAnswers.$inferSelect, 'account'>

const FIND = compileStatement(`
  select hash, file, entries, summary, created_at, applied_at, applied_by from payout_answers
  where account = :account and hash = :hash`)

/** Returns an answer by its hash; null if there is none. */
export const findAnswer = (db: Connection, account: string, hash: string) =>
  first<StoredAnswer>(db, FIND, { account, hash })

/** What a list shows of answers. */
const SHOWN = [
  'hash',
  'applied_at',
  'applied_by',
  "json_remove(summary, '$.transfers', '$.unmatched_rows') as summary",
]

/** An answer that is booked, without what it says of single transfers and rows. */
export type ListedAnswer = Pick<StoredAnswer, 'hash' | 'summary' | 'applied_at' | 'applied_by'>

/** Reads one page of the answers that are booked, the latest first. */
export const listApplied = (db: D1Database, account: string, page: Page) =>
  paginate<ListedAnswer>(
    db,
    {
      columns: SHOWN,
      from: 'payout_answers where account = :account and applied_at > 0',
      key: ['applied_at', 'hash'],
      descending: true,
      values: { account },
    },
    page,
  )

const FIND_OF_FILE = compileStatement(`
  select hash, applied_at, applied_by from payout_answers indexed by payout_answers_file
  where account = :account and file = :file and hash <> :hash and applied_at > 0
  order by applied_at desc limit 1`)

/** Returns how the same file was booked before; null if it was not. */
export const findOfFile = (db: Connection, account: string, { file, hash }: StoredAnswer) =>
  first<Omit<ListedAnswer, 'summary'>>(db, FIND_OF_FILE, { account, file, hash })

const FORGET = compileStatement(`
  delete from payout_answers where account = :account and applied_at is null and created_at < :before`)

const STORE = compileStatement(`
  insert into payout_answers (account, hash, file, entries, summary, created_at, applied_at, applied_by)
  values (:account, :hash, :file, :entries, :summary, :created_at, :applied_at, :applied_by)
  on conflict (account, hash) do update set entries = :entries, summary = :summary,
    created_at = :created_at, applied_at = :applied_at, applied_by = :applied_by`)

/** Returns the statements that store a preview, and forget others after a day. */
export const storeAnswer = (db: D1Database, account: string, preview: StoredAnswer) => [
  bindStatement(db, FORGET, { account, before: preview.created_at - PAYOUT_LIMITS.previewMs }),
  bindStatement(db, STORE, { account, ...preview }),
]

const FINISH = compileStatement(`
  update payout_answers set applied_at = :now, applied_by = :actor
  where account = :account and hash = :hash and ifnull(applied_at, 0) = 0`)

/** Returns the statements that say when all of an answer is booked; 0: a part of it is. They fail if it was, or is gone. */
export const finishAnswer = (
  db: D1Database,
  account: string,
  applied: Readonly<Record<'hash' | 'actor', string>> & { readonly now: number },
) => requiredChange(db, FINISH, { account, ...applied })

const READ_PAYERS = compileStatement(`
  select * from payees where account = :account and party = 'payer' and payable_from is not null`)

/** Reads all versions of the payers of an account that were ever approved. */
export const readPayers = (db: Connection, account: string) =>
  all<StoredDetails>(db, READ_PAYERS, { account })

const READ_COLUMNS = compileStatement(
  'select columns from answer_columns where account = :account and payer = :payer',
)

/** Returns what the files of a payer's bank call their columns, as a person has chosen. */
export async function readColumns(db: Connection, account: string, payer: string): Promise<Chosen> {
  const found = await first<{ columns: string }>(db, READ_COLUMNS, { account, payer })
  return JSON.parse(found?.columns ?? '{}')
}

const STORE_COLUMNS = compileStatement(`
  insert into answer_columns (account, payer, columns) values (:account, :payer, :columns)
  on conflict (account, payer) do update set columns = excluded.columns`)

/** Returns the statement that remembers what the files of a payer's bank call their columns. */
export const storeColumns = (db: D1Database, account: string, payer: string, columns: Chosen) =>
  bindStatement(db, STORE_COLUMNS, { account, payer, columns: JSON.stringify(columns) })

const REJECT_MOVED = compileStatement(`
  select ${ABORT} from ${JSON_EACH}(:entries) v
  left join transfers t on t.account = :account and t.id = v.value ->> 'transfer'
  where t.state is not v.value ->> 'seen'`)

/** Writes `payout.paid` or `payout.returned`: for each transfer that becomes so. */
const notify = (becomes: Booking['becomes'], members: string) =>
  eventOf(
    `payout.${becomes}`,
    `select t.id as about, json_object('transfer_id', t.id, 'batch_id', t.batch,
      'affiliate_id', t.affiliate_id, 'currency', t.currency,
      'amount', ifnull(v.value ->> 'amount', t.amount), ${members}) as data
    from ${JSON_EACH}(:entries) v
    cross join transfers t on t.account = :account and t.id = v.value ->> 'transfer'
    where v.value ->> 'becomes' = '${becomes}'`,
  )

const NOTIFY_PAID = notify('paid', "'paid_on', v.value ->> 'day'")

const NOTIFY_RETURNED = notify(
  'returned',
  "'returned_on', v.value ->> 'day', 'code', v.value ->> 'code', 'reason', v.value ->> 'reason'",
)

/** Tells affiliates that the bank rejected a transfer to them. */
const TELL_REJECTED = noticesOf(
  'payment_returned',
  `select t.id as cause, 'affiliate:' || t.affiliate_id as recipient from ${JSON_EACH}(:entries) v
    cross join transfers t on t.account = :account and t.id = v.value ->> 'transfer'
    where v.value ->> 'becomes' = 'rejected'`,
)

/** What becomes of a transfer. An `amount` is what of it a person has booked. */
export interface BookedChange extends Omit<Change, 'entry'> {
  readonly entry: Omit<Booking, 'row' | 'movement'> & {
    readonly amount?: string
    readonly movement?: Movement & Partial<StoredMovement>
  }
}

/**
 * Returns the statements that abort the batch if a transfer is in another state than it was found in, and tell webhooks
 * of those that were paid or came back, and affiliates of those that were rejected.
 */
export function guardChanges(db: D1Database, account: string, changes: readonly BookedChange[]) {
  const entries = changes.map(({ entry, transfer }) => ({ ...entry, seen: transfer.state }))
  const values = { account, entries: JSON.stringify(entries) }
  return [REJECT_MOVED, NOTIFY_PAID, NOTIFY_RETURNED, TELL_REJECTED].map((one) =>
    bindStatement(db, one, values),
  )
}
