import { expectBody, newRequestSender, type RequestSender } from '../ask.ts'
import type { Service } from '../service.ts'
import type { Receiver } from './receiver.ts'

// Affiliates whose tracker is the receiver.

/** What a postback sends: its values as parameters of the query. */
const QUERY = '?ev={event}&tx={id}&amt={amount}&cur={currency}&c={customer}&p={period}'

/** Sends requests as an affiliate, to paths below those of affiliates. Makes a key. */
export async function asAffiliate(
  { admin, url }: Service,
  account: string,
  affiliate: string,
): Promise<RequestSender> {
  const body = { name: 'Tracker', scope: 'read links' }
  const path = `accounts/${account}/affiliates/${affiliate}/keys`
  const { affiliate_key } = await expectBody(201, admin('POST', path, { body }))
  return newRequestSender(url, { Authorization: `Bearer ${affiliate_key}` }, '/affiliate/v1/')
}

/** Creates a postback at a path of the receiver. Returns its id. */
export async function newPostback(
  ask: RequestSender,
  receiver: Receiver,
  path: string,
  events: readonly string[],
): Promise<string> {
  const body = { url: `${receiver.url}${path}${QUERY}`, events }
  return (await expectBody(201, ask('POST', 'postbacks', { body }))).id
}
