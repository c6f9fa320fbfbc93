import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { newSecret } from '../../src/auth/secret.ts'
import { newRequestSender, type RequestSender } from '../ask.ts'
import { asBrand, asFirm, type Firm, newBrand, newFirm, newToken } from '../parties.ts'
import type { Service } from '../service.ts'

/** What an attack needs: the service, senders of the attacker's accounts, and when to stop. */
export interface Attacker {
  service: Service
  /** The Brand Token of the attacker's brand. */
  brandToken: string
  /** Sends requests as a partner firm and as a brand, with tokens that are below the rate limit. */
  firm: RequestSender
  brand: RequestSender
  /** Sends requests without credentials. */
  anonymous: RequestSender
  isOver: () => boolean
}

/** A way to harm others. `act` is repeated by each of `lanes` callers until the attack is over. */
export interface Attack {
  name: string
  lanes: number
  /** How many objects that no request has used before it opens at the same moment. */
  newObjects?: number
  prepare?: (attacker: Attacker) => Promise<unknown>
  act: (attacker: Attacker, lane: number, turn: number) => Promise<unknown>
}

/** Creates the accounts of an attacker, with enough tokens for the rate limit. */
export async function newAttacker(
  service: Service,
  name: string,
  isOver: () => boolean,
): Promise<Attacker> {
  const firm = await newFirm(service, `${name}-firm`, 'forex', 'hold')
  const tokens = await Promise.all(Array.from({ length: 8 }, () => newToken(service, firm)))
  const brandToken = await newBrand(service, `${name}-brand`)
  return {
    service,
    brandToken,
    firm: spread(tokens.map((token) => asFirm(service, firm as Firm, token))),
    brand: asBrand(service, brandToken),
    anonymous: newRequestSender(service.url),
    isOver,
  }
}

/** Sends requests through several senders in turn. */
function spread(senders: readonly RequestSender[]): RequestSender {
  let turn = 0
  return (...request) => senders[turn++ % senders.length]!(...request)
}

export const range = <T>(length: number, make: (i: number) => T) =>
  Array.from({ length }, (_, i) => make(i))

export const customer = (id: string) => ({
  customer_id: id,
  signup_date: '2026-09-01T00:00:00Z',
  last_modified_date: '2026-09-01T00:00:00Z',
  affiliate_id: 'IB-07',
  tracking_data: 'tr-1',
})

export const transaction = (id: string, customer_id: string) => ({
  transaction_id: id,
  customer_id,
  transaction_type: 'deposit',
  amount_currency: 10,
  currency: 'EUR',
  transaction_date: '2026-10-01T10:00:00Z',
  status: 'approved',
})

const withExtras = (id: string, count: number, prefix: string, value = 1) => ({
  customerId: id,
  ...Object.fromEntries(range(count, (i) => [`${prefix}${i.toString(36)}`, value])),
})

const wideEvent = (id: string, kpis: number) => ({
  eventname: 'Spin',
  customerid: 'P-1',
  eventid: id,
  createtime: '2026-10-02 10:00',
  ...Object.fromEntries(range(kpis, (i) => [`k${i}`, i / 100])),
})

const gzipped = (body: unknown) => ({
  body: new Uint8Array(gzipSync(JSON.stringify(body))),
  headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
})

/**
 * Returns bodies by number, each made once: this process also measures the victim's requests, which
 * would wait while a large body is written. `prepare` makes all of them before the attack.
 */
function newBodies<T>(count: number, make: (number: number) => T) {
  let bodies: T[] = []
  return {
    of: (number: number): T => bodies[number % count]!,
    prepare: async () => {
      bodies = range(count, make)
    },
  }
}

export const text = (body: string) => ({ body, headers: { 'Content-Type': 'application/json' } })

/** Sends the head of a request and then bytes as `pace` says, over a socket of its own. */
function trickle(
  { service: { url }, isOver }: Attacker,
  headers: Record<string, string>,
  length: number,
  pace: { first: number; bytesPerSecond: number; ms: number },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(Number(url.port), url.hostname)
  const lines = Object.entries({
    Host: url.host,
    'Content-Type': 'application/json',
    'Content-Length': String(length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /tracking/events/customers HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.write(Buffer.alloc(pace.first, ' '))
  let sent = pace.first
  const started = Date.now()
  const timer = setInterval(() => {
    const bytes = Math.min(length - sent, Math.floor(pace.bytesPerSecond / 10))
    if (bytes > 0) socket.write(Buffer.alloc(bytes, ' '))
    sent += Math.max(0, bytes)
    if (isOver() || Date.now() - started > pace.ms) socket.destroy()
  }, 100)
  socket.on('error', () => {})
  socket.on('data', () => socket.end())
  socket.on('close', () => {
    clearInterval(timer)
    resolve()
  })
  return promise
}

/** Sends a request over a socket of its own, and never reads the response. */
function askWithoutReading(
  { service: { url }, brandToken, isOver }: Attacker,
  path: string,
  ms: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(Number(url.port), url.hostname)
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\nx-api-key: ${brandToken}\r\n\r\n`)
  const started = Date.now()
  const timer = setInterval(() => {
    if (isOver() || Date.now() - started > ms) socket.destroy()
  }, 100)
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(timer)
    resolve()
  })
  return promise
}

export const KIB = 1024
const MIB = 1024 * KIB

const WIDE_LANES = 4

const wideBodies = newBodies(2 * WIDE_LANES, (number) =>
  text(
    JSON.stringify(range(40, (i) => withExtras(`w${number >> 1}-${i}`, 2200, 'ab'[number % 2]!))),
  ),
)

/** The bodies of a lane: four that give each customer 256 fields, and four that change all of these. */
const WIDEST_TURNS = 8

const widestBodies = newBodies(WIDEST_TURNS * WIDE_LANES, (number) => {
  const lane = Math.floor(number / WIDEST_TURNS)
  const turn = number % WIDEST_TURNS
  const customers = range(500, (i) =>
    withExtras(`x${lane}-${i}`, 64, 'abcd'[turn % 4]!, turn < 4 ? 1 : 2),
  )
  return text(JSON.stringify(customers))
})

const longIdBodies = newBodies(8, (lane) =>
  gzipped(range(100, (i) => ({ transaction_id: `${lane}${i}${'x'.repeat(480)}` }))),
)

const quoteBodies = newBodies(1, () =>
  text(`[{"customerId":"Q","q":"${'\\"'.repeat(501 * KIB)}"}]`),
)

const deepBodies = newBodies(1, () => {
  const nest = range(6, () => ({})).reduce<object>((inner) => ({ 99: inner }), {})
  const { length } = JSON.stringify(nest)
  return gzipped(Array(Math.floor((8 * MIB) / (length + 1))).fill(nest))
})

const UNREAD_DAYS = 'from=2026-10-02&to=2026-10-06'

/** The attacks, and an honest neighbour first, with whom they are compared. */
export const ATTACKS: readonly Attack[] = [
  {
    name: 'honest neighbour',
    lanes: 8,
    prepare: ({ firm }) => firm('POST', 'customers', { body: [customer('N-1')] }),
    act: ({ firm }, lane, turn) =>
      firm('POST', 'transactions', {
        body: range(1000, (i) => transaction(`${lane}-${turn}-${i}`, 'N-1')),
      }),
  },
  {
    name: 'wide: 2,200 additional fields',
    lanes: WIDE_LANES,
    prepare: wideBodies.prepare,
    act: ({ brand }, lane, turn) =>
      brand('POST', 'customers', wideBodies.of(2 * lane + (turn % 2))),
  },
  {
    name: 'wide: additional fields to the limit',
    lanes: WIDE_LANES,
    prepare: widestBodies.prepare,
    act: ({ brand }, lane, turn) =>
      brand('POST', 'customers', widestBodies.of(WIDEST_TURNS * lane + (turn % WIDEST_TURNS))),
  },
  {
    name: 'refused: long ids, gzip',
    lanes: 8,
    prepare: longIdBodies.prepare,
    act: ({ firm }, lane) => firm('POST', 'transactions', longIdBodies.of(lane)),
  },
  {
    name: 'totals of wide KPI records',
    lanes: 8,
    prepare: async ({ brand }) => {
      await brand('POST', 'customers', { body: [{ customerId: 'P-1' }] })
      for (let turn = 0; turn < 20; turn++)
        await brand('POST', 'activities', {
          body: range(1000, (i) => wideEvent(`${turn}-${i}`, 32)),
        })
    },
    act: async ({ brand }, lane, turn) => {
      await brand('POST', 'activities', { body: wideEvent(`t${lane}-${turn}`, 32) })
      await brand('GET', 'totals?from=2026-01-01&to=2026-12-31')
    },
  },
  {
    name: 'anonymous: 300 silent connections',
    lanes: 300,
    newObjects: 300,
    act: (attacker) =>
      trickle(attacker, { 'x-api-key': newSecret('tbt', 'live') }, MIB - 4 * KIB, {
        first: MIB - 8 * KIB,
        bytesPerSecond: 0,
        ms: 6000,
      }),
  },
  {
    name: 'anonymous: tokens and invented links',
    lanes: 16,
    act: ({ anonymous }, lane) =>
      lane % 2
        ? anonymous('GET', `go/${randomBytes(6).toString('base64url')}`)
        : anonymous('POST', 'oauth/token', {
            body: new URLSearchParams({
              grant_type: 'client_credentials',
              client_id: randomBytes(8).toString('hex'),
              client_secret: newSecret('tcs', 'live'),
            }),
          }),
  },
  {
    name: 'bodies of 1,002 KiB of quotes',
    lanes: 8,
    prepare: quoteBodies.prepare,
    act: ({ brand }) => brand('POST', 'customers', quoteBodies.of(0)),
  },
  {
    name: 'bodies of 579 KiB, 32 at once',
    lanes: 32,
    prepare: ({ firm }) => firm('POST', 'customers', { body: [customer('N-1')] }),
    act: ({ firm }, lane, turn) =>
      firm('POST', 'transactions', {
        body: range(1000, (i) => ({
          ...transaction(`m${lane}-${turn}-${i}`, 'N-1'),
          note: 'n'.repeat(400),
        })),
      }),
  },
  {
    name: 'slow: 24 senders of 1.1 MiB/s',
    lanes: 24,
    act: (attacker) =>
      trickle(attacker, { 'x-api-key': attacker.brandToken }, 8 * MIB, {
        first: 0,
        bytesPerSecond: 1.1 * MIB,
        ms: 8000,
      }),
  },
  {
    name: 'held records, walked',
    lanes: 4,
    prepare: async ({ firm }) => {
      for (let turn = 0; turn < 20; turn++)
        await firm('POST', 'transactions', {
          body: range(1000, (i) => transaction(`h${turn}-${i}`, `H-${i % 200}`)),
        })
    },
    act: ({ firm }, lane, turn) =>
      firm('GET', `held?per_page=500&page=${1 + ((lane + turn) % 20)}`),
  },
  {
    name: 'release of held records',
    lanes: 1,
    act: ({ firm }, _, turn) =>
      turn % 11 < 10
        ? firm('POST', 'transactions', {
            body: range(1000, (i) => transaction(`r${turn}-${i}`, `R-${Math.floor(turn / 11)}`)),
          })
        : firm('POST', 'customers', { body: [customer(`R-${Math.floor(turn / 11)}`)] }),
  },
  {
    name: 'deep pages and long ranges',
    lanes: 8,
    act: ({ firm }, lane) =>
      firm(
        'GET',
        [
          'transactions?page=1000000',
          'totals?from=2025-12-01&to=2026-11-30',
          'deliveries?page=900',
        ][lane % 3]!,
      ),
  },
  {
    name: 'deep: objects within objects, gzip',
    lanes: 8,
    prepare: deepBodies.prepare,
    act: ({ brand }) => brand('POST', 'customers', deepBodies.of(0)),
  },
  {
    name: 'interrupted: bodies that end early',
    lanes: 32,
    act: (attacker, lane) =>
      trickle(
        attacker,
        { 'x-api-key': lane % 2 ? attacker.brandToken : newSecret('tbt', 'live') },
        4 * MIB,
        {
          first: 512 * KIB,
          bytesPerSecond: 0,
          ms: 200,
        },
      ),
  },
  {
    name: 'unread: pages of 2 MiB, 30 at once',
    lanes: 30,
    prepare: ({ brand }) =>
      brand('POST', 'customers', {
        body: range(130, (i) => ({ customerId: `u${i}`, note: 'n'.repeat(14 * KIB) })),
      }),
    act: (attacker) =>
      askWithoutReading(attacker, '/tracking/events/customers?per_page=130', 10_000),
  },
  {
    name: 'unread: totals of 1 MiB, 30 at once',
    lanes: 30,
    prepare: async ({ brand }) => {
      await brand('POST', 'customers', { body: [{ customerId: 'P-1' }] })
      for (const day of ['02', '03', '04', '05', '06'])
        await brand('POST', 'activities', {
          body: range(300, (i) => ({
            eventname: 'Spin',
            customerid: 'P-1',
            eventid: `${day}-${i}`,
            createtime: `2026-10-${day} 10:00`,
            Currency: 'EUR',
            ...Object.fromEntries(range(32, (k) => [`k${i}-${k}`, '1.25'])),
          })),
        })
      await brand('GET', `totals?${UNREAD_DAYS}`)
    },
    act: (attacker) =>
      askWithoutReading(attacker, `/tracking/events/totals?${UNREAD_DAYS}`, 10_000),
  },
]
