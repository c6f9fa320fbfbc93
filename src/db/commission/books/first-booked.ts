import { withD1Retry } from '../../retry.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import type { Connection } from '../facts.ts'

/** Finds the first closed month and week, and when the first manual entry was made. */
export const FIRST_BOOKED = compileStatement(`
  select (
    select period from statements
    where account = :account and status <> 'draft' and period glob '????-??'
    order by period limit 1
  ) as month, (
    select period from statements
    where account = :account and status <> 'draft' and period glob '????-W??'
    order by period limit 1
  ) as week, (
    select at from manual_entries where account = :account order by id limit 1
  ) as entered`)

/** Where the books of an account begin. */
export interface FirstBooked {
  /** The first period of each kind that has an approved statement. */
  readonly periods: readonly string[]
  /** When the first manual entry was made; null if there is none. */
  readonly entered: string | null
}

/** Returns where the books of an account begin. */
export async function readFirstBooked(db: Connection, account: string): Promise<FirstBooked> {
  type Row = { month: string | null; week: string | null; entered: string | null }
  const row = await withD1Retry(() => bindStatement(db, FIRST_BOOKED, { account }).first<Row>())
  const periods = [row?.month, row?.week].flatMap((period) => (period ? [period] : []))
  return { periods, entered: row?.entered ?? null }
}
