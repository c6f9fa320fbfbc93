import { affiliatesByLink } from '../../attribution/db/links.ts'
import {
  BEGINNING,
  fromOf,
  partOn,
  type Since,
  toDay,
  withoutRepeats,
} from '../../platform/db/history.ts'
import { all } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'
import { markAttribution } from './changed.ts'
import { FIELDS } from './record-table.ts'
import { KNOWN_CUSTOMER, type Refusal, toRefusal } from './refusals.ts'

type Field = (typeof FIELDS)[number]

type Values = Record<Field, string | number | null>

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

/** Returns the SQL of what a table has of the customer `c`, in order of days: a JSON array of `columns`, as JSON. */
const historySql = (table: string, columns: string) => `(
    select json_group_array(${columns}) from (
      select * from ${table} h where h.account = c.account and h.customer_id = c.customer_id order by h.day))`

/** Reads the histories of customers, with the present values; `:ids` is a JSON array of stored ids. */
const SELECT_HISTORIES: Statement = compileStatement(`
  select c.customer_id, c.first_day is not null as is_brand, c.affiliate_id, ${FIELDS.map((name) => `c.${name}`).join()},
    ${historySql(
      'customer_affiliations',
      `json_object('day', day, 'affiliate_id', affiliate_id, 'link', link, 'delivery', delivery,
        'previous_affiliate_id', previous_affiliate_id, 'previous_link', previous_link)`,
    )} as affiliations,
    ${historySql(
      'customer_fields',
      `json_object('day', day, ${FIELDS.map((name) => `'${name}', ${name}`).join()})`,
    )} as fields,
    (select json_object('day', r.day, 'reason', r.reason, 'refused_at', r.refused_at) from customer_refusals r
      where r.account = c.account and r.customer_id = c.customer_id) as refusal
  from ${JSON_EACH}(:ids) i
  cross join customers c on c.account = :account and c.customer_id = i.value
  order by c.customer_id`)

/** A row of `SELECT_HISTORIES`. The histories are JSON. */
type HistoryRow = Values & {
  readonly customer_id: string
  readonly is_brand: number
  readonly affiliate_id: string | null
  readonly affiliations: string
  readonly fields: string
  readonly refusal: string | null
}

async function readPart(
  { db, directory }: Databases,
  account: string,
  ids: readonly string[],
): Promise<Map<string, CustomerHistory>> {
  const rows = await all<HistoryRow>(db, SELECT_HISTORIES, { account, ids: JSON.stringify(ids) })
  const parts = rows.map((row) => [row, affiliationParts(row)] as const)
  const links = new Set(parts.flatMap(([, own]) => own.flatMap(({ link }) => link ?? [])))
  const byLink = links.size > 0 ? await affiliatesByLink(directory, account, [...links]) : new Map()
  return new Map(
    parts.map(([row, own]) => {
      const affiliations = toAffiliations(own, byLink)
      const fields = toFields(row, affiliations)
      const refusal = row.refusal === null ? null : toRefusal(JSON.parse(row.refusal))
      return [row.customer_id, { affiliations, fields, refusal }]
    }),
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
  /** The affiliate that it has replaced from the beginning. */
  readonly replaced?: string
}

/** A change of the affiliate, as stored. */
interface StoredAffiliation {
  readonly day: number
  readonly affiliate_id: string | null
  readonly link: string | null
  readonly delivery: string | null
  readonly previous_affiliate_id: string | null
  readonly previous_link: string | null
}

type Part = Omit<Affiliation, 'from' | 'cause'> & { day: number }

/** Returns the parts of a customer's history. Where a part has no affiliate, its link determines the affiliate. */
function affiliationParts(row: HistoryRow): Part[] {
  const changes: StoredAffiliation[] = JSON.parse(row.affiliations)
  const [change] = changes
  const first = { day: BEGINNING, delivery_id: null }
  if (!change) {
    const link = row.is_brand === 1 ? (row.link as string | null) : null
    return [{ ...first, affiliate_id: row.affiliate_id, link }]
  }
  const { previous_affiliate_id: affiliate_id, previous_link: link } = change
  const before = change.day === BEGINNING ? [] : [{ ...first, affiliate_id, link }]
  const parts = changes.map(({ day, affiliate_id, link, delivery, previous_affiliate_id }) => {
    const isCorrected = day === BEGINNING && previous_affiliate_id !== null
    const replaced = isCorrected ? { replaced: previous_affiliate_id } : {}
    return { day, affiliate_id, link, delivery_id: delivery, ...replaced }
  })
  return [...before, ...parts]
}

const isSame = (a: Part, b: Part) => a.affiliate_id === b.affiliate_id && a.link === b.link

/** Returns the affiliates by day. The links have the affiliates of brands. */
const toAffiliations = (
  parts: readonly Part[],
  byLink: ReadonlyMap<string, string>,
): Affiliation[] =>
  withoutRepeats(
    parts.map(({ day, ...part }) => ({ ...part, day, from: fromOf(day) })),
    isSame,
  ).map(({ from, affiliate_id, link, delivery_id, replaced }) => ({
    from,
    affiliate_id: affiliate_id ?? byLink.get(link ?? '') ?? null,
    link,
    delivery_id: from === null && !replaced ? null : delivery_id,
    ...(replaced && { cause: 'corrected_early' as const, replaced }),
  }))

const DELETE_AFFILIATIONS = compileStatement(`
  delete from customer_affiliations where account = :account and customer_id = :customer_id`)

const INSERT_AFFILIATIONS = compileStatement(`
  insert into customer_affiliations (account, customer_id, day, affiliate_id)
  select :account, ${KNOWN_CUSTOMER}, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows)`)

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

/** The values of these fields; a field without a value is absent. */
export type FieldValues = { [F in Field]?: F extends 'account_size' ? number : string }

/** The fields of a customer, from a day on. */
export interface CustomerFields extends Since {
  readonly values: FieldValues
}

const valuesOf = (read: (field: Field) => string | number | null | undefined) =>
  Object.fromEntries(FIELDS.map((name) => [name, read(name) ?? null])) as Values

/** Returns the values of a customer by day. The first value of a field holds from the beginning. */
function fieldPartsOf(row: HistoryRow) {
  // A change has the values before it.
  const changes: (Values & { readonly day: number })[] = JSON.parse(row.fields)
  const values = [...changes, row].map((one) => valuesOf((name) => one[name]))
  for (const name of FIELDS) {
    const known = values.map((value) => value[name]).find((value) => value !== null) ?? null
    for (const value of values) {
      if (value[name] !== null) break
      value[name] = known
    }
  }
  return values.map((value, i) => ({ from: fromOf(changes[i - 1]?.day ?? BEGINNING), value }))
}

/** Returns the days on which either of two histories changes, in order. */
const daysOf = (a: readonly Since[], b: readonly Since[]): (string | null)[] =>
  [...new Set([...a, ...b].map(({ from }) => from ?? ''))].sort().map((from) => from || null)

const FIRST_DAY = '0000-01-01'

/** Returns the fields of a customer by day. The link of a brand's customer is that of the affiliation. */
function toFields(row: HistoryRow, links: readonly Affiliation[]): CustomerFields[] {
  const parts = fieldPartsOf(row)
  if (row.is_brand !== 1) return present(parts)
  const merged = daysOf(parts, links).map((from) => {
    const day = from ?? FIRST_DAY
    const values = { ...partOn(parts, day)?.value, link: partOn(links, day)?.link }
    return { from, value: valuesOf((name) => values[name]) }
  })
  return present(merged)
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
