import { hash } from 'node:crypto'
import { answered } from '../ask.ts'
import { asFirm, type Firm, newToken } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { newPool, type Pool } from './pool.ts'

/** So many tokens an account has: at 1000 requests a minute each, more than this load needs. */
const TOKENS = 8

/** The contract: requests a minute. */
const LIMIT = 1000

/** Access tokens of a firm. */
export async function firmPool(service: Service, firm: Firm): Promise<Pool> {
  const tokens = []
  for (let i = 0; i < TOKENS; i++) {
    const token = await newToken(service, firm)
    tokens.push({ headers: { Authorization: `Bearer ${token}` }, gate: jtiOf(token) })
  }
  return newPool(service.url, `/api/v1/${firm.vertical}/`, tokens)
}

/** Brand Tokens of a brand, each good beside those after it. */
export async function brandPool(service: Service, account: string): Promise<Pool> {
  const tokens = []
  for (let i = 0; i < TOKENS; i++) {
    const asked = service.admin('POST', `accounts/${account}/brand-tokens`, {
      body: { overlap: '7d' },
    })
    const { brand_token } = await answered(201, asked)
    const gate = `brand:${hash('sha256', brand_token)}`
    tokens.push({ headers: { 'x-api-key': brand_token }, gate })
  }
  return newPool(service.url, '/tracking/events/', tokens)
}

/** The one planned refusal: of one token's requests, all at once, so many pass and no more. */
export async function planned429({ say, hold }: Setting, service: Service, firm: Firm) {
  const ask = asFirm(service, firm, await newToken(service, firm))
  const statuses = new Map<number, number>()
  for (let sent = 0; sent < LIMIT + 20; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', 'feed?no')))
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const [passed, refused] = [statuses.get(400), statuses.get(429)]
  hold(passed === LIMIT, `of one token ${passed} requests passed within a minute, not ${LIMIT}`)
  say(`The planned refusal: ${passed} requests of one token passed, ${refused} were answered 429.`)
}

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti
