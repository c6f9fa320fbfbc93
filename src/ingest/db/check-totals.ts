import { decode } from '../../platform/db/column-types.ts'
import type { SumRow } from '../../platform/db/exact-sums.ts'
import { all } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { isUnchanged } from './changed.ts'
import type { RecordView } from './list.ts'
import { formOf, groupsByDay, sumStatements } from './totals.ts'

/** The kept days of a resource that one check compares. */
const DAYS = 5

/** The kept totals of days that have not changed since. */
const KEPT = `
  from day_totals k where k.account = :account and k.resource = :resource and k.form = :form
    and ${isUnchanged('k.resource', 'k.day', 'k.position')}`

/** Other days each morning, until all have had their turn. */
const CHOOSE_DAYS = compileStatement(
  `select k.day ${KEPT} order by (k.day + :today * ${DAYS}) % 400, k.day limit ${DAYS}`,
)

const READ_KEPT = compileStatement(`
  select k.day, k.totals ${KEPT} and k.day in (select value from json_each(:days))`)

/** A day whose kept totals differ from its records. */
export interface WrongDay {
  readonly resource: string
  readonly day: string
}

/**
 * Compares the kept totals of some days of an account with the records. `today` is a number of days since 1970. They differ only if a change
 * was stored without its mark.
 *
 * @throws ApiError `validation_failed` if the days have too many records.
 */
export async function checkTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  today: number,
): Promise<WrongDay[]> {
  const wrong: WrongDay[] = []
  for (const view of views) {
    const values = { account, today, resource: view.name, form: formOf(view) }
    const days = (await all<{ day: number }>(session, CHOOSE_DAYS, values)).map(({ day }) => day)
    if (days.length === 0) continue
    const [kept, ...rows] = await readBatch<[{ day: number; totals: string }[], ...SumRow[][]]>(
      session,
      [
        bindStatement(session, READ_KEPT, { ...values, days: JSON.stringify(days) }),
        ...sumStatements(session, view, account, days),
      ],
    )
    const summed = groupsByDay(view, days, rows)
    const { encoded, dayColumn } = view.recordTable
    for (const { day, totals } of kept) {
      if (totals === JSON.stringify(summed.get(day))) continue
      wrong.push({ resource: view.name, day: String(decode(encoded[dayColumn], day)) })
    }
  }
  return wrong
}
