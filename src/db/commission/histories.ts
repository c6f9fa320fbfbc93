import { lookUp, readBatch } from '../batch.ts'
import { decode, encode } from '../column-types.ts'
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

/** The maximum number of customers for one call of `readHistories`. */
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
      String(decode(type, id)),
      { affiliations: own, fields: lookUp(fields, id), refusal: refusals.get(id) ?? null },
    ]),
  )
}
