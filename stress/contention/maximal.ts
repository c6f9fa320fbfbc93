import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expectBody, type RequestSender } from '../ask.ts'
import { forgetPeak, mib, residentOf } from '../memory.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { HEAP, migrate, type Service, serveLimited } from '../service.ts'
import { type PeakMemory, samplePeak, sizeOf } from './samples.ts'

/** The limits of a request, and the memory that the platform grants an isolate. */
const MAX_RECORDS = 1000
const MAX_BYTES = 8 * 1024 * 1024
const ISOLATE = 128 * 1024 * 1024

/** A way to send maximal bodies. */
interface Scenario {
  name: string
  bodies: number
  together: boolean
  gzip: boolean
  /** A letter in each record. If it is not in Latin-1, V8 stores two bytes per letter. */
  letter: string
  /** Whether each body is sent again with all its events on another day. */
  moves?: true
}

const ONE = { bodies: 1, together: true, gzip: false, letter: 'a' }
const EIGHT = { ...ONE, bodies: 8 }
const SCENARIOS: Scenario[] = [
  { ...ONE, name: 'one alone' },
  { ...EIGHT, name: '8 in sequence', together: false },
  { ...EIGHT, name: '8 at once' },
  { ...EIGHT, name: '8 at once, gzip', gzip: true },
  { ...EIGHT, name: '8 at once, that move', moves: true },
  { ...ONE, name: 'one, two-byte', letter: '→' },
  { ...EIGHT, name: '8 at once, two-byte', letter: '→' },
  { ...EIGHT, name: 'two-byte, that move', letter: '→', moves: true },
]

/** Makes a body of 1000 events and nearly 8 MiB. */
function maximalBody(name: string, letter: string, day: string): string {
  const bytes = Math.floor((MAX_BYTES - 2) / MAX_RECORDS) - 1
  const records = Array.from({ length: MAX_RECORDS }, (_, i) => {
    const record = {
      eventname: 'Bet',
      customerid: 'P-1',
      eventid: `${name}-${i}`,
      createtime: `${day} 10:00`,
      Value: i,
      story: letter,
    }
    const left = bytes - Buffer.byteLength(JSON.stringify(record))
    return { ...record, story: letter + 'lorem ipsum '.repeat(left / 12 + 1).slice(0, left) }
  })
  return JSON.stringify(records)
}

/** Sends maximal bodies in each way, to a new process each time. */
export async function sendMaximalBodies(setting: Setting): Promise<void> {
  const { print } = setting
  print(`Maximal bodies of ${mib(MAX_BYTES)}. V8 ends a process whose heap exceeds ${HEAP} MiB.`)
  print('The peak of the isolate, sampled whenever it waits, and the peak of the process:')
  for (const scenario of SCENARIOS) {
    const result = await measureInNewProcess(setting, scenario)
    if (result) print(describeScenario(setting, scenario, result))
  }
}

function describeScenario(
  { check }: Setting,
  { name }: Scenario,
  { most, samples, idle, resident }: Measured,
) {
  const all = sizeOf(most)
  check(all <= ISOLATE, `${name}: heap and buffers came to ${mib(all)}, of ${mib(ISOLATE)}`)
  return `  ${name.padEnd(20)} heap ${mib(most.used)}, buffers ${mib(most.buffers)} (${samples} samples); process ${mib(idle)} idle, ${mib(resident)} at most.`
}

/** The samples, and the memory of the process when idle and at its peak, in bytes. */
interface Measured extends PeakMemory {
  idle: number
  resident: number
}

let processes = 0

/** Measures one way in its own process. Returns null, and records a failure, if it cannot. */
async function measureInNewProcess(setting: Setting, scenario: Scenario): Promise<Measured | null> {
  const { script, folder, check } = setting
  const state = join(folder, `maximal-${processes++}`)
  const service = await serveLimited(script, state)
  try {
    return await measure(setting, service, scenario)
  } catch (error) {
    const { message, cause } = error as Error
    check(false, `${scenario.name}: ${message}${cause ? ` (${cause})` : ''}`)
    return null
  } finally {
    await service.end()
  }
}

async function measure(
  { check }: Setting,
  service: Service,
  { name, bodies, together, gzip, letter, moves }: Scenario,
): Promise<Measured> {
  await migrate(service)
  // Of the large bodies of an account one waits, and others are refused.
  const asks: RequestSender[] = []
  for (let i = 0; i < bodies; i++) asks.push(await newSender(service, `large-${i}`))
  const [pid] = service.pids
  forgetPeak(pid!)
  const idle = residentOf(pid!).now
  const send = async (names: readonly string[], day: string) => {
    const sent = names.map((one) => encodeBody(maximalBody(one, letter, day), gzip))
    const answers = together
      ? await Promise.all(sent.map((body, i) => post(asks[i]!, body)))
      : await postInSequence(asks[0]!, sent)
    for (const status of answers) check(status === 200, `${name}: a body was answered ${status}`)
  }
  const round = async (n: number) => {
    const names = Array.from({ length: bodies }, (_, i) => `b${n}-${i}`)
    await send(names, '2026-10-02')
    if (moves) await send(names, '2026-10-03')
  }
  const result = await samplePeak(service, MAX_BYTES, round)
  return { ...result, idle, resident: residentOf(pid!).most }
}

/** Creates a brand with one customer, `P-1`. */
export async function newSender(service: Service, name: string): Promise<RequestSender> {
  const ask = asBrand(service, await newBrand(service, name))
  await expectBody(200, ask('POST', 'customers', { body: [{ customerId: 'P-1' }] }))
  return ask
}

/** A body and its headers. */
export interface EncodedBody {
  body: Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

/** Encodes a body for a request. */
export const encodeBody = (text: string, gzip: boolean): EncodedBody => ({
  body: new Uint8Array(gzip ? gzipSync(text) : Buffer.from(text)),
  headers: {
    'Content-Type': 'application/json',
    ...(gzip && { 'Content-Encoding': 'gzip' }),
  },
})

const MAX_ATTEMPTS = 12

/** Sends a body, again after each 503, and returns the status. */
export async function post(ask: RequestSender, { body, headers }: EncodedBody): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask('POST', 'activities', { body, headers })
    if (answer.status !== 503 || attempt === MAX_ATTEMPTS) return answer.status
    await setTimeout(Number(answer.headers.get('Retry-After')) * 1000)
  }
}

async function postInSequence(ask: RequestSender, sent: readonly EncodedBody[]): Promise<number[]> {
  const answers: number[] = []
  for (const body of sent) answers.push(await post(ask, body))
  return answers
}
