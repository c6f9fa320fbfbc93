import { hash, randomUUID } from 'node:crypto'
import { newSecret } from '../src/auth/secret.ts'
import { expectOk } from './http.ts'

/** A partner firm's OAuth client. */
export interface Partner {
  client_id: string
  client_secret: string
  digest: string
}

/** Makes a client that is not in the database yet. */
export async function newPartner(): Promise<Partner> {
  const client_secret = newSecret('tcs', 'test')
  return { client_id: randomUUID(), client_secret, digest: hash('sha256', client_secret) }
}

/** Requests an access token. A client has 60 an hour; each allows 1000 requests a minute. */
export async function tokenFor({ client_id, client_secret }: Partner, base: URL): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const text = await expectOk(new URL('/oauth/token', base), {
    body: String(new URLSearchParams(form)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  return JSON.parse(text).access_token
}
