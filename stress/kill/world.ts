import { type Answer, expectBody, newRequestSender } from '../ask.ts'
import { asBrand, asFirm, type Firm, newBrand, newFirm, newToken } from '../parties.ts'
import type { Service } from '../service.ts'
import { customer, KNOWN_CUSTOMER } from './bulks.ts'
import type { Senders } from './load.ts'
import { Meter } from './rate.ts'

/** A firm and a brand, their tokens, and the number of their requests. */
export interface World {
  firm: Firm
  brandToken: string
  /** The Brand Token stays the same through all kills. */
  brandMeter: Meter
  /** The firm's token of this round. `former` is that of the last round, revoked in this one. */
  token: string
  meter: Meter
  former: string
  /** The number of rows of `deliveries`. */
  lines: number
}

/** Creates a firm and a brand, each with one customer. */
export async function newWorld(service: Service): Promise<World> {
  const firm = await newFirm(service, 'kill-firm', 'forex', 'hold')
  const brandToken = await newBrand(service, 'kill-brand')
  const token = await newToken(service, firm)
  const world: World = {
    firm,
    brandToken,
    token,
    former: token,
    lines: 2,
    brandMeter: new Meter(),
    meter: new Meter(),
  }
  const senders = sendersOf(service, world)
  await expectBody(200, senders.firm('POST', 'customers', { body: [customer(KNOWN_CUSTOMER)] }))
  await expectBody(
    200,
    senders.brand('POST', 'customers', { body: [{ customerId: KNOWN_CUSTOMER }] }),
  )
  return world
}

/** Replaces the firm's token. The old one will be revoked. */
export async function changeToken(service: Service, world: World): Promise<void> {
  world.former = world.token
  world.token = await newToken(service, world.firm)
  world.meter = new Meter()
}

/** Returns the senders of the firm and the brand. */
export const sendersOf = (service: Service, world: World): Senders => ({
  firm: world.meter.countRequests(asFirm(service, world.firm, world.token)),
  brand: world.brandMeter.countRequests(asBrand(service, world.brandToken)),
})

/** Revokes the firm's former token. Returns null if there is no response. */
export function revoke({ url }: Service, { firm, former }: World): Promise<Answer | null> {
  const { client_id, client_secret } = firm
  const body = new URLSearchParams({ token: former, client_id, client_secret })
  return newRequestSender(url)('POST', 'oauth/revoke', { body }).catch(() => null)
}
