import type { Receiver } from '../test-node/receiver.ts'
import { expectBody, newRequestSender, type RequestSender } from './ask.ts'

/** A service, which may be replaced by a restart. */
export interface Place {
  readonly url: URL
  /** Sends requests as the integrations team. */
  readonly admin: RequestSender
}

/** A partner firm and one of its OAuth clients. */
export interface Firm {
  readonly account: string
  readonly vertical: 'prop-trading' | 'forex'
  readonly client_id: string
  readonly client_secret: string
}

/** The affiliate who is paid for the customers of all firms. */
export const AFFILIATE = 'IB-07'

/** Creates a firm as the integrations team does. */
export async function newFirm(
  { admin }: Place,
  account: string,
  vertical: Firm['vertical'],
  unknown_customer: 'reject' | 'hold',
  binding = 'DB',
): Promise<Firm> {
  const plan = { account, name: account, vertical, mode: 'test', unknown_customer, binding }
  await expectBody(201, admin('POST', 'accounts', { body: plan }))
  const body = [{ affiliate_id: AFFILIATE }]
  await expectBody(200, admin('PUT', `accounts/${account}/affiliates`, { body }))
  const made = await expectBody(201, admin('POST', `accounts/${account}/clients`))
  return { account, vertical, client_id: made.client_id, client_secret: made.client_secret }
}

/** Requests an access token for a firm. The limit is 60 an hour. */
export async function newToken(
  place: Pick<Place, 'url'>,
  { client_id, client_secret }: Firm,
): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const body = new URLSearchParams(form)
  return (await expectBody(200, newRequestSender(place)('POST', 'oauth/token', { body })))
    .access_token
}

/** Sends requests as a firm, to paths below those of its vertical. */
export const asFirm = (place: Pick<Place, 'url'>, { vertical }: Firm, token: string) =>
  newRequestSender(place, { Authorization: `Bearer ${token}` }, `/api/v1/${vertical}/`)

/** Creates a brand and returns its Brand Token. */
export async function newBrand({ admin }: Place, account: string): Promise<string> {
  const plan = { account, name: account, vertical: 'igaming', mode: 'test' }
  await expectBody(201, admin('POST', 'accounts', { body: plan }))
  const issued = await expectBody(201, admin('POST', `accounts/${account}/brand-tokens`))
  return issued.brand_token
}

/** Sends requests as a brand. */
export const asBrand = (place: Pick<Place, 'url'>, token: string): RequestSender =>
  newRequestSender(place, { 'x-api-key': token }, '/tracking/events/')

/** Creates a webhook of an account at a path of the receiver, which learns its secret. Returns its id. */
export async function newWebhook(
  { admin }: Place,
  receiver: Receiver,
  account: string,
  path: string,
  events?: readonly string[],
): Promise<string> {
  const body = { url: `${receiver.url}${path}`, ...(events && { events }) }
  const created = await expectBody(201, admin('POST', `accounts/${account}/webhooks`, { body }))
  receiver.secrets.set(path, created.secret)
  return created.id
}

/** Makes a key of an affiliate, and sends requests with it to paths below those of affiliates. */
export async function asAffiliate(
  place: Place,
  account: string,
  affiliate: string,
): Promise<RequestSender> {
  const body = { name: 'Tracker', scope: 'read links' }
  const path = `accounts/${account}/affiliates/${affiliate}/keys`
  const { affiliate_key } = await expectBody(201, place.admin('POST', path, { body }))
  return newRequestSender(place, { Authorization: `Bearer ${affiliate_key}` }, '/affiliate/v1/')
}
