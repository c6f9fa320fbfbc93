import { env } from 'cloudflare:workers'
import { encryptDetails } from '../../src/payouts/details.ts'
import type { Details, Party } from '../../src/payouts/model.ts'

/** Valid details of a payee, as they are sent and stored. */
export const ADA = {
  name: 'Ada Lovelace',
  kind: 'person',
  method: 'sepa',
  address: { city: 'Berlin', country: 'DE' },
  iban: 'DE89370400440532013000',
} as const satisfies Details

/** Valid details of a payer, as they are sent. */
export const MAIN = {
  name: 'Acme Ltd',
  address: { city: 'Dublin', country: 'IE' },
  iban: 'IE29AIBK93115212345678',
  currency: 'EUR',
} as const

/** Returns the rows of details that somebody has entered: those of affiliate `aff-7`, and those of the payer `main`. */
export const payeeRows = (db: D1Database, account: string) => {
  const enter = async (party: Party, id: string, details: Details) => {
    const of = { account, party, id, version: 1 }
    const own = { method: details.method, entered_by: 'eve', entered_at: Date.UTC(2026, 0) }
    const row = { ...of, state: 'entered', ...own, ...(await encryptDetails(env, of, details)) }
    const names = Object.keys(row)
    return db
      .prepare(`insert into payees (${names}) values (${names.map(() => '?')})`)
      .bind(...Object.values(row))
  }
  return Promise.all([
    enter('payee', 'aff-7', ADA),
    enter('payer', 'main', { ...MAIN, kind: 'company', method: 'bank' }),
  ])
}
