import { asking } from '../ask.ts'
import { asFirm, type Firm, newFirm } from '../parties.ts'
import type { Place } from './desk.ts'
import type { RecordTable } from './shelf.ts'

/** The contract: a client has 60 tokens an hour. */
const TOKENS = 60

/**
 * Takes a token, uses it, gives it back, and is refused with it. A firm whose tokens are used up is
 * followed by another: what changes in an account wakes all that it minted within the hour, which
 * would be more and more of them for as long as a soak runs.
 */
export function minting({ service, heard, lane }: Place, vertical: Firm['vertical']) {
  const { hear } = heard
  const oauth = asking(service.url, {}, '/oauth/')
  let firm: Firm
  let minted = 0
  return async () => {
    if (minted % TOKENS === 0) {
      const account = `soak-minting-${vertical}-${lane.toLowerCase()}-${minted / TOKENS}`
      firm = await newFirm(service, account, vertical, 'reject')
    }
    minted += 1
    const { client_id, client_secret } = firm
    const client = { client_id, client_secret }
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...client })
    const asked = oauth('POST', 'token', { body: form })
    const { access_token } = (await hear('POST /oauth/token', [200], asked)).body
    const own = asFirm(service, firm, access_token)
    await hear(`GET /api/v1/${firm.vertical}/account`, [200], own('GET', 'account'))
    const body = new URLSearchParams({ token: access_token, ...client })
    await hear('POST /oauth/revoke', [200], oauth('POST', 'revoke', { body }))
    const route = `GET /api/v1/${firm.vertical}/account, revoked`
    await hear(route, [401], own('GET', 'account'))
  }
}

/** Has the personal data of a customer erased, and takes it out of the books. */
export function erasing(
  { service, heard }: Place,
  { account }: Firm,
  shelf: RecordTable,
  erased: Set<string>,
): () => Promise<void> {
  return async () => {
    const id = [...shelf.customers].find((known) => !erased.has(known))
    // Half of them stay as they are.
    if (id === undefined || erased.size > shelf.customers.size / 2) return
    const path = `accounts/${account}/customers/${id}/personal-data`
    await heard.hear('DELETE /admin/v1/…/personal-data', [200], service.admin('DELETE', path))
    erased.add(id)
    const key = `customers ${id}`
    const { first_name, email, ...record } = shelf.kept.get(key)!.record
    shelf.kept.set(key, { record, customer: null })
  }
}
