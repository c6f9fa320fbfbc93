import { join } from 'node:path'
import type { RequestSender } from '../ask.ts'
import { mib } from '../memory.ts'
import type { Setting } from '../program.ts'
import { migrate, type Service, serveLimited } from '../service.ts'
import { type EncodedBody, encodeBody, newSender, post } from './maximal.ts'

/** How many bodies are sent at once, each by another account. */
const CROWD = 64

const RECORDS = 1000

const event = (i: number, members: object) => ({
  eventname: 'Bet',
  customerid: 'P-1',
  eventid: `e-${i}`,
  createtime: '2026-10-02 10:00',
  ...members,
})
const events = (members: (i: number) => object, count = RECORDS) =>
  JSON.stringify(Array.from({ length: count }, (_, i) => event(i, members(i))))

/** The bodies, by what is special about them. All are answered 200, or refused with 413 or 422. */
const SHAPES: Record<string, () => EncodedBody> = {
  'quotes, 1,002 KiB': () =>
    encodeBody(
      events((i) => ({ Value: i, story: '"'.repeat(450) })),
      false,
    ),
  'ordinary, 579 KiB': () =>
    encodeBody(
      events((i) => ({ Value: i, story: 'x'.repeat(470) })),
      false,
    ),
  'maximal, 8 MiB': () =>
    encodeBody(
      events((i) => ({ Value: i, story: 'x'.repeat(8250) })),
      false,
    ),
  'maximal, two-byte': () =>
    encodeBody(
      events((i) => ({ Value: i, story: `→${'x'.repeat(8240)}` })),
      false,
    ),
  'quotes, 8 MiB': () =>
    encodeBody(
      events((i) => ({ Value: i, story: '"'.repeat(4080) })),
      false,
    ),
  'many objects, gzip': () => encodeBody(`[${'{"a":1},'.repeat(49_998)}{}]`, true),
  'deep, gzip': () => {
    const nest = `${'{"99":'.repeat(6)}{}${'}'.repeat(6)}`
    return encodeBody(`[${Array(7000).fill(nest)}]`, true)
  },
}

/** Sends bodies of each shape, and of all shapes, from many accounts at once. The isolate survives. */
export async function sendCrowds(setting: Setting): Promise<void> {
  const bodies = Object.entries(SHAPES).map(([name, make]) => [name, make()] as const)
  for (const [name, body] of bodies) await sendCrowd(setting, name, [body])
  const all = bodies.map(([, body]) => body)
  await sendCrowd(setting, 'all shapes', all)
}

async function sendCrowd(
  { script, folder, print, check }: Setting,
  name: string,
  bodies: readonly EncodedBody[],
): Promise<void> {
  const service = await serveLimited(script, join(folder, `crowd-${name.replace(/\W+/g, '-')}`))
  try {
    await migrate(service)
    const asks = await newSenders(service)
    const sent = asks.map((ask, i) => post(ask, bodies[i % bodies.length]!))
    const counts = new Map<number, number>()
    for (const status of await Promise.all(sent)) {
      counts.set(status, (counts.get(status) ?? 0) + 1)
      check([200, 413, 422].includes(status), `${name}: one was answered ${status}`)
    }
    const answers = [...counts].map(([status, count]) => `${count} × ${status}`).join(', ')
    const size = Math.max(...bodies.map(({ body }) => body.byteLength))
    print(`${CROWD} at once, ${name} (up to ${mib(size)}): ${answers}; the isolate survived.`)
  } catch (error) {
    const { message, cause } = error as Error
    check(false, `${CROWD} at once, ${name}: ${message}${cause ? ` (${cause})` : ''}`)
  } finally {
    await service.end()
  }
}

async function newSenders(service: Service): Promise<RequestSender[]> {
  const asks: RequestSender[] = []
  for (let i = 0; i < CROWD; i++) asks.push(await newSender(service, `crowd-${i}`))
  return asks
}
