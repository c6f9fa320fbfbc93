import { encode } from '../column-types.ts'
import { affiliatesByLink } from '../directory/links.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { customerAffiliations } from '../schema.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { BEGINNING, fromOf, type Since, withoutRepeats } from './history.ts'

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
  customer: string,
  affiliations: readonly (Since & { affiliate_id: string | null })[],
): D1PreparedStatement[] {
  const customer_id = encode(customerAffiliations.customer_id, customer)
  const rows = JSON.stringify(
    affiliations.map(({ from, affiliate_id }) => [
      from === null ? BEGINNING : encode(customerAffiliations.day, from),
      affiliate_id,
    ]),
  )
  return [
    bindStatement(db, DELETE_AFFILIATIONS, { account, customer_id }),
    bindStatement(db, INSERT_AFFILIATIONS, { account, customer_id, rows }),
  ]
}
