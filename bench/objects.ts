import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'
import { table } from './figures.ts'
import { countsOf, measureObjects, type ObjectCost, type RecordBytes } from './objects/measure.ts'

// What the platform bills for the export of an account, for its archive, and for records that come back.

const { records } = readOptions<{ records: number }>(
  'npm run objects',
  'Prints what exporting, archiving and restoring the records of a month reads and writes.',
  (command) =>
    command.option('--records <count>', 'records', wholeNumber(1000, 10_000_000), 200_000),
)

const folder = mkdtempSync(join(tmpdir(), 'tributary-objects-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const bytesRow = ({ resource, database, exported }: RecordBytes) => [
  resource,
  database.toFixed(0),
  exported.toFixed(1),
]

const costRow = ({ title, records: count, usage, objects, bytes, freed }: ObjectCost) => [
  title,
  (usage.rowsRead / count).toFixed(2),
  (usage.rowsWritten / count).toFixed(2),
  (usage.cpuMs / count).toFixed(4),
  (bytes / count).toFixed(1),
  (freed / count).toFixed(1),
  String(objects),
  String(usage.r2Writes),
  String(usage.r2Reads),
]

const { bytes, costs } = await measureObjects(folder, records)
console.log(`${records} records of a month are exported, archived and restored.\n`)
console.log(table([['bytes of a record', 'in D1', 'in its export'], ...bytes.map(bytesRow)]))
const head = ['of a record', 'rows read', 'written', 'CPU-ms', 'R2 bytes', 'D1 bytes freed']
const [exported, unchanged] = costs
const customers = countsOf(records).customers
console.log(
  `\n${table([[...head, 'objects', 'R2 writes', 'R2 reads'], ...costs.map(costRow)])}

An exported file writes ${((exported?.usage.rowsWritten ?? 0) / (exported?.objects ?? 1)).toFixed(1)} rows. An export without changes reads ${(unchanged?.usage.rowsRead ?? 0) - customers} rows, of 3 resources on 30 days, and each of ${customers} customers.
CPU is that of the whole local runtime, D1 and R2 included: Cloudflare bills the Worker's alone.`,
)
