import { clickSql, SUBS } from '../../attribution/db/clicks.ts'
import { SIGNUP, SIGNUP_DAY } from '../../ingest/db/signup.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { all, first } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { DEPOSITS, dimensionSql, hasDeposit, OWNERS } from '../../reports/db/read-report.ts'

// What causes the events of postbacks, as it is stored: new customers, first deposits, lines of drafts, entries
// of the ledger. `src/affiliates/postback-causes.ts` says why each is read there.

/** A type of events that postbacks of an affiliate want, and since when, in milliseconds. */
export interface Want {
  readonly account: string
  readonly affiliate_id: string
  readonly type: string
  readonly since: number
}

const READ_WANTS = compileStatement(`
  select w.account, w.affiliate_id, w.type, min(w.since) as since
  from json_each(:accounts) a cross join postback_wants w on w.account = a.value group by 1, 2, 3`)

/** Reads what the postbacks of all affiliates of some accounts want. */
export const readWants = (db: D1Database, accounts: readonly string[]): Promise<Want[]> =>
  all<Want>(db, READ_WANTS, { accounts: JSON.stringify(accounts) })

const ACCOUNTS_WITH_WANTS = compileStatement(`
  with recursive found(account) as (
    select min(account) from postback_wants
    union all
    select (select min(account) from postback_wants where account > f.account)
    from found f where f.account is not null
  )
  select account from found where account is not null`)

/** Returns the accounts with a postback that wants events, in order. */
export const accountsWithWants = async (db: D1Database): Promise<string[]> =>
  (await all<{ account: string }>(db, ACCOUNTS_WITH_WANTS)).map(({ account }) => account)

const DROP_PROGRESS = compileStatement(`
  delete from postback_progress where account not in (select account from postback_wants)
    and ${isDoorOpen('account')}`)

/** Stops reading the causes of accounts without a postback that wants them. */
export const dropProgress = (db: D1Database) => bindStatement(db, DROP_PROGRESS, {})

const READ_PROGRESS = compileStatement(`
  select ifnull((select read_to from postback_progress where account = :account), :now) as read_to,
    exists (select 1 from statement_runs where account = :account and ended_at >= strftime(
      '%Y-%m-%dT%H:%M:%fZ',
      (ifnull((select read_to from postback_progress where account = :account), :now) - :overlap) / 1000.0,
      'unixepoch')) as has_run`)

/** How far the causes of an account have been read. */
export interface Progress {
  /** In milliseconds. */
  readonly read_to: number
  /** 1 if a run of statements has ended since, or shortly before. */
  readonly has_run: 0 | 1
}

/** Reads how far the causes of an account have been read; up to `now` if reading begins. */
export const readProgress = (
  db: D1Database,
  values: { account: string; now: number; overlap: number },
): Promise<Progress | null> => first<Progress>(db, READ_PROGRESS, values)

const GROUPS = ['affiliate_id', 'link', ...SUBS, 'country_code']

const details = (source: 'customers' | 'transactions') =>
  `${GROUPS.map((group) => `${dimensionSql(group, source)} as ${group}`).join(', ')},
      c.tracking_data, ${clickSql('clicked_at', 'c.tracking_data')} as clicked_at`

/** The days of the records of a resource that the delivery `:first` or a later one has written. */
const writtenDays = (resource: string) => `(
      select distinct d.value as day from deliveries w cross join json_each(w.days) d
      where w.account = :account and w.id >= :first and w.dry_run = 0
        and w.resource = '${resource}')`

/** The customers `c` that these deliveries have written. */
const WRITTEN_CUSTOMERS = `${writtenDays('customers')} w
      cross join customers c indexed by customers_day on c.account = :account and c.day = w.day
        and c.delivery >= :first`

const OF_AFFILIATES = `affiliate_id in (select value from json_each(:affiliates))`

/** A customer of an affiliate on a day, and how they came. */
export interface CustomerDetails {
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly link: string | null
  readonly sub1: string | null
  readonly sub2: string | null
  readonly sub3: string | null
  readonly sub4: string | null
  readonly sub5: string | null
  readonly country_code: string | null
  readonly tracking_data: string | null
  /** When the click was by which they came, in milliseconds; null unless it is stored. */
  readonly clicked_at: number | null
}

/** A signup; `at` in milliseconds. */
export interface Signup extends CustomerDetails {
  readonly at: number
}

const READ_SIGNUPS = compileStatement(`
  with ${OWNERS}
  select * from (
    select t.customer_id, t.at, ${details('customers')}
    from (
      select c.customer_id, ${SIGNUP} as at, ${SIGNUP_DAY} as day from ${WRITTEN_CUSTOMERS}
      where ${SIGNUP} >= :since
    ) t
    cross join customers c on c.account = :account and c.customer_id = t.customer_id
  ) where ${OF_AFFILIATES}`)

/** The account whose causes are read, and from when on. */
export interface CauseQuery {
  readonly account: string
  /** The first delivery whose records are read. */
  readonly first: string
  /** The earliest time of a cause, in milliseconds, and its day. */
  readonly since: number
  readonly since_day: number
  /** The last day on which a record may lie. */
  readonly last_day: number
  /** The affiliates with postbacks, as a JSON array. */
  readonly affiliates: string
  /** The affiliates of links of a brand, JSON by link. */
  readonly links: string
  /** The statuses of approved transactions, as a JSON array. */
  readonly approved: string
}

/** Reads the signups of affiliates among the customers that were written. */
export const readSignups = (db: D1Database, query: CauseQuery): Promise<Signup[]> =>
  all<Signup>(db, READ_SIGNUPS, { ...query })

/** A customer with what was stored of the click by which they came. */
export interface StoredDetails extends CustomerDetails {
  /** A JSON object; null if nothing is stored. */
  readonly subs: string | null
}

/** A customer of whom deposits were written, and their first deposit; `transaction_date` in milliseconds. */
export type FirstDeposit = StoredDetails &
  (
    | { readonly transaction_id: null }
    | {
        readonly transaction_id: string
        readonly transaction_date: number
        readonly amount_currency: number
        readonly currency: string
      }
  )

const DEPOSIT_COLUMNS = ['transaction_id', 'transaction_date', 'amount_currency', 'currency']
const columnsOf = (table: string) => DEPOSIT_COLUMNS.map((name) => `${table}.${name}`).join(', ')

// A deposit that waited for its customer is found by the delivery of the customer.
const READ_FIRST_DEPOSITS = compileStatement(`
  with recursive ${OWNERS},
  days(day) as (select :since_day union all select day + 1 from days where day < :last_day),
  written(customer_id) as materialized (
    select r.customer_id from ${writtenDays('transactions')} w
      cross join transactions r not indexed on r.account = :account and r.day = w.day
    where r.delivery >= :first and r.transaction_type = 'deposit'
    union
    select c.customer_id from ${WRITTEN_CUSTOMERS}
  ),
  deposits as materialized (
    select r.customer_id, r.day, ${columnsOf('r')}, row_number() over (
        partition by r.customer_id order by r.day, r.transaction_date, r.transaction_id) as n
    from written w cross join customers c on c.account = :account and c.customer_id = w.customer_id
      cross join days d
      cross join transactions r not indexed
        on r.account = :account and r.day = d.day and r.customer_id = w.customer_id
    where ${DEPOSITS} and r.held = 0 and r.day >= c.day
  ),
  firsts as materialized (
    select t.* from deposits t
    cross join customers c on c.account = :account and c.customer_id = t.customer_id
    where t.n = 1 and not ${hasDeposit('c.day', ':since_day')}
  )
  select f.*, (select p.subs from postback_customers p
      where p.account = :account and p.customer_id = f.customer_id
        and p.affiliate_id = f.affiliate_id) as subs
  from (
    select t.*, ${details('transactions')}
    from (
      select w.customer_id, ifnull(f.day, :last_day) as day, ${columnsOf('f')}
      from written w left join firsts f on f.customer_id = w.customer_id
    ) t
    cross join customers c on c.account = :account and c.customer_id = t.customer_id
  ) f`)

/** Reads the customers of whom deposits were written or released, with their first deposits. */
export const readFirstDeposits = async (
  db: D1Database,
  query: CauseQuery,
): Promise<FirstDeposit[]> => all<FirstDeposit>(db, READ_FIRST_DEPOSITS, { ...query })

/** An entry of the ledger that causes events. */
export interface BookEntry {
  readonly affiliate_id: string
  readonly id: string
  readonly kind: 'earned' | 'adjusted' | 'manual' | 'paid' | 'returned'
  readonly period: string
  readonly statement: string
  readonly currency: string
  readonly amount: string
  readonly reference: string | null
}

const READ_ENTRIES = compileStatement(`
  select l.affiliate_id, l.id, l.kind, l.period, l.statement, l.currency, l.amount, l.reference
  from json_each(:affiliates) a
  cross join ledger l on l.account = :account and l.affiliate_id = a.value and l.id >= :first
  where l.kind in ('earned', 'adjusted', 'manual', 'paid', 'returned')
  order by l.affiliate_id, l.id`)

/** Reads the entries of the ledger from an id on, of some affiliates (a JSON array). */
export const readEntries = (
  db: D1Database,
  values: { account: string; affiliates: string; first: string },
): Promise<BookEntry[]> => all<BookEntry>(db, READ_ENTRIES, values)

const READ_ITEMS = compileStatement(`
  select iif(:part = 1,
    (select lines from statements where account = :account and id = :statement),
    (select lines from statement_lines
      where account = :account and id = :statement and part = :part)) as lines,
    (select json_extract(statement, '$.manual') from statements
      where account = :account and id = :statement) as manual`)

/** One part of the lines and adjustments of a statement, and its manual entries, as JSON arrays. */
export interface ItemsPart {
  /** Null behind the last part. */
  readonly lines: string | null
  readonly manual: string | null
}

/** Reads one part of a statement. */
export const readItems = (
  db: D1Database,
  values: { account: string; statement: string; part: number },
): Promise<ItemsPart | null> => first<ItemsPart>(db, READ_ITEMS, values)

const READ_DETAILS = compileStatement(`
  with ${OWNERS}
  select t.customer_id, ${details('customers')}, p.subs
  from (select value as customer_id, :last_day as day from ${JSON_EACH}(:ids)) t
  cross join customers c on c.account = :account and c.customer_id = t.customer_id
  left join postback_customers p on p.account = :account and p.customer_id = t.customer_id
    and p.affiliate_id = :affiliate_id`)

/** Reads how some customers came to an affiliate. */
export async function readDetails(
  db: D1Database,
  values: Pick<CauseQuery, 'account' | 'links' | 'last_day'> & { affiliate_id: string },
  ids: readonly string[],
): Promise<StoredDetails[]> {
  return all<StoredDetails>(db, READ_DETAILS, { ...values, ids: JSON.stringify(ids) })
}

/** A line of a rule that pays once, or a correction of a line, in a statement that may still change or closed lately. */
export interface OnceLine {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  /** Null: a correction, of a rule of any kind. */
  readonly kind: 'once' | null
  readonly rule: string
  readonly scope: string
  readonly amount: string
}

const onceLines = (from: string, lines: string) => `
  select s.affiliate_id, s.plan, s.period, s.statement ->> 'currency' as currency,
    l.value ->> 'kind' as kind, l.value ->> 'rule' as rule, l.value ->> 'scope' as scope,
    l.value ->> 'amount' as amount
  from json_each(:affiliates) a
  cross join statements s indexed by statements_affiliate
    on s.account = :account and s.affiliate_id = a.value
  ${from} cross join json_each(${lines}) l
  where s.read_at >= :oldest and s.statement is not null
    and (l.value ->> 'kind' = 'once' or l.value -> 'of' is not null)
    and l.value ->> 'scope' glob 'customer:*'`

const READ_ONCE_LINES = compileStatement(`
  ${onceLines('', 's.lines')}
  union all
  ${onceLines('cross join statement_lines p on p.account = :account and p.id = s.id', 'p.lines')}
  order by period`)

/** Reads the lines of rules that pay once, of statements that were computed from `oldest` (milliseconds) on. */
export const readOnceLines = (
  db: D1Database,
  values: { account: string; affiliates: string; oldest: number },
): Promise<OnceLine[]> => all<OnceLine>(db, READ_ONCE_LINES, values)

/** An event of a postback. `at` is in milliseconds. */
export interface CausedEvent {
  readonly id: string
  readonly affiliate_id: string
  readonly type: string
  readonly about: string
  readonly at: number
  readonly data: object
}

const INSERT_CAUSED = compileStatement(`
  insert into webhook_events (account, id, affiliate_id, type, about, at, data)
  select :account, value ->> 'id', value ->> 'affiliate_id', value ->> 'type', value ->> 'about',
    min(value ->> 'at', :now), value -> 'data'
  from ${JSON_EACH}(:rows)
  where true on conflict do nothing`)

/** Returns the statement that stores events, each once for its cause. */
export const insertCaused = (
  db: D1Database,
  account: string,
  events: readonly CausedEvent[],
  now: number,
) => bindStatement(db, INSERT_CAUSED, { account, rows: JSON.stringify(events), now })

/** An event of a postback as it is stored: `data` is JSON. */
export type SentEvent = Omit<CausedEvent, 'data'> & { readonly data: string }

const READ_SENT = compileStatement(`
  select v.id, v.affiliate_id, v.type, v.about, v.at, v.data
  from ${JSON_EACH}(:starts) p cross join webhook_events v
    on v.account = :account and v.type = :type and v.about >= p.value
      and v.about < p.value || char(0x10ffff)
  order by v.about`)

/** Reads the events of a type whose `about` has one of the given starts. */
export const readSent = (
  db: D1Database,
  account: string,
  type: string,
  starts: readonly string[],
): Promise<SentEvent[]> =>
  all<SentEvent>(db, READ_SENT, { account, type, starts: JSON.stringify(starts) })

const PUT_SUBS = compileStatement(`
  insert into postback_customers (account, customer_id, affiliate_id, subs)
  select :account, value ->> 0, value ->> 1, value -> 2 from ${JSON_EACH}(:rows)
  where true on conflict do nothing`)

/** Returns the statement that keeps the parameters of clicks: customer, affiliate, parameters by name. */
export const putSubs = (
  db: D1Database,
  account: string,
  rows: readonly (readonly [customer: string, affiliate: string, subs: object])[],
) =>
  bindStatement(db, PUT_SUBS, {
    account,
    rows: JSON.stringify(rows),
  })

const SET_PROGRESS = compileStatement(`
  insert into postback_progress (account, read_to) values (:account, :read_to)
  on conflict (account) do update set read_to = max(read_to, excluded.read_to)`)

/** Returns the statement that stores up to when the causes of an account have been read, in milliseconds. */
export const setProgress = (db: D1Database, account: string, read_to: number) =>
  bindStatement(db, SET_PROGRESS, { account, read_to })
