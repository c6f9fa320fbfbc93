import type { Connection } from '../platform/db/database.ts'
import { type HeldStatement, type HoldingCase, readStoredHolds } from './db/holds.ts'

// Cases of the fraud review hold payouts (§17): all that has to be paid to an affiliate.

/** What holds the payouts of an affiliate, and what is held. */
export interface AffiliateHolds {
  /** The cases, in order of id. */
  readonly cases: readonly HoldingCase[]
  /** What has to be paid. */
  readonly held: readonly HeldStatement[]
}

const affiliateOf = ({ affiliate_id }: { readonly affiliate_id: string }) => affiliate_id

/** Reads what holds payouts of some affiliates. Affiliates without such a case are absent. */
export async function readHolds(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<ReadonlyMap<string, AffiliateHolds>> {
  const [cases, due] = await readStoredHolds(db, account, affiliates)
  const dueTo = Map.groupBy(due, affiliateOf)
  return new Map(
    [...Map.groupBy(cases, affiliateOf)].map(([affiliate, own]) => [
      affiliate,
      { cases: own, held: dueTo.get(affiliate) ?? [] },
    ]),
  )
}
