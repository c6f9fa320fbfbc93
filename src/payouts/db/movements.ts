import type { Connection } from '../../platform/db/database.ts'
import { all, first } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import type { Movement } from '../answers/movements.ts'
import type { StoredMovement } from '../model.ts'

const FIND = compileStatement(`
  select m.reference, m.direction, m.day, m.other, m.bank_reference, m.n from ${JSON_EACH}(:references) r
  cross join bank_movements m on m.account = :account and m.reference = r.value
  union all
  select n.payment, 'returned', n.returned_on, '', '', 1 from ${JSON_EACH}(:references) r
  cross join payment_returns n on n.account = :account and n.payment = r.value
  where not exists (select 1 from bank_movements m where m.account = :account
    and m.reference = n.payment and m.direction = 'returned' and m.doubt is null)`)

/** Returns the movements of transfers and batches that were booked, also as returns by hand, or noted. */
export const findMovements = (db: Connection, account: string, references: readonly string[]) =>
  all<Movement>(db, FIND, { account, references: JSON.stringify(references) })

const STORE = compileStatement(`
  insert into bank_movements (account, reference, direction, day, other, bank_reference, n, amount,
    currency, doubt)
  select :account, value ->> 'reference', value ->> 'direction', value ->> 'day',
    value ->> 'other', value ->> 'bank_reference', value ->> 'n', value ->> 'amount', value ->> 'currency',
    value ->> 'doubt'
  from ${JSON_EACH}(:movements) where true
  on conflict do update set doubt = null where excluded.doubt is null`)

/** Returns the statement that keeps movements: what is booked ends its doubt, and what is noted never begins one anew. */
export const storeMovements = (
  db: D1Database,
  account: string,
  movements: readonly (Movement & Partial<StoredMovement>)[],
) => bindStatement(db, STORE, { account, movements: JSON.stringify(movements) })

/** Movements `m` that a person has not looked at. */
const OPEN = `bank_movements m indexed by bank_movements_open
  where m.account = :account and m.doubt is not null and m.dismissed = 0`

const SHOWN = 'm.reference, m.doubt, m.direction, m.day, m.amount, m.currency'

const OF_BATCH = compileStatement(`
  select ${SHOWN} from ${OPEN} and m.reference = :batch union all
  select ${SHOWN} from transfers t indexed by transfers_batch
  cross join bank_movements m indexed by bank_movements_open on m.account = t.account
    and m.reference = t.id and m.doubt is not null and m.dismissed = 0
  where t.account = :account and t.batch = :batch`)

/** Returns the movements of a batch, and of its transfers, that a person has not looked at. */
export const openMovementsOf = (db: Connection, account: string, batch: string) =>
  all<Omit<StoredMovement, 'other' | 'bank_reference' | 'n' | 'dismissed'>>(db, OF_BATCH, {
    account,
    batch,
  })

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

/** The query of the affiliates of whom money may have left twice: no batch pays them by itself. */
export const PAID_TWICE = ['not indexed on t.id', 'indexed by transfers_batch on t.batch']
  .map(
    (found) => `
    select t.affiliate_id from bank_movements m indexed by bank_movements_open
    cross join transfers t ${found} = m.reference and t.account = m.account
    where m.account = :account and m.doubt in ('paid_twice', 'paid_after_cancel') and m.dismissed = 0`,
  )
  .join(' union all ')
