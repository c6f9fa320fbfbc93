import { BEGINNING } from '../../platform/db/history.ts'
import { ABORT, abortAs, columnList, JSON_EACH, rowValue } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import { ATTRIBUTION, CUSTOMER_CHANGES, markSql } from './changed.ts'
import {
  contentColumnsOf,
  FIELD_HISTORY,
  findSql,
  historyFieldsOf,
  missingSql,
} from './find-sql.ts'
import { CLOSED_THROUGH, insertLateSql, insertReleasedSql } from './late-changes.ts'
import { type SqlFragments, sqlFragments } from './record-fragments.ts'
import { FIELDS, type RecordTable } from './record-table.ts'
import { USAGE } from './storage.ts'

// The batch that stores a delivery. Records were read and decided on before, so it fails as a whole unless what the
// decision depends on still holds. An insert of a row that exists fails, too. The request is then read and decided again.

/** Evaluates to true, or fails if a condition does not hold. */
const required = (condition: string) => `iif(${condition}, 1, ${ABORT})`

/**
 * Inserts the row of the delivery. Parameters: its columns, `:closed_through`, `:new_held`, `:max_held`, and two JSON arrays:
 * `:references` of `[reference, is missing]`, and `:erased` of `[customer, is erased]`.
 */
const insertDelivery = ({ reference, personalColumns }: RecordTable) => `
      insert into deliveries (account, id, resource, dry_run, status, summary, errors_total, attempt, days, errors)
      select :account, :delivery, :resource, :dry_run, :status, :summary, :errors_total, :attempt, :days, :errors
      where ${required(`not exists (select 1 from resets where account = :account)
        and (:written = 0 or :closed_through is ${CLOSED_THROUGH})
        and (:new_held = 0 or :new_held + (
          select ifnull(sum(held), 0) from totals where account = :account) <= :max_held)
        ${
          reference
            ? `and not exists (select 1 from ${JSON_EACH}(:references) r
          where exists (select 1 from ${reference.table} o
            where o.account = :account and o.${reference.column} = r.value ->> 0) is r.value ->> 1)`
            : ''
        }
        ${
          personalColumns.length > 0
            ? `and not (exists (select 1 from erasures where account = :account)
          and exists (select 1 from ${JSON_EACH}(:erased) r
            where not r.value ->> 1 and exists (select 1 from erasures e
              where e.account = :account and e.customer_id = r.value ->> 0)))`
            : ''
        }`)}`

/**
 * Returns the SQL that keeps the fields of the customers `t` of a query before an update, which holds from the day `:day`
 * on. A later change of a day keeps the values of before the day; a field that had never had a value gets its first one,
 * which holds from the beginning.
 */
export const keepFieldsSql = (fields: readonly string[], delivery: string, from: string) => `
  insert into customer_fields (account, customer_id, day, delivery, ${fields.join()})
  select t.account, t.customer_id, max(:day, ifnull((select max(h.day) from ${FIELD_HISTORY}), :day)), ${delivery},
    ${fields.map((name) => `t.${name}`).join()}
  ${from}
  on conflict (account, customer_id, day) do update set delivery = excluded.delivery,
    ${fields
      .map(
        (name) => `${name} = coalesce(${name}, iif(exists (select 1 from customer_fields f
        where f.account = excluded.account and f.customer_id = excluded.customer_id
          and f.${name} is not null), null, excluded.${name}))`,
      )
      .join()}`

const excluded = (name: string) => `excluded.${name}`

/**
 * Upserts records; `place` sets what a record that moves gets beside its content. That of others names no indexed column:
 * SQLite would write its index even where the value is equal, and run the triggers of a record that moves. A record is
 * written only if it is the one that was read.
 */
function upsertSql(table: RecordTable, fragments: SqlFragments, place: readonly string[]): string {
  const { columns, canHold, hasFirstSeen, key, timeColumn } = table
  const value = fragments.storedIf(fragments.sent('erased'))
  const initial = (name: string) =>
    timeColumn && name === 'day' ? `ifnull(${value('day')}, ${value('first_day')})` : value(name)
  const content = contentColumnsOf(table).map((name) => `${name} = ${table.merge(name, excluded)}`)
  return `
      ${fragments.withSent}
      insert into ${table.table} as t (account, ${columnList(columns)}, ${canHold ? 'held, ' : ''}${hasFirstSeen ? 'first_seen_at, ' : ''}delivery, idx, revision)
      select :account, ${columns.map(initial).join(', ')}, ${canHold ? `sent.held, ` : ''}${hasFirstSeen ? ':received_at, ' : ''}
        :delivery, sent.idx, sent.revision
      from sent where true
      on conflict (account, ${columnList(key)}) do update set delivery = excluded.delivery, idx = excluded.idx,
        revision = excluded.revision, ${[...content, ...place].join(', ')}
      where t.revision = excluded.revision - 1`
}

/** Returns how a record that moves gets its day, customer and state of waiting. */
function placeOf({ timeColumn, merge, indexedColumns, canHold }: RecordTable): string[] {
  // `excluded.day` is the day of a new record.
  const day = (name: string) =>
    timeColumn && name === 'day'
      ? `iif(excluded.${timeColumn} is null, null, excluded.day)`
      : excluded(name)
  return [
    ...indexedColumns.map(
      (name) => `${name} = ${name === 'day' ? merge('day', day) : excluded(name)}`,
    ),
    ...(canHold ? ['held = excluded.held'] : []),
  ]
}

/** Fails unless the statement before has written `:written` records. */
const CHECK_WRITTEN = `select ${required('changes() = :written')}`

/**
 * Stores from which day the other affiliate of a customer holds, before the customer is written. One that holds from the
 * signup on has the first day of the calendar.
 */
function affiliateSql(column: 'affiliate_id' | 'link', { sent, withSent }: SqlFragments): string {
  const isLink = column === 'link'
  const history = `from customer_affiliations h where h.account = :account and h.customer_id = t.customer_id`
  return `
      ${withSent}
      insert into customer_affiliations (account, customer_id, day, affiliate_id, link, previous_affiliate_id,
        previous_link, delivery)
      select :account, t.customer_id, max(sent.from_day, ifnull((select max(h.day) ${history}), sent.from_day)),
        ${sent('affiliate_id')}, ${isLink ? sent('link') : 'null'}, t.affiliate_id, ${isLink ? 't.link' : 'null'}, :delivery
      from sent cross join customers t on t.account = :account and t.customer_id = ${sent('customer_id')}
      where true
      on conflict (account, customer_id, day) do update set affiliate_id = excluded.affiliate_id,
        link = excluded.link, delivery = excluded.delivery,
        previous_affiliate_id = iif(day = ${BEGINNING}, excluded.previous_affiliate_id, previous_affiliate_id)`
}

/** Compiles SQL that reads the records of `:rows` from `sent`. */
const statementOf = ({ withSent }: SqlFragments, sql: string) =>
  compileStatement(`${withSent} ${sql}`)

/** The columns of a customer that count from the signup on: the signup, and who shares an identity with the customer. */
const OF_SIGNUP = [
  'day',
  'signup_date',
  'email',
  'first_name',
  'last_name',
  'country_code',
  'tracking_data',
  'verdict',
]

/**
 * Marks the days from which updated customers of `:rows` count anew for the fraud review, before they are written, and
 * notes those of whom a field or an affiliate becomes known, or no longer is: that counts from their first record on.
 */
function judgeSql(table: RecordTable, fragments: SqlFragments) {
  const { columns, hasFirstSeen, merge } = table
  const value = fragments.storedIf(fragments.sent('erased'))
  const next = (name: string) =>
    name === 'day' ? `ifnull(${merge('day', value)}, ${value('first_day')})` : merge(name, value)
  const stored = (name: string) => `t.${name}`
  const sent = `from sent cross join ${table.table} t on ${fragments.keyMatches}`
  const ofSignup = OF_SIGNUP.filter((name) => columns.includes(name))
  const firstSeen = hasFirstSeen ? 'ifnull(t.first_seen_day, t.day)' : 't.day'
  const known = [...FIELDS, 'affiliate_id'].filter((name) => columns.includes(name))
  const becomesKnown = known.map((name) => `(t.${name} is null) <> (${next(name)} is null)`)
  const attributed = becomesKnown.filter((_, i) =>
    ['link', 'affiliate_id'].includes(known[i] ?? ''),
  )
  return {
    mark: statementOf(
      fragments,
      markSql(
        `'${CUSTOMER_CHANGES}'`,
        `select min(t.day, ${next('day')}, ${firstSeen}) as day ${sent}
        where ${rowValue(ofSignup, next)} is not ${rowValue(ofSignup, stored)}
          or ${becomesKnown.join(' or ')}`,
      ),
    ),
    attribute: statementOf(
      fragments,
      markSql(
        `'${ATTRIBUTION}'`,
        `select ${BEGINNING} as day ${sent} where ${attributed.join(' or ')}`,
      ),
    ),
  }
}

/** The stored day 2000-01-01. A time before it is a mistake, and no customer signed up then. */
const FIRST_PLAUSIBLE_DAY = 10_957

/**
 * Sets the signup of the new customers of `:rows` who were sent without a time: the earliest time of the
 * events that wait for them, if that is earlier than now. Reads each customer with one entry of the index, and the
 * events of that day. An event without a time counts from the beginning of its day.
 */
const signUpSql = ({ sent, withSent }: SqlFragments) => `
      ${withSent},
      first as materialized (
        select c.account, c.customer_id, w.day,
          iif(count(*) = count(w.createtime), min(w.createtime), null) as time
        from sent
        cross join customers c on c.account = :account and c.customer_id = ${sent('customer_id')}
          and c.signup_date is null
        cross join events w indexed by events_held
          on w.account = :account and w.held = 1 and w.customer_id = c.customer_id
        where w.day = (select e.day from events e indexed by events_held
            where e.account = :account and e.held = 1 and e.customer_id = c.customer_id
              and e.day >= ${FIRST_PLAUSIBLE_DAY} order by e.day limit 1)
        group by c.customer_id
        having w.day < c.day or (w.day = c.day and ifnull(time < c.first_seen_at, true))
      )
      update customers set first_seen_day = f.day, first_seen_at = f.time
      from first f
      where customers.account = f.account and customers.customer_id = f.customer_id`

/** Releases the records of another table that wait for the new customers of `:rows`. */
const releaseSql = (fragments: SqlFragments, waiting: Waiting) => `
      ${fragments.withSent}
      update ${waiting.table} set held = 0
      where (account, ${columnList(waiting.key)}) in (
          select w.account, ${columnList(waiting.key, (name) => `w.${name}`)} ${waitingSql(fragments, waiting)})`

type Waiting = RecordTable['releases'][number]

/** The records of a table that wait for the customers of `:rows`. Left to itself the planner walks all records. */
const waitingSql = ({ sent }: SqlFragments, { table }: Waiting) => `
          from sent cross join ${table} w indexed by ${table}_held
            on w.account = :account and w.held = 1 and w.customer_id = ${sent('customer_id')}`

/** Moves the records that the statement before released from the held ones of their resource to its total. */
const addReleasedSql = ({ resource }: Waiting) => `
      update totals set total = total + changes(), held = held - changes()
      where changes() > 0 and account = :account and resource = '${resource}'`

/** The statements that are the same for every table. */
export const COMMON_STATEMENTS = {
  checkWritten: compileStatement(CHECK_WRITTEN),
  /** Aborts the batch at the quota: of deliveries at once, one at most is beyond it. */
  addTotals: compileStatement(`
      insert into totals (account, resource, total, held, bytes)
      values (:account, :resource, :listed, :held_change,
        iif(:bytes > 0 and ${USAGE} >= :quota, ${abortAs('the quota is reached')}, :bytes))
      on conflict (account, resource) do update set total = total + excluded.total, held = held + excluded.held,
        bytes = bytes + excluded.bytes`),
  /** Counts the delivery in its hour. */
  addArrival: compileStatement(`
      insert into arrivals (account, hour, resource, received, rejected, not_stored, last_at, logged_bytes)
      values (:account, cast(:hour as integer), :feed, :received, :rejected, :not_stored,
        cast(:received_at as integer), :logged_bytes)
      on conflict (account, hour, resource) do update set
        received = received + excluded.received,
        rejected = rejected + excluded.rejected, not_stored = not_stored + excluded.not_stored, last_at = max(last_at, excluded.last_at),
        logged_bytes = logged_bytes + excluded.logged_bytes`),
  /** Stores the Idempotency-Key with the digest of its records. */
  insertIdempotencyKey: compileStatement(`
      insert into idempotency_keys (account, resource, key, digest, delivery)
      values (:account, :resource, :idempotency_key, :records_digest, :delivery)`),
  /** Writes an event of the first delivery of a resource in an hour of which records were refused. */
  notifyRefusal: eventOf('delivery.refused', 'select :about as about, :data as data'),
} as const

/** The statements that store a delivery in one table. */
export type DeliveryStatements = ReturnType<typeof build>

const compiled = new WeakMap<RecordTable, DeliveryStatements>()

/** Returns the statements of a table. They are compiled once. */
export function statementsOf(table: RecordTable): DeliveryStatements {
  const statements = compiled.get(table) ?? build(table, sqlFragments(table))
  compiled.set(table, statements)
  return statements
}

function build(table: RecordTable, fragments: SqlFragments) {
  const { reference, affiliation, hasFirstSeen, timeColumn } = table
  const fields = historyFieldsOf(table)
  const stored = `from sent cross join ${table.table} t on ${fragments.keyMatches} where true`
  return {
    find: compileStatement(findSql(table, fragments)),
    findMissing: reference && compileStatement(missingSql(reference)),
    insertDelivery: compileStatement(insertDelivery(table)),
    keepFields:
      fields.length > 0 ? statementOf(fragments, keepFieldsSql(fields, ':delivery', stored)) : null,
    affiliate: affiliation && compileStatement(affiliateSql(affiliation, fragments)),
    noteLate: compileStatement(insertLateSql(table)),
    judge: table.canHold ? null : judgeSql(table, fragments),
    upsert: compileStatement(upsertSql(table, fragments, [])),
    move: compileStatement(upsertSql(table, fragments, placeOf(table))),
    signUp: hasFirstSeen && timeColumn ? compileStatement(signUpSql(fragments)) : null,
    releases: table.releases.map((waiting) => ({
      mark: statementOf(
        fragments,
        markSql(
          `'${waiting.resource}'`,
          `select w.${waiting.dayColumn} as day ${waitingSql(fragments, waiting)}`,
        ),
      ),
      note: statementOf(
        fragments,
        insertReleasedSql(
          waiting,
          (columns) => `select ${columns} ${waitingSql(fragments, waiting)}`,
        ),
      ),
      release: compileStatement(releaseSql(fragments, waiting)),
      add: compileStatement(addReleasedSql(waiting)),
    })),
  }
}
