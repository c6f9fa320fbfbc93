import { type Contestant, PHASES, type Phase, startContestants } from './contestants.ts'
import { type Chapter, format, formatRatios, median } from './print.ts'
import { type Bulk, newBulks, PER_BULK, withStatus } from './records.ts'

/** How much is measured. */
export interface Scale {
  readonly rounds: number
  /** Rounds of bulks and single records before them, which are not counted. */
  readonly warmUps: number
  /** Requests of each phase and round, of bulks and of single records. */
  readonly bulks: number
  readonly singles: number
  /** Transactions and rows of activity of the month that a statement run computes. */
  readonly facts: number
  /** Records of each kind whose rows are counted. */
  readonly records: number
}

/** The times of each request in milliseconds, and their CPU time. */
interface Timing {
  readonly times: number[]
  cpuMs: number
}

type Timings = Record<Phase, Timing>

/** Measures bulks of 1000 records. */
export const bulk = (folder: string, scale: Scale): Promise<Chapter> =>
  compete(folder, newBulks(scale.bulks, PER_BULK), scale)

/** Measures requests with one record. */
export const single = (folder: string, scale: Scale): Promise<Chapter> =>
  compete(folder, newBulks(scale.singles, 1), scale)

/** Lets the service and its peers store the same bulks in turn, so that other load affects them alike. */
async function compete(
  folder: string,
  bulks: readonly Bulk[],
  { rounds, warmUps }: Scale,
): Promise<Chapter> {
  const contestants = await startContestants(folder)
  try {
    const results = new Map(contestants.map(({ name }) => [name, untimed()]))
    for (let round = 0; round < warmUps + rounds; round++) {
      const first = round % contestants.length
      const order = [...contestants.slice(first), ...contestants.slice(0, first)]
      await runRound(order, bulks, round < warmUps ? new Map() : results)
    }
    return chapterOf(results, bulks[0]!.records.length, rounds * bulks.length)
  } finally {
    for (const { end } of contestants) await end()
  }
}

const untimed = (): Timings => ({
  insert: { times: [], cpuMs: 0 },
  update: { times: [], cpuMs: 0 },
  replay: { times: [], cpuMs: 0 },
})

async function runRound(
  order: readonly Contestant[],
  bulks: readonly Bulk[],
  results: ReadonlyMap<string, Timings>,
): Promise<void> {
  for (const contestant of order) await contestant.renew()
  const approved = withStatus('approved', bulks)
  // The replay repeats the update.
  const sent = { insert: bulks, update: approved, replay: approved }
  for (const phase of PHASES) {
    for (const one of sent[phase]) {
      for (const contestant of order) {
        await time(contestant, phase, one, results.get(contestant.name)?.[phase])
      }
    }
  }
  const records = bulks.length * bulks[0]!.records.length
  for (const { name, stored } of order) {
    const n = await stored('approved')
    if (n !== records) throw new Error(`${name} has stored ${n} records.`)
  }
}

async function time(
  { store, cpu }: Contestant,
  phase: Phase,
  one: Bulk,
  timing: Timing = { times: [], cpuMs: 0 },
): Promise<void> {
  const cpuBefore = cpu() ?? Number.NaN
  const started = performance.now()
  await store(one, phase)
  timing.times.push(performance.now() - started)
  timing.cpuMs += (cpu() ?? Number.NaN) - cpuBefore
}

function chapterOf(results: ReadonlyMap<string, Timings>, size: number, requests: number): Chapter {
  const [[, ours], ...peers] = [...results] as [[string, Timings], ...[string, Timings][]]
  const row = (name: string, cell: (phase: Phase) => string) => [name, ...PHASES.map(cell)]
  const what = size === 1 ? 'Single records' : `Bulks of ${size} records`
  return {
    title: what,
    notes: `Speed of Tributary ÷ speed of a peer, request by request: the median of ${requests}, and the middle half. Above 1, Tributary is faster. All take turns, and each starts a round with an empty store. Tributary authenticates, validates, checks references and logs; the bare Worker checks nothing, the other peers validate.`,
    tables: [
      [
        ['Tributary ÷ peer', ...PHASES],
        ...peers.map(([name, theirs]) =>
          row(name, (phase) =>
            formatRatios(ours[phase].times.map((ms, i) => theirs[phase].times[i]! / ms)),
          ),
        ),
      ],
      [
        ['records/s, on this machine', ...PHASES],
        ...[...results].map(([name, timings]) =>
          row(name, (phase) => format((size * 1000) / median(timings[phase].times))),
        ),
      ],
      [
        ['CPU-ms a request', ...PHASES],
        ...[...results].map(([name, timings]) =>
          row(name, (phase) => format(timings[phase].cpuMs / requests, 1)),
        ),
      ],
    ],
  }
}
