import type { Answer } from '../ask.ts'
import { difference, type Entry, linesOf, responseLines } from '../books.ts'
import { asFirm } from '../parties.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import { type Bulk, customer, DAY, KNOWN_CUSTOMER, TABLES } from './bulks.ts'
import { type Sent, send } from './load.ts'
import { type Stored, validateBulk } from './stored.ts'
import { sendersOf, type World } from './world.ts'

type Checker = Pick<Setting, 'check'>

/**
 * Checks the stored records of all bulks. Bulks of former rounds are complete. Those of this round are
 * stored completely or not at all, and stored if they were answered. Returns the stored ones.
 */
export function checkStored(
  { check }: Checker,
  stored: Stored,
  { former, bulks, sent }: { former: readonly Bulk[]; bulks: readonly Bulk[]; sent: Sent },
  world: World,
): Set<Bulk> {
  const hasTraces = (bulk: Bulk) => stored.traces.has(bulk.mark)
  const all = [...former, ...bulks]
  const changed = new Set(all.filter(hasTraces).flatMap(({ changes }) => changes ?? []))
  const freed = new Set(all.filter(hasTraces).flatMap(({ frees }) => frees ?? []))
  const storedBulks = new Set<Bulk>()
  for (const bulk of all) {
    if (changed.has(bulk)) {
      check(
        !hasTraces(bulk),
        `bulk ${bulk.mark} is stored in addition to the bulk that replaced it`,
      )
      continue
    }
    const result = validateBulk(stored, bulk, freed.has(bulk))
    for (const message of result.problems) check(false, message)
    if (result.isStored) storedBulks.add(bulk)
  }
  for (const bulk of former) {
    check(
      storedBulks.has(bulk) || changed.has(bulk),
      `bulk ${bulk.mark} of a former round is missing`,
    )
  }
  for (const [bulk, answer] of sent) {
    if (!answer) continue
    const { mark } = bulk
    check(answer.status === 200, `bulk ${mark} was answered ${answer.status}`)
    check(storedBulks.has(bulk), `bulk ${mark} was answered ${answer.status}, but is not stored`)
    const delivery = stored.traces.get(mark)?.[0]?.delivery
    check(delivery === answer.body.delivery_id, `bulk ${mark} is stored by another delivery`)
  }
  const present = new Set(bulks.filter((bulk) => storedBulks.has(bulk)))
  for (const bulk of present) {
    check(sent.size === 0 || sent.has(bulk), `bulk ${bulk.mark} is stored, but was never sent`)
  }
  const lines = world.lines + (sent.size === 0 ? 0 : present.size)
  const is = stored.lines.size
  check(is === lines, `the log has ${is} lines, but ${lines} deliveries were stored`)
  check(
    stored.arrived === stored.logged,
    `arrivals count ${stored.arrived}, the log ${stored.logged}`,
  )
  const mismatch = difference(stored.counted, stored.totals)
  check(mismatch === '', `counts and table of totals differ: ${mismatch}`)
  return present
}

/** Checks after a restart that live tokens work, revoked ones do not, and all requests count. */
export async function checkTokens(
  { check }: Checker,
  service: Service,
  world: World,
  revoked: Answer | null,
): Promise<string> {
  const { firm, brand } = sendersOf(service, world)
  const askers = [
    { name: 'access token', ask: firm, meter: world.meter },
    { name: 'Brand Token', ask: brand, meter: world.brandMeter },
  ]
  const parts: string[] = []
  for (const { name, ask, meter } of askers) {
    const answer = await ask('GET', 'account')
    check(answer.status === 200, `the ${name} is answered ${answer.status} after the restart`)
    const { used, least, most } = meter.count(answer)
    const message = `the ${name} counts ${used} requests, of ${least} to ${most}`
    check(used >= least && used <= most, message)
    parts.push(`${name} ${used} of ${least}…${most}`)
  }
  const { status } = await asFirm(service, world.firm, world.former)('GET', 'account')
  const allowed = revoked?.status === 200 ? [401] : [200, 401]
  check(allowed.includes(status), `a token that was revoked is answered ${status}`)
  return parts.join(', ')
}

/** Sends all bulks of a round again, in order. Stored records are unchanged. */
export async function resendBulks(
  { check }: Checker,
  service: Service,
  world: World,
  bulks: readonly Bulk[],
  storedBulks: ReadonlySet<Bulk>,
): Promise<void> {
  const senders = sendersOf(service, world)
  const freed = new Set([...storedBulks].flatMap(({ frees }) => frees ?? []))
  for (const bulk of bulks) {
    const { mark, records, outcome } = bulk
    const waits = outcome === 'held' && !freed.has(bulk)
    const expected = storedBulks.has(bulk) ? (waits ? 'held' : 'unchanged') : outcome
    const { status, body } = await send(senders, bulk)
    world.lines += 1
    const isRight = status === 200 && body.summary[expected] === records.length
    const is = JSON.stringify(body.summary ?? body)
    check(isRight, `bulk ${mark} sent again is answered ${status} ${is}, not ${expected}`)
  }
}

/** Compares the control totals of the service with the sums of all bulks. */
export async function checkTotals(
  { check }: Checker,
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
    const message = difference(books, responseLines(body.data))
    check(message === '', `control totals of the ${name}: ${message}`)
  }
}

/** Returns the newest version of each record. Records without a key are known by bulk and index. */
function entriesOf(bulks: readonly Bulk[], tables: readonly string[]): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  if (tables.includes('customers'))
    entries.set(KNOWN_CUSTOMER, entryOf('customers', customer(KNOWN_CUSTOMER)))
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
