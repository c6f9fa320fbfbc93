import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import type { Breakdown } from './breakdown.ts'
import type { Results } from './compete.ts'
import { PHASES, type Phase } from './contestants.ts'
import { median, midmean, perSecond, ratio, spread, type Timing, table } from './figures.ts'
import { PER_BULK } from './records.ts'

/** All that was measured. */
export interface Measured {
  results: Results
  /** An empty route, and one that authenticates and no more. */
  empty: Timing
  gate: Timing
  /** Milliseconds that the signature of a token takes. */
  verify: number
  parts: Record<Phase, Breakdown>
  rounds: number
  bulks: number
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const fine = (n: number) => n.toFixed(2)
const orNothing = (n: number, text: (n: number) => string) => (Number.isNaN(n) ? 'n/a' : text(n))

/** Prints it. */
export function report(measured: Measured) {
  const { results, empty, rounds, bulks } = measured
  const names = [...results.keys()]
  const cell = (name: string, phase: Phase, text: (timing: Timing) => string) =>
    text(results.get(name)![phase])
  const rows = (text: (timing: Timing) => string) =>
    names.map((name) => [name, ...PHASES.map((phase) => cell(name, phase, text))])
  const [us, ...others] = names

  console.log(`${machine()}
${rounds} rounds of ${bulks} bulks of ${PER_BULK} records a phase; medians, ± half the range of the rounds.
Ours: return=minimal, with authentication, checks, references and log. Others: none of them, but for Zod in the naive Worker.
`)
  const rate = (timing: Timing) =>
    `${whole.format(perSecond(timing, PER_BULK))} ±${(spread(timing) * 100).toFixed(0)} %`
  console.log(table([['records/s', ...PHASES], ...rows(rate)]))
  const requests = whole.format(perSecond(empty, 1))
  console.log(`empty route: ${requests} requests/s, ${cpu(empty)} CPU-ms each\n`)

  const ratios = others.map((name) => [
    `${us} / ${name}`,
    ...PHASES.map((phase) => {
      const { middle, least, most } = ratio(results.get(us!)![phase], results.get(name)![phase])
      return `${fine(middle)} (${fine(least)}–${fine(most)})`
    }),
  ])
  console.log(`${table([['ratio, bulk by bulk (the middle half)', ...PHASES], ...ratios])}\n`)
  console.log(`${table([['CPU-ms per 1000 records', ...PHASES], ...rows(cpu)])}\n`)
  console.log(spending(measured, us!))
}

const cpu = ({ cpuMs, requests }: Timing) => orNothing(cpuMs / requests, (ms) => ms.toFixed(1))

/** Where the time of one bulk goes. What is no part of ours is what the platform needs itself. */
function spending({ results, empty, gate, verify, parts }: Measured, us: string): string {
  const all = PHASES.map((phase) => median(results.get(us)![phase].rounds.flat()))
  const code = [...parts.insert.code.keys()]
  const sql = [...new Set(PHASES.flatMap((phase) => [...parts[phase].sql.keys()]))]
  const emptyMs = median(empty.rounds.flat())
  const authMs = median(gate.rounds.flat()) - emptyMs

  const times = (kind: 'code' | 'sql', name: string) =>
    PHASES.map((phase) => midmean(parts[phase][kind].get(name) ?? [0]))
  const codeRows = code.map((name) => times('code', name))
  const sqlRows = sql.map((name) => times('sql', name))
  const known = [PHASES.map(() => emptyMs), PHASES.map(() => authMs), ...codeRows, ...sqlRows]
  const rest = all.map((ms, i) => known.reduce((left, row) => left - row[i]!, ms))
  const row = (name: string, list: readonly number[]) => [name, ...list.map(fine)]
  const per = (pick: 'rowsRead' | 'rowsWritten') =>
    PHASES.map((phase) => parts[phase][pick] / parts[phase].records)
  return table([
    ['where a bulk of ours spends its ms', ...PHASES],
    row('an empty request', known[0]!),
    row(`token (${fine(verify)}) and its gate`, known[1]!),
    ...code.map((name, i) => row(`Node: ${name}`, codeRows[i]!)),
    ...sql.map((name, i) => row(`D1: ${name}`, sqlRows[i]!)),
    row('the rest: body and parameters in and out, commit', rest),
    row('all', all),
    row('rows read a record', per('rowsRead')),
    row('rows written a record', per('rowsWritten')),
  ])
}

function machine(): string {
  const { version } = JSON.parse(readFileSync('node_modules/workerd/package.json', 'utf8'))
  const { model = 'unknown processor' } = cpus()[0] ?? {}
  return `${cpus().length} × ${model.trim()}, Node ${process.version}, workerd ${version}`
}
