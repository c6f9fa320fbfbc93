import { tokenFor } from '../bench/partner.ts'
import { expectBody, newRequestSender, type RequestSender } from './ask.ts'
import type { Service } from './service.ts'

/** A partner firm and one of its OAuth clients. */
export interface Firm {
  account: string
  vertical: 'prop-trading' | 'forex'
  client_id: string
  client_secret: string
}

/** The affiliate who is paid for the customers of all firms. */
export const AFFILIATE = 'IB-07'

/** Creates a firm as the integrations team does. */
export async function newFirm(
  { admin }: Service,
  account: string,
  vertical: Firm['vertical'],
  unknown_customer: 'reject' | 'hold',
): Promise<Firm> {
  const plan = { account, name: account, vertical, mode: 'test', unknown_customer }
  await expectBody(201, admin('POST', 'accounts', { body: plan }))
  const body = [{ affiliate_id: AFFILIATE }]
  await expectBody(200, admin('PUT', `accounts/${account}/affiliates`, { body }))
  return { account, vertical, ...(await newClient(admin, account)) }
}

/** Creates another OAuth client of a firm. */
export async function newClient(admin: RequestSender, account: string) {
  const { client_id, client_secret } = await expectBody(
    201,
    admin('POST', `accounts/${account}/clients`),
  )
  return { client_id, client_secret } as { client_id: string; client_secret: string }
}

/** Requests an access token for a firm. The limit is 60 an hour. */
export const newToken = ({ url }: Service, firm: Firm) => tokenFor({ ...firm, digest: '' }, url)

/** Sends requests as a firm, to paths below those of its vertical. */
export const asFirm = ({ url }: Service, { vertical }: Firm, token: string): RequestSender =>
  newRequestSender(url, { Authorization: `Bearer ${token}` }, `/api/v1/${vertical}/`)

/** Creates a brand and returns its Brand Token. */
export async function newBrand({ admin }: Service, account: string): Promise<string> {
  const plan = { account, name: account, vertical: 'igaming', mode: 'test' }
  await expectBody(201, admin('POST', 'accounts', { body: plan }))
  const issued = await expectBody(201, admin('POST', `accounts/${account}/brand-tokens`))
  return issued.brand_token
}

/** Sends requests as a brand. */
export const asBrand = ({ url }: Service, token: string): RequestSender =>
  newRequestSender(url, { 'x-api-key': token }, '/tracking/events/')
