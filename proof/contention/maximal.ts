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

/**
 * V8 may hold no more than this of the 128 MB, in MB; it ends the process otherwise. The rest is for
 * what is outside its heap. Without a limit V8 would not collect what is long free.
 */
const HEAP_LIMIT = 112

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

/** Memory that is looked at again and again, as often as the isolate has a moment. */
async function watched(service: Service, work: () => Promise<void>): Promise<Heap> {
  const { heap, end } = await watchHeap(service)
  const most: Heap = await heap()
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      const now = await heap()
      for (const name of ['used', 'reserved', 'buffers'] as const) {
        most[name] = Math.max(most[name], now[name])
      }
      await new Promise((done) => setTimeout(done, 2))
    }
  })()
  try {
    await work()
  } finally {
    isOver = true
    await Promise.race([looking, new Promise((done) => setTimeout(done, 1000))])
    end()
  }
  return most
}

/** Sends maximal bodies in each way, to a fresh process each time, whose V8 is held to its limit. */
export async function maximalBodies(setting: Setting): Promise<void> {
  const { script, folder, say, hold } = setting
  const flags = process.env.MINIFLARE_WORKERD_V8_FLAGS
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP_LIMIT}`
  say(
    `Maximal bodies of ${mib(MAX_BYTES)}, V8's heap held to ${HEAP_LIMIT} MiB by --max-heap-size:`,
  )
  try {
    for (const [i, scenario] of SCENARIOS.entries()) {
      const service = await serve(script, join(folder, `maximal-${i}`), await newSecrets())
      try {
        await measure(setting, service, scenario)
      } catch (error) {
        hold(false, `${scenario.name}: the runtime did not answer (${error})`)
      } finally {
        await service.end()
      }
    }
  } finally {
    if (flags === undefined) delete process.env.MINIFLARE_WORKERD_V8_FLAGS
    else process.env.MINIFLARE_WORKERD_V8_FLAGS = flags
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
    `  ${name.padEnd(20)} heap ${mib(most.used)} (reserved ${mib(most.reserved)}), buffers ${mib(most.buffers)}; the process ${mib(idle)} idle, ${mib(resident)} at most.`,
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
