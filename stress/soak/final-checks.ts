import { askInTurn, type RequestSender } from '../ask.ts'
import { difference, linesOf, responseLines } from '../books.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { Actor } from './actor.ts'
import { SPAN } from './draw.ts'

const QUEUE_MS = 60_000

/** Checks that the totals of an account are the sums of all actors that wrote to it. */
export async function checkSums(
  { check, print }: Setting,
  name: string,
  ask: RequestSender,
  actors: readonly Actor[],
): Promise<void> {
  const entries = actors.flatMap((actor) => actor.entries())
  const held = actors.reduce((sum, actor) => sum + actor.held(), 0)
  // The account may have to wait for what the actors had summed.
  const totals = await askInTurn(ask, `totals?from=${SPAN.from}&to=${SPAN.to}`)
  const books = linesOf(entries)
  const words = difference(books, responseLines(totals.body.data))
  check(words === '', `sums of ${name}: ${words}`)

  const waiting = await ask('GET', 'held?per_page=1')
  const { total } = waiting.body.meta
  check(total === held, `${name} holds ${total} records, and ${held} by the books`)
  for (const [resource, own] of Map.groupBy(entries, (entry) => entry.resource)) {
    const { body } = await ask('GET', `${resource}?per_page=1`)
    const listed = body.meta.total
    check(listed === own.length, `${name} lists ${listed} ${resource}, ${own.length} by the books`)
  }
  const units = entries
    .flatMap(({ sums }) => Object.values(sums))
    .reduce((sum, amount) => sum + amount, 0n)
  const state = words === '' ? 'equal' : 'NOT equal'
  print(
    `Sums of ${name} are ${state}: ${books.length} groups of ${entries.length} records, ${units} hundredths in all; ${held} held.`,
  )
}

/** Checks that each click that was answered arrives in the database once. */
export async function checkClicks(
  { check, print }: Setting,
  { database }: Service,
  clicks: number,
) {
  const until = Date.now() + QUEUE_MS
  let stored = 0
  do {
    await new Promise((done) => setTimeout(done, 500))
    stored = Number(await database.prepare('select count(*) as n from clicks').first('n'))
  } while (stored < clicks && Date.now() < until)
  check(stored === clicks, `${stored} clicks are stored of ${clicks} that were answered`)
  print(`Of ${clicks} clicks that were answered 302, ${stored} are stored.`)
}
