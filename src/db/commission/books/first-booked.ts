import { compileStatement } from '../../statement.ts'

/** Finds the first closed period of each plan, and when the first manual entry was made. */
export const FIRST_BOOKED = compileStatement(`
  select (
      select min(s.period) from statements s indexed by statements_closed
      where s.account = :account and s.plan = p.plan and s.status <> 'draft'
    ) as period, null as entered
  from (select distinct plan from plan_versions where account = :account) p
  union all
  select null, (select at from manual_entries where account = :account order by id limit 1)`)

/** Where the books of an account begin. */
export interface FirstBooked {
  /** The first period of each plan that has an approved statement. */
  readonly periods: readonly string[]
  /** When the first manual entry was made; null if there is none. */
  readonly entered: string | null
}

/** A row of that statement. */
export interface BookedRow {
  readonly period: string | null
  readonly entered: string | null
}

/** Returns where the books of an account begin. */
export const toFirstBooked = (rows: readonly BookedRow[]): FirstBooked => ({
  periods: rows.flatMap(({ period }) => (period === null ? [] : [period])),
  entered: rows.at(-1)?.entered ?? null,
})
