import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Ask, answered } from '../ask.ts'
import { forgetPeak, type Heap, mib, residentOf, watchHeap } from '../memory.ts'
import { asBrand, newBrand } from '../parties.ts'
import type { Setting } from '../program.ts'
import { migrate, newSecrets, type Service, serve } from '../service.ts'

/** The contract's most, of a request and of the platform's memory for one isolate. */
const MAX_RECORDS = 1000
const MAX_BYTES = 8 * 1024 * 1024
const ISOLATE = 128 * 1024 * 1024

/** How the bodies come. */
interface Scenario {
  name: string
  bodies: number
  together: boolean
  gzip: boolean
  /** A letter of each record that is in no single-byte alphabet: V8 then keeps two bytes a letter. */
  letter: string
}

const SCENARIOS: Scenario[] = [
  { name: 'one alone', bodies: 1, together: true, gzip: false, letter: 'a' },
  { name: '8 in sequence', bodies: 8, together: false, gzip: false, letter: 'a' },
  { name: '8 at once', bodies: 8, together: true, gzip: false, letter: 'a' },
  { name: '8 at once, gzip', bodies: 8, together: true, gzip: true, letter: 'a' },
  { name: 'one, two-byte', bodies: 1, together: true, gzip: false, letter: '→' },
  { name: '8 at once, two-byte', bodies: 8, together: true, gzip: false, letter: '→' },
]

/** A body of 1000 events and 8 MiB, all but a few bytes. */
function maximalBody(name: string, letter: string): string {
  const bytes = Math.floor((MAX_BYTES - 2) / MAX_RECORDS) - 1
  const records = Array.from({ length: MAX_RECORDS }, (_, i) => {
    const record = {
      eventname: 'Bet',
      customerid: 'P-1',
      eventid: `${name}-${i}`,
      createtime: '2026-10-02 10:00',
      Value: i,
      story: letter,
    }
    const left = bytes - Buffer.byteLength(JSON.stringify(record))
    return { ...record, story: letter + 'lorem ipsum '.repeat(left / 12 + 1).slice(0, left) }
  })
  return JSON.stringify(records)
}

/**
 * What the isolate holds at most, looked at whenever it waits for something, each time after all
 * garbage is collected: V8 itself would let it lie, for nobody tells it here of the 128 MB.
 */
async function watched(service: Service, work: () => Promise<void>): Promise<Heap> {
  const { heap, collected, end } = await watchHeap(service)
  const most: Heap = await heap()
  let isOver = false
  const look = async () => {
    while (!isOver) {
      // An isolate that waits for its database alone has no moment: a small request gives it one.
      const [now] = await Promise.all([collected(), fetch(new URL('/healthz', service.url))])
      if (now.used + now.buffers > most.used + most.buffers) Object.assign(most, now)
    }
  }
  // Once the work is done the isolate has no moment any more: nobody waits for the last look.
  look().catch(() => {})
  try {
    await work()
  } finally {
    isOver = true
    end()
  }
  return most
}

/** Sends maximal bodies in each way, to a fresh process each time. */
export async function maximalBodies(setting: Setting): Promise<void> {
  const { script, folder, say, hold } = setting
  say(`Maximal bodies of ${mib(MAX_BYTES)}; what the isolate holds at most, garbage left out:`)
  for (const [i, scenario] of SCENARIOS.entries()) {
    const service = await serve(script, join(folder, `maximal-${i}`), await newSecrets())
    try {
      await measure(setting, service, scenario)
    } catch (error) {
      const { cause = error } = error as Error
      hold(false, `${scenario.name}: the runtime did not answer (${cause})`)
    } finally {
      await service.end()
    }
  }
}

async function measure({ say, hold }: Setting, service: Service, scenario: Scenario) {
  const { name, bodies, together, gzip, letter } = scenario
  await migrate(service)
  const ask = asBrand(service, await newBrand(service, 'large'))
  await answered(200, ask('POST', 'customers', { body: [{ customerId: 'P-1' }] }))
  const sent = Array.from({ length: bodies }, (_, i) => packed(maximalBody(`b${i}`, letter), gzip))
  const [pid] = service.pids
  forgetPeak(pid!)
  const idle = residentOf(pid!).now
  const most = await watched(service, async () => {
    const answers = together
      ? await Promise.all(sent.map((body) => post(ask, body)))
      : await inTurns(ask, sent)
    for (const status of answers) hold(status === 200, `${name}: a body was answered ${status}`)
  })
  const resident = residentOf(pid!).most
  const all = most.used + most.buffers
  hold(all <= ISOLATE, `${name}: heap and buffers came to ${mib(all)}, of ${mib(ISOLATE)}`)
  say(
    `  ${name.padEnd(20)} heap ${mib(most.used)}, buffers ${mib(most.buffers)}; the process ${mib(idle)} idle, ${mib(resident)} at most.`,
  )
}

interface Packed {
  body: Uint8Array<ArrayBuffer>
  headers: Record<string, string>
}

const packed = (text: string, gzip: boolean): Packed => ({
  body: new Uint8Array(gzip ? gzipSync(text) : Buffer.from(text)),
  headers: { 'Content-Type': 'application/json', ...(gzip && { 'Content-Encoding': 'gzip' }) },
})

const post = async (ask: Ask, { body, headers }: Packed) =>
  (await ask('POST', 'activities', { body, headers })).status

async function inTurns(ask: Ask, sent: readonly Packed[]): Promise<number[]> {
  const answers: number[] = []
  for (const body of sent) answers.push(await post(ask, body))
  return answers
}
