import { newRequestSender } from '../ask.ts'
import { asFirm, type Firm, newFirm } from '../parties.ts'
import type { ActorContext } from './actor.ts'
import type { Ledger } from './ledger.ts'

/** The contract: tokens per client and hour. */
const TOKENS = 60

/**
 * Returns an action that requests a token, uses it, revokes it, and is refused with it. When a firm has
 * used up its tokens, the action creates another firm. A change of an account wakes all its tokens of the
 * last hour, and their number must not grow with the length of the soak.
 */
export function issueTokenAction(
  { service, responses, lane }: ActorContext,
  vertical: Firm['vertical'],
) {
  const { expectStatus } = responses
  const oauth = newRequestSender(service.url, {}, '/oauth/')
  let firm: Firm
  let minted = 0
  return async () => {
    if (minted % TOKENS === 0) {
      const account = `soak-tokens-${vertical}-${lane.toLowerCase()}-${minted / TOKENS}`
      firm = await newFirm(service, account, vertical, 'reject')
    }
    minted += 1
    const { client_id, client_secret } = firm
    const client = { client_id, client_secret }
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...client })
    const request = oauth('POST', 'token', { body: form })
    const { access_token } = (await expectStatus('POST /oauth/token', [200], request)).body
    const own = asFirm(service, firm, access_token)
    await expectStatus(`GET /api/v1/${firm.vertical}/account`, [200], own('GET', 'account'))
    const body = new URLSearchParams({ token: access_token, ...client })
    await expectStatus('POST /oauth/revoke', [200], oauth('POST', 'revoke', { body }))
    const route = `GET /api/v1/${firm.vertical}/account, revoked`
    await expectStatus(route, [401], own('GET', 'account'))
  }
}

/** Returns an action that erases the personal data of a customer, also in the books. */
export function eraseCustomerAction(
  { service, responses }: ActorContext,
  { account }: Firm,
  ledger: Ledger,
  erased: Set<string>,
): () => Promise<void> {
  return async () => {
    const id = [...ledger.customers].find((known) => !erased.has(known))
    // At most half of the customers are erased.
    if (id === undefined || erased.size > ledger.customers.size / 2) return
    const isByQuery = erased.size % 2 === 0
    const path = isByQuery
      ? `accounts/${account}/customers/personal-data?customer_id=${id}`
      : `accounts/${account}/customers/${id}/personal-data`
    await responses.expectStatus(
      'DELETE /admin/v1/…/personal-data',
      [200],
      service.admin('DELETE', path),
    )
    erased.add(id)
    const key = `customers ${id}`
    const { first_name, email, ...record } = ledger.records.get(key)!.record
    ledger.records.set(key, { record, customer: null })
  }
}
