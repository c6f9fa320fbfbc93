import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { DAY_MS } from '../../src/durations.ts'
import { adminOf } from '../cost/parties.ts'
import { median } from '../figures.ts'
import { expectOk } from '../http.ts'
import { execute, type Running } from '../worker.ts'
import { LAST_DAY } from './plans.ts'
import { CLOCK_PATH } from './replay.ts'
import { completeRun, type MeasuredRun, measureRun } from './runs.ts'

/** What the run of a morning costs without rules and with them, in pairs. */
export interface MeasuredReview {
  /** The pair with the median time. */
  readonly without: MeasuredRun
  readonly with: MeasuredRun
  /** The medians of the ratios of the pairs. */
  readonly ratio: number
  readonly cpuRatio: number
  readonly rules: number
}

type Rules = Readonly<Record<string, object>>

const RULES: Rules = JSON.parse(readFileSync('examples/fraud-rules/forex.json', 'utf8'))

/** The morning after the last day of the records. */
const MORNING = Date.parse(LAST_DAY) + DAY_MS + 3 * 3_600_000

/**
 * Measures runs of the morning after the last day, which is to be evaluated, with all rules of the vertical
 * and without any.
 */
export async function measureReview(
  running: Running,
  account: string,
  rounds: number,
): Promise<MeasuredReview> {
  await setClock(running, MORNING)
  const admin = adminOf(running)
  for (const [rule, terms] of Object.entries(RULES)) {
    await admin('PUT', `accounts/${account}/fraud-rules/${rule}`, {
      ...terms,
      effective_from: LAST_DAY,
    })
  }
  const reviewed = async (): Promise<{ steps: number; changed: number }> => {
    const run = await completeRun(running, account)
    await untilReviewed(running, account)
    return run
  }
  await reviewed()
  const withdraw = (at: string) =>
    execute(running, [
      `update fraud_rule_versions set withdrawn_at = ${at} where account = '${account}' and effective_from = '${LAST_DAY}'`,
    ])
  const changeLastDay = () =>
    execute(running, [
      `update fraud_progress set changed_from = through where account = '${account}'`,
    ])
  const pairs: (readonly [MeasuredRun, MeasuredRun])[] = []
  for (let round = 0; round < rounds; round++) {
    await withdraw(`'now'`)
    const without = await measureRun(running, account)
    await withdraw('null')
    await changeLastDay()
    pairs.push([without, await measureRun(running, account, reviewed)])
  }
  await setClock(running, null)
  const [pair] = pairs.toSorted(([, a], [, b]) => a.ms - b.ms).slice(Math.floor(rounds / 2))
  if (!pair) throw new Error('There were no rounds.')
  return {
    without: pair[0],
    with: pair[1],
    ratio: median(pairs.map(([a, b]) => b.ms / a.ms)),
    cpuRatio: median(pairs.map(([a, b]) => b.cpuMs / a.cpuMs)),
    rules: Object.keys(RULES).length,
  }
}

const setClock = (running: Running, now: number | null) =>
  expectOk(new URL(CLOCK_PATH, running.url), { method: 'PUT', body: JSON.stringify(now) })

const POLL_MS = 20
const PATIENCE_MS = 600_000

/** Waits until the rules are evaluated for all days: the run has ended before. */
async function untilReviewed({ database }: Running, account: string): Promise<void> {
  const sql = `select 1 from fraud_progress where account = ? and first is null and changed_from is null
    and through = unixepoch('${LAST_DAY}') / 86400`
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(POLL_MS)) {
    if (await database.prepare(sql).bind(account).first()) return
  }
  throw new Error('The rules were not evaluated.')
}
