import { ABORT } from '../../commission/db/audit-guard.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, first } from '../../platform/db/query.ts'
import type { payoutAnswers } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { Entry } from '../answers/match.ts'
import { PAYOUT_LIMITS, type StoredDetails } from '../model.ts'
import type { FoundTransfer } from './transfers.ts'

/** A stored answer. */
export type StoredAnswer = Omit<typeof payoutAnswers.$inferSelect, 'account'>

const FIND = compileStatement(`
  select hash, entries, summary, created_at, applied_at from payout_answers
  where account = :account and hash = :hash`)

/** Returns an answer by the SHA-256 of its file; null if there is none. */
export const findAnswer = (db: Connection, account: string, hash: string) =>
  first<StoredAnswer>(db, FIND, { account, hash })

const FORGET = compileStatement(`
  delete from payout_answers where account = :account and applied_at is null and created_at < :before`)

const STORE = compileStatement(`
  insert into payout_answers (account, hash, entries, summary, created_at, applied_at)
  values (:account, :hash, :entries, :summary, :created_at, :applied_at)
  on conflict (account, hash) do update set entries = :entries, summary = :summary,
    created_at = :created_at, applied_at = :applied_at`)

/** Returns the statements that store a preview, and forget others after a day. */
export const storeAnswer = (db: D1Database, account: string, preview: StoredAnswer) => [
  bindStatement(db, FORGET, { account, before: preview.created_at - PAYOUT_LIMITS.previewMs }),
  bindStatement(db, STORE, { account, ...preview }),
]

const FINISH = compileStatement(`
  update payout_answers set summary = :summary, applied_at = :now
  where account = :account and hash = :hash and applied_at is null`)

/** Returns the statement that says that all of an answer is booked. */
export const finishAnswer = (
  db: D1Database,
  values: { account: string; hash: string; summary: string; now: number },
) => bindStatement(db, FINISH, values)

const FIND_BATCHES = compileStatement(`
  select b.id from ${JSON_EACH}(:ids) i
  cross join payout_batches b on b.account = :account and b.id = i.value`)

/** Returns which of these references are those of batches. */
export const findBatches = async (db: Connection, account: string, ids: readonly string[]) =>
  (await all<{ id: string }>(db, FIND_BATCHES, { account, ids: JSON.stringify(ids) })).map(
    ({ id }) => id,
  )

const READ_PAYERS = compileStatement(`
  select party, id, version, details from payees
  where account = :account and party = 'payer' and details is not null`)

/** Reads all versions of the payers of an account. */
export const readPayers = (db: Connection, account: string) =>
  all<Pick<StoredDetails, 'party' | 'id' | 'version' | 'details'>>(db, READ_PAYERS, { account })

const REJECT_MOVED = compileStatement(`
  select ${ABORT} from ${JSON_EACH}(:seen) s
  left join transfers t on t.account = :account and t.id = s.value ->> 0
  where t.state is not s.value ->> 1`)

/** Returns the statement that aborts the batch if a transfer is in another state than it was found in. */
export const rejectMoved = (
  db: D1Database,
  account: string,
  seen: readonly Pick<FoundTransfer, 'id' | 'state'>[],
) =>
  bindStatement(db, REJECT_MOVED, {
    account,
    seen: JSON.stringify(seen.map(({ id, state }) => [id, state])),
  })

const SET_CHECKS = compileStatement(`
  update transfers set name_check = v.value ->> 'name_check'
  from ${JSON_EACH}(:entries) v
  where transfers.account = :account and transfers.id = v.value ->> 'transfer'
    and transfers.state in ('created', 'exported', 'accepted')`)

/** Returns the statement that keeps what a bank says of the names of owners. */
export const setChecks = (db: D1Database, account: string, entries: readonly Entry[]) =>
  bindStatement(db, SET_CHECKS, { account, entries: JSON.stringify(entries) })

const notify = (type: string, members: string) =>
  eventOf(
    type,
    `select t.id as about, json_object('transfer_id', t.id, 'batch_id', t.batch,
      'affiliate_id', t.affiliate_id, 'currency', t.currency, 'amount', t.amount, ${members}) as data
    from ${JSON_EACH}(:entries) v
    cross join transfers t on t.account = :account and t.id = v.value ->> 'transfer'`,
  )

const EVENTS = {
  paid: notify('payout.paid', "'paid_on', v.value ->> 'day'"),
  returned: notify(
    'payout.returned',
    "'returned_on', v.value ->> 'day', 'code', v.value ->> 'code', 'reason', v.value ->> 'reason'",
  ),
}

/** Returns the statement that tells webhooks of transfers that were paid, or came back. */
export const notifyMoved = (
  db: D1Database,
  account: string,
  to: keyof typeof EVENTS,
  entries: readonly Entry[],
) => bindStatement(db, EVENTS[to], { account, entries: JSON.stringify(entries) })
