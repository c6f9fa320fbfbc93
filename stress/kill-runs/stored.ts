import { ACCOUNT } from '../../bench/commissions/fill.ts'
import { PERIOD } from '../../bench/commissions/plans.ts'
import { ADMIN_KEY, adminOf } from '../../bench/cost/parties.ts'
import { expectOk } from '../../bench/http.ts'
import type { RunService } from './service.ts'

/** A row of a statement, or of a part of its lines. */
export type Row = Readonly<Record<string, unknown>>

/** A run as the service shows it. */
export interface ShownRun {
  readonly id: string
  readonly status: string
  readonly steps: number | null
  readonly steps_done: number
  readonly changed: number | null
}

/** Returns what is stored of statements, in order. */
export async function readStored({ database }: RunService): Promise<Row[]> {
  const [statements, lines] = await database.batch<Row>([
    database.prepare('select * from statements order by account, id'),
    database.prepare('select * from statement_lines order by account, id, part'),
  ])
  return [...(statements?.results ?? []), ...(lines?.results ?? [])]
}

/** Deletes what runs have stored. */
export async function deleteStored({ database }: RunService): Promise<void> {
  const tables = ['statements', 'statement_lines', 'statement_runs', 'statement_run_steps']
  await database.batch(tables.map((table) => database.prepare(`delete from ${table}`)))
}

/** Returns rows as texts, without the times of their computation. */
export const contentOf = (rows: readonly Row[]): string[] =>
  rows.map(({ read_at: _read, computed_at: _computed, ...row }) => JSON.stringify(row))

/** Starts a run of the period. Returns its id. */
export async function startRun(service: RunService): Promise<string> {
  const path = `accounts/${ACCOUNT}/periods/${PERIOD}/run`
  return (await adminOf(service)('POST', path, {})).id
}

/** Reads a run. */
export async function showRun({ url }: RunService, id: string): Promise<ShownRun> {
  const at = new URL(`/admin/v1/accounts/${ACCOUNT}/runs/${id}`, url)
  return JSON.parse(await expectOk(at, { headers: { Authorization: `Bearer ${ADMIN_KEY}` } }))
}

/** Waits until a run has ended, at most a minute. */
export async function waitForEnd(service: RunService, id: string): Promise<ShownRun> {
  for (let i = 0; ; i++) {
    const run = await showRun(service, id)
    if (run.status !== 'running' || i === 1200) return run
    await new Promise((done) => setTimeout(done, 50))
  }
}
