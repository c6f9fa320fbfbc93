import { hash } from 'node:crypto'
import { expectBody } from '../ask.ts'
import { asFirm, type Firm, newToken } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { newPool, type Pool } from './pool.ts'

/** Tokens per account. At 1000 requests a minute each they exceed the load. */
const TOKENS = 8

/** The contract: requests per token and minute. */
const LIMIT = 1000

/** Creates the access tokens of a firm. */
export async function firmPool(service: Service, firm: Firm): Promise<Pool> {
  const tokens = []
  for (let i = 0; i < TOKENS; i++) {
    const token = await newToken(service, firm)
    tokens.push({ headers: { Authorization: `Bearer ${token}` }, objectName: jtiOf(token) })
  }
  return newPool(service.url, `/api/v1/${firm.vertical}/`, tokens)
}

/** Creates Brand Tokens with overlap, so that all are valid. */
export async function brandPool(service: Service, account: string): Promise<Pool> {
  const tokens = []
  for (let i = 0; i < TOKENS; i++) {
    const request = service.admin('POST', `accounts/${account}/brand-tokens`, {
      body: { overlap: '7d' },
    })
    const { brand_token } = await expectBody(201, request)
    const objectName = `brand:${hash('sha256', brand_token)}`
    tokens.push({ headers: { 'x-api-key': brand_token }, objectName })
  }
  return newPool(service.url, '/tracking/events/', tokens)
}

/** Provokes the one expected refusal: exactly 1000 requests of one token pass within a minute. */
export async function exceedRateLimit({ print, check }: Setting, service: Service, firm: Firm) {
  const ask = asFirm(service, firm, await newToken(service, firm))
  const statuses = new Map<number, number>()
  for (let sent = 0; sent < LIMIT + 20; sent += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('GET', 'feed?no')))
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const [passed, refused] = [statuses.get(400), statuses.get(429)]
  check(passed === LIMIT, `of one token ${passed} requests passed within a minute, not ${LIMIT}`)
  print(
    `The expected refusal: ${passed} requests of one token passed, ${refused} were answered 429.`,
  )
}

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).jti
