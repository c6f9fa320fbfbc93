import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitWithUsageError, readOptions, wholeNumber } from '../scripts/command-line.ts'
import { GATED_BULK, lineOf, linesAboveFloor, shareAboveFloor, TOLERANCE } from './cost/bill.ts'
import { measure } from './cost/measure.ts'
import { formatCosts } from './cost/print.ts'

/** A token allows 1000 requests a minute, and each kind of work has one. */
const REQUESTS = 900

const { bulk, records } = readOptions<{ bulk: number; records: number }>(
  'npm run cost',
  'Prints the rows and the price of a million records, beside a naive design and the least possible.\nExits with 1 if the service writes more rows than that allows.',
  (command) =>
    command
      .option('--records <count>', 'records to send', wholeNumber(1, REQUESTS * 1000), 10_000)
      .option('--bulk <count>', 'records per request', wholeNumber(1, 1000), 1000),
)
if (records > REQUESTS * bulk)
  exitWithUsageError(`--records must be at most ${REQUESTS * bulk} with --bulk ${bulk}.`)

const folder = mkdtempSync(join(tmpdir(), 'tributary-cost-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const costs = await measure(folder, records, bulk)
console.log(formatCosts(costs, records, bulk))
const found = linesAboveFloor(costs.measured.map(lineOf))
for (const line of found) {
  const percent = (shareAboveFloor(line) * 100).toFixed(1)
  console.log(`${line.resource}, ${line.phase}: ${percent} % above its floor`)
}
if (bulk < GATED_BULK) {
  console.log(
    `The floor is compared in bulks of ${GATED_BULK}: in smaller ones each request weighs more.`,
  )
} else if (found.length > 0) {
  process.exitCode = 1
} else {
  console.log(`All kinds of work are within ${TOLERANCE * 100} % of their floor.`)
}
