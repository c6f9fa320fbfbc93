import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import type { StoredBatch, StoredTransfer, TransferState } from '../model.ts'

/** From which states a transfer moves to a state. */
const MOVES: Readonly<Record<TransferState, readonly TransferState[]>> = {
  created: [],
  exported: ['created'],
  accepted: ['exported'],
  paid: ['exported', 'accepted'],
  returned: ['paid'],
  rejected: ['exported', 'accepted'],
  cancelled: ['created', 'exported', 'accepted'],
}

/** From which states a person books what has moved of a transfer: it may leave although it was rejected or cancelled. */
const BY_HAND = {
  paid: [...MOVES.paid, 'rejected', 'cancelled'],
  returned: MOVES.returned,
} as const satisfies Partial<typeof MOVES>

/** Returns whether a person may book that a transfer in a state has moved. */
export const mayBook = (from: TransferState, to: keyof typeof BY_HAND): boolean =>
  BY_HAND[to].includes(from)

/** Returns whether a transfer may move from one state to another. */
export const mayMove = (from: TransferState, to: TransferState): boolean => MOVES[to].includes(from)

/** A transfer, the reference by which it was found, and from which payer its batch pays, since when. */
export type FoundTransfer = StoredTransfer &
  Pick<StoredBatch, 'payer' | 'payer_version' | 'method'> & {
    readonly reference: string
    readonly confirmed_at: number
  }

const FIND = compileStatement(`
  with named(reference, id) as (
    select value, value from ${JSON_EACH}(:references) union all
    select r.value, t.id from ${JSON_EACH}(:references) r
    cross join transfers t indexed by transfers_batch on t.account = :account and t.batch = r.value)
  select t.*, b.payer, b.payer_version, b.method, ifnull(b.confirmed_at, b.created_at) as confirmed_at, n.reference
  from named n
  cross join transfers t on t.account = :account and t.id = n.id
  cross join payout_batches b on b.account = t.account and b.id = t.batch limit :limit`)

/** Returns the transfers with these references, and those of batches with them; at most `limit`. */
export const findTransfers = (
  db: Connection,
  account: string,
  references: readonly string[],
  limit: number = references.length,
): Promise<FoundTransfer[]> =>
  all<FoundTransfer>(db, FIND, { account, references: JSON.stringify(references), limit })

const OF_BATCH = compileStatement(`
  select t.id, t.affiliate_id, t.payee_version, t.currency, t.amount, t.state, t.code, t.reason,
    t.name_check, t.doubts, t.note, (
      select json_group_array(json_object('id', i.value, 'period', s.period) order by i.key)
      from json_each(t.statements) i
      left join statements s on s.account = t.account and s.id = i.value) as statements
  from transfers t indexed by transfers_batch
  where t.account = :account and t.batch = :batch order by t.affiliate_id`)

/** Returns the transfers of a batch, in order of their affiliates, each with its statements as a JSON array. */
export const transfersOf = (db: Connection, account: string, batch: string) =>
  all<Omit<StoredTransfer, 'batch' | 'changed_at'>>(db, OF_BATCH, { account, batch })

/** To which state a transfer moves, and what the bank says of it. */
export type Move = Pick<StoredTransfer, 'id' | 'state'> &
  Partial<Pick<StoredTransfer, 'code' | 'reason' | 'name_check'>>

const PAIRS = Object.entries({ ...MOVES, ...BY_HAND }).flatMap(([to, all]) =>
  all.map((from) => `'${from} ${to}'`),
)

const MOVE = compileStatement(`
  with v as materialized (
    select :account as account, value ->> 'id' as id, value ->> 'state' as state, value ->> 'code' as code,
      value ->> 'reason' as reason, value ->> 'name_check' as name_check
    from ${JSON_EACH}(:moves)
  )
  update transfers set state = v.state, code = v.code, reason = v.reason,
    name_check = ifnull(v.name_check, transfers.name_check), changed_at = :now
  from v where transfers.account = v.account and transfers.id = v.id
    and (transfers.state || ' ' || v.state in (${PAIRS})
      or transfers.state = v.state and v.name_check is not null)`)

/**
 * Returns the statement that moves transfers, or sets the name check of those that stay. It leaves those as they are that
 * may not move so.
 */
export const moveTransfers = (
  db: Connection,
  account: string,
  moves: readonly Move[],
  now: number,
): D1PreparedStatement => bindStatement(db, MOVE, { account, moves: JSON.stringify(moves), now })

const TELL_SENT = noticesOf(
  'payment_sent',
  `select t.id as cause, 'affiliate:' || t.affiliate_id as recipient
    from payout_batches b cross join transfers t indexed by transfers_batch
      on t.account = :account and t.batch = b.id and t.state = 'exported'
    where b.account = :account and b.id = :batch and b.method <> 'manual'`,
)

/** Returns the statement that tells affiliates that the bank has what is sent to them by a batch. */
export const tellSent = (db: Connection, account: string, batch: string) =>
  bindStatement(db, TELL_SENT, { account, batch })
