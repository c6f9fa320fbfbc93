import { isCurrent } from '../../books/db/invoices.ts'
import { isHeld } from '../../fraud/db/holds.ts'
import { IS_DUE, IS_FREE } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first, setTerms } from '../../platform/db/query.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange, tryWithAudit, withAudit } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { StoredBatch, StoredDetails, StoredTransfer } from '../model.ts'

const READ_VERSIONS = compileStatement(`
  select p.* from ${JSON_EACH}(:keys) e
  cross join payees p on p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
    and p.version = e.value ->> 2 and p.state <> 'missing'`)

/** Returns versions of details, in no order. `keys` is JSON of the party, id and version of each. */
export const readVersions = (db: Connection, account: string, keys: string) =>
  all<StoredDetails>(db, READ_VERSIONS, { account, keys })

/**
 * The versions among some to which nothing may be paid now: another one is current, is not approved for long enough, or a
 * case holds the payee. Version 0 stands for no details.
 */
const UNPAYABLE = `${JSON_EACH}(:keys) e
  where e.value ->> 0 = 'payee' and ${isHeld('e.value ->> 1')}
    or e.value ->> 2 > 0 and not exists (select 1 from payees p
      where p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
        and p.version = e.value ->> 2 and ${isCurrent('p')}
        and p.state = 'approved' and p.payable_from <= :now)`

const FIND_UNPAYABLE = compileStatement(`
  select e.value ->> 0 as party, e.value ->> 1 as id,
    e.value ->> 0 = 'payee' and ${isHeld('e.value ->> 1')} as is_held
  from ${UNPAYABLE} limit 5`)

/** Whose details cannot be paid, and whether that is because a case holds the payee. */
type Unpayable = Pick<StoredDetails, 'party' | 'id'> & { readonly is_held: number }

/** Returns whose details among those of a change cannot be paid, at most five. */
export const findUnpayable = (db: Connection, { account, keys }: Change) =>
  all<Unpayable>(db, FIND_UNPAYABLE, { account, keys, now: Date.now() })

const REJECT_UNPAYABLE = compileStatement(`select ${ABORT} from ${UNPAYABLE}`)

/** A stored batch, and the number of its transfers by state, as JSON. */
export interface ListedBatch extends StoredBatch {
  readonly states: string
}

const COLUMNS = [
  'b.*',
  `(select json_group_object(state, n) from (
    select t.state, count(*) as n from transfers t indexed by transfers_batch
    where t.account = b.account and t.batch = b.id group by t.state)) as states`,
]

/** Whether a batch is confirmed, or can still be. */
const IS_LISTED = '(confirmed_by is not null or ends_at > :now)'

/** Reads one page of the batches, the latest first: all, or those with a reference, or a transfer that has it. */
export const listBatches = (
  db: D1Database,
  account: string,
  references: readonly string[] | null,
  page: Page,
): Promise<FoundPage<ListedBatch>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: `payout_batches b where account = :account and ${IS_LISTED}
        and (:references is null or b.id in (
          select value from json_each(:references) union all
          select t.batch from ${JSON_EACH}(:references) r
          cross join transfers t on t.account = :account and t.id = r.value))`,
      key: ['created_at', 'id'],
      descending: true,
      values: { account, now: Date.now(), references: references && JSON.stringify(references) },
    },
    page,
  )

/** The affiliate of a row `r` of a batch. */
const ROW_AFFILIATE = `substr(r.value ->> 'id', 1, length(r.value ->> 'id') - 4)`

const LIST_TO_CONFIRM = compileStatement(`
  select id, total, currency from payout_batches b indexed by payout_batches_prepared
  where account = :account and confirmed_by is null and ends_at > :now
    and (not :are_two or not exists (select 1 from json_each(b.authors) where value = :actor)
      and not exists (select 1 from payees p where p.account = :account and p.party = 'payer'
        and p.id = b.payer and p.version = b.payer_version and p.entered_by = :actor)
      and not exists (select 1 from json_each(b.rows) r
        cross join payees p on p.account = :account and p.party = 'payee' and p.id = ${ROW_AFFILIATE}
          and ${isCurrent('p')} and p.entered_by = :actor))
  order by ends_at, id`)

/** Returns the batches that wait for a confirmation by a person, those that end first before others. */
export const listToConfirm = (db: Connection, account: string, actor: string, areTwo: boolean) =>
  all<Pick<StoredBatch, 'id' | 'total' | 'currency'>>(db, LIST_TO_CONFIRM, {
    ...{ account, actor, are_two: Number(areTwo), now: Date.now() },
  })

const FIND = compileStatement(
  `select ${COLUMNS} from payout_batches b where account = :account and id = :id`,
)

/** Returns a batch; null if there is none. */
export const findBatch = (db: Connection, account: string, id: string) =>
  first<ListedBatch>(db, FIND, { account, id })

const READ_PERSONS = compileStatement(`
  with b as materialized (select * from payout_batches where account = :account and id = :batch)
  select i.value as person from b cross join json_each(b.authors) i union
  select p.entered_by from b
  cross join payees p on p.account = b.account and p.party = 'payer' and p.id = b.payer
    and p.version = b.payer_version union
  select p.entered_by from b
  cross join transfers t indexed by transfers_batch on t.account = b.account and t.batch = b.id
  cross join payees p on p.account = t.account and p.party = 'payee' and p.id = t.affiliate_id
    and p.version = t.payee_version`)

/** Returns who prepared a confirmed batch, added to it, or entered bank details that it uses. */
export const readPersons = async (db: Connection, account: string, batch: string) => {
  const found = await all<{ person: string }>(db, READ_PERSONS, { account, batch })
  return new Set(found.map(({ person }) => person))
}

const FIND_BEFORE = compileStatement(`
  select id, execute_on, total, (select count(*) from transfers t indexed by transfers_batch
    where t.account = b.account and t.batch = b.id) as transfers
  from payout_batches b indexed by payout_batches_latest
  where account = :account and confirmed_by is not null and created_at < :created_at
    and (payer, method, currency) = (:payer, :method, :currency)
  order by created_at desc limit 1`)

/** The batch before another one. */
export interface BatchBefore extends Pick<StoredBatch, 'id' | 'execute_on' | 'total'> {
  readonly transfers: number
}

/** Returns the last batch before one that pays from the same payer by the same method; null if there is none. */
export const findBefore = (db: Connection, account: string, batch: StoredBatch) =>
  first<BatchBefore>(db, FIND_BEFORE, { ...batch, account })

const FORGET_ENDED = compileStatement(`
  delete from payout_batches where account = :account and confirmed_by is null and ends_at <= :created_at`)

const INSERT_PREPARED = compileStatement(`
  insert into payout_batches (account, id, payer, payer_version, method, currency, execute_on, rows, hash,
    total, authors, created_at, ends_at)
  values (:account, :id, :payer, :payer_version, :method, :currency, :execute_on, :rows, :hash, :total,
    :authors, :created_at, :ends_at)`)

/** Tells webhooks that a batch waits for a confirmation. */
const NOTIFY_PREPARED = eventOf(
  'batch.prepared',
  `select id as about, json_object('batch_id', id, 'method', method, 'currency', currency, 'total', total,
      'execute_on', execute_on, 'authors', json(authors),
      'ends_at', strftime('%Y-%m-%dT%H:%M:%fZ', ends_at / 1000.0, 'unixepoch')) as data
    from payout_batches where account = :account and id = :id`,
)

/** Asks approvers for a confirmation. */
const ASK_TO_CONFIRM = noticesOf(
  'batch_prepared',
  `select :id as cause, 'role:' || 'approver' as recipient, :actor as except_actor`,
  ['except_actor'],
)

/** A batch that is prepared. */
export type NewBatch = Omit<StoredBatch, 'confirmed_by' | 'confirmed_at' | 'files' | 'reason'>

/** Stores a prepared batch, and forgets those that ended without a confirmation. */
export async function insertPrepared(
  db: D1Database,
  account: string,
  batch: NewBatch,
  actor: string,
  rows: number,
) {
  const values = { ...batch, account, actor }
  const { id, payer, method } = batch
  const details = { batch: id, ...(payer && { payer }), method, rows }
  await withAudit(
    db,
    { actor, action: 'batch.prepare', account, details },
    [FORGET_ENDED, INSERT_PREPARED, NOTIFY_PREPARED, ASK_TO_CONFIRM].map((one) =>
      bindStatement(db, one, values),
    ),
  )
}

const DISCARD = compileStatement(`
  delete from payout_batches where account = :account and id = :id and confirmed_by is null`)

/** Deletes a prepared batch. */
export const discardBatch = (db: D1Database, account: string, id: string, actor: string) =>
  withAudit(
    db,
    { actor, action: 'batch.discard', account, details: { batch: id } },
    requiredChange(db, DISCARD, { account, id }),
  )

const INSERT_TRANSFERS = compileStatement(`
  insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements,
    doubts, note, state, changed_at)
  select :account, value ->> 'id', :id, value ->> 'affiliate_id', value ->> 'payee_version', :currency,
    value ->> 'amount', value -> 'statements', value -> 'doubts', value ->> 'note', 'created', :now
  from ${JSON_EACH}(:transfers)`)

/** Aborts if one of the statements is paid, or another transfer has it. */
const CLAIM_STATEMENTS = compileStatement(`
  with v as materialized (
    select t.account, t.id as transfer, i.value as id
    from transfers t indexed by transfers_batch cross join json_each(t.statements) i
    where t.account = :account and t.batch = :id
  )
  update statements as s set transfer = iif(${IS_DUE} and ${IS_FREE}, v.transfer, ${ABORT})
  from v where s.account = v.account and s.id = v.id`)

/** A transfer to store: the ids of its statements, and its doubts without the words of banks, as arrays. */
export type NewTransfer = Pick<
  StoredTransfer,
  'id' | 'affiliate_id' | 'payee_version' | 'amount' | 'note'
> & { readonly statements: readonly string[]; readonly doubts: readonly object[] }

/** Returns the statements that store the transfers of a batch, which take their statements, all or none. */
export function insertTransfers(
  db: D1Database,
  account: string,
  { id, currency }: StoredBatch,
  transfers: readonly NewTransfer[],
): D1PreparedStatement[] {
  const values = { account, id, currency, now: Date.now(), transfers: JSON.stringify(transfers) }
  return [INSERT_TRANSFERS, CLAIM_STATEMENTS].map((one) => bindStatement(db, one, values))
}

/** Aborts if the batch is not as it was read. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where not exists (select 1 from payout_batches where account = :account
    and id = :id and (files, reason, confirmed_by, rows, authors)
      is (:files, :reason, :confirmed_by, :rows, :authors))`)

/** What becomes of a batch, and by whom. */
export interface Change {
  readonly account: string
  readonly actor: string
  /** The action of the audit log, and what its entry says of it. */
  readonly action: string
  readonly audited?: object
  readonly set: Partial<StoredBatch>
  /** The details that must be payable, as `readVersions` has them. */
  readonly keys: string
  /** What changes with it. */
  readonly statements: readonly D1PreparedStatement[]
}

/** Changes a batch. Returns null if somebody has changed meanwhile what it needs. */
export async function changeBatch(db: D1Database, seen: StoredBatch, change: Change) {
  const { account, actor, action, audited, set, keys, statements } = change
  const values = { ...seen, account, now: Date.now(), keys }
  const terms = setTerms(Object.keys(set), set)
  const update = `update payout_batches set ${terms} where account = :account and id = :id`
  const details = { batch: seen.id, ...audited }
  const isDone = await tryWithAudit(db, { actor, action, account, details }, [
    bindStatement(db, REJECT_UNPAYABLE, values),
    bindStatement(db, REJECT_CHANGED, values),
    ...statements,
    bindStatement(db, compileStatement(update), { ...values, ...set }),
  ])
  return isDone || null
}
