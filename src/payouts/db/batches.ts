import { isHeld } from '../../books/db/fraud-holds.ts'
import { ABORT } from '../../commission/db/audit-guard.ts'
import { IS_DUE, IS_FREE } from '../../commission/db/ledger.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import {
  PAYOUT_LIMITS,
  type Party,
  type StoredBatch,
  type StoredDetails,
  type StoredTransfer,
} from '../model.ts'
import { isCurrent } from './payees.ts'

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
    and ${isCurrent('p')} and p.state <> 'missing'
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
    and p.version = e.value ->> 2 and p.state <> 'missing'`)

/** Returns versions of details, in no order. */
export const readVersions = (
  db: Connection,
  account: string,
  keys: readonly VersionKey[],
): Promise<StoredDetails[]> => all(db, READ_VERSIONS, { account, keys: JSON.stringify(keys) })

/**
 * The versions among some to which nothing may be paid now: another one is current, is not approved for long enough, or a
 * case holds the payee.
 */
const UNPAYABLE = `${JSON_EACH}(:keys) e
  where not exists (select 1 from payees p
    where p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
      and p.version = e.value ->> 2 and ${isCurrent('p')}
      and p.state = 'approved' and p.payable_from <= :now
      and not (p.party = 'payee' and ${isHeld('p.id')}))`

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

/** The batches with some references, or with transfers that have them. */
const IS_NAMED = `b.id in (
  select value from json_each(:references) union all
  select t.batch from ${JSON_EACH}(:references) r
  cross join transfers t on t.account = :account and t.id = r.value)`

/** Reads one page of the batches that were confirmed, of those with some references unless null, the latest first. */
export const listBatches = (
  db: Parameters<typeof paginate>[0],
  account: string,
  references: readonly string[] | null,
  page: Page,
): Promise<FoundPage<ListedBatch>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: `payout_batches b where account = :account and status <> 'preview'
        ${references ? `and ${IS_NAMED}` : ''}`,
      key: ['created_at', 'id'],
      descending: true,
      values: { account, ...(references && { references: JSON.stringify(references) }) },
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

/** Aborts if another transfer has one of the statements. */
const REJECT_TAKEN = compileStatement(`
  select ${ABORT} from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 4) i
  left join statements s on s.account = :account and s.id = i.value and ${IS_DUE} and ${IS_FREE}
  where s.id is null`)

const INSERT_TRANSFERS = compileStatement(`
  insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements,
    state, changed_at)
  select :account, value ->> 0, :id, value ->> 1, value ->> 2, :currency, value ->> 3, value -> 4,
    'created', :now
  from json_each(:rows)`)

const CLAIM_STATEMENTS = compileStatement(`
  update statements set transfer = v.transfer
  from (
    select r.value ->> 0 as transfer, i.value as id
    from ${JSON_EACH}(:rows) r cross join json_each(r.value -> 4) i
  ) v
  where statements.account = :account and statements.id = v.id and statements.status = 'approved'`)

/** A transfer of a batch that is not confirmed. */
export type NewTransfer = Pick<
  StoredTransfer,
  'id' | 'affiliate_id' | 'payee_version' | 'amount'
> & { readonly statements: readonly string[] }

/** Returns the statements that store the transfers of a batch, which take their statements, all or none. */
export function insertTransfers(
  db: D1Database,
  { account, now }: Change,
  { id, currency }: StoredBatch,
  transfers: readonly NewTransfer[],
): D1PreparedStatement[] {
  const rows = transfers.map((one) => [
    ...[one.id, one.affiliate_id, one.payee_version, one.amount, one.statements],
  ])
  const values = { account, id, currency, now, rows: JSON.stringify(rows) }
  return [REJECT_TAKEN, INSERT_TRANSFERS, CLAIM_STATEMENTS].map((one) =>
    bindStatement(db, one, values),
  )
}

/** Aborts if the batch is not as it was read. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where not exists (select 1 from payout_batches where account = :account
    and id = :id and status = :seen_status and exported_at is :seen_exported_at)`)

const CHANGE = compileStatement(`
  update payout_batches set status = :status, payer_version = :payer_version, hash = :hash,
    total = :total, count = :count, confirmed_by = :confirmed_by, confirmed_at = :confirmed_at,
    exported_at = :exported_at, file_hash = :file_hash, reason = :reason
  where account = :account and id = :id`)

/** Who changes a batch, and when, in milliseconds. */
export interface Change {
  readonly account: string
  readonly actor: string
  readonly now: number
}

/** What becomes of a batch. */
interface Changed {
  /** The action of the audit log, which also names what is set. */
  readonly action: string
  readonly set: Partial<StoredBatch>
  /** The details that must be payable. */
  readonly keys?: readonly VersionKey[]
  /** What changes with it. */
  readonly statements: readonly D1PreparedStatement[]
}

/** Changes a batch. Returns false if somebody has changed meanwhile what it needs. */
export async function changeBatch(
  db: D1Database,
  { account, actor, now }: Change,
  seen: StoredBatch,
  { action, set, keys = [], statements }: Changed,
): Promise<boolean> {
  const before = { seen_status: seen.status, seen_exported_at: seen.exported_at }
  const values = { ...seen, ...set, ...before, account }
  try {
    await withAudit(db, { actor, action, account, details: { batch: seen.id, ...set } }, [
      bindStatement(db, REJECT_UNPAYABLE, { account, keys: JSON.stringify(keys), now }),
      bindStatement(db, REJECT_CHANGED, values),
      ...statements,
      bindStatement(db, CHANGE, values),
    ])
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return false
  }
}
