import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, wholeOf } from '../scripts/said.ts'
import { above, faults, GATED_BULK, lineOf, TOLERANCE } from './cost/bill.ts'
import { measure } from './cost/measure.ts'
import { printed } from './cost/print.ts'

// What the platform bills, counted: `npm run cost [-- --records 10000 --bulk 1000]`. Exit code 1: more
// rows are written than the floor allows.

const values = readOptions({
  records: { type: 'string', default: '10000' },
  bulk: { type: 'string', default: '1000' },
})
/** A token has 1000 requests a minute, and each kind of work a token. */
const REQUESTS = 900

const bulk = wholeOf('bulk', values.bulk, 1, 1000)
const records = wholeOf('records', values.records, 1, REQUESTS * bulk)

const folder = mkdtempSync(join(tmpdir(), 'tributary-cost-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const costs = await measure(folder, records, bulk)
console.log(printed(costs, records, bulk))
const found = faults(costs.measured.map(lineOf))
for (const line of found) {
  const percent = (above(line) * 100).toFixed(1)
  console.log(`${line.resource}, ${line.phase}: ${percent} % above its floor`)
}
if (bulk < GATED_BULK) {
  console.log(
    `The floor is promised of bulks of ${GATED_BULK}: in smaller ones each request weighs more.`,
  )
} else if (found.length > 0) {
  process.exitCode = 1
} else {
  console.log(`All that is promised is within ${TOLERANCE * 100} % of its floor.`)
}
