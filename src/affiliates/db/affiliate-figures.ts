import { IS_DUE, IS_FREE, sumOf } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'

// What a list of affiliates shows of each: its plan, balance and earnings.

/** The latest assignment of an affiliate, or of `*`, whose first day has come, or the first one that is to come. */
export interface AssignedPlan {
  readonly affiliate_id: string
  readonly plan: string
  readonly from: string
  /** 1 if its first day is to come. */
  readonly is_next: 0 | 1
}

const ASSIGNED = compileStatement(`
  select affiliate_id, plan, max(from_day) as "from", 0 as is_next from assignments
  where account = :account and from_day <= :today
    and affiliate_id in (select value from json_each(:ids) union all select '*')
  group by affiliate_id
  union all
  select affiliate_id, plan, min(from_day), 1 from assignments
  where account = :account and from_day > :today
    and affiliate_id in (select value from json_each(:ids) union all select '*')
  group by affiliate_id`)

/** A sum of an affiliate in a currency, as `sumOf` returns it. */
interface AffiliateSum {
  readonly affiliate_id: string
  readonly currency: string
  readonly units: string
}

/** A sum of the ledger, or of what has to be paid. */
export interface BalanceSum extends AffiliateSum {
  readonly what: 'balance' | 'due'
}

const BALANCES = compileStatement(`
  select l.affiliate_id, l.currency, ${sumOf('l.amount')} as units, 'balance' as what
  from json_each(:ids) i
  cross join ledger l on l.account = :account and l.affiliate_id = i.value
  group by l.affiliate_id, l.currency
  union all
  select s.affiliate_id, s.statement ->> 'currency', ${sumOf('s.payable')}, 'due'
  from json_each(:ids) i
  cross join statements s indexed by statements_due
    on s.account = :account and s.affiliate_id = i.value and ${IS_DUE} and ${IS_FREE}
  group by s.affiliate_id, s.statement ->> 'currency'`)

/** Returns the sums of an affiliate's entries, and of what has to be paid, by currency. */
export const readBalances = (db: Connection, account: string, id: string): Promise<BalanceSum[]> =>
  all<BalanceSum>(db, BALANCES, { account, ids: JSON.stringify([id]) })

/** What an affiliate earned in a period. */
export interface EarnedSum extends AffiliateSum {
  readonly period: string
}

const EARNED_SUMS = compileStatement(`
  select affiliate_id, period, currency, ${sumOf('earned')} as units
  from (
    select s.affiliate_id, s.period, s.statement ->> 'currency' as currency,
      s.statement ->> 'earned' as earned
    from json_each(:ids) i
    cross join json_each(:periods) p
    cross join statements s indexed by statements_affiliate
      on s.account = :account and s.affiliate_id = i.value and s.period = p.value
    where s.statement is not null)
  group by affiliate_id, period, currency order by affiliate_id, period, currency`)

/** Returns what affiliates earned in some months and weeks. */
export const readEarned = (
  db: Connection,
  account: string,
  ids: readonly string[],
  periods: readonly string[],
): Promise<EarnedSum[]> =>
  all<EarnedSum>(db, EARNED_SUMS, {
    account,
    ids: JSON.stringify(ids),
    periods: JSON.stringify(periods),
  })

/** The figures of affiliates. */
export interface AffiliateFigures {
  readonly assigned: readonly AssignedPlan[]
  readonly balances: readonly BalanceSum[]
  readonly earned: readonly EarnedSum[]
}

/** Reads the figures of these affiliates of an account on a day (`YYYY-MM-DD`), with what they earned in some periods. */
export async function readAffiliateFigures(
  db: D1Database,
  account: string,
  ids: readonly string[],
  { today, periods }: { readonly today: string; readonly periods: readonly string[] },
): Promise<AffiliateFigures> {
  const values = { account, ids: JSON.stringify(ids), today, periods: JSON.stringify(periods) }
  type Lists = [AssignedPlan[], BalanceSum[], EarnedSum[]]
  const [assigned, balances, earned] = await readBatch<Lists>(db, [
    bindStatement(db, ASSIGNED, values),
    bindStatement(db, BALANCES, values),
    bindStatement(db, EARNED_SUMS, values),
  ])
  return { assigned, balances, earned }
}
