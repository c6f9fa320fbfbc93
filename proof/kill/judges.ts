import type { Answer } from '../ask.ts'
import { answeredLines, difference, type Entry, linesOf } from '../books.ts'
import { asFirm } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { type Bulk, customer, DAY, KNOWN, TABLES } from './bulks.ts'
import { type Sent, send } from './load.ts'
import { judge, type Stored } from './stored.ts'
import { sendersOf, type World } from './world.ts'

type Hold = Pick<Setting, 'hold'>

/**
 * Judges what is stored of all bulks: those of former rounds are there; those of this one wholly or
 * not at all, and there if they were answered. Answers with those of this round that are there.
 */
export function judgeStored(
  { hold }: Hold,
  stored: Stored,
  { former, bulks, sent }: { former: readonly Bulk[]; bulks: readonly Bulk[]; sent: Sent },
  world: World,
): Set<Bulk> {
  const isThere = (bulk: Bulk) => stored.traces.has(bulk.mark)
  const all = [...former, ...bulks]
  const changed = new Set(all.filter(isThere).flatMap(({ changes }) => changes ?? []))
  const freed = new Set(all.filter(isThere).flatMap(({ frees }) => frees ?? []))
  const there = new Set<Bulk>()
  for (const bulk of all) {
    if (changed.has(bulk)) {
      hold(!isThere(bulk), `bulk ${bulk.mark} is there beside what replaced it`)
      continue
    }
    const verdict = judge(stored, bulk, freed.has(bulk))
    for (const words of verdict.words) hold(false, words)
    if (verdict.there) there.add(bulk)
  }
  for (const bulk of former) {
    hold(there.has(bulk) || changed.has(bulk), `bulk ${bulk.mark} of a former round is gone`)
  }
  for (const [bulk, answer] of sent) {
    if (!answer) continue
    const { mark } = bulk
    hold(answer.status === 200, `bulk ${mark} was answered ${answer.status}`)
    hold(there.has(bulk), `bulk ${mark} was answered ${answer.status}, and is not there`)
    const delivery = stored.traces.get(mark)?.[0]?.delivery
    hold(delivery === answer.body.delivery_id, `bulk ${mark} is there by another delivery`)
  }
  const present = new Set(bulks.filter((bulk) => there.has(bulk)))
  for (const bulk of present) {
    hold(sent.size === 0 || sent.has(bulk), `bulk ${bulk.mark} is there, and was never sent`)
  }
  const lines = world.lines + (sent.size === 0 ? 0 : present.size)
  const is = stored.lines.size
  hold(is === lines, `the log has ${is} lines, and ${lines} deliveries were stored`)
  hold(stored.arrived === stored.logged, `arrivals say ${stored.arrived}, the log ${stored.logged}`)
  const difference_ = difference(stored.counted, stored.totals)
  hold(difference_ === '', `counted and in the table of totals: ${difference_}`)
  return present
}

/** After a restart: the firm's token lives, the revoked one does not, and no request is forgotten. */
export async function judgeTokens(
  { hold }: Hold,
  service: Service,
  world: World,
  revoked: Answer | null,
): Promise<string> {
  const { firm, brand } = sendersOf(service, world)
  const askers = [
    { name: 'access token', ask: firm, meter: world.meter },
    { name: 'Brand Token', ask: brand, meter: world.brandMeter },
  ]
  const said: string[] = []
  for (const { name, ask, meter } of askers) {
    const answer = await ask('GET', 'account')
    hold(answer.status === 200, `the ${name} is answered ${answer.status} after the restart`)
    const { used, least, most } = meter.judge(answer)
    const words = `the ${name} counts ${used} requests, of ${least} to ${most}`
    hold(used >= least && used <= most, words)
    said.push(`${name} ${used} of ${least}…${most}`)
  }
  const { status } = await asFirm(service, world.firm, world.former)('GET', 'account')
  const allowed = revoked?.status === 200 ? [401] : [200, 401]
  hold(allowed.includes(status), `a token that was revoked is answered ${status}`)
  return said.join(', ')
}

/** Sends all bulks of a round again, in order: what is there is unchanged, what is not is stored. */
export async function repeat(
  { hold }: Hold,
  service: Service,
  world: World,
  bulks: readonly Bulk[],
  there: ReadonlySet<Bulk>,
): Promise<void> {
  const senders = sendersOf(service, world)
  const freed = new Set([...there].flatMap(({ frees }) => frees ?? []))
  for (const bulk of bulks) {
    const { mark, records, outcome } = bulk
    const waits = outcome === 'held' && !freed.has(bulk)
    const expected = there.has(bulk) ? (waits ? 'held' : 'unchanged') : outcome
    const { status, body } = await send(senders, bulk)
    world.lines += 1
    const isRight = status === 200 && body.summary[expected] === records.length
    const is = JSON.stringify(body.summary ?? body)
    hold(isRight, `bulk ${mark} sent again is answered ${status} ${is}, not ${expected}`)
  }
}

/** Compares the control totals that the service answers with what all bulks bring together. */
export async function judgeTotals(
  { hold }: Hold,
  service: Service,
  world: World,
  bulks: readonly Bulk[],
): Promise<void> {
  const { firm, brand } = sendersOf(service, world)
  for (const [name, ask, tables] of [
    ['firm', firm, ['customers', 'transactions']],
    ['brand', brand, ['events']],
  ] as const) {
    const { body } = await ask('GET', `totals?from=${DAY}&to=${DAY}`)
    const books = linesOf(entriesOf(bulks, tables).values())
    const words = difference(books, answeredLines(body.data))
    hold(words === '', `control totals of the ${name}: ${words}`)
  }
}

/** The newest version of each record; what nothing tells apart is known by its bulk and place. */
function entriesOf(bulks: readonly Bulk[], tables: readonly string[]): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  if (tables.includes('customers')) entries.set(KNOWN, entryOf('customers', customer(KNOWN)))
  for (const { table, records, mark } of bulks.filter((bulk) => tables.includes(bulk.table))) {
    for (const [i, record] of records.entries()) {
      const { transaction_id, eventid } = record as Record<string, string>
      entries.set(transaction_id ?? eventid ?? `${mark}-${i}`, entryOf(table, record))
    }
  }
  return entries
}

function entryOf(table: Bulk['table'], record: Record<string, unknown>): Entry {
  const { transaction_type, status, currency, eventname, Currency } = record
  const units = (name: string) => BigInt(Math.round(Number(record[name]) * 100))
  const { resource } = TABLES[table]
  if (table === 'customers') return { resource, day: DAY, group: {}, sums: {} }
  if (table === 'transactions') {
    const group = { transaction_type, status, currency }
    return { resource, day: DAY, group, sums: { amount_currency: units('amount_currency') } }
  }
  const group = { eventname, product: null, Currency }
  return { resource, day: DAY, group, sums: { Value: units('Value') } }
}
