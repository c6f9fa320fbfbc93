import type { Ask } from '../ask.ts'
import { customer } from '../kill/bulks.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { Size } from './partner.ts'

/** Each client has its own date: the newest is stored, whatever came last. */
export async function newestWins(
  { hold, say, random }: Setting,
  { database }: Service,
  asks: readonly Ask[],
  { keys }: Size,
): Promise<void> {
  const dates = asks
    .map((_, i) => ({ date: new Date(Date.UTC(2026, 9, 1, 0, i)).toISOString(), by: random() }))
    .sort((a, b) => a.by - b.by)
    .map(({ date }) => date)
  const answers = await Promise.all(
    asks.map((ask, client) => {
      const own = { last_modified_date: dates[client], sales_status_id: String(client) }
      const body = Array.from({ length: keys }, (_, i) => ({ ...customer(`dated-${i}`), ...own }))
      return ask('POST', 'customers', { body, headers: { Prefer: 'return=minimal' } })
    }),
  )
  const sums = { created: 0, updated: 0, stale: 0 }
  for (const [client, { status, body }] of answers.entries()) {
    hold(status === 200, `client ${client} was answered ${status}`)
    const { summary } = body
    for (const name of ['created', 'updated', 'stale'] as const) sums[name] += summary[name]
    const isOne = [summary.created, summary.updated, summary.stale].includes(keys)
    hold(isOne, `client ${client} was told more than one thing: ${JSON.stringify(summary)}`)
  }
  const newest = dates.indexOf([...dates].sort().at(-1)!)
  const { results } = await database
    .prepare(
      `select sales_status_id as client, last_modified_date as date, revision, count(*) as n
       from customers where customer_id glob 'dated-*' group by 1, 2, 3`,
    )
    .all<{ client: string; date: string; revision: number; n: number }>()
  const is = JSON.stringify(results)
  const [only] = results
  hold(results.length === 1 && only?.n === keys, `not one version of ${keys} customers: ${is}`)
  hold(Number(only?.client) === newest, `stored is not the newest, of client ${newest}: ${is}`)
  hold(only?.date === dates[newest], `stored is another date than ${dates[newest]}: ${is}`)
  hold(sums.created === keys, `${sums.created} customers were created, not ${keys}`)
  const updates = (only?.revision ?? 0) - 1
  hold(
    sums.updated === updates * keys,
    `${sums.updated} updates were told, ${updates} a record made`,
  )
  const all = sums.created + sums.updated + sums.stale
  hold(all === keys * asks.length, `${all} outcomes were told, not ${keys * asks.length}`)
  say(
    `${asks.length} clients wrote the same ${keys} customers, each with its own date: the newest (client ${newest}) is stored; ${updates} updates, ${sums.stale / keys} stale.`,
  )
}
