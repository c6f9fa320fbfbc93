import { affiliatesByLink } from '../../attribution/db/links.ts'
import {
  BEGINNING,
  fromOf,
  groupRows,
  partOn,
  type Since,
  toDay,
  withoutRepeats,
} from '../../platform/db/history.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import {
  bindStatement,
  compileStatement,
  lookUp,
  readBatch,
  type Statement,
} from '../../platform/db/statement.ts'
import { markAttribution } from './changed.ts'
import { type Refusal, type RefusalRow, SELECT_REFUSALS, toRefusal } from './refusals.ts'

/** The histories of a customer. The parts are in order of days; the first holds from the beginning. */
export interface CustomerHistory {
  readonly affiliations: readonly Affiliation[]
  readonly fields: readonly CustomerFields[]
  readonly refusal: Refusal | null
}

/** The databases of an account: `db` with its records, `directory` with accounts and links. */
export interface Databases {
  readonly db: D1Database | D1DatabaseSession
  readonly directory: D1Database
}

/** The customers of one query. */
const MAX_CUSTOMERS = 1000

/** Reads the histories of customers, by customer id. A customer that is not stored is left out. */
export async function readHistories(
  databases: Databases,
  account: string,
  ids: readonly string[],
): Promise<Map<string, CustomerHistory>> {
  const found = new Map<string, CustomerHistory>()
  for (let i = 0; i < ids.length; i += MAX_CUSTOMERS) {
    const part = await readPart(databases, account, ids.slice(i, i + MAX_CUSTOMERS))
    for (const [id, history] of part) found.set(id, history)
  }
  return found
}

async function readPart(
  { db, directory }: Databases,
  account: string,
  ids: readonly string[],
): Promise<Map<string, CustomerHistory>> {
  const values = { account, ids: JSON.stringify(ids) }
  type Lists = [affiliations: AffiliationRow[], fields: FieldsRow[], refusals: RefusalRow[]]
  const rows = await readBatch<Lists>(db, [
    bindStatement(db, SELECT_AFFILIATIONS, values),
    bindStatement(db, SELECT_FIELDS, values),
    bindStatement(db, SELECT_REFUSALS, values),
  ])
  const affiliations = await toAffiliations(directory, account, rows[0])
  const fields = toFields(rows[1], affiliations)
  const refusals = new Map(rows[2].map((row) => [row.customer_id, toRefusal(row)]))
  return new Map(
    [...affiliations].map(([id, own]) => [
      id,
      { affiliations: own, fields: lookUp(fields, id), refusal: refusals.get(id) ?? null },
    ]),
  )
}

/** An affiliate of a customer, from a day on. */
export interface Affiliation extends Since {
  /** Null: the customer is organic, or the link is not one of the account. */
  readonly affiliate_id: string | null
  /** For brands, the link that determines the affiliate; null for partners, and after a correction. */
  readonly link: string | null
  /**
   * The delivery that changed it; null for a correction by the team, and for the first part of the history
   * unless that was corrected early.
   */
  readonly delivery_id: string | null
  /** Why it holds from the beginning although it was not the first; absent otherwise. */
  readonly cause?: 'corrected_early'
}

/** A row of `SELECT_AFFILIATIONS`: the customer's current values, and one change if there is any. */
export interface AffiliationRow {
  customer_id: string
  is_brand: number
  current_affiliate_id: string | null
  current_link: string | null
  day: number | null
  affiliate_id: string | null
  link: string | null
  previous_affiliate_id: string | null
  previous_link: string | null
  delivery: string | null
}

/** Reads the affiliates of customers; `:ids` is a JSON array of stored ids. */
export const SELECT_AFFILIATIONS: Statement = compileStatement(`
  select c.customer_id, c.first_day is not null as is_brand,
    c.affiliate_id as current_affiliate_id, c.link as current_link,
    h.day, h.affiliate_id, h.link, h.previous_affiliate_id, h.previous_link, h.delivery
  from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  left join customer_affiliations h
    on h.account = :account and h.customer_id = c.customer_id
  order by c.customer_id, h.day`)

type Part = Omit<Affiliation, 'from' | 'cause'> & { day: number; isCorrected: boolean }

/**
 * Returns the parts of a customer's history that one of its rows describes. Where a part has no
 * affiliate, its link determines the affiliate.
 */
function partsOf(row: AffiliationRow, index: number): Part[] {
  const { day, affiliate_id, link, delivery, previous_affiliate_id, previous_link } = row
  const first = { day: BEGINNING, delivery_id: null, isCorrected: false }
  if (day === null) {
    const current = row.is_brand === 1 ? row.current_link : null
    return [{ ...first, affiliate_id: row.current_affiliate_id, link: current }]
  }
  const isCorrected = day === BEGINNING && previous_affiliate_id !== null
  const part = { day, affiliate_id, link, delivery_id: delivery, isCorrected }
  if (index > 0 || day === BEGINNING) return [part]
  return [{ ...first, affiliate_id: previous_affiliate_id, link: previous_link }, part]
}

const isSame = (a: Part, b: Part) => a.affiliate_id === b.affiliate_id && a.link === b.link

/**
 * Returns the affiliates by day of each customer of these rows, by stored customer id. `directory` is
 * the database with the links, whose affiliates are those of brands.
 */
export async function toAffiliations(
  directory: D1Database,
  account: string,
  rows: readonly AffiliationRow[],
): Promise<Map<string, Affiliation[]>> {
  const parts = [...Map.groupBy(rows, ({ customer_id }) => customer_id)].map(
    ([id, own]) => [id, own.flatMap(partsOf)] as const,
  )
  const links = new Set(parts.flatMap(([, own]) => own.flatMap(({ link }) => link ?? [])))
  const byLink = links.size > 0 ? await affiliatesByLink(directory, account, [...links]) : new Map()
  return new Map(
    parts.map(([id, own]) => [
      id,
      withoutRepeats(
        own.map(({ day, ...part }) => ({ ...part, day, from: fromOf(day) })),
        isSame,
      ).map(({ from, affiliate_id, link, delivery_id, isCorrected }) => ({
        from,
        affiliate_id: affiliate_id ?? byLink.get(link ?? '') ?? null,
        link,
        delivery_id: from === null && !isCorrected ? null : delivery_id,
        ...(isCorrected && { cause: 'corrected_early' as const }),
      })),
    ]),
  )
}

const DELETE_AFFILIATIONS = compileStatement(`
  delete from customer_affiliations where account = :account and customer_id = :customer_id`)

const INSERT_AFFILIATIONS = compileStatement(`
  insert into customer_affiliations (account, customer_id, day, affiliate_id)
  select :account, :customer_id, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows)`)

/**
 * Replaces the affiliates of a customer. They hold until the account sends another affiliate than the
 * one that is stored, or for brands another link.
 */
export function replaceAffiliations(
  db: D1Database,
  account: string,
  customer_id: string,
  affiliations: readonly (Since & { affiliate_id: string | null })[],
): D1PreparedStatement[] {
  const rows = JSON.stringify(
    affiliations.map(({ from, affiliate_id }) => [toDay(from), affiliate_id]),
  )
  return [
    ...markAttribution(db, account, [customer_id]),
    bindStatement(db, DELETE_AFFILIATIONS, { account, customer_id }),
    bindStatement(db, INSERT_AFFILIATIONS, { account, customer_id, rows }),
  ]
}

/** The columns of the customer fields that conditions of plans use. */
export const FIELDS = [
  'country_code',
  'trading_account_type',
  'challenge_type',
  'phase',
  'kyc_status_id',
  'sales_status_id',
  'account_size',
  'link',
] as const

type Field = (typeof FIELDS)[number]

const HISTORY = `customer_fields h where h.account = :account and h.customer_id = t.customer_id`

/**
 * Returns the condition that an update of the customer `t` adds to the history of fields: a known value changes, or any
 * value does of a customer with a history. `next` returns the SQL of what a field becomes.
 */
export const changesFields = (fields: readonly string[], next: (name: string) => string) => {
  const differs = fields.map((name) => `t.${name} is not ${next(name)}`)
  const known = fields.map((name, i) => `(t.${name} is not null and ${differs[i]})`)
  return `(${known.join(' or ')} or (${differs.join(' or ')}) and exists (select 1 from ${HISTORY}))`
}

/**
 * Returns the SQL that keeps the fields of the customers `t` of a query before an update, which holds from the day `:day`
 * on. A later change of a day keeps the values of before the day; a field that had never had a value gets its first one,
 * which holds from the beginning.
 */
export const keepFieldsSql = (fields: readonly string[], delivery: string, from: string) => `
  insert into customer_fields (account, customer_id, day, delivery, ${fields.join()})
  select t.account, t.customer_id, max(:day, ifnull((select max(h.day) from ${HISTORY}), :day)), ${delivery},
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

/** The values of these fields; a field without a value is absent. */
export type FieldValues = { [F in Field]?: F extends 'account_size' ? number : string }

/** The fields of a customer, from a day on. */
export interface CustomerFields extends Since {
  readonly values: FieldValues
}

type Values = Record<Field, string | number | null>

/** A row of `SELECT_FIELDS`: the current values, and the values before one change if there is any. */
type FieldsRow = Values & { [F in Field as `current_${F}`]: string | number | null } & {
  customer_id: string
  is_brand: number
  day: number | null
}

/** Reads the fields of customers; `:ids` is a JSON array of stored ids. */
const SELECT_FIELDS: Statement = compileStatement(`
  select c.customer_id, c.first_day is not null as is_brand, h.day,
    ${FIELDS.map((name) => `c.${name} as current_${name}, h.${name}`).join()}
  from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  left join customer_fields h on h.account = :account and h.customer_id = c.customer_id
  order by c.customer_id, h.day`)

const valuesOf = (read: (field: Field) => string | number | null | undefined) =>
  Object.fromEntries(FIELDS.map((name) => [name, read(name) ?? null])) as Values

/** Returns the values of one customer by day. The first value of a field holds from the beginning. */
function fieldPartsOf(rows: readonly [FieldsRow, ...FieldsRow[]]) {
  const [first] = rows
  const changes = rows.filter(({ day }) => day !== null)
  const values = [
    ...changes.map((row) => valuesOf((name) => row[name])),
    valuesOf((name) => first[`current_${name}`]),
  ]
  for (const name of FIELDS) {
    const known = values.map((value) => value[name]).find((value) => value !== null) ?? null
    for (const value of values) {
      if (value[name] !== null) break
      value[name] = known
    }
  }
  return values.map((value, i) => ({ from: fromOf(changes[i - 1]?.day ?? BEGINNING), value }))
}

/** Returns the fields that have a value. */
function presentFields(read: (field: Field) => string | number | null): FieldValues {
  const values: Partial<Record<Field, string | number>> = {}
  for (const name of FIELDS) {
    const value = read(name)
    if (value !== null) values[name] = value
  }
  return values as FieldValues
}

/** Returns the days on which either of two histories changes, in order. */
const daysOf = (a: readonly Since[], b: readonly Since[]): (string | null)[] =>
  [...new Set([...a, ...b].map(({ from }) => from ?? ''))].sort().map((from) => from || null)

const FIRST_DAY = '0000-01-01'

/**
 * Returns the fields by day of each customer of these rows, by stored customer id. The link of a brand's
 * customer is that of the affiliation.
 */
function toFields(
  rows: readonly FieldsRow[],
  affiliations: ReadonlyMap<string, readonly Affiliation[]>,
): Map<string, CustomerFields[]> {
  return new Map(
    [...groupRows(rows, ({ customer_id }) => customer_id)].map(([id, own]) => {
      const [first] = own
      if (first.day === null && first.is_brand !== 1) {
        return [id, [{ from: null, values: presentFields((name) => first[`current_${name}`]) }]]
      }
      const parts = fieldPartsOf(own)
      if (first.is_brand !== 1) return [id, present(parts)]
      const links = lookUp(affiliations, id)
      const merged = daysOf(parts, links).map((from) => {
        const day = from ?? FIRST_DAY
        const values = { ...partOn(parts, day)?.value, link: partOn(links, day)?.link }
        return { from, value: valuesOf((name) => values[name]) }
      })
      return [id, present(merged)]
    }),
  )
}

/** Returns the parts that differ from the one before, without the fields that have no value. */
const present = (parts: readonly (Since & { value: Values })[]): CustomerFields[] =>
  withoutRepeats(parts, (a, b) => FIELDS.every((name) => a.value[name] === b.value[name])).map(
    ({ from, value }) => ({
      from,
      values: Object.fromEntries(
        Object.entries(value).filter(([, stored]) => stored !== null),
      ) as FieldValues,
    }),
  )

/** The parent of an affiliate, from a day on. */
export interface Parent extends Since {
  readonly parent: string | null
}

/** An affiliate with its parents by day; the first part holds from the beginning. */
export interface AffiliateParents {
  readonly affiliate_id: string
  readonly parents: Parent[]
}

interface ParentRow {
  affiliate_id: string
  current: string | null
  day: number | null
  parent: string | null
}

const selectParents = (which: string) =>
  compileStatement(`
  select a.affiliate_id, a.parent as current, p.day, p.parent
  from ${which}
  left join affiliate_parents p on p.account = :account and p.affiliate_id = a.affiliate_id
  order by a.affiliate_id, p.day`)

const PARENTS_OF_ALL = selectParents(`(select affiliate_id, parent from affiliates
    where account = :account) a`)
const PARENTS_OF_SOME = selectParents(`${JSON_EACH}(:ids) i
  cross join affiliates a on a.account = :account and a.affiliate_id = i.value`)

/**
 * Reads the affiliates of an account with their parents by day, in the order of their ids: all, or those
 * with these ids.
 */
export async function readParents(
  db: D1Database | D1DatabaseSession,
  account: string,
  ids: readonly string[] | null,
): Promise<AffiliateParents[]> {
  const statement = ids ? PARENTS_OF_SOME : PARENTS_OF_ALL
  const values = { account, ...(ids && { ids: JSON.stringify(ids) }) }
  const results = await all<ParentRow>(db, statement, values)
  return [...Map.groupBy(results, ({ affiliate_id }) => affiliate_id)].map(
    ([affiliate_id, rows]) => ({ affiliate_id, parents: rows.map(toParent) }),
  )
}

/** Returns the parent of a row: the current one from the beginning if the affiliate has no history. */
const toParent = ({ current, day, parent }: ParentRow): Parent =>
  day === null ? { from: null, parent: current } : { from: fromOf(day), parent }

const DELETE_PARENTS = compileStatement(`
  delete from affiliate_parents where account = :account
    and affiliate_id in (select value ->> 0 from ${JSON_EACH}(:rows))`)

const INSERT_PARENTS = compileStatement(`
  insert into affiliate_parents (account, affiliate_id, day, parent)
  select :account, value ->> 0, value ->> 1, value ->> 2 from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, day) do update set parent = excluded.parent`)

/** Replaces the parents by day of these affiliates. `putAffiliates` stores the current parent. */
export function replaceParents(
  db: D1Database,
  account: string,
  affiliates: readonly AffiliateParents[],
): D1PreparedStatement[] {
  const ids = affiliates.map(({ affiliate_id }) => [affiliate_id])
  const rows = affiliates.flatMap(({ affiliate_id, parents }) =>
    parents.map(({ from, parent }) => [affiliate_id, toDay(from), parent]),
  )
  return [
    ...toJsonChunks(ids).map((rows) => bindStatement(db, DELETE_PARENTS, { account, rows })),
    ...toJsonChunks(rows).map((rows) => bindStatement(db, INSERT_PARENTS, { account, rows })),
  ]
}
