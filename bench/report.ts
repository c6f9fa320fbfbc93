import type { Breakdown } from './breakdown.ts'
import {
  type Chapter,
  formatHundredths,
  formatInteger,
  formatTenths,
  type Table,
} from './chapter.ts'
import type { Results } from './compete.ts'
import { PHASES, type Phase } from './contestants.ts'
import { median, midmean, perSecond, type Ratio, ratio, spread, type Timing } from './figures.ts'
import { PER_BULK } from './records.ts'

/** All measurements. */
export interface Measured {
  results: Results
  /** An empty route, and one that only authenticates. */
  empty: Timing
  authentication: Timing
  /** The time to verify a token, in milliseconds. */
  verify: number
  parts: Record<Phase, Breakdown>
  rounds: number
  bulks: number
}

/** The speed of ours relative to another contestant, by phase. */
export interface PeerRatios {
  peer: string
  ratios: Record<Phase, Ratio>
}

/** Returns the chapter of bulks and the ratios for the picture. */
export function report(measured: Measured): Chapter & { peerRatios: PeerRatios[] } {
  const { results, empty, rounds, bulks } = measured
  const rows = (text: (timing: Timing) => string) =>
    [...results].map(([name, timings]) => [name, ...PHASES.map((phase) => text(timings[phase]))])
  const rate = (timing: Timing) =>
    `${formatInteger(perSecond(timing, PER_BULK))} ±${formatInteger(spread(timing) * 100)} %`
  const peerRatios = ratiosOf(results)
  return {
    title: `Bulks of ${PER_BULK} records`,
    notes: `${rounds} rounds of ${bulks} bulks in each phase. The contestants take turns, and each starts every round with an empty store. Medians, ± half the range of the rounds. Ours authenticates, validates, checks references and logs; it answers with \`return=minimal\` unless the row says otherwise. The peers validate each record, too; the bare platform and raw SQLite check nothing. None of them has authentication, checks references or logs deliveries. An empty route answers ${formatInteger(perSecond(empty, 1))} requests/s, at ${formatTenths(empty.cpuMs / empty.requests)} CPU-ms each.`,
    tables: [
      [['records/s', ...PHASES], ...rows(rate)],
      [
        ['ratio, bulk by bulk (the middle half)', ...PHASES],
        ...peerRatios.map((one) => ratioRow(one)),
        ...fullRow(results),
      ],
      [
        ['CPU-ms per 1000 records', ...PHASES],
        ...rows(({ cpuMs, requests }) => formatTenths(cpuMs / requests)),
      ],
      timeTable(measured),
    ],
    peerRatios,
  }
}

/** Compares the first contestant with each of the others. */
export function ratiosOf(results: Results): PeerRatios[] {
  const [[, us], ...others] = [...results] as [[string, Record<Phase, Timing>]]
  return (others as [string, Record<Phase, Timing>][]).map(([peer, them]) => ({
    peer,
    ratios: ratiosBetween(us, them),
  }))
}

const ratiosBetween = (one: Record<Phase, Timing>, other: Record<Phase, Timing>) => ({
  insert: ratio(one.insert, other.insert),
  update: ratio(one.update, other.update),
  replay: ratio(one.replay, other.replay),
})

/** Compares the full response with the peers, which give a short one. */
function fullRow(results: Results): string[][] {
  const us = 'ours, full answer'
  const peer = 'bare platform'
  const [one, other] = [results.get(us), results.get(peer)]
  return one && other ? [ratioRow({ peer, ratios: ratiosBetween(one, other) }, us)] : []
}

/** Formats a row of a table of ratios. */
export const ratioRow = ({ peer, ratios }: PeerRatios, us = 'ours'): string[] => [
  `${us} ÷ ${peer}`,
  ...PHASES.map((phase) => {
    const { middle, least, most } = ratios[phase]
    return `${formatHundredths(middle)} (${formatHundredths(least)}–${formatHundredths(most)})`
  }),
]

/** Tables of the time of one bulk. The rest of the total is the platform's. */
function timeTable({ results, empty, authentication, verify, parts }: Measured): Table {
  const [us] = results.values()
  const all = PHASES.map((phase) => median(us![phase].rounds.flat()))
  const code = [...parts.insert.code.keys()]
  const sql = [...new Set(PHASES.flatMap((phase) => [...parts[phase].sql.keys()]))]
  const emptyMs = median(empty.rounds.flat())
  const authMs = median(authentication.rounds.flat()) - emptyMs

  const times = (kind: 'code' | 'sql', name: string) =>
    PHASES.map((phase) => midmean(parts[phase][kind].get(name) ?? [0]))
  const codeRows = code.map((name) => times('code', name))
  const sqlRows = sql.map((name) => times('sql', name))
  const known = [PHASES.map(() => emptyMs), PHASES.map(() => authMs), ...codeRows, ...sqlRows]
  const rest = all.map((ms, i) => known.reduce((left, row) => left - row[i]!, ms))
  const row = (name: string, list: readonly number[]) => [name, ...list.map(formatHundredths)]
  const per = (pick: 'rowsRead' | 'rowsWritten') =>
    PHASES.map((phase) => parts[phase][pick] / parts[phase].records)
  return [
    ['milliseconds of one bulk by step, Tributary', ...PHASES],
    row('an empty request', known[0]!),
    row(`token (${formatHundredths(verify)}) and its gate`, known[1]!),
    ...code.map((name, i) => row(`Node: ${name}`, codeRows[i]!)),
    ...sql.map((name, i) => row(`D1: ${name}`, sqlRows[i]!)),
    row('the rest: body and parameters in and out, commit', rest),
    row('all', all),
    row('rows read a record', per('rowsRead')),
    row('rows written a record', per('rowsWritten')),
  ]
}
