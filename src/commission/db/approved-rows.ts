import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement, type Statement } from '../../platform/db/statement.ts'

/** The affiliates whose approved statements one query reads. */
export const AFFILIATES_PER_QUERY = 50

/** The columns to read from approved statements, as SQL over their rows `s`. */
interface ApprovedColumns {
  /** The columns, besides those of `ApprovedKey`. */
  readonly columns: string
  /** The approximate bytes of a row, as SQL. */
  readonly rowBytes: string
  /** The approximate bytes of a response. */
  readonly bytes: number
}

/** The columns that order approved statements. */
interface ApprovedKey {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
}

/** A key that sorts before every row. */
const START: ApprovedKey = { affiliate_id: '', plan: '', period: '' }

/**
 * Returns a statement that reads the approved statements after a row, in order of affiliate, plan and
 * period: as many as `bytes` allows, and at least one.
 */
export const approvedRows = ({ columns, rowBytes, bytes }: ApprovedColumns): Statement =>
  compileStatement(`
  with w as (
    select s.affiliate_id, s.plan, s.period,
      sum(${rowBytes}) over (order by s.affiliate_id, s.plan, s.period) as bytes,
      row_number() over (order by s.affiliate_id, s.plan, s.period) as number
    from ${JSON_EACH}(:affiliates) a
    cross join statements s indexed by statements_affiliate
      on s.account = :account and s.affiliate_id = a.value and s.status <> 'draft'
    where (s.affiliate_id, s.plan, s.period) > (:affiliate_id, :plan, :period)
  )
  select s.affiliate_id, s.plan, s.period, ${columns}
  from w cross join statements s on s.account = :account and s.period = w.period
    and s.affiliate_id = w.affiliate_id and s.plan = w.plan
  where w.bytes <= ${bytes} or w.number = 1
  order by s.affiliate_id, s.plan, s.period`)

/** Yields affiliates as JSON arrays, each with as many as one query reads. */
export function* affiliateLists(affiliates: readonly string[]): Generator<string> {
  for (let i = 0; i < affiliates.length; i += AFFILIATES_PER_QUERY) {
    yield JSON.stringify(affiliates.slice(i, i + AFFILIATES_PER_QUERY))
  }
}

/**
 * Yields all approved statements of some affiliates, with the columns of a statement of
 * `approvedRows`.
 */
export async function* readApprovedRows<Row extends ApprovedKey>(
  db: Connection,
  statement: Statement,
  account: string,
  affiliates: readonly string[],
): AsyncGenerator<Row> {
  for (const list of affiliateLists(affiliates)) {
    for (let last: ApprovedKey = START; ; ) {
      const { affiliate_id, plan, period } = last
      const values = { account, affiliates: list, affiliate_id, plan, period }
      const results = await all<Row>(db, statement, values)
      yield* results
      const end = results.at(-1)
      if (!end) break
      last = end
    }
  }
}
