import { decode, encode } from '../column-types.ts'
import { withD1Retry } from '../retry.ts'
import { customers } from '../schema.ts'
import { bindStatement } from '../statement.ts'
import {
  type Affiliation,
  type AffiliationRow,
  SELECT_AFFILIATIONS,
  toAffiliations,
} from './affiliations.ts'
import { type CustomerFields, type FieldsRow, SELECT_FIELDS, toFields } from './customer-fields.ts'
import { type Refusal, type RefusalRow, SELECT_REFUSALS, toRefusal } from './refusals.ts'

/** What is known of a customer by day. Each list is in order; its first part holds from the beginning. */
export interface CustomerHistory {
  readonly affiliations: readonly Affiliation[]
  readonly fields: readonly CustomerFields[]
  readonly refusal: Refusal | null
}

/** The databases of an account: with its records, and with accounts and links. */
export interface Databases {
  readonly db: D1Database | D1DatabaseSession
  readonly directory: D1Database
}

/** The most customers of one call. */
export const MAX_CUSTOMERS = 1000

/**
 * Reads the histories of at most 1000 customers, by customer id. A customer that is not stored is left
 * out.
 */
export async function readHistories(
  { db, directory }: Databases,
  account: string,
  ids: readonly string[],
): Promise<Map<string, CustomerHistory>> {
  const type = customers.customer_id
  const values = { account, ids: JSON.stringify(ids.map((id) => encode(type, id))) }
  const [affiliationRows, fieldRows, refusalRows] = await withD1Retry(() =>
    db.batch<unknown>(
      [SELECT_AFFILIATIONS, SELECT_FIELDS, SELECT_REFUSALS].map((statement) =>
        bindStatement(db, statement, values),
      ),
    ),
  )
  const rowsOf = <R>(result: D1Result<unknown> | undefined) => (result?.results ?? []) as R[]
  const affiliations = await toAffiliations(
    directory,
    account,
    rowsOf<AffiliationRow>(affiliationRows),
  )
  const fields = toFields(rowsOf<FieldsRow>(fieldRows), affiliations)
  const refusals = new Map(
    rowsOf<RefusalRow>(refusalRows).map((row) => [row.customer_id, toRefusal(row)]),
  )
  return new Map(
    [...affiliations].map(([id, own]) => [
      String(decode(type, id)),
      { affiliations: own, fields: fields.get(id) ?? [], refusal: refusals.get(id) ?? null },
    ]),
  )
}
