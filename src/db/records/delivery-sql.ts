import { DAY_MS } from '../../durations.ts'
import { archivedRecordsSql } from '../archive/archived.ts'
import { BEGINNING } from '../commission/history.ts'
import type { Delivery } from '../schema.ts'
import { compileStatement, type Statement } from '../statement.ts'
import type { SizeLimit } from './extras-limits.ts'
import { MAX_LOGGED_TEXT } from './list.ts'
import type { RecordTable } from './record-table.ts'
import { SIGNUP, SIGNUP_DAY } from './signup.ts'
import {
  ADDED_BYTES,
  ADDED_MEMBERS,
  chunkNames,
  columnList,
  DELIVERY_ROW,
  type FromLookup,
  flagIn,
  HAS_MASK,
  HAS_MOVED,
  HAS_UNKNOWN_REFERENCE,
  IDX,
  IS_TOO_LARGE,
  JSON_EACH,
  MAY_BE_STORED,
  OWN_DELIVERY_ROW,
  REPEATS,
  rowValue,
  SEEN_DELIVERY,
  SENT_VERDICT,
  type SqlFragments,
  sqlFragments,
  unionOfChunks,
  withDelivery,
} from './sql-fragments.ts'
import { DISCARD_DRY_RUN, USAGE } from './storage-sql.ts'
import { orTextsDiffer } from './texts-sql.ts'

type Reference = NonNullable<RecordTable['reference']>

/** Lists the unknown references of a request. Each is looked up once, however many records name it. */
const missingReferences = (
  { table, column }: Reference,
  parameters: readonly string[],
) => `missing(reference) as materialized (
        select value from (${unionOfChunks(parameters)})
        where not exists (
          select 1 from ${table} r where r.account = :account and r.${column} = value)
      ),`

/**
 * Evaluates to 1 if the reference of a record is missing, else to `otherwise`. If no reference of the
 * request is missing, those of the records are not read: that takes most of the time.
 */
const ifMissing = ({ column }: Reference, fromLookup: FromLookup, otherwise: string) => `iif(
            iif(exists (select 1 from missing), ${fromLookup(column)} in (select reference from missing), 0),
            1, ${otherwise})`

/**
 * Evaluates to 1 if `condition` is true and the stored record is held. The record is read only if
 * `condition` is true: the index of the key has all other columns that the classification needs.
 */
const wasHeld = (
  { table, key }: RecordTable,
  fromLookup: FromLookup,
  condition: string,
) => `iif(${condition}, ifnull((select h.held from ${table} h
            where h.account = :account and ${key.map((name) => `h.${name} = ${fromLookup(name)}`).join(' and ')}), 0), 0)`

/**
 * Evaluates to 1 if the stored record is still held although its customer is known, because the release
 * is not finished; an invalid record may have no customer. Such a record stays held until the release reaches it, unless it moves.
 */
const stillHeld = (
  table: RecordTable,
  { column }: Reference,
  fromLookup: FromLookup,
  isSamePlace: string | null,
) =>
  `iif((select releasing from totals where account = :account and resource = :resource) is null, 0,
          ${wasHeld(table, fromLookup, `${fromLookup(column)} is not null and ${isSamePlace ?? 'true'}`)})`

/** The findings about a record, by name, each as a SQL condition or value. */
export type Findings = Readonly<Record<string, string>>

/**
 * Returns the findings that a record of this table can have. A finding that no record can have is
 * absent and costs nothing. `holds` tells whether records of unknown customers are held. SQLite evaluates
 * both sides of an `and`, but only the branch of `iif` that it needs, so rare and expensive conditions
 * are in an `iif`.
 */
function findingColumns(
  table: RecordTable,
  { lookupColumns, fromLookup, isOlder }: SqlFragments,
  hasFlags: boolean,
  holds: boolean,
): Findings {
  const { indexedColumns, reference, sizeLimit, versionColumn, canHold, merge } = table
  const { personalColumns, maskedColumn } = table
  const flag = flagIn(lookupColumns)
  /** A merged record is written once: of the records that it consists of, the first counts. */
  const once = (sql: string) => (hasFlags ? `iif(${flag} is null, ${sql}, 0)` : sql)
  const orFlagged = hasFlags ? `or ${flag} is not null` : ''
  const isSamePlace = samePlace(table, (name) => merge(name, fromLookup))
  const moved = `iif(t.account is null ${orFlagged}, 0, not ${isSamePlace})`
  const isStillHeld =
    canHold && holds && reference ? stillHeld(table, reference, fromLookup, isSamePlace) : '0'
  return {
    is_new: 't.account is null',
    ...(hasFlags && {
      invalid: `${flag} is 'invalid'`,
      flagged: `${flag} is not null`,
    }),
    // `refusable`: the record has an unknown reference; in customers of brands, its additional fields exceed
    // the limit. Its policy then refuses or holds the record, or stores it with a warning.
    ...(reference && { refusable: ifMissing(reference, fromLookup, isStillHeld) }),
    ...(sizeLimit && {
      refusable: `${fromLookup(IS_TOO_LARGE)} is 1`,
      undecided: once(isUndecided(sizeLimit, fromLookup)),
      rewritten: once(rewrittenBytes(sizeLimit, fromLookup)),
    }),
    ...(versionColumn && { stale: isOlder(fromLookup) }),
    ...(indexedColumns.length > 0 && { moved }),
    ...(personalColumns.length > 0 && {
      erased: maskedColumn ? hasErasedMembers(fromLookup) : isErased(fromLookup),
    }),
    ...(table.affiliation && { affiliated: affiliatedSql(table.affiliation, fromLookup) }),
    ...(table.warnsOnAttribution && verdictFindings(fromLookup)),
  }
}

/** Returns whether the record has the day and the customer of the stored one; null if it always has. */
const samePlace = ({ indexedColumns }: RecordTable, next: (name: string) => string) =>
  indexedColumns.length > 0
    ? `${rowValue(indexedColumns, (name) => `t.${name}`)} is ${rowValue(indexedColumns, next)}`
    : null

/** The fewest bytes of a stored member with its comma: `"":"1",` has 7 of them. */
const MIN_MEMBER_BYTES = 7

/**
 * Returns the condition that the statement cannot decide whether a record is too large.
 * - Before the Worker has read the stored fields: the sum of the stored and the sent size exceeds a limit.
 *   A repeated field counts twice. A small record cannot have too many members, so its members are not
 *   counted.
 * - Afterwards: another delivery has changed the stored record.
 */
function isUndecided({ column, maxBytes, maxMembers }: SizeLimit, fromLookup: FromLookup): string {
  // An empty object counts 1 byte; each member adds 1 separator.
  const bytes = `ifnull(octet_length(t.${column}), 1) + ${fromLookup(ADDED_BYTES)}`
  const members = `(select count(*) from json_each(t.${column})) + ${fromLookup(ADDED_MEMBERS)}`
  const seen = fromLookup(SEEN_DELIVERY)
  return `iif(${seen} is null,
            iif(${fromLookup(ADDED_MEMBERS)} > 0 and ${bytes} > ${MIN_MEMBER_BYTES * maxMembers},
              iif(${bytes} > ${maxBytes} or ${members} > ${maxMembers}, not ${isErased(fromLookup)}, 0), 0),
            ifnull(t.delivery, '') is not ${seen})`
}

/** Returns the stored bytes that a write of the record rewrites and that it does not send. */
const rewrittenBytes = ({ column }: SizeLimit, fromLookup: FromLookup) =>
  `max(ifnull(octet_length(t.${column}), 0) - ${fromLookup(ADDED_BYTES)}, 0)`

const isErased = (fromLookup: FromLookup) => `exists (select 1 from erasures e
            where e.account = :account and e.customer_id = ${fromLookup('customer_id')})`

/**
 * Returns the condition that a record has members which an erasure removes. The look-up of the
 * customer is left out for records without such members, and for accounts without erasures.
 */
const hasErasedMembers = (fromLookup: FromLookup) =>
  `iif(${fromLookup(HAS_MASK)} and exists (select 1 from erasures where account = :account),
          ${isErased(fromLookup)}, 0)`

/** For records without usable `tracking_data`: the verdict on the stored customer. */
function verdictFindings(fromLookup: FromLookup): Findings {
  const sent = fromLookup(SENT_VERDICT)
  const verdict = `coalesce(iif(${sent} is 'unusable' and t.tracking_data is null, 'altered', t.verdict), 'organic')`
  return {
    not_attributed: `ifnull(${sent}, 'unusable') is 'unusable' and ${verdict} is not 'attributed'`,
    verdict,
  }
}

/** The records that an aggregate covers: those with all findings of `has` and none of `lacks`. */
export interface Filter {
  readonly has: readonly [string, ...string[]]
  readonly lacks: readonly string[]
}

/**
 * Returns functions that write aggregates over the records of a filter. `conditions` has the SQL of
 * each finding by its name. No record has a finding that is absent there.
 */
function aggregatesOf(conditions: Readonly<Record<string, string>>) {
  /** Returns the aggregate over the records of the filter; null if no record can match it. */
  const filtered = (aggregate: string, { has, lacks }: Filter): string | null => {
    if (!has.every((name) => name in conditions)) return null
    const terms = [
      ...has.map((name) => conditions[name]),
      ...lacks.flatMap((name) => (name in conditions ? [`not ${conditions[name]}`] : [])),
    ]
    return `${aggregate} filter (where ${terms.join(' and ')})`
  }
  return {
    count: (counted: string, filter: Filter) => filtered(`count(${counted})`, filter) ?? '0',
    list: (listed: string, filter: Filter) => {
      const array = filtered(`json_group_array(${listed})`, filter)
      return array ? `nullif(${array}, '[]')` : 'null'
    },
    map: (key: string, value: string, filter: Filter) => {
      const object = filtered(`json_group_object(${key}, ${value})`, filter)
      return object ? `nullif(${object}, '{}')` : 'null'
    },
  }
}

/** The stored day `day` as the id of a period, of the kind that `period` has. */
const periodOf = (day: string, period: string) =>
  `strftime(iif(${period} like '%-W%', '%G-W%V', '%Y-%m'), ${day} * 86400, 'unixepoch')`

/**
 * Evaluates to the first day of another affiliate that a customer gets, and 1 if that affiliate holds from
 * the signup on, as a JSON array; null if the customer keeps the affiliate. The trigger
 * `customers_affiliation` stores what is decided here.
 *
 * A partner's first affiliate is replaced from the signup on if the customer was first received less than a
 * day ago, and no statement of that affiliate was approved since whose period the customer can have records
 * in: one that ends on the signup day or later. A change counts from its day otherwise, and for brands.
 *
 * The branches of `iif` keep the history of customers from being read unless the affiliate changes.
 */
function affiliatedSql(
  column: NonNullable<RecordTable['affiliation']>,
  fromLookup: FromLookup,
): string {
  const sent = fromLookup(column)
  const history = `customer_affiliations h where h.account = :account
              and h.customer_id = ${fromLookup('customer_id')}`
  const latest = (name: string) => `(select h.${name} from ${history} order by h.day desc limit 1)`
  const isFirst = `t.first_seen_at > :received_at - ${DAY_MS}
            and not exists (select 1 from ${history} and (h.day > ${BEGINNING} or h.delivery is null))`
  const isApproved = `exists (select 1 from statements s
              where s.account = :account and s.affiliate_id = t.affiliate_id and s.status <> 'draft'
                and s.approved_at >= t.first_seen_at and s.period >= ${periodOf('t.day', 's.period')})`
  const isEarly = column === 'affiliate_id' ? `(${isFirst} and not ${isApproved})` : 'false'
  const change = `iif(${isEarly}, json_array(${fromLookup('day')}, 1),
            json_array(max(:received_day, ifnull(${latest('day')}, :received_day)), 0))`
  const hasHistory = `exists (select 1 from ${history})`
  return `iif(t.account is null or ${sent} is null or t.${column} is ${sent}, null,
          iif(${hasHistory}, iif(${latest(column)} is ${sent}, null, ${change}),
            iif(t.${column} is null, null, ${change})))`
}

/** The log keeps the keys of the first records with an unknown reference, at most this many keys and bytes. */
const MAX_LOGGED_KEYS = 1000
const MAX_LOGGED_BYTES = 262_144

/**
 * Shortens a text for the log. The ellipsis is written as its code, to keep statements in ASCII: if one
 * character is beyond Latin-1, JavaScript stores the whole request to D1 in two bytes a character.
 */
const loggedText = (sql: string) =>
  `iif(length(${sql}) > ${MAX_LOGGED_TEXT}, substr(${sql}, 1, ${MAX_LOGGED_TEXT}) || char(8230), ${sql})`

/**
 * Returns the identity of a brand's activity for the log. That of a daily aggregate is JSON: its event
 * and its customer, which are ids, and then members that the log does not keep.
 */
const loggedIdentity = (sql: string) =>
  `iif(${sql} like 'd [%',
                  'd ' || json_array(substr(${sql}, 3) ->> 0, substr(${sql}, 3) ->> 1), ${loggedText(sql)})`

/** Lists the position, key and reference of the first records with an unknown reference. */
export const unknownKeys = (
  { key, reference, maskedColumn }: RecordTable,
  { fromLookup }: SqlFragments,
) => `(
          select json_group_array(json(named)) from (
            select named, sum(octet_length(named)) over (order by idx) as bytes from (
              select ${IDX} as idx, json_array(${IDX},
                ${columnList(key, (name) => (maskedColumn ? loggedIdentity : loggedText)(fromLookup(name)))},
                ${reference ? loggedText(fromLookup(reference.column)) : 'null'}) as named
              from classified where refusable order by idx limit ${MAX_LOGGED_KEYS}
            )
          ) where bytes < ${MAX_LOGGED_BYTES}
        )`

/** The `over_quota` of a row with `probes`: triggers skip it, the batch deletes it. */
const QUOTA_CHECK_ONLY = '-1'

/** What happens to records that refer to something unknown. */
export type Policy = 'reject' | 'hold' | 'warn'

/** What an `insertDelivery` statement depends on beside its table. */
interface DeliveryShape {
  /** With `hold`, inserts nothing if the account would have more than `:max_held` held records. */
  readonly policy: Policy
  /** The number of chunks with lookup columns, with flagged rows, and with references. */
  readonly lookupChunks: number
  readonly flaggedChunks: number
  readonly referenceChunks: number
}

/**
 * Inserts the delivery row and classifies every record: unknown reference, too large, new, stale,
 * erased, moved. Later statements read this row. If an earlier attempt inserted it, it stays as it is.
 * Triggers of the table count the delivery in its hour, and add its records to the total of their list.
 *
 * Inserts nothing if it cannot decide whether a record is too large, if it would rewrite too many bytes,
 * if the account accepts no such delivery now (`delivery_conditions`), or if a record concerns an archived month.
 *
 * Parameters, beside those of sql-fragments.ts: `:received_at` (milliseconds), `:received_day`,
 * `:resource`, `:form`, `:dry_run`, `:lenient`, `:received`, `:has_yesterday`, `:has_today`; `:invalid`, `:errors_total` and `:errors` (JSON) of
 * validation; `:idempotency_key` and `:records_digests` (JSON); `:max_held`; `:hold_refused` (1 if the
 * account would hold what this variant rejects); `:days` (JSON, computed in `:book_zone`);
 * `:storage_quota`, `:written_bytes` and `:record_bytes`; the chunks `:lookup_1` …, `:flagged_1` … and
 * `:references_1` …. Three are 1 or 0:
 * - `:has_moves`: this batch has `upsertMoved`. Without it, nothing is inserted if a record to be stored moves.
 * - `:limits_storage`: the delivery is refused if the account stores as much as its quota. A dry run is not.
 * - `:probes`: it only finds out whether anything would be written. Then sizes and the number of held records
 *   do not matter: a record that stays as it is exceeds neither limit.
 */
function insertDeliverySql(
  table: RecordTable,
  fragments: SqlFragments,
  { policy, lookupChunks, flaggedChunks, referenceChunks }: DeliveryShape,
): string {
  const hasFlags = flaggedChunks > 0
  // Fails in a database of an older layout, which lacks the index.
  const access = table.indexes.key ? `indexed by ${table.indexes.key}` : ''
  const findings = findingColumns(table, fragments, hasFlags, policy === 'hold')
  const chunks = [...chunkNames('lookup', lookupChunks), ...chunkNames('flagged', flaggedChunks)]
  const isStopped = '(is_full and not :dry_run)'
  const isRefused = 'reused or (rejected > 0 and not :lenient)'
  // `classified` is evaluated row by row and not stored. Without its limit SQLite would merge it
  // into `counted`, and evaluate each column again wherever it is named.
  return `
      insert into deliveries (account, id, attempt, received_at, received_day, resource, form, dry_run,
        lenient, received, errors_total, rejected, refused, held, stale, created, listed, held_change,
        hold_refused, reused, yesterday, today, days, errors, unknown_at, unknown_keys,
        stale_at, moved, erased_at, verdicts, affiliated, written_bytes, record_bytes, over_quota)
      with sent(value) as (${unionOfChunks(chunks)}),
      ${table.reference ? missingReferences(table.reference, chunkNames('references', referenceChunks)) : ''}
      classified as not materialized (
        select value,
          ${columnList(Object.keys(findings), (name) => `${findings[name]} as ${name}`)}
        from sent left join ${table.table} t ${access} on ${fragments.keyMatches(fragments.fromLookup)}
        limit -1
      ),
      counted as (
        select ${countedColumns(table, fragments, findings, policy)},
          exists (select 1 from idempotency_keys
            where account = :account and resource = :resource and key = :idempotency_key
              and digest not in (select value from json_each(:records_digests))) as reused,
          iif(:limits_storage, ${USAGE}, null) as usage
        from classified
      ),
      decided as (
        select *, ${isRefused} as is_refused, usage >= :storage_quota and not (${isRefused}) as is_full
        from counted
      )
      select :account, :delivery, :attempt, :received_at, :received_day, :resource, :form, :dry_run, :lenient,
        :received, iif(reused, 1, :errors_total + errors),
        iif(reused, :received, :invalid + rejected),
        iif(reused or (is_full and not :dry_run), :received, iif(:lenient, 0, :invalid + rejected)),
        held, stale, created, created - repeated_created + leaves_held - becomes_held,
        new_held + becomes_held - leaves_held,
        :hold_refused, reused, :has_yesterday, :has_today,
        iif(:dry_run or is_refused or (:invalid and not :lenient) or is_full, '[]', :days),
        :errors,
        unknown_at, iif(errors, ${unknownKeys(table, fragments)}, null),
        stale_at, moved, erased_at, verdicts, affiliated, iif(is_refused, 0, :written_bytes), :record_bytes,
        iif(:probes, ${QUOTA_CHECK_ONLY}, iif(is_full, usage, null))
      from decided
      where not exists (select 1 from delivery_conditions
          where account = :account and (resetting or book_zone <> :book_zone))
        and (:has_moves or moved is null or is_refused or is_full)
        ${lookupChunks > 0 ? `and not exists (${archivedRecordsSql(table, fragments, lookupChunks)})` : ''}
        ${table.sizeLimit ? `and (:probes or undecided = 0 or reused or ${isStopped})` : ''}
        ${table.sizeLimit ? `and (rewritten <= ${table.sizeLimit.maxRewritten} or is_refused or (:invalid and not :lenient) or ${isStopped})` : ''}
        ${policy === 'hold' && table.canHold ? `and (:probes or ${isStopped} or ${HAS_ROOM_TO_HOLD})` : ''}
      on conflict (account, id) do nothing
      returning *, iif(rejected > 0, exists (select 1 from webhook_wants
        where account = :account and type in ('delivery.refused', '*')), 0) as notifies`
}

/** The condition that the account may hold the records of this delivery that are not held yet. */
const HAS_ROOM_TO_HOLD = `(new_held + becomes_held = 0
          or new_held + becomes_held + (
            select coalesce(sum(held), 0) from totals where account = :account) <= :max_held)`

/** Selects the delivery row, when the batch of a repeated attempt or of a dry run is done. */
const SELECT_DELIVERY = `select * from ${DELIVERY_ROW}`

/** Counts and lists the records by their findings. */
function countedColumns(
  table: RecordTable,
  { fromLookup }: SqlFragments,
  findings: Findings,
  policy: Policy,
): string {
  const { sizeLimit } = table
  const { count, list, map } = aggregatesOf({
    ...Object.fromEntries(Object.keys(findings).map((name) => [name, name])),
    ...(table.canHold &&
      'moved' in findings && {
        was_held: wasHeld(table, fromLookup, 'moved'),
      }),
    ...(table.affiliation && { affiliated: 'affiliated is not null' }),
    ...(policy === 'reject' && { refused: 'refusable' }),
    ...(policy === 'hold' && { held: 'refusable' }),
  })
  const notCreated = ['invalid', 'refused', 'held']
  const stale: Filter = { has: ['stale'], lacks: ['invalid', 'refused'] }
  const columns = {
    errors: count('*', { has: ['refused'], lacks: [] }),
    rejected: count('*', { has: ['refused'], lacks: ['invalid'] }),
    held: count('*', { has: ['held'], lacks: ['invalid'] }),
    stale: count('*', stale),
    ...(sizeLimit && {
      undecided: count('*', { has: ['undecided'], lacks: [] }),
      rewritten: 'total(rewritten)',
    }),
    created: count('*', { has: ['is_new'], lacks: notCreated }),
    // Records that were merged into a new one: they are `created`, too, but no further record is stored.
    repeated_created: count('*', { has: ['is_new', 'flagged'], lacks: notCreated }),
    // Stored records that stop or start being held, and new ones that are held.
    leaves_held: count('*', { has: ['was_held', 'moved'], lacks: ['refusable'] }),
    becomes_held: count('*', { has: ['moved', 'held'], lacks: ['was_held'] }),
    new_held: count('*', { has: ['is_new', 'held'], lacks: ['invalid', 'flagged'] }),
    unknown_at: list(IDX, { has: ['refusable'], lacks: [] }),
    stale_at: list(IDX, stale),
    moved: list(IDX, { has: ['moved'], lacks: ['stale', 'refused'] }),
    erased_at: list(IDX, { has: ['erased'], lacks: ['invalid'] }),
    affiliated: map(IDX, 'json(affiliated)', {
      has: ['affiliated'],
      lacks: ['stale', 'refused', 'invalid'],
    }),
    verdicts: list(`json_array(${IDX}, verdict)`, { has: ['not_attributed'], lacks: ['invalid'] }),
  }
  return Object.entries(columns)
    .map(([name, sql]) => `${sql} as ${name}`)
    .join(',\n          ')
}

/**
 * Selects what an earlier attempt wrote of a chunk, for an attempt that follows a lost response.
 * `is_own` is 0 where another delivery has overwritten the record since.
 */
const selectEarlierWritesSql = (
  { table }: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
) => `
      select t.idx as idx, t.revision as revision, 1 as is_own
      from ${JSON_EACH}(:rows) cross join ${table} t on ${keyMatches(fromLookup)}
      where t.delivery = :delivery
      union all
      select value ->> 0, t.revision, 0
      from ${JSON_EACH}(:rows) cross join ${table} t on ${keyMatches(fromLookup)}
      where t.delivery > :delivery`

/** A record that was written, or in a dry run would be. */
export interface WrittenRecord {
  /** Its position in the request. */
  readonly idx: number
  readonly revision: number
  /** In a dry run: 1 if the record is about something else than the stored one. */
  readonly changes_kind?: number
  /** 0 if another delivery has overwritten it since; absent if this attempt wrote it. */
  readonly is_own?: number
}

/**
 * Returns the revisions that the records of a delivery got, by their position in the request.
 *
 * Other deliveries may have overwritten some of these records since. Their outcomes are inferred: the
 * delivery row has the counts of created and updated; subtract the known ones and assign `created` to
 * the lowest revisions first. With several such records the assignment may swap `created` and
 * `updated` between them; the counts are exact.
 */
export function recoverRevisions(
  delivery: Delivery,
  writes: readonly WrittenRecord[],
): Map<number, number> {
  const isOwn = ({ is_own }: WrittenRecord) => is_own !== 0
  const revisions = new Map(writes.filter(isOwn).map(({ idx, revision }) => [idx, revision]))
  const { unknown_at } = delivery
  const held = new Set<number>(delivery.held > 0 && unknown_at ? JSON.parse(unknown_at) : [])
  const isCounted = (idx: number) => !held.has(idx)
  const counted = [...revisions].filter(([idx]) => isCounted(idx))
  const ownCreated = counted.filter(([, revision]) => revision === 1).length

  let created = delivery.created - ownCreated
  let updated =
    delivery.written - delivery.held_written - delivery.created - (counted.length - ownCreated)
  const overwritten = writes
    .filter((write) => !isOwn(write) && isCounted(write.idx))
    .sort((a, b) => a.revision - b.revision)
  for (const { idx } of overwritten) {
    if (created > 0) {
      created -= 1
      revisions.set(idx, 1)
    } else if (updated > 0) {
      updated -= 1
      revisions.set(idx, 2)
    }
  }
  return revisions
}

/** Something about the signup of a record's customer, by the position of the record. */
export interface SignupWarning {
  readonly idx: number
  /**
   * The stored signup of the customer, if the record lies before it; the time can be unknown. Null if the
   * record is a customer without a signup.
   */
  readonly signup_day: number | null
  readonly signup: number | null
}

/**
 * Returns the query for the records of a lookup chunk that get a warning about a signup; null if no record of
 * the table does.
 * - Of transactions and activity: the records before the signup of their customer. Each customer is read
 *   once, with their first record. If any of them signed up after it, the records are read again, and each
 *   is compared with its customer alone.
 * - Of brands' customers: those who are stored without the time of the signup.
 */
function signupWarningsSql(table: RecordTable, fragments: SqlFragments): string | null {
  const { fromLookup } = fragments
  if (table.reference?.table === 'customers') {
    return beforeSignupSql(fromLookup(table.reference.column), {
      day: fromLookup(table.dayColumn),
      time: instantOf(table, fromLookup),
    })
  }
  if (!table.dayOptional) return null
  return `
      select ${IDX} as idx, null as signup_day, null as signup
      from ${JSON_EACH}(:rows) left join customers t on ${fragments.keyMatches(fromLookup)}
      where ifnull(${fromLookup('signup_date')}, t.signup_date) is null`
}

/** Returns the SQL of the instant of a record; null in a record of a whole day. */
function instantOf({ instantColumns: [instant, hasTime] }: RecordTable, fromLookup: FromLookup) {
  if (instant === undefined) return 'null'
  return hasTime ? `iif(${fromLookup(hasTime)}, ${fromLookup(instant)}, null)` : fromLookup(instant)
}

const beforeSignupSql = (customer: string, record: { day: string; time: string }) => `
      with first as not materialized (
        select ${customer} as customer, min(${record.day}) as day, min(${record.time}) as time
        from ${JSON_EACH}(:rows) group by 1
      ),
      later as materialized (
        select c.customer_id as customer, ${SIGNUP_DAY} as signup_day, ${SIGNUP} as signup
        from first cross join customers c on c.account = :account and c.customer_id = first.customer
        where first.day < signup_day or (first.day = signup_day and first.time < signup)
      )
      select ${IDX} as idx, signup_day, signup
      from (select 1 from later limit 1) cross join ${JSON_EACH}(:rows)
        cross join later on later.customer = ${customer}
      where ${record.day} < signup_day or (${record.day} = signup_day and ${record.time} < signup)`

/**
 * Lists the keys of records whose size the classification could not decide, and how many bytes are
 * stored of each; no keys if the request would rewrite too much. One row without a key tells whether it
 * would. The sum stops where it exceeds the limit: to find a customer, the database also reads the large
 * customers next to it, so a thousand searches can take a tenth of a second.
 */
const selectUndecidedSql = (
  { table }: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
  sizeLimit: SizeLimit,
  lookupChunks: number,
) => {
  const stored = `${table} t on ${keyMatches(fromLookup)}`
  return `
      with sent(value) as (${unionOfChunks(chunkNames('lookup', lookupChunks))}),
      request as materialized (
        select exists (select 1 from (
          select sum(${rewrittenBytes(sizeLimit, fromLookup)}) over (rows unbounded preceding) as total
          from sent left join ${stored}
        ) where total > ${sizeLimit.maxRewritten}) as rewrites_too_much
      )
      select null as key, null as bytes, rewrites_too_much from request
      union all
      select distinct ${fromLookup(sizeLimit.key)}, ifnull(octet_length(t.${sizeLimit.column}), 0), null
      from request cross join sent left join ${stored}
      where not rewrites_too_much and ${isUndecided(sizeLimit, fromLookup)}`
}

/** Lists the stored members of records; `:keys` is a JSON array. */
const selectStoredSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery, t.${column} as members
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`

const excluded = (name: string) => `excluded.${name}`
const stored = (name: string) => `t.${name}`

/** The RETURNING clause with the position and the revision of each record that was written. */
const RETURNING_OUTCOME = ' returning idx, revision'

/**
 * Upserts records that do not move. A record that equals the stored one, or is older, writes nothing.
 * SET names no indexed column: SQLite would write its index even where the value is equal.
 */
export function upsertSql(table: RecordTable, fragments: SqlFragments): string {
  const { initialValue, isOlder } = fragments
  const { contentColumns, contentDiffers } = contentOf(table)
  return `
      ${insertInto(table)}
      ${withDelivery('own')}
      select :account, ${columnList(table.columns, initialValue)}, ${serviceValues(table)}
        :delivery, ${IDX}, 1
      from ${JSON_EACH}(:rows)
      where ${MAY_BE_STORED}
      ${onConflict(table)}
        ${columnList(contentColumns, (name) => `${name} = ${table.merge(name, excluded)}`)},
        ${SET_WRITE}
      where ${contentDiffers} and not ${isOlder(excluded)}`
}

/** Upserts records whose day or customer has changed; these are rare and need their indexes rewritten. */
export function upsertMovedSql(table: RecordTable, fragments: SqlFragments): string {
  const { fromRecord, storedValue, keyMatches } = fragments
  const { contentColumns, contentDiffers } = contentOf(table)
  const { indexedColumns, canHold, dayOptional, timeColumn, merge } = table
  const value = (name: string) =>
    dayOptional && name === 'day'
      ? `coalesce(${merge('day', fromRecord)}, ${fromRecord('first_day')})`
      : storedValue(name)
  // `excluded.day` is the day of a new record.
  const sent = (name: string) =>
    timeColumn && name === 'day'
      ? `iif(excluded.${timeColumn} is null, null, excluded.day)`
      : excluded(name)
  const next = (name: string) => (name === 'day' ? merge('day', sent) : excluded(name))
  const indexedDiffers =
    indexedColumns.length > 0
      ? [`${rowValue(indexedColumns, next)} is not ${rowValue(indexedColumns, stored)}`]
      : []
  const setIndexed = [...indexedColumns, ...(canHold ? ['held'] : [])]
  return `
      ${insertInto(table)}
      ${withDelivery('own')}
      select :account, ${columnList(table.columns, value)}, ${serviceValues(table)}
        :delivery, ${IDX}, 1
      from ${JSON_EACH}(:rows) left join ${table.table} t on ${keyMatches(fromRecord)}
      where ${HAS_MOVED} and ${MAY_BE_STORED}
      ${onConflict(table)}
        ${columnList(contentColumns, (name) => `${name} = ${merge(name, excluded)}`)},
        ${columnList(setIndexed, (name) => `${name} = ${next(name)}`)},
        ${SET_WRITE}
      where ${[contentDiffers, ...indexedDiffers].join(' or ')}`
}

/** Counts what `upsert` would write of a chunk, and how much of it would be held. */
const countDryRunSql = (table: RecordTable, fragments: SqlFragments) => `
      ${withDelivery('any')},
      would_write as materialized (
        select ${countRecords(fragments)} as written,
          ${table.canHold ? countRecords(fragments, HAS_UNKNOWN_REFERENCE) : '0'} as held
        from (select value ${wouldWrite(table, fragments)})
      )
      update deliveries set
        written = deliveries.written + would_write.written,
        held_written = deliveries.held_written + would_write.held
      from would_write
      where account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** Counts records with those that were merged into them. */
const countRecords = ({ fromRecord }: SqlFragments, condition = 'true') =>
  `count(*) filter (where ${condition}) + ifnull(sum(${fromRecord(REPEATS)}) filter (where ${condition}), 0)`

/**
 * Lists the records of a chunk that `upsert` would write, with the revision each would get, and whether it
 * would be about something else than the stored one.
 */
const selectDryRunSql = (table: RecordTable, fragments: SqlFragments) => `
      ${withDelivery('any')}
      select ${IDX} as idx, coalesce(t.revision, 0) + 1 as revision, ${changesKind(table, fragments)} as changes_kind
      ${wouldWrite(table, fragments)}`

/** Whether a record is about something else than the stored one: 1 or 0. The trigger `events_changed` has the same condition. */
const changesKind = ({ kindColumns }: RecordTable, { fromRecord }: SqlFragments) =>
  kindColumns.length === 0
    ? '0'
    : `t.account is not null and ${rowValue(kindColumns, stored)} is not ${rowValue(kindColumns, fromRecord)}`

/** Returns the FROM and WHERE clauses that find what `upsert` would write. */
function wouldWrite(table: RecordTable, fragments: SqlFragments): string {
  const { storedValue, fromRecord, keyMatches, isOlder } = fragments
  const compared = columnsBesideKey(table).filter(
    (name) => !table.ignoredInComparison.includes(name),
  )
  const next = (name: string) => table.merge(name, storedValue)
  return `
      from ${JSON_EACH}(:rows) left join ${table.table} t on ${keyMatches(fromRecord)}
      where ${MAY_BE_STORED} and not ${isOlder(fromRecord)}
        and (t.account is null or ${rowValue(compared, next)} is not ${rowValue(compared, stored)}
          ${orTextsDiffer(table.textColumn, storedValue)})`
}

const insertInto = ({
  table,
  columns,
  canHold,
  hasFirstSeen,
}: RecordTable) => `insert into ${table} as t
        (account, ${columnList(columns)}, ${canHold ? 'held, ' : ''}${hasFirstSeen ? 'first_seen_at, ' : ''}delivery, idx, revision)`

/** Returns the values of a new row that no record carries, each with a comma. */
const serviceValues = ({ canHold, hasFirstSeen }: RecordTable) =>
  `${canHold ? `${HAS_UNKNOWN_REFERENCE},` : ''} ${hasFirstSeen ? ':received_at,' : ''}`

const onConflict = ({ key }: RecordTable) =>
  `on conflict (account, ${columnList(key)}) do update set`

/** Sets the delivery and increments `revision`. */
const SET_WRITE = 'delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1'

const columnsBesideKey = ({ columns, key }: RecordTable) =>
  columns.filter((name) => !key.includes(name) && name !== 'first_day')

/** Returns the columns that an update sets, and the condition that one of them changes. */
export function contentOf(table: RecordTable) {
  const { indexedColumns, ignoredInComparison, textColumn, merge } = table
  const contentColumns = columnsBesideKey(table).filter((name) => !indexedColumns.includes(name))
  const compared = contentColumns.filter((name) => !ignoredInComparison.includes(name))
  const next = (name: string) => merge(name, excluded)
  const differs = `${rowValue(compared, next)} is not ${rowValue(compared, stored)}`
  return {
    contentColumns,
    contentDiffers: textColumn ? `(${differs} ${orTextsDiffer(textColumn, excluded)})` : differs,
  }
}

/** The RETURNING clause of a statement that counts: the counts so far, and the events that changed. */
const RETURNING_COUNTS = 'returning written, held_written, changed_events'

/** Counts what the statement before wrote. */
export const COUNT_WRITTEN = `
      update deliveries set written = written + changes()
      where changes() > 0 and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/**
 * Counts the held records that were written. A held record is reported as `held` even when it is
 * updated, so it is subtracted from `written`.
 */
const countHeldSql = (table: RecordTable, fragments: SqlFragments, chunks: number) => `
      update deliveries set held_written = held_written + (
        select count(*) from (${unionOfChunks(chunkNames('lookup', chunks))})
        cross join ${table.table} t on ${fragments.keyMatches(fragments.fromLookup)}
        where t.held = 1 and t.delivery = :delivery)
      where unknown_at is not null and refused = 0
        and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** Counts the records that were merged into a record which was written. */
const countRepeatedSql = (
  { table, canHold }: RecordTable,
  { lookupColumns, fromLookup, keyMatches }: SqlFragments,
  chunks: number,
) => `
      update deliveries set written = deliveries.written + n.written,
        held_written = deliveries.held_written + n.held
      from (select count(*) as written,
          ${canHold ? 'count(*) filter (where t.held = 1)' : '0'} as held
        from (${unionOfChunks(chunkNames('flagged', chunks))})
        cross join ${table} t on ${keyMatches(fromLookup)}
        where ${flagIn(lookupColumns)} is 'repeated' and t.delivery = :delivery) n
      where refused = 0 and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** The stored day 2000-01-01. A time before it is a mistake, and no customer signed up then. */
export const FIRST_PLAUSIBLE_DAY = 10_957

/**
 * Sets the signup of the new customers of a chunk who were sent without a time: the earliest time of the
 * events that wait for them, if that is earlier than now. Reads nothing if no event waits; else each customer
 * with one entry of the index, and the events of that day. An event without a time counts from the beginning
 * of its day.
 */
const signUpSql = ({ fromLookup }: SqlFragments) => `
      with waiting as materialized (
        select 1 from totals
        where account = :account and resource = 'activities' and held > 0
          and (select created from ${OWN_DELIVERY_ROW} and refused = 0) > 0
      ),
      first as materialized (
        select c.account, c.customer_id, w.day,
          iif(count(*) = count(w.createtime), min(w.createtime), null) as time
        from waiting cross join ${JSON_EACH}(:rows)
        cross join customers c on c.account = :account and c.customer_id = ${fromLookup('customer_id')}
          and c.delivery = :delivery and c.revision = 1 and c.signup_date is null
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

/**
 * Releases records of another table that wait for the customers of a chunk, at most `:max_released`, so
 * that the statement's time does not grow with the number of held records.
 */
export const releaseSql = (
  { fromLookup }: SqlFragments,
  { table, key }: RecordTable['releases'][number],
) =>
  // `indexed by`: left to itself the planner walks all records of the account.
  `
      update ${table} set held = 0
      where (select created from ${OWN_DELIVERY_ROW} and refused = 0) > 0
        and (account, ${columnList(key)}) in (
          select w.account, ${columnList(key, (name) => `w.${name}`)}
          from ${JSON_EACH}(:rows) cross join ${table} w indexed by ${table}_held
            on w.account = :account and w.held = 1 and w.customer_id = ${fromLookup('customer_id')}
          where exists (select 1 from customers c
            where c.account = :account and c.customer_id = w.customer_id)
          limit :max_released)`

/**
 * Moves the records that the statement before released from the held ones of their resource to its
 * total. If it released as many as one statement may, and records are still held, the release is not
 * finished: `releasing` then names this delivery.
 */
export const addReleasedSql = ({ table, resource }: RecordTable['releases'][number]) => `
      insert into totals (account, resource, total, held, releasing)
      select :account, '${resource}', changes(), -changes(), iif(changes() >= :max_released and exists (
          select 1 from ${table} indexed by ${table}_held where account = :account and held = 1
        ), :delivery, null)
      where changes() > 0
      on conflict (account, resource) do update set total = total + excluded.total,
        held = held + excluded.held, releasing = coalesce(excluded.releasing, releasing)
      returning releasing is :delivery as releasing`

/** Selects whether records of an account are still to be released, for an attempt after a lost response. */
const SELECT_RELEASING = `
      select 1 as releasing from totals where account = :account and releasing is not null limit 1`

/** A statement without a RETURNING clause, and with one that returns the outcome of each record. */
interface OutcomeStatement {
  readonly withoutReturning: Statement
  readonly returning: Statement
}

/** The statements that store a delivery in one table. */
export interface DeliveryStatements {
  /** The cells of a lookup chunk, after the position of the record. */
  readonly lookupColumns: readonly string[]
  /** The cells of a chunk of whole records, after the position of the record. */
  readonly rowColumns: readonly string[]
  readonly insertDelivery: (shape: DeliveryShape) => Statement
  readonly selectArchived: (lookupChunks: number) => Statement
  readonly selectEarlierWrites: Statement
  readonly upsertMoved: OutcomeStatement
  readonly upsert: OutcomeStatement
  readonly countHeld: (lookupChunks: number) => Statement
  readonly countRepeated: (flaggedChunks: number) => Statement
  /** Of a table whose records may lack the time of the signup. */
  readonly signUp: Statement | null
  /** One pair per table whose held records this table's records release. */
  readonly releases: readonly { readonly release: Statement; readonly addReleased: Statement }[]
  /** Those of a table with a `sizeLimit`. */
  readonly sizes: {
    readonly selectUndecided: (lookupChunks: number) => Statement
    readonly selectStored: Statement
  } | null
  readonly signupWarnings: Statement | null
  readonly countDryRun: Statement
  readonly selectDryRun: Statement
}

/** The statements that are the same for every table. */
export const COMMON_STATEMENTS = {
  countWritten: compileStatement(COUNT_WRITTEN),
  /** Stores the Idempotency-Key with the digest of its records, unless nothing was written. */
  insertIdempotencyKey: compileStatement(`
      insert into idempotency_keys (account, resource, key, digest, delivery)
      select :account, :resource, :idempotency_key, :records_digest, :delivery
      from ${OWN_DELIVERY_ROW} and refused = 0 and written > 0
      on conflict (account, resource, key) do nothing`),
  selectDelivery: compileStatement(SELECT_DELIVERY),
  selectReleasing: compileStatement(SELECT_RELEASING),
  discardDryRun: compileStatement(DISCARD_DRY_RUN),
} as const

const compiled = new WeakMap<RecordTable, DeliveryStatements>()

/** Returns the statements of a table. They are compiled once. */
export function buildStatements(table: RecordTable): DeliveryStatements {
  const statements = compiled.get(table) ?? build(table, sqlFragments(table))
  compiled.set(table, statements)
  return statements
}

function build(table: RecordTable, fragments: SqlFragments): DeliveryStatements {
  const { sizeLimit } = table
  const signupWarnings = signupWarningsSql(table, fragments)
  const outcome = (text: string): OutcomeStatement => ({
    withoutReturning: compileStatement(text),
    returning: compileStatement(text + RETURNING_OUTCOME),
  })
  return {
    lookupColumns: fragments.lookupColumns,
    rowColumns: fragments.rowColumns,
    insertDelivery: memoize((shape) => insertDeliverySql(table, fragments, shape)),
    selectArchived: memoize((chunks) => archivedRecordsSql(table, fragments, chunks)),
    selectEarlierWrites: compileStatement(selectEarlierWritesSql(table, fragments)),
    upsertMoved: outcome(upsertMovedSql(table, fragments)),
    upsert: outcome(upsertSql(table, fragments)),
    countHeld: memoize((chunks) => countHeldSql(table, fragments, chunks)),
    countRepeated: memoize((chunks) => countRepeatedSql(table, fragments, chunks)),
    signUp: table.hasFirstSeen && table.timeColumn ? compileStatement(signUpSql(fragments)) : null,
    releases: table.releases.map((waiting) => ({
      release: compileStatement(releaseSql(fragments, waiting)),
      addReleased: compileStatement(addReleasedSql(waiting)),
    })),
    sizes: sizeLimit && {
      selectUndecided: memoize((chunks) => selectUndecidedSql(table, fragments, sizeLimit, chunks)),
      selectStored: compileStatement(selectStoredSql(table, sizeLimit)),
    },
    signupWarnings: signupWarnings === null ? null : compileStatement(signupWarnings),
    countDryRun: compileStatement(countDryRunSql(table, fragments)),
    selectDryRun: compileStatement(selectDryRunSql(table, fragments)),
  }
}

/** Compiles a statement once for each argument. There are few: policies, and one to five chunks. */
function memoize<A>(toSql: (argument: A) => string): (argument: A) => Statement {
  const compiled = new Map<string, Statement>()
  return (argument) => {
    const key = JSON.stringify(argument)
    const statement = compiled.get(key) ?? compileStatement(toSql(argument))
    compiled.set(key, statement)
    return statement
  }
}
