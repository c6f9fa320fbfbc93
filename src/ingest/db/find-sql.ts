import { BEGINNING } from '../../platform/db/history.ts'
import { columnList, JSON_EACH, rowValue } from '../../platform/db/sql-fragments.ts'
import { DAY_HOURS, DAY_MS } from '../../platform/durations.ts'
import { CLOSED_THROUGH, kindSql } from './late-changes.ts'
import type { SqlFragments } from './record-fragments.ts'
import { FIELDS, KNOWN_MEMBERS, type RecordTable } from './record-table.ts'
import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER, USAGE } from './storage.ts'

/** What is stored of the record of a request, and of the rows that it refers to. Days are in days since 1970. */
export interface Found {
  /** The position of the record in the request. */
  readonly idx: number
  /** That of the stored record; null if there is none. */
  readonly revision: number | null
  /** Whether the record would change the stored one. */
  readonly differs: 0 | 1
  /** Whether it has another day or customer than the stored one. */
  readonly moves: 0 | 1
  /** Whether the stored record is about something else. */
  readonly changesKind: 0 | 1
  /** Whether the record is older than the stored one. */
  readonly isStale: 0 | 1
  /** Whether it refers to something unknown. */
  readonly isMissing: 0 | 1
  /** Whether the stored record waits for its customer. */
  readonly wasHeld: 0 | 1
  /** Whether the record has members that an erasure removes. */
  readonly isErased: 0 | 1
  /** The day that the record will have, and that of the stored one. */
  readonly day: number | null
  readonly storedDay: number | null
  /** The verdict on a customer of a brand without an affiliate. */
  readonly verdict: string | null
  /** Whether a customer of a brand has no time of the signup, once the record is merged. */
  readonly lacksSignup: 0 | 1
  /** The details that differ between a daily total and the stored one which it replaces. */
  readonly replaced: readonly string[] | null
  /** The first day of another affiliate that the customer gets, and 1 if that one holds from the signup on. */
  readonly affiliated: readonly [day: number, isEarly: 0 | 1] | null
  /**
   * The customer and the kind of the stored record if it does not wait, and lies elsewhere than the record; of customers if
   * something changes that counts from the signup on.
   */
  readonly was: readonly [customer: string, kind: string] | null
  /** Whether it changes a field of which earlier values are kept. */
  readonly changesFields: 0 | 1
  /**
   * By how many bytes a customer's additional fields grow, and whether they exceed their limits once they are merged; null
   * of other records.
   */
  readonly extras: readonly [growth: number, isTooLarge: 0 | 1] | null
}

/** The findings that each record has. */
const COMMON = ['idx', 'revision', 'differs', 'day', 'storedDay'] as const satisfies (keyof Found)[]

/** The findings of most records: they say nothing. */
const PLAIN = {
  moves: 0,
  changesKind: 0,
  isStale: 0,
  isMissing: 0,
  wasHeld: 0,
  isErased: 0,
  verdict: null,
  lacksSignup: 0,
  replaced: null,
  affiliated: null,
  was: null,
  changesFields: 0,
  extras: null,
} as const satisfies Partial<Found>

const RARE = Object.keys(PLAIN) as (keyof typeof PLAIN)[]

const NAMES = [...COMMON, ...RARE]

/** Returns a finding from its values: the common ones, and all if one of the others says something. */
export function toFound(cells: readonly unknown[]): Found {
  const [idx, revision, differs, day, storedDay] = cells
  const found: Partial<Record<keyof Found, unknown>> = {
    ...PLAIN,
    idx,
    revision,
    differs,
    day,
    storedDay,
  }
  for (let i = COMMON.length; i < cells.length; i++) found[NAMES[i]!] = cells[i]
  return found as Found
}

/**
 * Returns the query for what is stored of the records of a chunk, in one row: `found`, a JSON array of what `toFound` takes.
 * SQLite evaluates both sides of an `and`, but only the branch of `iif` that it needs, so rare and expensive conditions
 * are in an `iif`. Parameters: `:account`, `:rows`, `:received_at` (milliseconds), `:received_day`.
 */
export function findSql(table: RecordTable, fragments: SqlFragments): string {
  const { sent, keyMatches, isOlder } = fragments
  const { reference, indexedColumns, kindColumns, canHold, hasExtras, personalColumns } = table
  const erased = personalColumns.length > 0 ? isErased(table, sent) : 'false'
  const next = (name: string) => table.merge(name, fragments.storedIf(erased))
  const place = (toSql: (name: string) => string) => rowValue(indexedColumns, toSql)
  const fields = historyFieldsOf(table)
  const ifStored = (sql: string) => `iif(t.account is null, 0, ${sql})`
  const values: Readonly<Record<keyof Found, string>> = {
    idx: 'sent.idx',
    revision: 't.revision',
    differs: ifStored(contentDiffers(table, next)),
    moves: indexedColumns.length > 0 ? ifStored(`${place(next)} is not ${place(stored)}`) : '0',
    changesKind:
      kindColumns.length > 0
        ? ifStored(`${rowValue(kindColumns, stored)} is not ${rowValue(kindColumns, sent)}`)
        : '0',
    isStale: isOlder,
    isMissing: reference ? 'c.account is null' : '0',
    wasHeld: canHold ? 'ifnull(t.held, 0)' : '0',
    isErased: erased,
    day: `ifnull(${next(table.dayColumn)}, ${sent('first_day')})`,
    storedDay: `t.${table.dayColumn}`,
    verdict: table.affiliation === 'link' ? verdictSql(sent) : 'null',
    lacksSignup: table.affiliation === 'link' ? `${next('signup_date')} is null` : '0',
    replaced: table.maskedColumn ? replacedSql(fragments.storedIf(erased)) : 'null',
    affiliated: table.affiliation ? affiliatedSql(table.affiliation, sent) : 'null',
    was: wasSql(table, next),
    changesFields: fields.length > 0 ? ifStored(changesFields(fields, next)) : '0',
    extras: hasExtras ? extrasSql(fragments.storedIf(erased)('extras'), next('extras')) : 'null',
  }
  const access = table.indexes.key ? `indexed by ${table.indexes.key}` : ''
  return `
      ${fragments.withSent},
      found as (
        select ${NAMES.map((name) => `${values[name]} as ${name}`).join(',\n          ')}
        from sent
        left join ${table.table} t ${access} on ${keyMatches}
        ${reference ? `left join ${reference.table} c on c.account = :account and c.${reference.column} = ${sent(reference.column)}` : ''}
        ${personalColumns.length > 0 ? `left join erasures e on e.account = :account and e.customer_id = ${sent('customer_id')}` : ''})
      select json_group_array(iif(${RARE.map(isSaid).join(' or ')},
        json_array(${columnList(NAMES, cellOf)}),
        json_array(${columnList(COMMON)}))) as found from found`
}

/** The findings that are JSON. A column of a query does not say so. */
const JSON_FINDINGS: readonly string[] = [
  'replaced',
  'affiliated',
  'was',
  'extras',
] satisfies (keyof Found)[]

const cellOf = (name: string) => (JSON_FINDINGS.includes(name) ? `json(${name})` : name)

/** Returns the condition that a finding says something. */
const isSaid = (name: keyof typeof PLAIN) => (PLAIN[name] === null ? `${name} is not null` : name)

const stored = (name: string) => `t.${name}`

/** Returns the columns whose earlier values are kept by day. The link of a brand's customer is that of the affiliate. */
export const historyFieldsOf = ({ columns, affiliation }: RecordTable) =>
  FIELDS.filter((name) => columns.includes(name) && !(name === 'link' && affiliation === 'link'))

/** The history of the fields of the customer `t`. */
export const FIELD_HISTORY = `customer_fields h where h.account = :account and h.customer_id = t.customer_id`

/**
 * Returns the condition that an update of the customer `t` adds to the history of fields: a known value changes, or any
 * value does of a customer with a history. `next` returns the SQL of what a field becomes.
 */
const changesFields = (fields: readonly string[], next: (name: string) => string) => {
  const differs = fields.map((name) => `t.${name} is not ${next(name)}`)
  const known = fields.map((name, i) => `(t.${name} is not null and ${differs[i]})`)
  return `(${known.join(' or ')} or (${differs.join(' or ')}) and exists (select 1 from ${FIELD_HISTORY}))`
}

/** Returns the columns of a record's content: those that an update sets. */
export const contentColumnsOf = ({ columns, key, indexedColumns }: RecordTable) =>
  columns.filter(
    (name) => !key.includes(name) && name !== 'first_day' && !indexedColumns.includes(name),
  )

/** Returns the condition that the content of a record changes; `next` returns the SQL of what it becomes. */
function contentDiffers(table: RecordTable, next: (name: string) => string): string {
  const compared = contentColumnsOf(table).filter(
    (name) => !table.ignoredInComparison.includes(name),
  )
  return `(${rowValue(compared, next)} is not ${rowValue(compared, stored)})`
}

/** Only members that an erasure removes are a finding, if the table masks them. */
const isErased = ({ maskedColumn }: RecordTable, sent: (name: string) => string) =>
  maskedColumn ? `(${sent('has_mask')} and e.account is not null)` : '(e.account is not null)'

/** Returns the SQL of `was`. The first value of a field, of the affiliate and of the link holds from the signup on. */
function wasSql(table: RecordTable, next: (name: string) => string): string {
  if (table.canHold) {
    const place = (toSql: (name: string) => string) =>
      `(${toSql('customer_id')}, ${toSql(table.dayColumn)}, ${kindSql(table, toSql)})`
    return `iif(t.held = 0 and ${place(stored)} is not ${place(next)},
          json_array(t.customer_id, ${kindSql(table, stored)}), null)`
  }
  const first = [...FIELDS, 'affiliate_id', 'link'].filter((name) => table.columns.includes(name))
  const changes = [
    ...['day', 'signup_date'].map((name) => `${stored(name)} is not ${next(name)}`),
    ...first.map((name) => `${stored(name)} is null and ${next(name)} is not null`),
  ]
  return `iif(t.account is not null and (${changes.join(' or ')}), json_array(t.customer_id, ''), null)`
}

/** Returns the verdict on a customer of a brand, the stored one if nothing usable was sent; null if they have an affiliate. */
function verdictSql(sent: (name: string) => string): string {
  const own = sent('sent_verdict')
  const verdict = `coalesce(iif(${own} is 'unusable' and t.tracking_data is null, 'altered', t.verdict), 'organic')`
  return `nullif(iif(ifnull(${own}, 'unusable') is 'unusable', ${verdict}, ${own}), 'attributed')`
}

/** Returns the names of the details, or of the time, by which a daily total differs from the stored one; null if they are equal. */
const replacedSql = (
  next: (name: string) => string,
) => `iif(t.id like 'd%' and (t.details is not ${next('details')} or t.createtime is not ${next('createtime')}), (
          select (
            select json_group_array(key) from (
              select key from (
                select key, value from json_each(t.record) union all select key, value from json_each(s.record))
              where (lower(key) <> 'product' or lower(value) is not lower(t.product))
                and (key not in (${KNOWN_MEMBERS.map((name) => `'${name}'`).join()}) or key = 'createtime')
                and key not in (select key from json_each(t.kpis) union all select key from json_each(s.kpis))
              group by key having count(*) = 1 or min(value) is not max(value)))
          from (select ${next('record')} as record, ${next('kpis')} as kpis) s), null)`

/** The fewest bytes of a stored member with its comma: `"":"1",` has 7 of them. */
const MIN_MEMBER_BYTES = 7

/** What is too large alone is not merged: the time of a merge grows with the product of both numbers of fields. */
const extrasSql = (sent: string, merged: string) => `(
          select json_array(ifnull(octet_length(m), 0) - ifnull(octet_length(t.extras), 0),
            ${sent} is not null and (octet_length(m) > ${MAX_EXTRAS_BYTES}
              or iif(octet_length(m) > ${MIN_MEMBER_BYTES * MAX_EXTRAS_NUMBER},
                (select count(*) from json_each(m)) > ${MAX_EXTRAS_NUMBER}, false)))
          from (select iif(octet_length(${sent}) > ${MAX_EXTRAS_BYTES}, ${sent}, ${merged}) as m))`

/** The stored day `day` as the id of a period, of the kind that `period` has. */
const periodOf = (day: string, period: string) =>
  `strftime(iif(${period} like '%-W%', '%G-W%V', '%Y-%m'), ${day} * 86400, 'unixepoch')`

/**
 * Evaluates to the first day of another affiliate that a customer gets, and 1 if that affiliate holds from
 * the signup on, as a JSON array; null if the customer keeps the affiliate.
 *
 * A partner's first affiliate is replaced from the signup on if the customer was first received less than a
 * day ago, and no statement of that affiliate was approved since whose period the customer can have records
 * in: one that ends on the signup day or later. A change counts from its day otherwise, and for brands.
 *
 * The branches of `iif` keep the history of customers from being read unless the affiliate changes.
 */
function affiliatedSql(
  column: NonNullable<RecordTable['affiliation']>,
  sent: (name: string) => string,
): string {
  const own = sent(column)
  const history = `customer_affiliations h where h.account = :account
              and h.customer_id = ${sent('customer_id')}`
  const latest = (name: string) => `(select h.${name} from ${history} order by h.day desc limit 1)`
  const isFirst = `t.first_seen_at > :received_at - ${DAY_MS}
            and not exists (select 1 from ${history} and (h.day > ${BEGINNING} or h.delivery is null))`
  const isApproved = `exists (select 1 from statements s
              where s.account = :account and s.affiliate_id = t.affiliate_id and s.status <> 'draft'
                and s.approved_at >= t.first_seen_at and s.period >= ${periodOf('t.day', 's.period')})`
  const isEarly = column === 'affiliate_id' ? `(${isFirst} and not ${isApproved})` : 'false'
  const change = `iif(${isEarly}, json_array(${sent('day')}, 1),
            json_array(max(:received_day, ifnull(${latest('day')}, :received_day)), 0))`
  const hasHistory = `exists (select 1 from ${history})`
  return `iif(t.account is null or ${own} is null or t.${column} is ${own}, null,
          iif(${hasHistory}, iif(${latest(column)} is ${own}, null, ${change}),
            iif(t.${column} is null, null, ${change})))`
}

/** What is stored of the account of a request, and of the request itself. */
export interface FoundRequest {
  /** The attempt that has stored the row of the delivery; null if none has. */
  readonly attempt: number | null
  /** Whether the account accepts no such delivery now. */
  readonly is_closed: 0 | 1
  /** The last closed day, in days since 1970; null if no period is closed. */
  readonly closed_through: number | null
  /** The digest of the records that were sent with the Idempotency-Key; null if it is new. */
  readonly digest: string | null
  /** The bytes that the account stores, and those that it has logged of this day (UTC). */
  readonly usage: number
  readonly logged: number
  /** The records that the account holds. */
  readonly held: number
}

/** What was read for a decision. */
export interface Facts {
  readonly request: FoundRequest
  readonly found: readonly Found[]
  /** The references of wrong records that are unknown. */
  readonly missing: ReadonlySet<string>
}

/** The first hour of the day (UTC) of a delivery. D1 binds numbers as floating point. */
const FIRST_HOUR = `cast(:received_at as integer) / ${DAY_MS} * ${DAY_HOURS}`

/**
 * Reads what a request's decision depends on beside its records. Parameters: `:account`, `:delivery`, `:resource`,
 * `:received_at`, `:idempotency_key`.
 */
export const FIND_REQUEST = `
      select
        (select attempt from deliveries where account = :account and id = :delivery) as attempt,
        exists (select 1 from resets where account = :account) as is_closed,
        ${CLOSED_THROUGH} as closed_through,
        (select digest from idempotency_keys
          where account = :account and resource = :resource and key = :idempotency_key) as digest,
        ${USAGE} as usage,
        (select ifnull(sum(logged_bytes), 0) from arrivals where account = :account
          and hour >= ${FIRST_HOUR} and hour < ${FIRST_HOUR} + ${DAY_HOURS}) as logged,
        (select ifnull(sum(held), 0) from totals where account = :account) as held`

/** Returns the query for those of `:references` that are unknown, in one row: `missing`, a JSON array. */
export const missingSql = ({ table, column }: NonNullable<RecordTable['reference']>) => `
      select json_group_array(value) as missing from ${JSON_EACH}(:references)
      where not exists (select 1 from ${table} r where r.account = :account and r.${column} = value)`
