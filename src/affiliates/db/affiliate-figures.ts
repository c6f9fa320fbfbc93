import { IS_DUE, sumOf } from '../../commission/db/ledger.ts'
import { SIGNUP_DAY } from '../../ingest/db/signup.ts'
import { dayText } from '../../platform/db/column-types.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all } from '../../platform/db/query.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import type { Affiliate } from '../../platform/directory/affiliates.ts'

// What a list of affiliates shows of each: its plan, balance, earnings and last signup.

/** The limits of these figures. */
export const FIGURE_LIMITS = {
  /** The customers among whom the last signup of each affiliate is found, the latest by day. */
  customers: 5000,
  /** The statements of the current month and week by which affiliates are sorted. */
  statements: 10_000,
}

/** The values of `only`: affiliates without a plan, of their own or by `*`, or with a balance that is not 0. */
export const FIGURE_FILTERS = ['without_plan', 'with_balance'] as const

/** The values of `sort`: by id, or those who have earned the most in the current month or week first. */
export const FIGURE_SORTS = ['affiliate_id', 'earned'] as const

/** What narrows and sorts the list. */
export interface FigureFilter {
  readonly affiliate_id?: string | undefined
  /** A part of the id or of the name. */
  readonly search?: string | undefined
  readonly only?: (typeof FIGURE_FILTERS)[number] | undefined
  readonly sort?: (typeof FIGURE_SORTS)[number] | undefined
}

/** The days and periods that figures depend on. */
export interface FigureDays {
  /** `YYYY-MM-DD`. */
  readonly today: string
  /** The current month and week. */
  readonly open: readonly string[]
  /** The last three months and weeks. */
  readonly periods: readonly string[]
}

const WITHOUT_PLAN = `not exists (
    select 1 from assignments s
    where s.account = :account and s.affiliate_id in (a.affiliate_id, '*') and s.from_day <= :today)`

/** Amounts of a currency have the same decimal places, so that their digits alone add up. */
const WITH_BALANCE = `exists (
    select 1 from ledger l where l.account = :account and l.affiliate_id = a.affiliate_id
    group by l.currency
    having abs(total(cast(replace(l.amount, '.', '') as integer))) >= 1)`

/** The id or the name has the text, or it is the id of the parent. */
const SEARCHED = `(instr(lower(a.affiliate_id), lower(:search)) > 0
    or instr(lower(ifnull(a.display_name, '')), lower(:search)) > 0
    or lower(a.parent) = lower(:search))`

const CONDITIONS = { without_plan: WITHOUT_PLAN, with_balance: WITH_BALANCE }

/** The highest amount of a currency that an affiliate has earned in the current periods. */
const EARNED = `left join (
    select affiliate_id, max(total) as total
    from (
      select affiliate_id, total(statement ->> 'total') as total
      from (
        select affiliate_id, statement from statements
        where account = :account and period in (select value from json_each(:open))
          and statement is not null limit :statements)
      group by affiliate_id, statement ->> 'currency')
    group by affiliate_id) e on e.affiliate_id = a.affiliate_id`

/** A text that has higher amounts first, and then ids in their order. */
const BY_EARNED = `printf('%022.6f ', max(0, 1e12 - ifnull(e.total, 0))) || a.affiliate_id`

/** An affiliate of the list with figures, which has no notes of the team. */
export type ListedAffiliate = Omit<Affiliate, 'language' | 'note'>

/** Reads one page of an account's affiliates: by id, or those who have earned the most first. */
export function listForFigures(
  db: D1Database,
  account: string,
  { affiliate_id, search, only, sort }: FigureFilter,
  { today, open }: FigureDays,
  page: Page,
): Promise<FoundPage<ListedAffiliate>> {
  const isByEarned = sort === 'earned'
  const conditions = [
    'a.account = :account',
    ...(affiliate_id === undefined ? [] : ['a.affiliate_id = :affiliate_id']),
    ...(search === undefined ? [] : [SEARCHED]),
    ...(only === undefined ? [] : [CONDITIONS[only]]),
  ]
  const place = isByEarned ? BY_EARNED : 'a.affiliate_id'
  const rows = `(select a.affiliate_id, a.parent, a.display_name, a.contact_email, a.status, ${place} as place
    from affiliates a ${isByEarned ? EARNED : ''} where ${conditions.join(' and ')}) where true`
  return paginate<ListedAffiliate>(
    db,
    {
      columns: ['affiliate_id', 'parent', 'display_name', 'contact_email', 'status', 'place'],
      from: rows,
      key: ['place'],
      values: {
        account,
        affiliate_id: affiliate_id ?? '',
        search: search ?? '',
        today,
        open: JSON.stringify(open),
        statements: FIGURE_LIMITS.statements,
      },
    },
    page,
  )
}

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
    on s.account = :account and s.affiliate_id = i.value and ${IS_DUE}
  group by s.affiliate_id, s.statement ->> 'currency'`)

/** What an affiliate earned in a period. */
export interface EarnedSum extends AffiliateSum {
  readonly period: string
}

const EARNED_SUMS = compileStatement(`
  select affiliate_id, period, currency, ${sumOf('total')} as units
  from (
    select s.affiliate_id, s.period, s.statement ->> 'currency' as currency,
      s.statement ->> 'total' as total
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

const LAST_SIGNUPS = compileStatement(`
  select affiliate_id, link, max(day) as day
  from (
    select c.affiliate_id, iif(c.affiliate_id is null, c.link, null) as link, ${SIGNUP_DAY} as day
    from customers c indexed by customers_day
    where c.account = :account order by c.day desc limit :customers)
  where affiliate_id in (select value from json_each(:ids)) or link is not null
  group by affiliate_id, link`)

interface SignupRow {
  readonly affiliate_id: string | null
  readonly link: string | null
  readonly day: number
}

const LINKS = compileStatement(`
  select link_id, affiliate_id from links
  where account = :account and affiliate_id in (select value from json_each(:ids))`)

/** The figures of affiliates. */
export interface AffiliateFigures {
  readonly assigned: readonly AssignedPlan[]
  readonly balances: readonly BalanceSum[]
  readonly earned: readonly EarnedSum[]
  /** The day of the last signup (`YYYY-MM-DD`) by affiliate: of the latest 5000 customers. */
  readonly lastSignups: ReadonlyMap<string, string>
}

/** Reads the figures of these affiliates of an account. */
export async function readAffiliateFigures(
  { db, directory }: { db: D1Database; directory: D1Database },
  account: string,
  ids: readonly string[],
  { today, periods }: FigureDays,
): Promise<AffiliateFigures> {
  const values = {
    account,
    ids: JSON.stringify(ids),
    today,
    periods: JSON.stringify(periods),
    customers: FIGURE_LIMITS.customers,
  }
  type Lists = [AssignedPlan[], BalanceSum[], EarnedSum[], SignupRow[]]
  const [[assigned, balances, earned, signups], links] = await Promise.all([
    readBatch<Lists>(db, [
      bindStatement(db, ASSIGNED, values),
      bindStatement(db, BALANCES, values),
      bindStatement(db, EARNED_SUMS, values),
      bindStatement(db, LAST_SIGNUPS, values),
    ]),
    all<{ link_id: string; affiliate_id: string }>(directory, LINKS, values),
  ])
  const byLink = new Map(links.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
  return { assigned, balances, earned, lastSignups: lastSignups(signups, byLink) }
}

/** Returns the last signup of each affiliate. A brand's customers without an affiliate have that of their link. */
function lastSignups(
  rows: readonly SignupRow[],
  byLink: ReadonlyMap<string, string>,
): Map<string, string> {
  const days = new Map<string, string>()
  for (const { affiliate_id, link, day } of rows) {
    const affiliate = affiliate_id ?? byLink.get(link ?? '')
    const text = dayText(day)
    if (affiliate !== undefined && text > (days.get(affiliate) ?? '')) days.set(affiliate, text)
  }
  return days
}
