import type { Ask } from '../ask.ts'
import { answeredLines, difference, linesOf } from '../books.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { Desk } from './desk.ts'
import { SPAN } from './draw.ts'

const QUEUE_MS = 60_000

/** The sums of an account, as it answers them, are those of all desks that wrote to it. */
export async function judgeSums(
  { hold, say }: Setting,
  name: string,
  ask: Ask,
  desks: readonly Desk[],
): Promise<void> {
  const entries = desks.flatMap((desk) => desk.entries())
  const held = desks.reduce((sum, desk) => sum + desk.held(), 0)
  const totals = await ask('GET', `totals?from=${SPAN.from}&to=${SPAN.to}`)
  const books = linesOf(entries)
  const words = difference(books, answeredLines(totals.body.data))
  hold(words === '', `sums of ${name}: ${words}`)

  const waiting = await ask('GET', 'held?per_page=1')
  const { total } = waiting.body.meta
  hold(total === held, `${name} holds ${total} records, and ${held} by the books`)
  for (const [resource, own] of Map.groupBy(entries, (entry) => entry.resource)) {
    const { body } = await ask('GET', `${resource}?per_page=1`)
    const listed = body.meta.total
    hold(listed === own.length, `${name} lists ${listed} ${resource}, ${own.length} by the books`)
  }
  const units = entries
    .flatMap(({ sums }) => Object.values(sums))
    .reduce((sum, amount) => sum + amount, 0n)
  const state = words === '' ? 'equal' : 'NOT equal'
  say(
    `Sums of ${name} are ${state}: ${books.length} groups of ${entries.length} records, ${units} hundredths in all; ${held} held.`,
  )
}

/** Each click that was answered comes through the queue into the database, once. */
export async function judgeClicks({ hold, say }: Setting, { database }: Service, clicks: number) {
  const until = Date.now() + QUEUE_MS
  let stored = 0
  do {
    await new Promise((done) => setTimeout(done, 500))
    stored = Number(await database.prepare('select count(*) as n from clicks').first('n'))
  } while (stored < clicks && Date.now() < until)
  hold(stored === clicks, `${stored} clicks are stored of ${clicks} that were answered`)
  say(`Of ${clicks} clicks that were answered 302, ${stored} are stored.`)
}
