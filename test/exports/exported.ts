import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { datasetsOf } from '../../src/exports/datasets.ts'
import { resourcesOf } from '../../src/ingest/verticals.ts'
import type { ExportJob } from '../../src/platform/export-job.ts'
import { fromFact, plainText } from '../../src/platform/money/decimal.ts'
import { decimalUnits, type ParquetValue } from '../../src/platform/parquet/file.ts'
import { overriding } from '../overriding.ts'
import { askAdmin, json } from '../partner.ts'
import { deliverJob, listing, type Sent } from '../platform/crons.ts'
import { readParquet } from './read-parquet.ts'

/** A file as lists show it. */
export interface ListedFile {
  readonly id: string
  readonly resource: string
  readonly month: string | null
  readonly part: number
  readonly records: number
  readonly bytes: number
  readonly sha256: string
  readonly sums: Record<string, string>
  readonly written_at: string
}

/** Has an account exported. */
export const turnOn = (account: string, exports = 'without_personal_data') =>
  askAdmin(`accounts/${account}`, 'PATCH', { exports })

/** Runs the export of an account to its end. Returns the number of messages that it took. */
export async function runExport(
  account: string,
  job: Partial<ExportJob> = {},
  world: Env = env as Env,
): Promise<number> {
  const sent: Sent[] = []
  const platform = overriding(world, { ACCOUNT_JOBS: listing(sent) })
  let next: Sent['body'] | undefined = { job: 'export', account, at: Date.now(), ...job }
  let messages = 0
  for (; next; next = sent.shift()?.body) {
    messages += 1
    if (messages > 200) throw new Error(`The export does not end: ${JSON.stringify(next)}`)
    expect(await deliverJob(next, platform)).toBe(false)
  }
  return messages
}

/** Lists the files of an account, as the team does. */
export async function filesOf(account: string, query = ''): Promise<ListedFile[]> {
  return (await json(askAdmin(`accounts/${account}/exports?per_page=500${query}`))).data
}

/** Downloads a file. */
export async function download(account: string, id: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await askAdmin(`accounts/${account}/exports/${id}`)
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

/** A row of a file, by the names of its columns. */
export type ExportedRow = Record<string, ParquetValue>

/** Reads all rows of a resource, in the order of months and parts. */
export async function rowsOf(
  account: string,
  vertical: string,
  resource: string,
  withPersonalData = false,
): Promise<ExportedRow[]> {
  const dataset = datasetsOf(vertical, resourcesOf(vertical)).find(({ name }) => name === resource)
  const columns = dataset?.columns(withPersonalData) ?? []
  const rows: ExportedRow[] = []
  for (const { id } of await filesOf(account, `&resource=${resource}`)) {
    const found = await readParquet(await download(account, id), columns)
    rows.push(
      ...found.map((row) =>
        Object.fromEntries(columns.map(({ name }, i) => [name, row[i] ?? null])),
      ),
    )
  }
  return rows
}

/** Returns a number or a decimal as exports have it: without zeros at the end. */
export const decimal = (value: string | number | null | undefined): string | null =>
  (value ?? null) === null ? null : plainText(fromFact(decimalUnits(value as string | number)))

/** Returns a day or an instant as exports have it: as a number. */
export const dayOf = (text: string | null | undefined) =>
  text ? Date.parse(`${text}T00:00:00Z`) / 86_400_000 : null
export const timeOf = (text: string | null | undefined) => (text ? Date.parse(text) : null)
