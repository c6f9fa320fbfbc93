import { databaseBindings, resolveDatabase } from './database.ts'
import { withMethods } from './methods.ts'
import { columnNames, type Table } from './table.ts'
import {
  affiliateParents,
  affiliates,
  auditLog,
  customerAffiliations,
  customers,
  payoutBatches,
} from './tables.ts'

// What a member of the team with a scope reads: each table that a query names is shadowed by a common table expression
// of the same name, which has the rows of their scope alone. So no query knows of scopes. What writes is not shadowed:
// whoever changes something has read it, or has named an affiliate.

/** What a query may read. */
export interface Reading {
  /** The accounts; all if absent. */
  readonly accounts?: readonly string[]
  /** The account, and the affiliates and links of it whose rows are read; the rows of all if absent. */
  readonly own?: { readonly account: string; readonly owners: readonly string[] }
}

/** Values of `Reading` as SQL; `@` stands for the parameter. */
const ACCOUNTS = `(select value from json_each(@, '$.accounts'))`
const ACCOUNT = `(@ ->> '$.own.account')`
const OWNERS = `(select value from json_each(@, '$.own.owners'))`

const OF_ACCOUNT = `t.account = ${ACCOUNT}`
const OWN = `${OF_ACCOUNT} and t.affiliate_id in ${OWNERS}`

/** Returns the SQL of the rows of a table that meet a condition. */
const rowsOf = (table: string, condition: string) =>
  `select * from main.${table} t where ${condition}`

/** Returns the same, with other values of some columns. */
function changedRowsOf(table: Table, condition: string, others: Readonly<Record<string, string>>) {
  const columns = columnNames(table).map((name) =>
    others[name] === undefined ? `t.${name}` : `${others[name]} as ${name}`,
  )
  return `select ${columns.join()} from main.${table.name} t where ${condition}`
}

const onlyOwn = (...columns: string[]) =>
  Object.fromEntries(columns.map((name) => [name, `iif(t.${name} in ${OWNERS}, t.${name}, null)`]))

/** Returns the condition that a row belongs to an own one of another table. */
const ofOwn = (table: string, key: string, column: string) =>
  `${OF_ACCOUNT} and exists (select 1 from main.${table} o where o.account = t.account
    and o.${key} = t.${column} and o.affiliate_id in ${OWNERS})`

/** The customers whom own affiliates have or ever had. */
const EVER_OWN = `${OF_ACCOUNT} and t.customer_id in (
    select customer_id from main.customer_owners where account = ${ACCOUNT} and owner in ${OWNERS})`

const CHANGES =
  'main.customer_affiliations h where h.account = t.account and h.customer_id = t.customer_id'
const owner = (row: string, prefix = '') =>
  `ifnull(${row}.${prefix}affiliate_id, ${row}.${prefix}link)`

/** The condition that the customer of a row is that of an own affiliate on a day, or now. */
const isOwnOn = (day?: string) => `case
    when not exists (select 1 from ${CHANGES}) then (
      select ifnull(c.affiliate_id, iif(c.first_day is null, null, c.link)) from main.customers c
      where c.account = t.account and c.customer_id = t.customer_id)
    when exists (select 1 from ${CHANGES}${day ? ` and h.day <= ${day}` : ''}) then (
      select ${owner('h')} from ${CHANGES}${day ? ` and h.day <= ${day}` : ''} order by h.day desc limit 1)
    else (select ${owner('h', 'previous_')} from ${CHANGES} order by h.day limit 1) end in ${OWNERS}`

/** The sum of the own transfers of a batch: all have as many places as their currency has. */
const SUM_OF_TRANSFERS = `
      select iif(places = 0, '' || units, (units / scale) || '.' || substr('000' || (units % scale), -places)) from (
        select units, places, cast('1' || substr('000', 1, places) as integer) as scale from (
          select sum(cast(replace(o.amount, '.', '') as integer)) as units,
            max(length(substr(o.amount, instr(o.amount || '.', '.') + 1))) as places
          from main.transfers o where o.account = t.account and o.batch = t.id and o.affiliate_id in ${OWNERS}))`

/** What stands for an affiliate of somebody else. */
const ANOTHER = "'another affiliate'"

/** The tables that have own rows by their column `affiliate_id`. */
const OF_AFFILIATES = `affiliate_keys affiliate_members affiliate_passkeys affiliate_invitations affiliate_questions
  links statements closed_states open_affiliates manual_entries payments ledger transfers agreements invoices
  webhook_endpoints webhook_events fraud_cases`

/** The tables that have own rows by what they belong to. */
const SHADOWS: Readonly<Record<string, string>> = {
  affiliates: changedRowsOf(affiliates, OWN, onlyOwn('parent')),
  affiliate_parents: changedRowsOf(affiliateParents, OWN, onlyOwn('parent')),
  assignments: rowsOf(
    'assignments',
    `${OF_ACCOUNT} and (t.affiliate_id = '*' or t.affiliate_id in ${OWNERS})`,
  ),
  // Who is above an own affiliate is somebody else's.
  audit_log: changedRowsOf(
    auditLog,
    `${OF_ACCOUNT} and t.details ->> 'affiliate_id' in ${OWNERS}`,
    { details: `json_remove(t.details, '$.before', '$.changes.parent')` },
  ),
  clicks: rowsOf('clicks', `${OF_ACCOUNT} and t.link_id in ${OWNERS}`),
  affiliate_question_messages: rowsOf(
    'affiliate_question_messages',
    ofOwn('affiliate_questions', 'id', 'question'),
  ),
  customers: changedRowsOf(
    customers,
    `${EVER_OWN} and (${isOwnOn()} or exists (select 1 from ${CHANGES}
      and (${owner('h')} in ${OWNERS} or ${owner('h', 'previous_')} in ${OWNERS})))`,
    {
      ...onlyOwn('affiliate_id', 'link'),
      tracking_data: `iif(${isOwnOn()}, t.tracking_data, null)`,
    },
  ),
  customer_affiliations: changedRowsOf(
    customerAffiliations,
    EVER_OWN,
    onlyOwn('affiliate_id', 'link', 'previous_affiliate_id', 'previous_link'),
  ),
  customer_fields: rowsOf('customer_fields', EVER_OWN),
  customer_refusals: rowsOf('customer_refusals', EVER_OWN),
  erasures: rowsOf('erasures', EVER_OWN),
  customer_owners: rowsOf('customer_owners', `${OF_ACCOUNT} and t.owner in ${OWNERS}`),
  transactions: rowsOf('transactions', `${EVER_OWN} and ${isOwnOn('t.day')}`),
  activity: rowsOf('activity', `${EVER_OWN} and ${isOwnOn('t.date')}`),
  events: rowsOf('events', `${EVER_OWN} and ${isOwnOn('t.day')}`),
  // No delivery keeps numbers of own records: they are counted.
  totals: `select ${ACCOUNT} as account, resource, total, 0 as held, 0 as bytes from (${Object.entries(
    {
      customers: 'customers',
      transactions: 'transactions',
      'trading-activity': 'activity',
      activities: 'events',
    },
  )
    .map(([name, table]) => {
      const held = table === 'customers' ? '' : ' where held = 0'
      return `select '${name}' as resource, (select count(*) from ${table}${held}) as total`
    })
    .join(' union all ')})`,
  statement_lines: rowsOf('statement_lines', ofOwn('statements', 'id', 'id')),
  statement_approvals: rowsOf('statement_approvals', ofOwn('statements', 'id', 'id')),
  payment_returns: rowsOf('payment_returns', ofOwn('payments', 'reference', 'payment')),
  // An own invoice names the payer.
  payees: rowsOf(
    'payees',
    `${OF_ACCOUNT} and iif(t.party = 'payee', t.id in ${OWNERS}, exists (
      select 1 from main.invoices o where o.account = t.account and o.payer = t.id and o.payer_version = t.version
        and o.affiliate_id in ${OWNERS}))`,
  ),
  current_payees: `select account, party, iif(party = 'payee' and id in ${OWNERS}, id, ${ANOTHER}) as id, version,
    state, digest from main.current_payees t where ${OF_ACCOUNT}`,
  payout_batches: changedRowsOf(payoutBatches, ofOwn('transfers', 'batch', 'id'), {
    rows: "'[]'",
    hash: "''",
    files: 'null',
    total: `(${SUM_OF_TRANSFERS})`,
  }),
  bank_movements: rowsOf('bank_movements', ofOwn('transfers', 'id', 'reference')),
  webhook_messages: rowsOf('webhook_messages', ofOwn('webhook_events', 'id', 'event')),
  fraud_decisions: rowsOf('fraud_decisions', ofOwn('fraud_cases', 'id', 'case_id')),
  fraud_evidence: rowsOf(
    'fraud_evidence',
    `${ofOwn('fraud_cases', 'id', 'case_id')} and iif(t.resource = 'payees',
      substr(t.id, 1, instr(t.id, ' ') - 1) in ${OWNERS}, t.customer_id is null or ${EVER_OWN})`,
  ),
}

/** The tables of an account that hold nothing of affiliates. */
const OPEN = `event_definitions vocabulary plan_versions closed_periods fraud_rule_versions statement_runs changed resets
  book_resets doors`

/** The tables that cannot be told affiliate by affiliate, or that only the service reads. */
const HIDDEN = `clients brand_tokens account_moves deliveries late_changes idempotency_keys arrivals statement_run_steps
  once_facts payout_answers answer_columns postback_progress postback_customers fraud_progress fraud_revenue exports
  export_runs outbox mail_stops applications`

/** The tables that belong to no account. */
const OF_NONE =
  'accounts fx_rates database_sizes members member_invitations member_passkeys member_keys'

const named = (names: string) => names.split(/\s+/)

const OWN_SHADOWS: ReadonlyMap<string, string> = new Map([
  ...named(HIDDEN).map((name): [string, string] => [name, rowsOf(name, `${OF_ACCOUNT} and false`)]),
  ...named(OPEN).map((name): [string, string] => [name, rowsOf(name, OF_ACCOUNT)]),
  ...named(OF_AFFILIATES).map((name): [string, string] => [name, rowsOf(name, OWN)]),
  ...Object.entries(SHADOWS),
])

/** The tables for which it is decided what a member with own affiliates reads of them. */
export const DECIDED_TABLES = [...OWN_SHADOWS.keys(), ...named(OF_NONE)]

/** What a member of some accounts reads of all of them. */
const ACCOUNT_SHADOWS: ReadonlyMap<string, string> = new Map(
  [...OWN_SHADOWS.keys()].map((name) => [name, rowsOf(name, `t.account in ${ACCOUNTS}`)]),
)

/** Returns the shadows of the tables that a query names, and of those that these name. */
function shadowsIn(text: string, shadows: ReadonlyMap<string, string>): Map<string, string> {
  const found = new Map<string, string>()
  const search = (sql: string) => {
    for (const [name = ''] of sql.matchAll(/(?<!main\.)\b[a-z_]{5,}\b/g)) {
      const shadow = shadows.get(name)
      if (shadow === undefined || found.has(name)) continue
      found.set(name, shadow)
      search(shadow)
    }
  }
  search(text)
  return found
}

const WRITES = /\b(?:insert\s+(?:or\s+\w+\s+)?into|delete\s+from|update\s+\w+\s[^()]*?\bset)\b/i

const WITH = /^\s*with\s+(recursive\s+)?/i

/** Returns a query whose tables are shadowed, and that has what may be read as its last parameter; null if it writes. */
function shadowed(sql: string, { accounts, own }: Reading): string | null {
  if (/\bmain\./.test(sql)) throw new Error('A query names a table past its shadow.')
  if (WRITES.test(sql)) return null
  const shadows = shadowsIn(sql, own ? OWN_SHADOWS : ACCOUNT_SHADOWS)
  if (accounts && /\baccounts\b/.test(sql))
    shadows.set('accounts', rowsOf('accounts', `t.id in ${ACCOUNTS}`))
  if (shadows.size === 0) return null
  const numbers = [...sql.matchAll(/\?(\d*)/g)].map(([, number]) => Number(number))
  const parameter = `?${Math.max(0, ...numbers) + 1}`
  const tables = [...shadows].map(([name, rows]) => `${name} as not materialized (${rows})`)
  // A common table expression has no index; the one of the table within it is found by the planner.
  const text = sql.replaceAll(/\b(?:not indexed|indexed by \w+)\b/gi, '')
  const [, recursive = ''] = WITH.exec(text) ?? []
  return `with ${recursive}${tables.join(', ').replaceAll('@', parameter)} ${text.replace(WITH, ', ')}`
}

/** Returns a database, or a session of it, whose queries read what may be read. */
function readingAs<Database extends Pick<D1Database, 'prepare' | 'batch'>>(
  db: Database,
  reading: Reading,
): Database {
  const value = JSON.stringify(reading)
  return withMethods(db, {
    prepare(sql: string) {
      const text = shadowed(sql, reading)
      if (text === null) return db.prepare(sql)
      const statement = db.prepare(text)
      return { bind: (...values: unknown[]) => statement.bind(...values, value) }
    },
    withSession: (constraint?: string) =>
      readingAs((db as unknown as D1Database).withSession(constraint), reading),
  })
}

/** Returns an environment whose databases read what may be read; what writes is not limited. */
export const scopedEnv = (env: Env, reading: Reading): Env => ({
  ...env,
  ...Object.fromEntries(
    databaseBindings(env).map((name) => [name, readingAs(resolveDatabase(env, name), reading)]),
  ),
})
