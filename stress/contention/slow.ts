import { type ClientRequest, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newSecret } from '../../src/auth/secret.ts'
import { forgetPeak, mib, residentOf, watchHeap } from '../memory.ts'
import { newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, type Service, serveLimited } from '../service.ts'
import { encodeBody, newSender, post } from './maximal.ts'

const MIB = 1024 * 1024

/** Callers with invented Brand Tokens, each of whom sends all but the end of a body, then nothing. */
const SILENT = 300
const SILENT_BYTES = MIB
const UNSENT_BYTES = 4096

/** What a silent caller may hold: 64 KiB of their body, the request itself, and garbage. */
const MAX_SILENT_BYTES = 128 * 1024

/** Senders of maximal bodies, at little more than the rate that the service asks for. */
const SLOW = 24
const SLOW_BYTES = 8 * MIB - 1024
const SLOW_BYTES_PER_SECOND = 1.1 * MIB

/** The longest that an ordinary bulk may wait beside them. */
const MAX_WAIT_MS = 20_000

/** Lets anonymous callers and slow senders keep their bodies open. Others are served meanwhile. */
export async function sendSlowBodies(setting: Setting): Promise<void> {
  const { script, folder } = setting
  const scenarios = [
    ['silent', leaveSilent],
    ['slow-one', (own: Setting, service: Service) => sendBesideSlow(own, service, 1)],
    ['slow-many', (own: Setting, service: Service) => sendBesideSlow(own, service, SLOW)],
  ] as const
  for (const [name, run] of scenarios) {
    const service = await serveLimited(script, join(folder, name))
    try {
      await migrate(service)
      await run(setting, service)
    } catch (error) {
      setting.check(false, `${name}: ${(error as Error).message}`)
    } finally {
      await service.end()
    }
  }
}

async function leaveSilent({ check, print }: Setting, service: Service): Promise<void> {
  const ask = await newSender(service, 'heard')
  const { collected, heap, end } = await watchHeap(service)
  const [pid] = service.pids
  const before = await collected()
  forgetPeak(pid!)
  const resident = residentOf(pid!).now
  const silentCallers = Array.from({ length: SILENT }, () => {
    const sent = open(service, newSecret('tbt', 'test'), SILENT_BYTES)
    sent.write(Buffer.alloc(SILENT_BYTES - UNSENT_BYTES, ' '))
    return sent
  })
  let most = 0
  for (let i = 0; i < 20; i++) {
    // Without a garbage collection, which takes ten seconds beside so many requests.
    const { used, buffers } = await heap()
    most = Math.max(most, used + buffers - before.used - before.buffers)
    await setTimeout(100)
  }
  const status = await post(ask, encodeBody(bulk(100), false))
  check(status === 200, `beside silent callers a bulk was answered ${status}`)
  const grown = residentOf(pid!).most - resident
  for (const one of silentCallers) one.destroy()
  end()
  check(
    most <= SILENT * MAX_SILENT_BYTES,
    `${SILENT} silent callers held ${mib(most)} of the isolate`,
  )
  print(
    `${SILENT} silent callers of 1 MiB each: the isolate held ${mib(most)} more, the process ${mib(grown)}.`,
  )
}

/** Sends an ordinary large bulk while slow senders of this many accounts send maximal bodies. */
async function sendBesideSlow({ check, print }: Setting, service: Service, accounts: number) {
  const ask = await newSender(service, 'ordinary')
  const tokens: string[] = []
  for (let i = 0; i < accounts; i++) tokens.push(await newBrand(service, `slow-${i}`))
  const slow = Array.from({ length: SLOW }, (_, i) =>
    trickle(open(service, tokens[i % accounts]!, SLOW_BYTES)),
  )
  await setTimeout(3000)
  const since = Date.now()
  const status = await post(ask, encodeBody(bulk(1000, 1100), false))
  const waited = Date.now() - since
  for (const { sent } of slow) sent.destroy()
  check(status === 200, `beside slow senders a bulk was answered ${status}`)
  check(waited <= MAX_WAIT_MS, `beside slow senders a bulk took ${waited} ms`)
  print(
    `${SLOW} slow senders of ${accounts} account(s): a bulk of 1.2 MB took ${waited} ms beside them.`,
  )
}

/** Opens a request whose body has this length. */
function open({ url }: Service, token: string, length: number): ClientRequest {
  const sent = request(new URL('/tracking/events/activities', url), {
    method: 'POST',
    agent: false,
    headers: {
      'x-api-key': token,
      'Content-Type': 'application/json',
      'Content-Length': length,
    },
  })
  sent.on('response', (response) => response.resume())
  sent.on('error', () => {}) // It is destroyed at the end.
  return sent
}

/** Sends white space at a slow rate. */
function trickle(sent: ClientRequest) {
  const bytes = Buffer.alloc(SLOW_BYTES_PER_SECOND / 20, ' ')
  const timer = setInterval(() => sent.write(bytes), 50)
  for (const end of ['close', 'error'] as const) sent.on(end, () => clearInterval(timer))
  return { sent }
}

const bulk = (count: number, storyLength = 10) =>
  JSON.stringify(
    Array.from({ length: count }, (_, i) => ({
      eventname: 'Bet',
      customerid: 'P-1',
      eventid: `s-${i}`,
      createtime: '2026-10-02 10:00',
      Value: i,
      story: 'x'.repeat(storyLength),
    })),
  )
