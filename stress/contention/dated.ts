import type { RequestSender } from '../ask.ts'
import { customer } from '../kill/bulks.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'
import type { ContentionSize } from './partner.ts'

/** Each client sends its own modification date: the newest version wins. */
export async function checkNewestWins(
  { check, print, random }: Setting,
  { database }: Service,
  asks: readonly RequestSender[],
  { keys }: ContentionSize,
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
    check(status === 200, `client ${client} was answered ${status}`)
    const { summary } = body
    for (const name of ['created', 'updated', 'stale'] as const) sums[name] += summary[name]
    const isOne = [summary.created, summary.updated, summary.stale].includes(keys)
    check(isOne, `client ${client} got more than one outcome: ${JSON.stringify(summary)}`)
  }
  const newest = dates.indexOf([...dates].sort().at(-1)!)
  const { results } = await database
    .prepare(
      `select sales_status_id as client,
         strftime('%FT%H:%M:%fZ', last_modified_date / 1000.0, 'unixepoch') as date, revision,
         count(*) as n
       from customers where customer_id glob 'dated-*' group by 1, 2, 3`,
    )
    .all<{ client: string; date: string; revision: number; n: number }>()
  const is = JSON.stringify(results)
  const [only] = results
  check(results.length === 1 && only?.n === keys, `not one version of ${keys} customers: ${is}`)
  check(
    Number(only?.client) === newest,
    `the stored version is not that of client ${newest}: ${is}`,
  )
  check(only?.date === dates[newest], `the stored date is not ${dates[newest]}: ${is}`)
  check(sums.created === keys, `${sums.created} customers were created, not ${keys}`)
  const updates = (only?.revision ?? 0) - 1
  check(
    sums.updated === updates * keys,
    `${sums.updated} updates were reported, ${updates} per record were made`,
  )
  const all = sums.created + sums.updated + sums.stale
  check(all === keys * asks.length, `${all} outcomes were reported, not ${keys * asks.length}`)
  print(
    `${asks.length} clients wrote the same ${keys} customers, each with its own date: the newest (client ${newest}) is stored; ${updates} updates, ${sums.stale / keys} stale.`,
  )
}
