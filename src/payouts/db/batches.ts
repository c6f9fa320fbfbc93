import { HOLDS_CHANGED, isHeld, rowsOfSeen } from '../../books/db/fraud-holds.ts'
import { ABORT } from '../../commission/db/audit-guard.ts'
import { IS_DUE, IS_FREE } from '../../commission/db/ledger.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { type AuditEntry, withAudit } from '../../platform/directory/audit.ts'
import {
  PAYOUT_LIMITS,
  type Party,
  type StoredBatch,
  type StoredDetails,
  type StoredTransfer,
  type TransferState,
} from '../model.ts'
import { isCurrent } from './payees.ts'
import { moveTransfers } from './transfers.ts'

/** A statement that has to be paid, and what decides whether a batch has it. */
export interface DueStatement
  extends Pick<StoredDetails, 'method' | 'payable_from'>,
    Pick<StoredTransfer, 'affiliate_id' | 'currency'> {
  readonly id: string
  readonly payable: string
  readonly is_held: number
  readonly is_suspended: number
  /** Whether it came back, or was rejected, and the details are still those of then. */
  readonly came_back: number
  /** The current version of the payee; null if there is none. */
  readonly version: number | null
  readonly state: StoredDetails['state'] | null
}

const READ_DUE = compileStatement(`
  select s.id, s.affiliate_id, s.statement ->> 'currency' as currency, s.payable,
    ${isHeld('s.affiliate_id')} as is_held,
    exists (select 1 from affiliates a where a.account = :account
      and a.affiliate_id = s.affiliate_id and a.status = 'suspended') as is_suspended,
    t.state in ('returned', 'rejected') and t.payee_version = p.version
      or s.returned is not s.transfer and exists (select 1 from payment_returns n
        where n.account = :account and n.payment = s.returned
          and unixepoch(n.at, 'subsec') * 1000 >= p.entered_at) as came_back,
    p.version, p.state, p.method, p.payable_from
  from statements s indexed by statements_due
  left join payees p on p.account = :account and p.party = 'payee' and p.id = s.affiliate_id
    and ${isCurrent('p')} and p.details is not null
  left join transfers t on t.account = :account and t.id = s.transfer
  where s.account = :account and ${IS_DUE} and ${IS_FREE}
    and s.statement ->> 'payable_on' <= :execute_on
    and (:statements is null or s.id in (select value from json_each(:statements)))
  order by s.affiliate_id, currency, s.period, s.plan limit :limit`)

/** Returns what is due when a batch is executed: of its statements, if a person chose some. */
export const readDue = (
  db: Connection,
  account: string,
  { execute_on, statements }: Pick<StoredBatch, 'execute_on' | 'statements'>,
  limit: number,
): Promise<DueStatement[]> => all(db, READ_DUE, { account, execute_on, statements, limit })

/** Which version of the details of whom. */
export type VersionKey = readonly [party: Party, id: string, version: number]

const READ_VERSIONS = compileStatement(`
  select p.* from ${JSON_EACH}(:keys) e
  cross join payees p on p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
    and p.version = e.value ->> 2`)

/** Returns versions of details, in no order. */
export const readVersions = (
  db: Connection,
  account: string,
  keys: readonly VersionKey[],
): Promise<StoredDetails[]> => all(db, READ_VERSIONS, { account, keys: JSON.stringify(keys) })

/** The versions among some to which nothing may be paid now: another one is current, or is not approved for long enough. */
const UNPAYABLE = `${JSON_EACH}(:keys) e
  where not exists (select 1 from payees p
    where p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
      and p.version = e.value ->> 2 and ${isCurrent('p')}
      and p.state = 'approved' and p.payable_from <= :now)`

const FIND_UNPAYABLE = compileStatement(
  `select e.value ->> 0 as party, e.value ->> 1 as id from ${UNPAYABLE}`,
)

/** Returns whose details among some nothing may be paid to, or from, now. */
export const findUnpayable = (
  db: Connection,
  account: string,
  keys: readonly VersionKey[],
  now: number,
): Promise<Pick<StoredDetails, 'party' | 'id'>[]> =>
  all(db, FIND_UNPAYABLE, { account, keys: JSON.stringify(keys), now })

const REJECT_UNPAYABLE = compileStatement(`select ${ABORT} from ${UNPAYABLE}`)

const REJECT_HELD = compileStatement(
  `select ${ABORT} from ${JSON_EACH}(:seen) e where ${HOLDS_CHANGED}`,
)

/** Returns the statements that abort unless all these parties may pay and be paid now. */
function requirePayable(db: Connection, account: string, keys: readonly VersionKey[], now: number) {
  const payees = keys.filter(([party]) => party === 'payee')
  const seen = rowsOfSeen(payees.map(([, affiliate_id]) => ({ affiliate_id, cases: [] })))
  return [
    bindStatement(db, REJECT_UNPAYABLE, { account, keys: JSON.stringify(keys), now }),
    bindStatement(db, REJECT_HELD, { account, seen }),
  ]
}

/** Runs statements with an entry of the audit log. Returns false if one of them aborts: somebody changed what they need. */
async function stored(
  db: D1Database,
  entry: AuditEntry,
  statements: D1PreparedStatement[],
): Promise<boolean> {
  try {
    await withAudit(db, entry, statements)
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return false
  }
}

/** A stored batch, and the number of its transfers by state, as JSON. */
export interface ListedBatch extends StoredBatch {
  readonly states: string
}

const COLUMNS = [
  ...['id', 'status', 'payer', 'payer_version', 'method', 'currency', 'execute_on', 'statements'],
  ...['hash', 'total', 'count', 'created_by', 'created_at', 'confirmed_by', 'confirmed_at'],
  ...['exported_at', 'file_hash', 'reason'],
  `(select json_group_object(state, n) from (
    select t.state, count(*) as n from transfers t indexed by transfers_batch
    where t.account = b.account and t.batch = b.id group by t.state)) as states`,
]

/** Reads one page of the batches that were confirmed, the latest first. */
export const listBatches = (
  db: Parameters<typeof paginate>[0],
  account: string,
  page: Page,
): Promise<FoundPage<ListedBatch>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: `payout_batches b where account = :account and status <> 'preview'`,
      key: ['created_at', 'id'],
      descending: true,
      values: { account },
    },
    page,
  )

const FIND = compileStatement(
  `select ${COLUMNS} from payout_batches b where account = :account and id = :id`,
)

/** Returns a batch; null if there is none. */
export const findBatch = (
  db: Connection,
  account: string,
  id: string,
): Promise<ListedBatch | null> => first(db, FIND, { account, id })

const FORGET_PREVIEWS = compileStatement(`
  delete from payout_batches
  where account = :account and status = 'preview' and created_at < :created_at - ${PAYOUT_LIMITS.previewMs}`)

const INSERT_PREVIEW = compileStatement(`
  insert into payout_batches (account, id, status, payer, method, currency, execute_on, statements,
    created_by, created_at)
  values (:account, :id, 'preview', :payer, :method, :currency, :execute_on, :statements,
    :created_by, :created_at)
  on conflict do nothing`)

/** What a preview asks for. */
export type NewBatch = Pick<
  StoredBatch,
  'id' | 'payer' | 'method' | 'currency' | 'execute_on' | 'statements' | 'created_by' | 'created_at'
>

/** Stores what a preview asks for, and forgets the previews that are too old to be confirmed. */
export async function insertPreview(db: D1Database, account: string, batch: NewBatch) {
  const { id, payer, method, created_by: actor } = batch
  const details = { batch: id, payer, method }
  await withAudit(db, { actor, action: 'batch.preview', account, details }, [
    bindStatement(db, FORGET_PREVIEWS, { account, ...batch }),
    bindStatement(db, INSERT_PREVIEW, { account, ...batch }),
  ])
}

/** Aborts if the batch is no preview, or another transfer has one of its statements. */
const REJECT_TAKEN = compileStatement(`
  select ${ABORT}
  where not exists (
      select 1 from payout_batches where account = :account and id = :id and status = 'preview')
    or exists (
      select 1 from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 4) i
      left join statements s on s.account = :account and s.id = i.value and ${IS_DUE} and ${IS_FREE}
      where s.id is null)`)

const INSERT_TRANSFERS = compileStatement(`
  insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements,
    state, changed_at)
  select :account, value ->> 0, :id, value ->> 1, value ->> 2, :currency, value ->> 3, value -> 4,
    'created', :confirmed_at
  from json_each(:rows)`)

const CLAIM_STATEMENTS = compileStatement(`
  update statements set transfer = v.transfer
  from (
    select r.value ->> 0 as transfer, i.value as id
    from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 4) i
  ) v
  where statements.account = :account and statements.id = v.id and statements.status = 'approved'`)

const CONFIRM = compileStatement(`
  update payout_batches set status = 'confirmed', payer_version = :payer_version, hash = :hash,
    total = :total, count = json_array_length(:rows), confirmed_by = :confirmed_by,
    confirmed_at = :confirmed_at
  where account = :account and id = :id`)

/** A transfer of a batch that is not confirmed. */
export type NewTransfer = Pick<
  StoredTransfer,
  'id' | 'affiliate_id' | 'payee_version' | 'amount'
> & { readonly statements: readonly string[] }

/** What a person confirms. */
export interface Confirmed {
  readonly id: string
  readonly currency: string
  readonly payer: string
  readonly payer_version: number
  readonly hash: string
  readonly total: string
  readonly confirmed_by: string
  /** In milliseconds. */
  readonly confirmed_at: number
}

/**
 * Stores the transfers of a batch, which take their statements, all or none. Returns false if somebody has changed
 * meanwhile what they need.
 */
export function confirmBatch(
  db: D1Database,
  account: string,
  batch: Confirmed,
  transfers: readonly NewTransfer[],
): Promise<boolean> {
  const rows = transfers.map(({ id, affiliate_id, payee_version, amount, statements }) => [
    ...[id, affiliate_id, payee_version, amount, statements],
  ])
  const values = { account, ...batch, rows: JSON.stringify(rows) }
  const { id, payer, payer_version, currency, total, confirmed_by: actor, confirmed_at } = batch
  const keys = [
    ['payer', payer, payer_version] as const,
    ...transfers.map((one) => ['payee', one.affiliate_id, one.payee_version] as const),
  ]
  const details = { batch: id, count: transfers.length, total, currency }
  return stored(db, { actor, action: 'batch.confirm', account, details }, [
    ...requirePayable(db, account, keys, confirmed_at),
    ...[REJECT_TAKEN, INSERT_TRANSFERS, CLAIM_STATEMENTS, CONFIRM].map((one) =>
      bindStatement(db, one, values),
    ),
  ])
}

/** Aborts if the batch was exported or cancelled meanwhile. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where not exists (select 1 from payout_batches where account = :account
    and id = :id and status = 'confirmed' and exported_at is :exported_at)`)

const EXPORT = compileStatement(`
  update payout_batches set exported_at = :now, file_hash = :file_hash
  where account = :account and id = :id`)

const CANCEL = compileStatement(`
  update payout_batches set status = 'cancelled', reason = :reason
  where account = :account and id = :id`)

/** Who changes a batch, and when, in milliseconds. */
export interface Change {
  readonly account: string
  readonly actor: string
  readonly now: number
}

const movesTo = (transfers: readonly StoredTransfer[], state: TransferState) =>
  transfers.map(({ id }) => ({ id, state }))

/** Books the first export of a batch. Returns false if somebody has changed meanwhile what it needs. */
export function exportBatch(
  db: D1Database,
  { account, actor, now }: Change,
  { id, exported_at }: StoredBatch,
  transfers: readonly StoredTransfer[],
  { keys, file_hash }: { readonly keys: readonly VersionKey[]; readonly file_hash: string },
): Promise<boolean> {
  const values = { account, id, exported_at, now, file_hash }
  const details = { batch: id, file_hash }
  return stored(db, { actor, action: 'batch.export', account, details }, [
    ...requirePayable(db, account, keys, now),
    bindStatement(db, REJECT_CHANGED, values),
    moveTransfers(db, account, movesTo(transfers, 'exported'), now),
    bindStatement(db, EXPORT, values),
  ])
}

/** Cancels what is under way of a batch. Returns false if it was exported or cancelled meanwhile. */
export function cancelBatch(
  db: D1Database,
  { account, actor, now }: Change,
  { id, exported_at }: StoredBatch,
  transfers: readonly StoredTransfer[],
  reason: string | null,
): Promise<boolean> {
  const values = { account, id, exported_at, reason }
  const details = { batch: id, reason }
  return stored(db, { actor, action: 'batch.cancel', account, details }, [
    bindStatement(db, REJECT_CHANGED, values),
    moveTransfers(db, account, movesTo(transfers, 'cancelled'), now),
    bindStatement(db, CANCEL, values),
  ])
}
