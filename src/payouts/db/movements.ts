import type { Connection } from '../../platform/db/database.ts'
import { all, first } from '../../platform/db/query.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import type { Movement } from '../answers/movements.ts'
import type { StoredMovement, TransferState } from '../model.ts'

const FIND = compileStatement(`
  select m.reference, m.direction, m.day, m.other, m.bank_reference, m.n from ${JSON_EACH}(:references) r
  cross join bank_movements m on m.account = :account and m.reference = r.value`)

/** Returns the movements of transfers and batches that were booked or noted. */
export const findMovements = (db: Connection, account: string, references: readonly string[]) =>
  all<Movement>(db, FIND, { account, references: JSON.stringify(references) })

const STORE = compileStatement(`
  insert into bank_movements (account, reference, direction, day, other, bank_reference, n, amount,
    currency, doubt, code, reason, difference, note)
  select :account, value ->> 'reference', value ->> 'direction', value ->> 'day',
    value ->> 'other', value ->> 'bank_reference', value ->> 'n', value ->> 'amount', value ->> 'currency',
    value ->> 'doubt', value ->> 'code', value ->> 'reason', value ->> 'difference', value ->> 'note'
  from ${JSON_EACH}(:movements) where true
  on conflict do update set doubt = null, difference = excluded.difference, note = excluded.note
    where excluded.doubt is null`)

/** Returns the statement that keeps movements: what is booked ends its doubt, and what is noted never begins one anew. */
export const storeMovements = (
  db: D1Database,
  account: string,
  movements: readonly (Movement & Partial<StoredMovement>)[],
) => bindStatement(db, STORE, { account, movements: JSON.stringify(movements) })

/** Movements `m` that a person has not looked at. */
const OPEN = `bank_movements m indexed by bank_movements_open
  where m.account = :account and m.doubt is not null and m.dismissed = 0`

const OF_REFERENCES = compileStatement(`
  with named(reference) as (
    select value from ${JSON_EACH}(:references) union
    select t.id from ${JSON_EACH}(:references) r
    cross join transfers t indexed by transfers_batch on t.account = :account and t.batch = r.value)
  select m.*, t.amount as ordered, t.currency as ordered_currency, t.state
  from named n
  cross join bank_movements m on m.account = :account and m.reference = n.reference
  left join transfers t on t.account = m.account and t.id = m.reference
  order by m.day, m.reference`)

/** A movement that a bank or a person has named, and what its transfer orders; null if it is of a batch. */
export interface NamedMovement extends StoredMovement {
  readonly account: string
  readonly ordered: string | null
  readonly ordered_currency: string | null
  readonly state: TransferState | null
}

/** Returns all movements of transfers, and of batches with their transfers. */
export const movementsOf = (db: Connection, account: string, references: readonly string[]) =>
  all<NamedMovement>(db, OF_REFERENCES, { account, references: JSON.stringify(references) })

/** What another transfer has booked under a reference of the bank. */
const TAKEN = `from bank_movements indexed by bank_movements_bank
  where account = :account and bank_reference = :bank_reference and doubt is null
    and bank_reference <> '' and reference <> :reference`

const REJECT_TAKEN = compileStatement(`select ${ABORT} ${TAKEN}`)

/** Returns the statement that aborts if another transfer has the reference of the bank. */
export const rejectTaken = (db: D1Database, account: string, movement: Movement) =>
  bindStatement(db, REJECT_TAKEN, { account, ...movement })

const FIND_TAKEN = compileStatement(`select reference ${TAKEN} limit 1`)

/** Returns which other transfer has the reference of the bank; null if none has. */
export const findTaken = (db: Connection, account: string, movement: Movement) =>
  first<Pick<Movement, 'reference'>>(db, FIND_TAKEN, { account, ...movement })

const COUNT = compileStatement(`
  select count(*) as count, json_group_array(distinct m.reference) as names from ${OPEN}`)

/** Counts the movements that a person has not looked at, and names their references as a JSON array. */
export const countOpenMovements = async (db: Connection, account: string) =>
  (await first<{ count: number; names: string }>(db, COUNT, { account })) ?? {
    count: 0,
    names: '[]',
  }

const DISMISS = compileStatement(`
  update bank_movements set dismissed = 1
  where account = :account and reference = :reference and doubt is not null and dismissed = 0`)

/** Returns the statements that end the doubts about a transfer, or about a batch; they fail if there are none. */
export const dismiss = (db: D1Database, account: string, reference: string) =>
  requiredChange(db, DISMISS, { account, reference })

/** The query of the affiliates of whom money may have left twice, and of the references: no batch pays them by itself. */
export const PAID_TWICE = ['not indexed on t.id', 'indexed by transfers_batch on t.batch']
  .map(
    (found) => `
    select t.affiliate_id, m.reference from bank_movements m indexed by bank_movements_open
    cross join transfers t ${found} = m.reference and t.account = m.account
    where m.account = :account and m.doubt in ('paid_twice', 'paid_after_cancel') and m.dismissed = 0`,
  )
  .join(' union all ')

const READ_FEES = compileStatement(`
  select m.reference, m.direction, m.amount as moved, p.amount as settled, p.statements ->> 0 as statement
  from ${JSON_EACH}(:references) r
  cross join bank_movements m on m.account = :account and m.reference = r.value and m.difference = 'fee'
  cross join payments p on p.account = :account and p.reference = m.reference`)

/** A payment or return of which the bank kept, or took, a fee. */
export interface Fee extends Pick<StoredMovement, 'reference' | 'direction'> {
  /** What moved, and what of the claim of the affiliate is settled by it. */
  readonly moved: string
  readonly settled: string
  /** The first statement of the payment. */
  readonly statement: string
}

/** Returns the fees of payments by their references. */
export const readFees = (
  db: Connection,
  account: string,
  references: readonly string[],
): Promise<Fee[]> => all(db, READ_FEES, { account, references: JSON.stringify(references) })
