import { encode } from '../column-types.ts'
import { excessOf } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { toJsonChunks } from './json-chunks.ts'
import type { RecordView } from './record-view.ts'
import { JSON_EACH } from './sql-fragments.ts'
import { keptDaysSql } from './totals-sql.ts'

/** A day with records: its number, and its kept totals as JSON; null if it must be summed. */
export interface KeptDay {
  day: number
  totals: string | null
}

/** Marks days as being summed. Until their totals are kept, each change of a day deletes its row. */
export const BEGIN_DAYS = compileStatement(`
  insert into day_totals (account, resource, day, form, computation, checked_at)
  select :account, :resource, value, :form, :computation, :now from ${JSON_EACH}(:days) where true
  on conflict (account, resource, day) do update set
    form = excluded.form, totals = null, computation = excluded.computation`)

/**
 * Keeps the totals of the days that have not changed since they were marked, and returns these. It is
 * an insert, because the plan of an `update … from` reads every kept day of the resource.
 */
export const KEEP_DAYS = compileStatement(`
  insert into day_totals (account, resource, day, form, totals, computation, checked_at, records)
  select k.account, k.resource, k.day, k.form, r.value ->> 1, null, :now,
    (select coalesce(sum(g.value ->> 1), 0) from ${JSON_EACH}(r.value ->> 1) g)
  from ${JSON_EACH}(:rows) r cross join day_totals k
    on k.account = :account and k.resource = :resource and k.day = r.value ->> 0
      and k.computation = :computation
  where true on conflict (account, resource, day) do update set
    totals = excluded.totals, computation = null, checked_at = excluded.checked_at,
    records = excluded.records
  returning day`)

/** Removes the marks of the days that have not changed, and returns these. */
export const DROP_DAYS = compileStatement(`
  delete from day_totals
  where account = :account and resource = :resource
    and day in (select value from ${JSON_EACH}(:days)) and computation = :computation
  returning day`)

/** Returns what the kept totals of a resource consist of; totals of another form are not read. */
export const formOf = ({ groups, sums, kpis = '' }: RecordView): string =>
  JSON.stringify([groups, sums, kpis])

/** The days of each resource, or the bytes of their totals if these are more than was asked for. */
type FoundDays = { days: KeptDay[][] } | { excess: number[] }

/** Returns the days of each resource that have records, in order, with totals of at most `maxBytes`. */
export async function readKeptTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
  maxBytes: number,
): Promise<FoundDays> {
  const results = await withD1Retry(() =>
    session.batch<KeptDay & { excess: number | null }>(
      views.map((view) => {
        const { encoded, dayColumn } = view.recordTable
        const [first_day, last_day] = [from, to].map((day) => encode(encoded[dayColumn], day))
        const values = { account, resource: view.name, form: formOf(view), first_day, last_day }
        return bindStatement(session, compileStatement(keptDaysSql(view, maxBytes)), values)
      }),
    ),
  )
  const days = results.map((result) => result.results)
  const excess = days.flatMap((rows) => excessOf(rows as never)?.bytes ?? [])
  return excess.length > 0 ? { excess } : { days }
}

/** What identifies the days of a resource that a computation sums. */
export interface DaysScope {
  readonly session: D1DatabaseSession
  readonly account: string
  readonly view: RecordView
  readonly computation: string
}

/** Marks days as being summed. */
export const beginDays = (
  { session, account, view, computation }: DaysScope,
  days: readonly number[],
  now: number,
): D1PreparedStatement =>
  bindStatement(session, BEGIN_DAYS, {
    account,
    resource: view.name,
    form: formOf(view),
    computation,
    now,
    days: JSON.stringify(days),
  })

/** Keeps the totals of days; each statement returns the days that have not changed. */
export const keepDays = (
  { session, account, view, computation }: DaysScope,
  totals: readonly (readonly [day: number, totals: string])[],
  now: number,
): D1PreparedStatement[] =>
  toJsonChunks(totals.map((row) => [...row])).map((rows) =>
    bindStatement(session, KEEP_DAYS, { account, resource: view.name, computation, now, rows }),
  )

/** Removes the marks of days; the statement returns the days that have not changed. */
export const dropDays = (
  { session, account, view, computation }: DaysScope,
  days: readonly number[],
): D1PreparedStatement =>
  bindStatement(session, DROP_DAYS, {
    account,
    resource: view.name,
    computation,
    days: JSON.stringify(days),
  })
