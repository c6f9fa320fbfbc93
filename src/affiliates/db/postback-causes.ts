import { clickSql, clickTimeSql, SUBS } from '../../attribution/db/clicks.ts'
import { SIGNUP, SIGNUP_DAY } from '../../ingest/db/signup.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { all, first } from '../../platform/db/query.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { DEPOSITS, dimensionSql, hasDeposit, OWNERS } from '../../reports/db/read-report.ts'

// What causes the events of postbacks. Each statement reads causes of one kind and stores their events: new customers,
// first deposits, lines of rules that pay once, entries of the ledger. `src/affiliates/postback-causes.ts` says why
// each is read there.

const ACCOUNTS_WITH_WANTS = compileStatement(
  'select distinct account from postback_wants order by 1',
)

/** Returns the accounts with a postback that wants events, in order. */
export const accountsWithWants = async (db: D1Database): Promise<string[]> =>
  (await all<{ account: string }>(db, ACCOUNTS_WITH_WANTS)).map(({ account }) => account)

const DROP_PROGRESS = compileStatement(`
  delete from postback_progress where account not in (select account from postback_wants)
    and ${isDoorOpen('account')}`)

/** Stops reading the causes of accounts without a postback that wants them. */
export const dropProgress = (db: D1Database) => bindStatement(db, DROP_PROGRESS, {})

const READ_PROGRESS = compileStatement(`
  select p.*, exists (select 1 from statement_runs where account = :account and ended_at >= strftime(
      '%Y-%m-%dT%H:%M:%fZ', (p.read_to - :overlap) / 1000.0, 'unixepoch')) as has_run
  from (
    select ifnull((select read_to from postback_progress where account = :account), :now) as read_to,
      (select json_group_array(distinct affiliate_id) from postback_wants
        where account = :account) as affiliates
  ) p`)

/** How far the causes of an account have been read. */
export interface Progress {
  /** In milliseconds. */
  readonly read_to: number
  /** The affiliates with postbacks that want events, as a JSON array. */
  readonly affiliates: string
  /** 1 if a run of statements has ended since, or shortly before. */
  readonly has_run: 0 | 1
}

/** Reads how far the causes of an account have been read; up to `now` if reading begins. */
export const readProgress = (
  db: D1Database,
  values: { account: string; now: number; overlap: number },
): Promise<Progress | null> => first<Progress>(db, READ_PROGRESS, values)

const SET_PROGRESS = compileStatement(`
  insert into postback_progress (account, read_to) values (:account, :read_to)
  on conflict (account) do update set read_to = max(read_to, excluded.read_to)`)

/** Returns the statement that stores up to when the causes of an account have been read, in milliseconds. */
export const setProgress = (db: D1Database, account: string, read_to: number) =>
  bindStatement(db, SET_PROGRESS, { account, read_to })

/** The account whose causes are read, and from when on. */
export interface CauseQuery {
  readonly account: string
  /** In milliseconds. */
  readonly now: number
  /** The first delivery whose records are read. */
  readonly first: string
  /** The first entry of the ledger that is read. */
  readonly first_entry: string
  /** The earliest time of a cause, in milliseconds, and its day. */
  readonly since: number
  readonly since_day: number
  /** The last day on which a record may lie. */
  readonly last_day: number
  /** The earliest time at which statements were computed whose lines are read, in milliseconds. */
  readonly oldest: number
  /** The affiliates with postbacks, as a JSON array. */
  readonly affiliates: string
  /** The affiliates of links of a brand, JSON by link. */
  readonly links: string
  /** The same of the links of `affiliates`. */
  readonly own_links: string
  /** The statuses of approved transactions, as a JSON array. */
  readonly approved: string
  /** The most events that a statement stores. */
  readonly most: number
  /** 1: causes are stored though no postback wants them yet. */
  readonly unwanted: 0 | 1
}

/** The most events that one statement stores. */
export const CAUSED = { most: 5000 }

const groupSql = (group: string) => `${dimensionSql(group, 'customers')} as ${group}`
const subOf = (sub: string) =>
  `'${sub}', iif(o.link is null, null, ifnull(n.${sub}, p.subs ->> '${sub}'))`

/**
 * Returns the tables that complete the causes `rows`: what an event says of their customer, and whether it need not
 * wait for the click by which they came. Of a link, and of its parameters, an affiliate hears only if it is their own,
 * and of the country only if they have the customer. A row has:
 *
 * - `head`, `tail`: with the affiliate, what tells the cause from others of its `type`;
 * - `affiliate`: whose cause it is; null: of who has the customer on `day`;
 * - `at`: when it was, in milliseconds.
 */
const causesOf = (rows: string) => `${OWNERS},
  own_links(link, affiliate_id) as materialized (select key, value from json_each(:own_links)),
  found as (
    select t.*, ${['affiliate_id', 'link', 'country_code', ...SUBS].map(groupSql).join(', ')},
      substr(c.tracking_data, 4, 8) as click_link, ${clickTimeSql('c.tracking_data')} as click_time,
      ${clickSql('clicked_at', 'c.tracking_data')} as clicked_at
    from (${rows}) t
    left join customers c on c.account = :account and c.customer_id = t.customer_id
  ),
  causes as materialized (
    select n.type, n.customer_id, n.cause_of as affiliate_id, n.at,
      json_array(n.head, n.cause_of, n.tail) as about,
      ifnull(n.clicked_at is not null or n.click_link <> n.link
        or :now - n.click_time >= ${MINUTE_MS}, 1) as is_ready,
      o.link is not null and coalesce(${SUBS.map((sub) => `n.${sub}`).join()}) is not null as has_subs,
      json_object('customer', n.customer_id, 'link_id', o.link, ${SUBS.map(subOf).join(', ')},
        'country', iif(n.affiliate_id = n.cause_of, n.country_code, null),
        'amount', n.amount, 'currency', n.currency, 'period', n.period) as data
    from (select f.*, ifnull(f.affiliate, f.affiliate_id) as cause_of from found f) n
    left join own_links o on o.link = n.link and o.affiliate_id = n.cause_of
    left join postback_customers p on p.account = :account and p.customer_id = n.customer_id
      and p.affiliate_id = n.cause_of
  )`

/** The events of causes that a postback wants and that have none. The id of an event begins with its time. */
const FRESH = `
  select :account as account, 'evt_' || printf('%011x', n.at) || lower(hex(randomblob(8))) as id,
    n.affiliate_id, n.type, n.about, min(n.at, :now) as at, n.data
  from causes n
  where n.at >= :since and (:unwanted or (n.is_ready and exists (select 1 from postback_wants w
      where w.account = :account and w.affiliate_id = n.affiliate_id and w.type = n.type
        and (w.type = 'qualified' or w.since <= n.at))))
    and not exists (select 1 from webhook_events e
      where e.account = :account and e.type = n.type and e.about = n.about)`

/** Returns the event `v` with the opposite amount, as one of a type. */
const opposite = (type: string) => `
  select :account, v.id || '-r', v.affiliate_id, ${type}, v.about || '-r', :now,
    json_set(v.data, '$.amount', iif(v.data ->> 'amount' glob '-*',
      substr(v.data ->> 'amount', 2), '-' || (v.data ->> 'amount')))`

/** Returns the start of what the causes with a `head` are about, as SQL. */
const startOf = (head: string) => `rtrim(json_array(${head}), ']') || ','`

const isAbout = (head: string) =>
  `v.about >= ${startOf(head)} and v.about < ${startOf(head)} || char(0x10ffff)`

const insertEvents = (tables: string, events: string) =>
  compileStatement(`
    with recursive ${tables}
    insert into webhook_events (account, id, affiliate_id, type, about, at, data) ${events}
    limit :most on conflict do nothing returning 1`)

/**
 * Returns the statement by whose events those of a type add up to the causes of now, among those with one of `heads`. A
 * cause that is no more is taken back: by an event whose id and `about` have one more `-r`; so does one that is again.
 */
const settle = (type: string, tables: string, { rows, heads }: { rows: string; heads: string }) =>
  insertEvents(
    `${tables}, ${causesOf(rows)},
    sent as (
      select v.*, rtrim(v.about, '-r') as cause, count(*) over same as n, min(v.at) over same as first_at,
        row_number() over (same order by v.about desc) as latest
      from (${heads}) h cross join webhook_events v
        on v.account = :account and v.type = '${type}' and ${isAbout('h.head')}
      window same as (partition by rtrim(v.about, '-r'))
    )`,
    `${FRESH} union all ${opposite('v.type')} from sent v
    where v.latest = 1 and v.first_at >= :since
      and (v.n % 2 = 1) <> (v.cause in (select about from causes))`,
  )

/** The days of the records of a resource that the delivery `:first` or a later one has written. */
const writtenDays = (resource: string) => `(
      select distinct d.value as day from deliveries w cross join json_each(w.days) d
      where w.account = :account and w.id >= :first and w.dry_run = 0
        and w.resource = '${resource}')`

/** The customers `c` that these deliveries have written. */
const WRITTEN_CUSTOMERS = `${writtenDays('customers')} w
      cross join customers c indexed by customers_day on c.account = :account and c.day = w.day
        and c.delivery >= :first`

const SIGNUPS = causesOf(`
      select 'signup' as type, null as affiliate, c.customer_id, ${SIGNUP_DAY} as day, ${SIGNUP} as at,
        c.customer_id as head, null as tail, null as amount, null as currency, null as period
      from ${WRITTEN_CUSTOMERS} where ${SIGNUP} >= :since`)

/** Stores the signups among the customers that were written. */
export const STORE_SIGNUPS = insertEvents(SIGNUPS, FRESH)

/** Keeps the parameters of the clicks of new customers: postbacks of later months need them. */
export const KEEP_SUBS = compileStatement(`
  with ${SIGNUPS}
  insert into postback_customers (account, customer_id, affiliate_id, subs)
  select :account, customer_id, affiliate_id, data from causes
  where has_subs and affiliate_id in (select value from json_each(:affiliates))
  on conflict do nothing`)

/** The text of a real number, with at most the decimals that amounts have. */
const AMOUNT = `rtrim(rtrim(printf('%.8f', f.amount_currency), '0'), '.')`

/**
 * Stores the first approved deposits since the signup of customers of whom a deposit was written, or who were written: a
 * deposit that waited for its customer is found by the delivery of the customer.
 */
export const STORE_FIRST_DEPOSITS = settle(
  'first_deposit',
  `days(day) as (select :since_day union all select day + 1 from days where day < :last_day),
  written(customer_id) as materialized (
    select r.customer_id from ${writtenDays('transactions')} w
      cross join transactions r not indexed on r.account = :account and r.day = w.day
    where r.delivery >= :first and r.transaction_type = 'deposit'
    union
    select c.customer_id from ${WRITTEN_CUSTOMERS}
  ),
  deposits as materialized (
    select r.*, c.day as signup_day, row_number() over (
        partition by r.customer_id order by r.day, r.transaction_date, r.transaction_id) as n
    from written w cross join customers c on c.account = :account and c.customer_id = w.customer_id
      cross join days d
      cross join transactions r not indexed
        on r.account = :account and r.day = d.day and r.customer_id = w.customer_id
    where ${DEPOSITS} and r.held = 0 and r.day >= c.day
  )`,
  {
    rows: `
      select 'first_deposit' as type, null as affiliate, f.customer_id, f.day, f.transaction_date as at,
        f.customer_id as head, ${AMOUNT} || ' ' || f.currency || ' ' || f.transaction_id as tail,
        ${AMOUNT} as amount, f.currency, null as period
      from (select * from deposits t where t.n = 1 and not ${hasDeposit('t.signup_day', ':since_day')}) f`,
    heads: 'select customer_id as head from written',
  },
)

/** The lines of rules that pay once, and the corrections of lines, as far as both are about customers. */
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

const CUSTOMER_OF_SCOPE = `iif(t.scope glob 'customer:*', substr(t.scope, 10), null)`

/** The last day of the month or ISO week `t.period`, in milliseconds. */
const PERIOD_END = `1000 * iif(t.period glob '*W*',
  unixepoch(substr(t.period, 1, 4) || '-01-04', '-6 days', 'weekday 1',
    '+' || (7 * substr(t.period, 7) - 1) || ' days'),
  unixepoch(t.period || '-01', '+1 month', '-1 day'))`

/** Stores who has qualified under rules that pay once, in the statements that may still change or closed lately. */
export const STORE_QUALIFIED = settle(
  'qualified',
  `lines as (
    ${onceLines('', 's.lines')}
    union all
    ${onceLines('cross join statement_lines p on p.account = :account and p.id = s.id', 'p.lines')}
  ),
  sums as (
    select affiliate_id, plan, rule, scope, currency, min(iif(kind = 'once', period, null)) as period,
      sum(cast(replace(amount, '.', '') as integer)) as units,
      max(iif(instr(amount, '.') = 0, 0, length(amount) - instr(amount, '.'))) as digits
    from lines group by 1, 2, 3, 4, 5
  ),
  qualified as (
    select *, iif(units < 0, '-', '') || iif(digits = 0, abs(units),
        (abs(units) / cast('1' || substr('00000000', 1, digits) as integer)) || '.'
        || substr('00000000' || abs(units), -digits)) as amount
    from sums where period is not null and units <> 0
  )`,
  {
    rows: `
      select 'qualified' as type, t.affiliate_id as affiliate, ${CUSTOMER_OF_SCOPE} as customer_id,
        :last_day as day, ${PERIOD_END} as at, t.affiliate_id as head, t.plan || ' ' || t.rule || ' '
          || t.amount || ' ' || t.currency || ' ' || t.scope as tail, t.amount, t.currency, t.period
      from qualified t`,
    heads: 'select value as head from json_each(:affiliates)',
  },
)

/** The entries of the ledger that cause events. */
const ENTRIES = `entries as materialized (
    select l.*, cast(unixepoch(l.at, 'subsec') * 1000 as integer) as ms
    from json_each(:affiliates) a
    cross join ledger l on l.account = :account and l.affiliate_id = a.value and l.id >= :first_entry
    where l.kind in ('earned', 'adjusted', 'manual', 'paid', 'returned')
  )`

/** The items of the statements of the entries of some kinds. */
const itemsOf = (kinds: string, from: string, items: string) => `
    select e.affiliate_id, iif(e.kind = 'earned', 'commission.approved', 'commission.adjusted') as type,
      e.ms, e.period, e.currency, i.value ->> 'id' as head, i.value ->> 'scope' as scope,
      i.value ->> 'amount' as amount
    from entries e ${from} cross join json_each(${items}) i
    where e.kind in (${kinds}) and i.value ->> 'amount' glob '*[1-9]*'
      and (e.kind = 'manual' or (e.kind = 'adjusted') = (i.value -> 'of' is not null))`

const OF_STATEMENT = 'cross join statements s on s.account = :account and s.id = e.statement'

/**
 * Stores the causes that entries of the ledger stand for: `earned` has the lines of its statement, `adjusted` its
 * corrections and `manual` its manual entries, so that the amounts of the events add up to the entry.
 */
export const STORE_BOOKED = insertEvents(
  `${ENTRIES}, items as (
    ${itemsOf(`'earned', 'adjusted'`, OF_STATEMENT, 's.lines')}
    union
    ${itemsOf(
      `'earned', 'adjusted'`,
      'cross join statement_lines p on p.account = :account and p.id = e.statement',
      'p.lines',
    )}
    union
    ${itemsOf(`'manual'`, OF_STATEMENT, `s.statement -> '$.manual'`)}
  ), ${causesOf(`
      select t.type, t.affiliate_id as affiliate, ${CUSTOMER_OF_SCOPE} as customer_id, :last_day as day,
        t.ms as at, t.head, null as tail, t.amount, t.currency, t.period
      from items t
      union all
      select 'statement.paid', e.affiliate_id, null, :last_day, e.ms, e.statement, e.reference,
        ltrim(e.amount, '-'), e.currency, e.period
      from entries e where e.kind = 'paid'`)}`,
  FRESH,
)

/** Takes back the payments of a statement before it was returned. */
export const STORE_RETURNED = insertEvents(
  ENTRIES,
  `${opposite(`'statement.returned'`)} from entries e cross join webhook_events v
    on v.account = :account and v.type = 'statement.paid' and ${isAbout('e.statement')}
  where e.kind = 'returned' and v.at <= e.ms`,
)
