import { dollars, METERS, PRICES } from '../../scripts/capacity/prices.ts'
import { table } from '../figures.ts'
import { floorDollars, lineOf, mixedBill, otherRows, rowsOf, shareAboveFloor } from './bill.ts'
import type { Costs } from './measure.ts'

const millions = (n: number) => (n / 1e6).toFixed(3)
const usd = (n: number, digits = 2) => `$${n.toFixed(digits)}`
const NOT_AVAILABLE = '–'

/** Formats all counts as tables per million records. */
export function formatCosts(costs: Costs, records: number, bulk: number): string {
  return [
    `A million records of each kind, counted at ${records}, in bulks of ${bulk}, on Workers Paid without
what the plan includes. Rows in millions, those of objects among them.
Naive: the same tables and indexes, tokens and their rate in D1, all columns upserted; it checks no
reference, holds nothing and logs nothing. Floor: the record and the indexes that get an entry.`,
    byKind(costs),
    'The whole bill of a million records, as many of each kind that both designs know:',
    bill(costs),
    notes(costs),
  ].join('\n\n')
}

function byKind({ measured }: Costs): string {
  const rows = measured.map((one) => {
    const line = lineOf(one)
    const { resource, phase, floor, ours, naive } = line
    return [
      `${resource}: ${phase}`,
      millions(floor),
      millions(rowsOf(ours)),
      floor > 0 ? (rowsOf(ours) / floor).toFixed(3) : `+${shareAboveFloor(line).toFixed(3)}`,
      naive ? millions(rowsOf(naive)) : NOT_AVAILABLE,
      millions(ours.rowsRead),
      naive ? millions(naive.rowsRead) : NOT_AVAILABLE,
      usd(floorDollars(floor)),
      usd(dollars(ours)),
      naive ? usd(dollars(naive)) : NOT_AVAILABLE,
    ]
  })
  const head = ['written', 'floor', 'ours', '/ floor', 'naive', 'read: ours', 'naive']
  return table([[...head, '$ floor', 'ours', 'naive'], ...rows])
}

function bill(costs: Costs): string {
  const { ours, naive, floor } = mixedBill(costs)
  const row = (name: string, price: string, count: string[], cost: number[]) => [
    name,
    price,
    ...count,
    ...cost.map((n) => usd(n, 4)),
  ]
  return table([
    ['', 'a million', 'ours', 'naive', 'ours', 'naive'],
    ...METERS.map((meter) => {
      const { title, perMillion } = PRICES[meter]
      const counts = [ours[meter], naive[meter]]
      const costing = counts.map((n) => (n * perMillion) / 1e6)
      return row(title, `$${perMillion}`, counts.map(millions), costing)
    }),
    row('all', '', ['', ''], [dollars(ours), dollars(naive)]),
    row('its rows at the floor', '', [millions(floor), ''], [floorDollars(floor)]).concat(
      NOT_AVAILABLE,
    ),
  ])
}

function notes({ measured, token }: Costs): string {
  const others = otherRows(measured).map(([where, rows]) => `${rows.toFixed(2)} ${where}`)
  return `Besides its records a request writes ${others.join(', ')}.
A click costs more than the naive one, for it goes through the queue: no visitor waits for a write.
A new token: ${token.objectRequests} object requests, ${token.objectRowsWritten} object rows, ${token.rowsRead} D1 rows read.
CPU is that of the whole local runtime, D1 and objects included: Cloudflare bills the Worker's alone.
GB-s: the time from the first to the last request of each kind, and 5 s after it; a partner who sends
less often pays for more such pauses. A run of the queue's consumer counts as a Worker request.`
}
