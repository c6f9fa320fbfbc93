import type { Usage } from '../../scripts/capacity/prices.ts'
import { type Answer, send } from '../http.ts'
import type { Counts } from './meter.ts'
import { naiveParty, ourParty, type Party, takeCounts } from './parties.ts'
import { WORKS, type Work } from './works.ts'

/** The cost of one kind of work, and the number of its records. */
export interface Measured {
  work: Work
  records: number
  ours: Counts
  /** Null if the naive design does not support it. */
  naive: Counts | null
}

/** All counts. */
export interface Costs {
  measured: Measured[]
  /** The usage of a new access token. */
  token: Usage
  /** The usage afterwards: objects write their true count after a pause. */
  after: Usage
}

/** Clicks are sent one at a time. */
const CLICKS = 200

/** An object is billed for 128 MB, in GB, while its timer is pending. */
const OBJECT_GB = 0.128
const PAUSE_MS = 5000

/**
 * Sends a number of records of each kind, in bulks, to the service and to the naive design, and counts
 * what the platform would bill. Each kind of work has its own token.
 */
export async function measure(
  folder: string,
  records: number,
  bulk: number,
  pauseMs = PAUSE_MS,
): Promise<Costs> {
  const parties: Party[] = []
  try {
    const ours = await ourParty(folder)
    parties.push(ours)
    const naive = await naiveParty(folder)
    parties.push(naive)
    await takeCounts(ours)
    await ours.newHeaders('partner')
    const token = (await takeCounts(ours)).usage

    const measured: Measured[] = []
    for (const work of WORKS) {
      const isClick = work.phase === 'follow'
      const n = isClick ? Math.min(records, CLICKS) : records
      const size = isClick ? 1 : bulk
      measured.push({
        work,
        records: n,
        ours: (await count(ours, work, n, size))!,
        naive: await count(naive, work, n, size),
      })
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs * 1.2))
    const { usage } = await takeCounts(ours)
    const objectGbSeconds = (WORKS.length * OBJECT_GB * PAUSE_MS) / 1000
    return { measured, token, after: { ...usage, objectGbSeconds } }
  } finally {
    for (const { running } of parties) await running.end()
  }
}

/** Measures one kind of work. Returns null if the design does not support it. */
async function count(party: Party, work: Work, records: number, bulk: number) {
  const path = party.pathOf(work)
  if (path === null) return null
  const headers = await party.newHeaders(work.to)
  const url = new URL(path, party.running.url)
  const bodies: (string | undefined)[] = []
  for (let i = 0; i < records; i += bulk) {
    const end = Math.min(i + bulk, records)
    const bulkOf = Array.from({ length: end - i }, (_, j) => work.record(i + j))
    bodies.push(work.phase === 'follow' ? undefined : JSON.stringify(bulkOf))
  }
  await takeCounts(party)
  const cpuBefore = party.running.cpu() ?? Number.NaN
  const started = performance.now()
  for (const body of bodies) check(work, await send(url, { headers, ...(body && { body }) }))
  if (work.phase === 'follow') await clicksOf(party, records)
  const seconds = (performance.now() - started) / 1000
  const cpuMs = (party.running.cpu() ?? Number.NaN) - cpuBefore
  const { usage, written } = await takeCounts(party)
  const objectGbSeconds = usage.objectRequests > 0 ? seconds * OBJECT_GB : 0
  return { usage: { ...usage, cpuMs, objectGbSeconds }, written }
}

/** Throws unless the request had the expected outcome. */
function check({ phase, outcome, resource }: Work, { status, text }: Answer) {
  if (phase === 'follow' && status === 302) return
  const { summary, received } = status < 300 ? JSON.parse(text) : {}
  // The naive design does not return outcomes.
  const became = summary ? summary[outcome] === summary.received : received > 0
  if (!became) throw new Error(`${resource}, ${phase}: ${status} ${text.slice(0, 500)}`)
}

/** Waits until the queue has delivered all clicks. */
async function clicksOf({ running }: Party, clicks: number) {
  for (let i = 0; i < 100; i++) {
    const n = await running.database.prepare('select count(*) as n from clicks').first('n')
    if (n === clicks) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The queue did not deliver all clicks.')
}
