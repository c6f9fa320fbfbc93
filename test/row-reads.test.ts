import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import ecb from '../data/ecb-euro-reference-rates.csv?raw'
import { viewContextOf } from '../src/affiliate/pseudonyms.ts'
import { app } from '../src/app.ts'
import { DEFAULT_VIEW } from '../src/auth/affiliate-view.ts'
import { lineId, statementId } from '../src/commission/statements/ids.ts'
import { findAccount, pseudonymKeyOf } from '../src/db/directory/accounts.ts'
import type { KeyValue } from '../src/db/paginate.ts'
import { signText } from '../src/http/sign-text.ts'
import { brand } from './brand.ts'
import { putRates } from './commission/rate-files.ts'
import { assign, monthly, storePlan } from './commission/stored.ts'
import { EXPORT_ID, exportRows, storeExport } from './export-rows.ts'
import { FIRST_DAY, fillAccount, SIZES } from './large.ts'
import { MOVES, moveRows } from './move-rows.ts'
import { askAdmin, json, partner } from './partner.ts'
import { countCalls } from './watched.ts'
import { emptyWorld } from './world.ts'

// The rows that D1 reads for one request of each GET route, by its own count. The accounts have 10,000
// records of each kind, so a request without a bound reads too many.

/**
 * The most rows of a request; docs/limits.md repeats this table.
 *
 *   each        the rows for each entry of the response
 *   fixed       the rows beside
 *   isCounted   also a row for each match, up to 100,000, unless the page is named by cursor
 *   isSearched  also 5 rows for each day on which the account has records, at most 4000 days, and up to
 *               100,000 rows for the matches, unless the page is named by cursor
 *   passesHeld  also the held records that the page passes
 *
 * A page named by its number also reads the rows before it, at most 10,000.
 */
interface Bound {
  each: number
  fixed: number
  isCounted?: boolean
  isSearched?: boolean
  passesHeld?: boolean
}

const NONE: Bound = { each: 0, fixed: 0 }
const ONE: Bound = { each: 0, fixed: 3 }
/** A printed statement also reads its account, and the versions of its plan, which are at most 200. */
const LETTER: Bound = { each: 0, fixed: 10 }
/** A customer without changes, and one row for each change. */
const HISTORY: Bound = { each: 0, fixed: 20 }
/** An affiliate, and the few invitations or members that they have. */
const MEMBERS: Bound = { each: 3, fixed: 10 }
/** A question has its messages, each with its author. A filter passes other questions. */
const QUESTIONS: Bound = { each: 8, fixed: 2 * SIZES.cases + 20, isCounted: true }
const PARENTS: Bound = { each: 5, fixed: 10, isCounted: true }
/** The archived months of an account. Lists of records find those that they need. */
const ARCHIVED = 36
const RECORDS: Bound = { each: 5, fixed: ARCHIVED + 10 }
const RECORDS_BY_DAY: Bound = { ...RECORDS, isCounted: true, passesHeld: true }
const RECORDS_OF_CUSTOMER: Bound = { each: 7, fixed: ARCHIVED + 20, isSearched: true }
/** The latest customers are grouped. A filter or an order passes other affiliates, with their entries. */
const FIGURES: Bound = {
  each: 12,
  fixed: 4 * Math.min(SIZES.customers, 5000) + 3 * SIZES.affiliates + 4 * SIZES.statements + 10,
  isCounted: true,
}
const ROWS: Bound = { each: 3, fixed: 10, isCounted: true }
/** A filter passes others: the payments or the entries of the audit log of an account. */
const PASSING: Bound = { each: 3, fixed: 2 * SIZES.statements + 10, isCounted: true }
/** Each row is shown with its event. */
const SENT: Bound = { each: 7, fixed: 12, isCounted: true }
/** Deliveries are counted by hour and resource, for 30 days. */
const HOURS = 2160
/** Of each of 3 resources: a search for each of 30 days, and the kept totals of 12 weeks. */
const COMPLETENESS = 3 * (2 * 30 + 86 + 5)
/** For each of 3 resources, whether it refused many records: the hours of a day of all three. */
const REFUSED_SHARE = 3 * 3 * 24
/**
 * Affiliates, the feeds, the latest 500 customers with their affiliates, and the latest 500 transactions or
 * events, for their statuses and again for the signs of their amounts.
 */
const ACCOUNT: Bound = {
  each: 0,
  fixed: 1001 + HOURS + 40 + COMPLETENESS + 5 * 500 + 3 * 500 + REFUSED_SHARE,
}
/** Also the drafts of ended periods, what waits in them for rates, cases, and the first 1000 open questions. */
const TEAM_ATTENTION: Bound = {
  each: 0,
  fixed: ACCOUNT.fixed + 6 * SIZES.statements + 4 * SIZES.cases + 2 * 1000,
}
/**
 * The hours of three days, the signups and transactions of three days, the days before first deposits, and the latest statements, payments, entries of the audit
 * log, cases and questions.
 */
const CHANGES: Bound = {
  each: 0,
  fixed: 3 * 72 + 3 * 10_000 + 4 * 10_000 + 2 * 10_000 + 10_000 + 5 * 2 * 1000 + 10,
}
/** The latest statements are read and grouped, those that are due, and those of the open periods. */
const PERIODS: Bound = { each: 0, fixed: 6 * SIZES.statements + 10 }
/** A search reads each delivery twice: by an index, and itself. The first page counts them. */
const SEARCH: Bound = { each: 6, fixed: 4 * SIZES.deliveries + 100 }
/** Deliveries by what was wrong: rows for each that is found, and a search for each of 30 days. */
const REFUSED: Bound = { each: 6, fixed: 4 * SIZES.refused + 250 }
/** Those of a record: there is one. */
const FOUND: Bound = { each: 12, fixed: 250 }
/** Read once for all resources of an account. */
const FEED: Bound = { each: 0, fixed: HOURS + 40 + COMPLETENESS }
const FEEDS: Bound = { each: FEED.fixed, fixed: 10 }
/** An account has at most 50 fraud rules; a list reads the heads of all versions. */
const FRAUD_RULES: Bound = { each: 3, fixed: 2 * SIZES.fraudRules + 10 }

/** A case has the name of its rule. A filter passes other cases. */
const CASES: Bound = { each: 8, fixed: 2 * SIZES.cases + 20, isCounted: true }
/** A hold that ended says whether its case exists. */
const ENDED_HOLDS: Bound = { each: 4, fixed: 10, isCounted: true }
/** The records of a case are in parts of findings, 20 of which are read at once. */
const EVIDENCE: Bound = { each: 6, fixed: 2 * SIZES.parts + 20 }

/** An account has at most 200 plans; a list reads the heads of all versions. */
const PLANS: Bound = { each: 3, fixed: 2 * SIZES.plans + 10 }
/** The records of changed days are summed, at most 1,000,000 in a request or 50,000 with KPIs. */
const TOTALS: Bound = { each: 4, fixed: 4 * (2 * SIZES.records + SIZES.customers) }
/** Days that have not changed are read as they were kept: 4 rows for each day of each resource. */
const KEPT_TOTALS: Bound = { each: 4, fixed: 3 * 5 * SIZES.days }
/** A report reads at most 1,000,000 customers or clicks. */
const ATTRIBUTION: Bound = { each: 2, fixed: 3 * SIZES.customers }
const CLICKS: Bound = { each: 1, fixed: SIZES.records + 10 }

/** A report reads each record of its days for several metrics, and its customer; here of 366 days. */
const REPORTS: Bound = {
  each: 0,
  fixed: 26 * (2 * SIZES.records + SIZES.customers) + 3 * SIZES.affiliates + 3 * SIZES.statements,
}
/** The statements of affiliates are counted up to the limit; a filter passes others. */
const STATEMENTS: Bound = { each: 3, fixed: 3 * 2 * SIZES.statements + 10, isCounted: true }
/** Totals read, sort and group each statement that matches, up to the limit of lists. */
const TOTALLED: Bound = { each: 0, fixed: 4 * SIZES.statements + 10 }
/** Each row sums the statements of an affiliate; here each affiliate has one. The first page counts all. */
const PAYOUTS: Bound = { each: 24, fixed: 2 * SIZES.statements + 10, isCounted: true }
const BALANCE: Bound = { each: 0, fixed: 3 * SIZES.statements }
/** An export has at most 500 statements; a page to print searches the lines of each. */
const PRINTED: Bound = { each: 0, fixed: 2 * SIZES.statements + 5 * 500 }
/** A fresh statement reads the customers of the account, the facts of a month, and the rates of a year. */
const FRESH: Bound = {
  each: 0,
  fixed: 4 * SIZES.customers + 2 * SIZES.affiliates + 2 * SIZES.records + 10 * SIZES.days,
}

/** The facts of one customer: a search for each day on which the account has records, and the rates. */
const OF_CUSTOMER: Bound = {
  each: 0,
  fixed: 2 * SIZES.affiliates + 2 * SIZES.plans + 1000 + 25 * SIZES.days,
}
/** An affiliate who calls is read with their account, and so is what the account shows. */
const CALLER = 10
const alsoCaller = (bound: Bound): Bound => ({ ...bound, fixed: bound.fixed + CALLER })
/** A line is computed, and its facts are read again. */
const LINE: Bound = { each: 0, fixed: 2 * FRESH.fixed }

/** A few rows of each day and resource, the versions of plans and fraud rules, and the statements of plans. */
const KEPT_MONTHS: Bound = {
  each: 0,
  fixed: 3 * 4 * SIZES.days + 2 * (SIZES.plans + SIZES.fraudRules) + 2 * SIZES.statements + 20,
}

/** The months that are back, with an object each: no request needs them. */
const archiveRows = (account: string) => [
  env.DB.prepare(
    `insert into archived_months (account, resource, first_day, last_day, state, begun_at, totals_at, erasures, prefix, records)
     select ?1, 'activities', value * 30, value * 30 + 29, 'ended', 1, 1, 0, 'archive/' || value, 10
     from json_each('[${Array.from({ length: ARCHIVED }, (_, i) => i).join()}]')`,
  ).bind(account),
  env.DB.prepare(
    `insert into archive_objects (account, resource, first_day, part, sha256, bytes, version, records, days, groups, deliveries, written_at)
     select account, resource, first_day, 1, '${'0'.repeat(64)}', 100, 1, 10, '[]', '[]', '["dlv_1","dlv_2"]', 1
     from archived_months where account = ?1`,
  ).bind(account),
]

/** A request of a route: its query, or the context and the key of a cursor near the end of the list. */
interface RouteRequest {
  bound: Bound
  query?: string
  /** The media type of the response; JSON if absent. */
  accept?: string
  end?: readonly [context: unknown, key: readonly KeyValue[]]
}

const DEEP = 'page=20&per_page=100'

/** Requests the first page, a deep page by number, and the pages after their cursors. */
const pages = (bound: Bound, filter = ''): RouteRequest[] => [
  { bound, query: filter },
  { bound, query: filter === '' ? DEEP : `${filter}&${DEEP}` },
]

const LAST_DAY = FIRST_DAY + SIZES.days - 1
/** Returns the number of an entry near the end of a list, as it stands in ids. */
const nearEnd = (size: number, digits = 6) => String(size - 20).padStart(digits, '0')
/** An affiliate near the end of the lists of affiliates, assignments and statements. */
const LAST_AFFILIATE = `aff-${nearEnd(SIZES.affiliates)}`
const LAST_TRANSACTION = `t-${nearEnd(SIZES.records)}`
const LAST_EVENT = `e e-${nearEnd(SIZES.records)}`
/** A row of trading activity, and the records beside it. */
const LAST = SIZES.records - 20
const ACTIVITY = new URLSearchParams({
  date: new Date((FIRST_DAY + (LAST % SIZES.days)) * 86_400_000).toISOString().slice(0, 10),
  customer_id: `c-${String(LAST % SIZES.customers).padStart(6, '0')}`,
  instrument: `i-${nearEnd(SIZES.records)}`,
  currency: 'EUR',
}).toString()
const WIDEST = 'from=2025-10-02&to=2026-10-02'
const REPORT = `${WIDEST}&group_by=country_code&currency=EUR`
const REPORT_DAYS = 'from=2026-10-01&to=2026-10-31'

/** Returns the requests of a list with filters by customer and day. */
function recordForms(
  account: string,
  name: string,
  customer: string,
  id: readonly string[],
): RouteRequest[] {
  const end = (filter: object, key: readonly KeyValue[], bound: Bound): RouteRequest => ({
    bound,
    end: [[account, name, filter], key],
    query: new URLSearchParams(
      Object.entries(filter).map(([key, value]) => [key === 'customer_id' ? customer : key, value]),
    ).toString(),
  })
  const [day, customer_id] = [LAST_DAY, 'c-000000']
  const isByDay = name === 'trading-activity'
  return [
    ...pages({ ...RECORDS, passesHeld: true }),
    { bound: { ...RECORDS, passesHeld: true }, query: 'per_page=500' },
    end({}, isByDay ? [day, customer_id, ...id] : id, RECORDS),
    ...['from=0000-01-01', 'to=9999-12-31', WIDEST, 'from=2026-01-01&to=2026-01-01'].flatMap(
      (days) => pages(RECORDS_BY_DAY, days),
    ),
    end({ from: '0000-01-01' }, [day, customer_id, ...id], RECORDS_BY_DAY),
    ...[
      `${customer}=c-000000`,
      `${customer}=c-${nearEnd(SIZES.customers)}`,
      `${customer}=nobody`,
    ].flatMap((filter) => [
      ...pages(RECORDS_OF_CUSTOMER, filter),
      ...pages(RECORDS_OF_CUSTOMER, `${filter}&${WIDEST}`),
    ]),
    end({ customer_id }, [day - 5, ...id], RECORDS_OF_CUSTOMER),
  ]
}

/** Stores a webhook with as many dead letters and attempts as there are erasures. */
const fillWebhook = (account: string) => {
  const ids = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 999)`
  const texts = [
    `insert into webhook_endpoints (account, id, url, events, secrets, created_at)
     values (?1, 'w-1', 'https://hooks.example/', '["feed.late"]', '[]', '2026-10-02T00:00:00.000Z')`,
    `${ids} insert into webhook_events select ?1, printf('e-%06d', i), 'feed.late', i, 0, '{}', null from n`,
    `insert into webhook_endpoints
       (account, id, affiliate_id, url, method, events, secrets, created_at)
     values (?1, 'p-1', 'aff-000000', 'https://tracker.example/', 'GET', '["statement.paid"]', '[]',
       '2026-10-02T00:00:00.000Z')`,
    `${ids} insert into webhook_events
     select ?1, printf('f-%06d', i), 'statement.paid', i, 0, '{}', 'aff-000000' from n`,
    `${ids} insert into webhook_attempts
     select ?1, printf('b-%06d', i), 'p-1', printf('f-%06d', i), 1, 0, 500, 1, 'http_status' from n`,
    `update webhook_messages set status = 'dead' where account = ?1`,
    `${ids} insert into webhook_attempts
     select ?1, printf('a-%06d', i), 'w-1', printf('e-%06d', i), 1, 0, 500, 1, 'http_status' from n`,
  ]
  return env.DB.batch(texts.map((text) => env.DB.prepare(text).bind(account)))
}

const list = (
  bound: Bound,
  ...end: [context: unknown, key: readonly KeyValue[]]
): RouteRequest[] => [...pages(bound), { bound, query: 'per_page=500' }, { bound, end }]

/** For each of the 30 currencies of the ECB its 8 days, and a few rows that find it and its last day. */
const RATES: RouteRequest[] = ['2026-04-13', '2025-01-02', '2026-10-01'].map((day) => ({
  bound: { each: 0, fixed: 30 * 16 },
  query: `day=${day}`,
}))

/** Returns a group of routes: where they are, the credentials, and their requests. */
async function routes() {
  const acme = await partner('forex', { unknown_customer: 'hold', affiliates: [] })
  const casino = await brand()
  await env.DB.batch(moveRows(env.DB, casino.account))
  await env.DB.batch(archiveRows(casino.account))
  const firm = acme.account
  const delivery = await fillAccount(firm, 'forex')
  await putRates(ecb)
  await fillWebhook(firm)
  const brandDelivery = await fillAccount(casino.account, 'igaming')
  for (const account of [firm, casino.account]) {
    await env.DB.batch(exportRows(env.DB, account))
    await storeExport(account)
  }
  await storePlan(
    firm,
    'p',
    monthly([
      { id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '1' },
      { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '1' },
    ]),
  )
  await assign(firm, 'p')
  const lastOf = (prefix: string) => [`${prefix}0000000000000020`]
  const shared = (account: string, prefix: string) => ({
    '/deliveries': [
      ...list(ROWS, [account, 'deliveries'], lastOf(prefix)),
      { bound: ROWS, query: 'from=2026-01-01' },
      ...pages(SEARCH, 'resource=customers'),
      ...pages(SEARCH, 'status=stored'),
      ...pages(REFUSED, 'status=refused'),
      ...pages({ ...REFUSED, fixed: (4 * SIZES.refused) / 10 + 250 }, 'code=unknown_customer'),
      { bound: FOUND, query: 'record_id=r-7' },
      { bound: FOUND, query: 'record_id=nobody' },
    ],
    [`/deliveries/${prefix}0000000000000020`]: [{ bound: ONE }],
    [`/deliveries/${prefix}0000000000000020/refused`]: [{ bound: ONE }],
    '/totals': [{ bound: TOTALS, query: WIDEST }],
    '/held': pages({ each: 8, fixed: 20 }),
    '/feed': [{ bound: FEED }],
    '/statements': [
      ...list(STATEMENTS, [account, 'statements', {}], ['2026-10', LAST_AFFILIATE, 'p']),
      ...pages(STATEMENTS, 'affiliate_id=aff-000000'),
      ...pages(STATEMENTS, 'period=2026-10&plan=p&status=draft'),
      ...pages(STATEMENTS, 'plan=other'),
      { bound: PRINTED, query: 'per_page=200', accept: 'text/html' },
      { bound: PRINTED, query: 'per_page=500', accept: 'text/csv' },
    ],
    '/exports': [{ bound: ROWS }, { bound: ROWS, query: 'resource=ledger&month=2026-10' }],
    [`/exports/${EXPORT_ID}`]: [{ bound: { each: 0, fixed: 10 } }],
    '/cases': [
      ...list(CASES, [account, 'cases', {}], [FIRST_DAY + 20, 'case-000020']),
      ...pages(CASES, 'status=open'),
      ...pages(CASES, 'affiliate_id=aff-000001&keep_hold=true'),
      ...pages(CASES, 'rule=r-000001&severity=high&affiliate_id=aff-000001'),
      { bound: CASES, query: 'customer_id=nobody' },
    ],
    '/cases/case-000001': [{ bound: { each: 0, fixed: 20 } }],
    '/cases/case-000001/evidence': pages(EVIDENCE),
    '/cases/case-000001/customers': pages(EVIDENCE),
    '/statements/stm-000000': [
      { bound: ONE },
      { bound: ONE, accept: 'text/csv' },
      { bound: LETTER, accept: 'text/html' },
    ],
  })
  const ofCustomer = 'period=2026-10&customer_id=c-000001'
  const why = () => ({
    '/unearned': [{ bound: OF_CUSTOMER, query: ofCustomer }],
    '/qualifications': [{ bound: OF_CUSTOMER, query: ofCustomer }],
  })
  const key = { version: 1, rule: 'lots', scope: 'affiliate' }
  const id = await lineId(await statementId('aff-000000', 'p', '2026-10'), key, 0)
  const line = `/lines/${id}`
  const hint = 'affiliate_id=aff-000000&period=2026-10'
  const own = (account: string, prefix: string) => ({
    ...shared(account, prefix),
    '/account': [{ bound: ACCOUNT }],
    '/fx-rates': RATES,
    '/customers/c-000001': [{ bound: ONE }],
    ...why(),
    '/reports': [{ bound: REPORTS, query: REPORT }],
    // Without the id of a line nothing is read.
    '/lines/nothing/explain': [{ bound: NONE }],
  })
  const customers = (account: string, filter: string) => [
    ...list(RECORDS, [account, 'customers', {}], [`c-${nearEnd(SIZES.customers)}`]),
    { bound: RECORDS, query: `${filter}=c-000000` },
  ]
  const account = (name: string, prefix: string) => ({
    // What the account stores is kept, and counted by hour since.
    '': [{ bound: { each: 0, fixed: HOURS + 10 } }],
    '/affiliates': [
      ...list(ROWS, [name, 'affiliates'], [LAST_AFFILIATE]),
      ...pages(ROWS, 'beginning=aff-00000'),
      ...pages(ROWS, `ids=${encodeURIComponent(JSON.stringify(['aff-000000', LAST_AFFILIATE]))}`),
    ],
    '/affiliates/parents': list(PARENTS, [name, 'parents', null], [LAST_AFFILIATE]),
    '/affiliates/figures': ['', 'only=without_plan', 'only=with_balance', 'sort=earned'].map(
      (query) => ({
        bound: FIGURES,
        query,
      }),
    ),
    // At most 1,000,000 customers.
    '/affiliates/unconfigured': [{ bound: { each: 1, fixed: 3 * SIZES.customers } }],
    '/status-map': [{ bound: { each: 0, fixed: 510 } }],
    // The latest 500 transactions, and the totals of 31 days.
    '/status-map/unmapped': [{ bound: { each: 0, fixed: 2000 } }],
    '/labels/kyc_status_id': [{ bound: { each: 0, fixed: 510 } }],
    '/labels/sales_status_id': [{ bound: { each: 0, fixed: 510 } }],
    '/links': list(ROWS, [name, 'links', null], [`f${nearEnd(SIZES.affiliates, 7)}`]),
    '/affiliates/aff-000001/invitations': [{ bound: MEMBERS }],
    '/affiliates/aff-000001/members': [{ bound: MEMBERS }],
    '/affiliates/invitations': [{ bound: MEMBERS, query: 'affiliate_id=aff-000001' }],
    '/affiliates/members': [{ bound: MEMBERS, query: 'affiliate_id=aff-000001' }],
    '/affiliates/aff-000001/keys': [{ bound: MEMBERS }],
    '/affiliates/aff-000000/postbacks': [{ bound: MEMBERS }],
    '/questions': [
      ...pages(QUESTIONS),
      ...pages(QUESTIONS, 'status=open&affiliate_id=aff-000001'),
      { bound: QUESTIONS, query: 'statement=stm-000001' },
    ],
    '/questions/q-000001': [{ bound: MEMBERS }],
    '/affiliates/keys': [{ bound: MEMBERS, query: 'affiliate_id=aff-000001' }],
    '/links/f0000001': [{ bound: ONE }],
    '/plans': [{ bound: PLANS }],
    '/plans/p-000001': [{ bound: PLANS }],
    '/plans/p-000001/versions': [{ bound: PLANS }],
    '/plans/p-000001/versions/1': [{ bound: ONE }],
    '/fraud-rules': [{ bound: FRAUD_RULES }],
    '/fraud-rules/r-000001': [{ bound: FRAUD_RULES }],
    '/fraud-rules/r-000001/versions': [{ bound: FRAUD_RULES }],
    '/fraud-rules/r-000001/versions/1': [{ bound: ONE }],
    '/ended-holds': list(ENDED_HOLDS, [name, 'ended holds', null], [FIRST_DAY + 20, 'case-000020']),
    '/assignments': list(ROWS, [name, 'assignments', null], [LAST_AFFILIATE, '9998-01-01']),
    '/customers': [
      ...list({ each: 7, fixed: 10 }, [name, 'attributed'], [`c-${nearEnd(SIZES.customers)}`]),
      { bound: { each: 0, fixed: 8 }, query: 'customer_id=c-000001' },
      { bound: ATTRIBUTION, query: `${WIDEST}&unattributed=true` },
    ],
    '/attention': [{ bound: TEAM_ATTENTION }],
    '/changes': [{ bound: CHANGES }],
    '/arrivals': [{ bound: { each: 0, fixed: 3 * HOURS } }],
    '/delivery-errors': [{ bound: { each: 0, fixed: 6 * SIZES.refused + 250 }, query: WIDEST }],
    '/records/customers': pages(RECORDS),
    '/records': [
      { bound: { each: 0, fixed: 8 }, query: `id=${LAST_TRANSACTION}` },
      { bound: { each: 0, fixed: 70 }, query: 'id=t-&match=beginning' },
    ],
    '/customers/c-000001/lines': [{ bound: OF_CUSTOMER, query: 'period=2026-10' }],
    '/customers/c-000001/affiliations': [{ bound: HISTORY }],
    '/customers/c-000001/fields': [{ bound: HISTORY }],
    '/customers/affiliations': [{ bound: HISTORY, query: 'customer_id=c-000001' }],
    '/customers/fields': [{ bound: HISTORY, query: 'customer_id=c-000001' }],
    '/attribution': [{ bound: ATTRIBUTION, query: WIDEST }],
    '/clicks': [{ bound: CLICKS, query: 'from=2026-01-01&to=2026-12-31' }],
    '/erasures': list(ROWS, [name, 'erasures'], [`c-${nearEnd(SIZES.erasures)}`]),
    ...shared(name, prefix),
    ...why(),
    '/reports': [{ bound: REPORTS, query: REPORT }],
    '/unearned/facts': [{ bound: OF_CUSTOMER, query: ofCustomer }],
    [`${line}/explain`]: [{ bound: LINE, query: hint }],
    [`${line}/parts`]: [{ bound: LINE, query: hint }],
    [`${line}/parts/c-000001/facts`]: [{ bound: LINE, query: hint }],
    [`/transactions/${LAST_TRANSACTION}/earnings`]: [{ bound: OF_CUSTOMER }],
    '/transactions/earnings': [{ bound: OF_CUSTOMER, query: `transaction_id=${LAST_TRANSACTION}` }],
    '/customers/c-000001/earnings': [{ bound: OF_CUSTOMER }],
    '/manual-entries': [
      ...list(ROWS, [name, 'manual-entries', null], [`m-${nearEnd(SIZES.statements)}`]),
      ...pages(ROWS, 'affiliate_id=aff-000000'),
    ],
    '/affiliates/aff-000000/ledger': list(
      ROWS,
      [name, 'ledger', 'aff-000000'],
      [`l-${nearEnd(SIZES.statements)}`],
    ),
    '/affiliates/aff-000000/balance': [{ bound: BALANCE }],
    '/affiliates/ledger': pages(ROWS, 'affiliate_id=aff-000000'),
    '/affiliates/balance': [{ bound: BALANCE, query: 'affiliate_id=aff-000000' }],
    '/payouts': [
      ...list(
        PAYOUTS,
        [name, 'payouts', 'approved', null, null, null, null],
        [LAST_AFFILIATE, 'EUR'],
      ),
      ...pages(PAYOUTS, 'payable_on=2026-11-14'),
      ...pages(PAYOUTS, 'affiliate_id=aff-000000'),
      ...pages(ROWS, 'status=paid'),
      ...pages(ROWS, 'status=paid&affiliate_id=aff-000000'),
      ...pages(ROWS, 'status=paid&from=2026-11-01&to=2026-11-30'),
      ...pages(PASSING, 'status=paid&recorded_since=2026-11-01T00:00:00Z'),
      ...pages(PASSING, 'status=paid&returned_since=2026-11-01T00:00:00Z'),
    ],
    // The steps of a run are counted.
    '/runs/run_1': [{ bound: { each: 0, fixed: 2010 } }],
  })
  const { affiliate_key } = await json(
    askAdmin(`accounts/${firm}/affiliates/aff-000000/keys`, 'POST', { name: 'Tracker' }),
  )
  const row = (await findAccount(env.DB, firm))!
  const { nameOf } = await viewContextOf(
    { lines: [{ id }] },
    DEFAULT_VIEW,
    await pseudonymKeyOf(env.DB, row),
    'aff-000000',
  )
  const shownLine = `/lines/${nameOf(id, 'line')}`
  const twice = (bound: Bound): Bound => alsoCaller({ ...bound, fixed: 2 * bound.fixed })
  const month = 'period=2026-10'
  return {
    '/affiliate/v1': {
      headers: { Authorization: `Bearer ${affiliate_key}` },
      paths: {
        '/me': [{ bound: alsoCaller({ ...PLANS, fixed: PLANS.fixed + 2 * SIZES.affiliates }) }],
        '/overview': [
          { bound: twice({ ...REPORTS, fixed: REPORTS.fixed + LINE.fixed }), query: REPORT_DAYS },
        ],
        '/statements': pages(alsoCaller(STATEMENTS)),
        '/statements/stm-000000': [{ bound: alsoCaller(ONE) }],
        [`${shownLine}/explain`]: [{ bound: alsoCaller(LINE), query: month }],
        [`${shownLine}/parts`]: [{ bound: alsoCaller(LINE), query: month }],
        '/unearned': [{ bound: alsoCaller(LINE), query: month }],
        '/unearned/facts': [{ bound: alsoCaller(LINE), query: month }],
        '/customers': [{ bound: alsoCaller(LINE), query: month }],
        '/links': pages(alsoCaller({ ...ROWS, fixed: ROWS.fixed + 3 * SIZES.affiliates })),
        '/links/f0000000': [{ bound: alsoCaller(ONE) }],
        '/clicks': [
          {
            bound: alsoCaller({ ...CLICKS, fixed: CLICKS.fixed + SIZES.affiliates }),
            query: REPORT_DAYS,
          },
        ],
        '/reports': [{ bound: alsoCaller(REPORTS), query: REPORT_DAYS }],
        '/postbacks': [{ bound: alsoCaller({ each: 3, fixed: 10 }) }],
        '/postbacks/p-1/attempts': [
          ...pages(alsoCaller(SENT)),
          ...pages(alsoCaller(SENT), 'failed=true'),
        ],
        '/ledger': pages(alsoCaller({ ...ROWS, fixed: ROWS.fixed + BALANCE.fixed })),
        '/payouts': pages(
          alsoCaller({ ...ROWS, fixed: ROWS.fixed + BALANCE.fixed + 2 * SIZES.statements }),
        ),
        '/sub-affiliates': [{ bound: twice(REPORTS), query: REPORT_DAYS }],
        '/questions': pages(alsoCaller(QUESTIONS)),
        '/questions/q-000000': [{ bound: alsoCaller(MEMBERS) }],
      },
    },
    '/api/v1/forex': {
      headers: { Authorization: `Bearer ${acme.access_token}` },
      paths: {
        ...own(firm, delivery),
        '/totals': [
          { bound: TOTALS, query: WIDEST },
          { bound: KEPT_TOTALS, query: WIDEST },
        ],
        '/customers': customers(firm, 'customer_id'),
        '/customers/by-id': [{ bound: ONE, query: 'customer_id=c-000001' }],
        '/transactions': recordForms(firm, 'transactions', 'customer_id', [LAST_TRANSACTION]),
        '/transactions/t-000001': [{ bound: ONE }],
        '/transactions/by-id': [{ bound: ONE, query: 'transaction_id=t-000001' }],
        '/trading-activity': recordForms(firm, 'trading-activity', 'customer_id', ['i', 'EUR']),
      },
    },
    '/tracking/events': {
      headers: { 'x-api-key': casino.brand_token },
      paths: {
        ...own(casino.account, brandDelivery),
        '/customers': customers(casino.account, 'customerid'),
        '/customers/by-id': [{ bound: ONE, query: 'customerid=c-000001' }],
        '/activities': recordForms(casino.account, 'activities', 'customerid', [LAST_EVENT]),
      },
    },
    [`/admin/v1/accounts/${firm}`]: {
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}` },
      paths: {
        ...account(firm, delivery),
        '/clients': [{ bound: { each: 3, fixed: 10 } }],
        '/webhooks': [{ bound: { each: 3, fixed: 10 } }],
        '/webhooks/w-1': [{ bound: ONE }],
        '/webhooks/w-1/attempts': [
          ...list(
            SENT,
            [firm, 'attempts', 'w-1', { event: null, onlyFailed: false }],
            ['a-000020'],
          ),
          ...pages(SENT, 'failed=true'),
        ],
        '/webhooks/w-1/events': [
          ...list(SENT, [firm, 'webhook-events', 'w-1', null], ['e-000020']),
          ...pages(SENT, 'status=dead'),
        ],
        '/trading-activity/earnings': [{ bound: OF_CUSTOMER, query: ACTIVITY }],
        '/statements': [
          ...pages(STATEMENTS),
          ...pages(STATEMENTS, 'affiliate_id=aff-000000'),
          ...pages(STATEMENTS, 'plan=other'),
          ...pages(STATEMENTS, 'period=2026-10&status=paid'),
          ...pages(STATEMENTS, 'status=paid'),
          ...pages(STATEMENTS, 'approved_since=2026-10-01T00:00:00Z'),
          ...pages(
            STATEMENTS,
            `period=2026-10&affiliate_ids=${encodeURIComponent(JSON.stringify(['aff-000000', LAST_AFFILIATE]))}`,
          ),
          { bound: FRESH, query: 'affiliate_id=aff-000000&period=2026-10&fresh=true' },
        ],
        '/periods': [{ bound: PERIODS }],
        '/statements/totals': [
          { bound: TOTALLED },
          { bound: TOTALLED, query: 'period=2026-10&plan=other' },
        ],
      },
    },
    [`/admin/v1/accounts/${casino.account}`]: {
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}` },
      paths: {
        '/moves': [{ bound: { each: 2, fixed: 20 } }],
        '/archives': pages({ each: 0, fixed: 16 * ARCHIVED + 10, isCounted: true }),
        '/archives/kept': [{ bound: KEPT_MONTHS }],
        [`/moves/${MOVES.done}`]: [{ bound: { each: 0, fixed: 20 } }],
        '/brand-tokens': [{ bound: { each: 3, fixed: 10 } }],
        '/events': [{ bound: { each: 2, fixed: 10 } }],
        '/activities/earnings': [
          { bound: OF_CUSTOMER, query: `id=${encodeURIComponent(LAST_EVENT)}` },
        ],
      },
    },
    '/admin/v1': {
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}` },
      paths: {
        '/accounts': list(ROWS, 'accounts', [firm]),
        '/fx-rates': RATES,
        '/feeds': list(FEEDS, 'feeds', [casino.account]),
        '/databases': [{ bound: { each: 0, fixed: 300 } }],
        // Each account is searched by seven indexes.
        '/search': [{ bound: { each: 0, fixed: 7 * 500 + 1000 }, query: 'id=t-000001' }],
        '/audit-log': [
          ...list(ROWS, ['audit', null], [`${firm}-000020`]),
          ...pages(ROWS, `account=${firm}`),
          ...pages(PASSING, `account=${firm}&actor=nobody`),
          ...pages(PASSING, `account=${firm}&kind=plan`),
          ...pages(ROWS, `account=${firm}&from=2026-10-01&to=2026-10-02`),
        ],
      },
    },
    '': {
      headers: {},
      paths: Object.fromEntries([
        ...[
          '/healthz',
          '/.well-known/oauth-authorization-server',
          '/.well-known/jwks.json',
          '/',
          '/docs',
          '/docs/reading',
          '/docs/reference/partner',
          '/problems/invalid_query',
          '/llms.txt',
          '/openapi.json',
          '/schemas/v1/list.json',
          '/schemas/v1/forex/customer.json',
          '/assets/docs.css',
        ].map((path) => [path, [{ bound: NONE }]]),
        ['/go/f0000001', [{ bound: ONE }]],
      ]),
    },
  } as Record<string, { headers: Record<string, string>; paths: Record<string, RouteRequest[]> }>
}

/** Returns the path of the route that a request reaches. */
function routeOf(path: string, all: readonly string[]): string {
  if (all.includes(path)) return path
  const matches = (route: string) => new RegExp(`^${route.replace(/:\w+/g, '[^/]+')}$`).test(path)
  return all.find(matches) ?? path
}

/** Returns the most rows that a request may read. */
function mostRows(bound: Bound, query: string, body: Body): number {
  const { each, fixed, isCounted, isSearched, passesHeld } = bound
  const parameters = new URLSearchParams(query)
  const rows = body.data?.length ?? 0
  const skipped = (Number(parameters.get('page') ?? 1) - 1) * Number(parameters.get('per_page'))
  const isFirst = !parameters.has('cursor')
  const matches = isFirst && (isCounted || isSearched) ? (body.meta?.total ?? 0) : 0
  return (
    each * rows +
    fixed +
    2 * skipped +
    matches +
    (isSearched ? 5 * SIZES.days : 0) +
    (passesHeld ? SIZES.held * (isFirst ? 2 : 1) : 0)
  )
}

interface Body {
  data?: unknown[]
  meta?: { total: number; next_cursor: string | null }
}

test('each GET route reads at most the stated rows', { timeout: 600_000 }, async () => {
  const all = app.routes.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const reached = new Set<string>()
  const exceeded: string[] = []

  const send = async (
    path: string,
    query: string,
    headers: Record<string, string>,
    bound: Bound,
  ) => {
    // A report does not run beside totals of its account, nor soon after long ones.
    if (bound.fixed >= REPORTS.fixed) await env.DB.prepare('delete from totals_leases').run()
    const { response, rowsRead } = await countCalls(`${path}?${query}`.replace(/\?$/, ''), {
      headers,
      redirect: 'manual',
    })
    const isJson = response.headers.get('Content-Type')?.startsWith('application/json')
    const body = isJson ? await response.json<Body>() : {}
    // Totals of many changed days are summed by several requests: each but the last is 503.
    const isAnswered = response.status < 400 || (bound === TOTALS && response.status === 503)
    if (bound !== NONE) expect([path, query, isAnswered]).toEqual([path, query, true])
    const most = mostRows(bound, query, body)
    if (rowsRead > most) exceeded.push(`${path}?${query}: ${rowsRead} rows, not ${most}`)
    return body.meta?.next_cursor
  }

  for (const [at, { headers, paths }] of Object.entries(await routes())) {
    for (const [path, forms] of Object.entries(paths)) {
      reached.add(routeOf(at + path, all))
      for (const { bound, query = '', accept, end } of forms) {
        if (end) {
          const [context, key] = end
          const sealed = typeof context === 'string' ? context : JSON.stringify(context)
          const text = JSON.stringify([2, 50, 1, 0, ...key])
          const cursor = await signText(env as Env, `2 ${sealed}`, text)
          await send(at + path, `${query}&cursor=${cursor}`.replace(/^&/, ''), headers, bound)
          continue
        }
        const own = { ...headers, ...(accept && { Accept: accept }) }
        const cursor = await send(at + path, query, own, bound)
        const next = query.replace(/&?\bpage=\d+/, '').replace(/^&/, '')
        if (cursor)
          await send(at + path, `${next}&cursor=${cursor}`.replace(/^&/, ''), headers, bound)
      }
    }
  }

  // What is stored is searched for secrets after each test: that of this one holds none.
  await emptyWorld()

  expect(exceeded).toEqual([])
  // The two verticals of the partner API share their routes.
  const unreached = all.filter((path) => !reached.has(path.replace('prop-trading', 'forex')))
  expect(unreached, 'add them to `routes`, and their rows to docs/limits.md').toEqual([])
})
