import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import type { fraudCases } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** What persons decided of a case: `reversed` if they confirmed it and ended the hold that it kept later. */
export type Outcome = 'confirmed' | 'dismissed' | 'reversed'

/** A decided case. Days are in days since 1970. */
export type DecidedCase = Pick<typeof fraudCases.$inferSelect, 'affiliate_id' | 'subject'> & {
  readonly opened_for: number
  readonly last_day: number
  readonly outcome: Outcome
}

const READ_DECIDED = compileStatement(`
  select c.affiliate_id, c.subject, c.opened_for, c.last_day,
    iif(c.status = 'confirmed' and c.keep_hold = 0 and exists (select 1 from fraud_decisions d
      where d.account = c.account and d.case_id = c.id and d.keep_hold = 1
        and d.at = strftime('%Y-%m-%dT%H:%M:%S', c.decided_at / 1000, 'unixepoch')
          || printf('.%03dZ', c.decided_at % 1000)), 'reversed', c.status) as outcome
  from ${JSON_EACH}(:affiliates) a
  cross join fraud_cases c indexed by fraud_cases_position
    on c.account = :account and c.affiliate_id = a.value
  where c.kind = :kind and c.status in ('confirmed', 'dismissed')
  order by c.affiliate_id, c.subject, c.rule, c.position`)

/** Reads the decided cases of a kind of some affiliates. */
export const readDecidedCases = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
  kind: string,
): Promise<DecidedCase[]> =>
  all<DecidedCase>(db, READ_DECIDED, { account, affiliates: JSON.stringify(affiliates), kind })
