import { BOOK_LIMITS } from '../../books/limits.ts'
import { isHeld } from '../../fraud/db/holds.ts'
import { IS_DUE, IS_FREE } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first, setTerms } from '../../platform/db/query.ts'
import { isAssertionFailure } from '../../platform/db/retry.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import {
  type LeftOut,
  PAYOUT_LIMITS,
  type StoredBatch,
  type StoredDetails,
  type StoredTransfer,
} from '../model.ts'
import { PAID_TWICE } from './movements.ts'
import { isCurrent, SAME_ACCOUNT } from './payees.ts'

/** A statement that has to be paid, and why a batch leaves it out; null: it does not. */
export interface DueStatement {
  readonly statement_id: string
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly left_out: LeftOut | null
  /** The current version of the payee; null if there is none. */
  readonly version: number | null
  /** As `SAME_ACCOUNT`. */
  readonly same_account: string
}

/** A person may name what the reasons of `DOUBTS` leave out; the other reasons forbid it. */
const READ_DUE = compileStatement(`
  select s.id as statement_id, s.affiliate_id, s.statement ->> 'currency' as currency,
    s.payable as amount, p.version, ${SAME_ACCOUNT} as same_account, case
      when ${isHeld('s.affiliate_id')} then 'held'
      when p.version is null then 'no_payee'
      when p.state = 'blocked' then 'blocked'
      when p.state <> 'approved' and (p.state <> 'returned' or :statements is not null)
        then 'not_approved'
      when p.payable_from > :now then 'changed'
      when p.method <> :method then 'other_method'
      when s.statement ->> 'currency' <> :currency then 'other_currency'
      when :statements is not null then null
      when exists (select 1 from fraud_cases c indexed by fraud_cases_position
        where c.account = :account and c.affiliate_id = s.affiliate_id and c.status = 'open'
          and c.severity <> 'low') then 'case'
      when p.state = 'returned' or t.state in ('returned', 'rejected')
          and t.payee_version = p.version and t.changed_at >= p.payable_from
        or s.returned is not s.transfer and exists (select 1 from payment_returns n
          where n.account = :account and n.payment = s.returned
            and unixepoch(n.at, 'subsec') * 1000 >= p.entered_at) then 'returned'
      when exists (select 1 from affiliates a where a.account = :account
        and a.affiliate_id = s.affiliate_id and a.status = 'suspended') then 'suspended'
      when s.affiliate_id in (${PAID_TWICE}) then 'paid_twice'
    end as left_out
  from statements s indexed by statements_due
  left join payees p on p.account = :account and p.party = 'payee' and p.id = s.affiliate_id
    and ${isCurrent('p')} and p.state <> 'missing'
  left join transfers t on t.account = :account and t.id = s.transfer
  where s.account = :account and ${IS_DUE} and ${IS_FREE}
    and s.statement ->> 'payable_on' <= :execute_on
    and (:statements is null or s.id in (select value from json_each(:statements)))
  order by left_out is not null, s.affiliate_id, s.period, s.plan limit ${BOOK_LIMITS.due}`)

/** Returns what is due when a batch is executed: of its statements, if a person chose some. What it pays comes first. */
export const readDue = (db: Connection, account: string, batch: NewBatch, now: number) =>
  all<DueStatement>(db, READ_DUE, { ...batch, account, now })

const READ_VERSIONS = compileStatement(`
  select p.* from ${JSON_EACH}(:keys) e
  cross join payees p on p.account = :account and p.party = e.value ->> 0 and p.id = e.value ->> 1
    and p.version = e.value ->> 2 and p.state <> 'missing'`)

/** Returns versions of details, in no order. `keys` is JSON of the party, id and version of each. */
export const readVersions = (db: Connection, account: string, keys: string) =>
  all<StoredDetails>(db, READ_VERSIONS, { account, keys })

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

/** Reads one page of the batches that were confirmed, the latest first: all, or those with a reference, or a transfer that has it. */
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
      from: `payout_batches b where account = :account and confirmed_by is not null
        and (:references is null or b.id in (
          select value from json_each(:references) union all
          select t.batch from ${JSON_EACH}(:references) r
          cross join transfers t on t.account = :account and t.id = r.value))`,
      key: ['created_at', 'id'],
      descending: true,
      values: { account, references: references && JSON.stringify(references) },
    },
    page,
  )

const FIND = compileStatement(
  `select ${COLUMNS} from payout_batches b where account = :account and id = :id`,
)

/** Returns a batch; null if there is none. */
export const findBatch = (db: Connection, account: string, id: string) =>
  first<ListedBatch>(db, FIND, { account, id })

const FORGET_PREVIEWS = compileStatement(`
  delete from payout_batches where account = :account and confirmed_by is null
    and created_at < :created_at - ${PAYOUT_LIMITS.previewMs}`)

const INSERT_PREVIEW = compileStatement(`
  insert into payout_batches (account, id, payer, payer_version, method, currency, execute_on,
    statements, created_by, created_at)
  values (:account, :id, :payer, :payer_version, :method, :currency, :execute_on, :statements,
    :created_by, :created_at)`)

/** What a preview asks for. */
export type NewBatch = Omit<
  StoredBatch,
  'hash' | 'total' | 'confirmed_by' | 'confirmed_at' | 'file_hash' | 'reason'
>

/** Stores what a preview asks for, and forgets the previews that are older than a day. */
export async function insertPreview(db: D1Database, account: string, batch: NewBatch) {
  const { id, payer, method, created_by: actor } = batch
  const values = { ...batch, account }
  const details = { batch: id, payer, method }
  await withAudit(db, { actor, action: 'batch.preview', account, details }, [
    bindStatement(db, FORGET_PREVIEWS, values),
    bindStatement(db, INSERT_PREVIEW, values),
  ])
}

const INSERT_TRANSFERS = compileStatement(`
  insert into transfers (account, id, batch, affiliate_id, payee_version, currency, amount, statements,
    state, changed_at)
  select :account, value ->> 'id', :id, value ->> 'affiliate_id', value ->> 'payee_version', :currency,
    value ->> 'amount', value ->> 'statements', 'created', :now
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

/** Returns the statements that store the transfers of a batch, which take their statements, all or none. */
export function insertTransfers(
  db: D1Database,
  account: string,
  { id, currency }: StoredBatch,
  transfers: readonly Pick<StoredTransfer, 'id'>[],
): D1PreparedStatement[] {
  const values = { account, id, currency, now: Date.now(), transfers: JSON.stringify(transfers) }
  return [INSERT_TRANSFERS, CLAIM_STATEMENTS].map((one) => bindStatement(db, one, values))
}

/** Aborts if the batch is not as it was read. */
const REJECT_CHANGED = compileStatement(`
  select ${ABORT} where not exists (select 1 from payout_batches where account = :account
    and id = :id and (file_hash, reason) is (:file_hash, :reason))`)

/** What becomes of a batch, and by whom. */
export interface Change {
  readonly account: string
  readonly actor: string
  /** The action of the audit log, which also names what is set. */
  readonly action: string
  readonly set: Partial<StoredBatch>
  /** The details that must be payable, as `readVersions` has them. */
  readonly keys: string
  /** What changes with it. */
  readonly statements: readonly D1PreparedStatement[]
}

/** Changes a batch. Returns null if somebody has changed meanwhile what it needs. */
export async function changeBatch(db: D1Database, seen: StoredBatch, change: Change) {
  const { account, actor, action, set, keys, statements } = change
  const values = { ...seen, account, now: Date.now(), keys }
  const terms = setTerms(Object.keys(set), set)
  const update = `update payout_batches set ${terms} where account = :account and id = :id`
  // Who confirmed it, and when, its entry says itself.
  const details = { batch: seen.id, ...set, confirmed_by: undefined, confirmed_at: undefined }
  try {
    await withAudit(db, { actor, action, account, details }, [
      bindStatement(db, REJECT_UNPAYABLE, values),
      bindStatement(db, REJECT_CHANGED, values),
      ...statements,
      bindStatement(db, compileStatement(update), { ...values, ...set }),
    ])
    return true
  } catch (error) {
    if (!isAssertionFailure(error)) throw error
    return null
  }
}
