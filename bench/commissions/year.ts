import { execute, type Running } from '../worker.ts'
import { addAccount, type Size, sizeOf } from './fill.ts'
import { type Limit, measureLimit } from './limit.ts'
import { FIRST_DAY, LAST_DAY } from './plans.ts'
import { type MeasuredRun, measureRun } from './runs.ts'

/** The account with records of 13 months, of which the last is open. */
const TIME = { account: 'commissions-year', firstDay: '2025-03-01', days: 396, months: 13 }

/** An account with the same customers, but only the records of the open month. */
const OPEN = { account: 'commissions-open', firstDay: FIRST_DAY, days: 31, months: 1 }

/** A past day of which records arrive late. */
const LATE_DAY = '2025-06-17'

/** What runs of a month cost an account that also has earlier months. */
export interface MeasuredYear {
  limit: Limit
  runs: [string, MeasuredRun][]
}

/**
 * Measures runs of an account whose records lie on 13 months. The last month counts as open: a record of
 * each of its days has changed since the first run kept the facts. An account without the earlier months
 * shows what the open month alone costs.
 */
export async function measureYear(
  running: Running,
  state: string,
  facts: number,
): Promise<MeasuredYear> {
  const size = sizeOf(facts, TIME)
  await addAccount(running, size)
  const limit = measureLimit(state, size.account)
  const runs: MeasuredYear['runs'] = []
  const measure = async (name: string) => {
    runs.push([name, await measureRun(running, size.account)])
  }
  await measure('13 months, the first run')
  await touchDays(running, size, FIRST_DAY, LAST_DAY)
  await measure('13 months, the run of a morning')
  await touchDays(running, size, LATE_DAY, LATE_DAY)
  await measure('13 months, after a late record')
  const open = sizeOf(facts / TIME.months, OPEN)
  await addAccount(running, open)
  await measureRun(running, open.account)
  await touchDays(running, open, FIRST_DAY, LAST_DAY)
  runs.push(['the open month alone, the run of a morning', await measureRun(running, open.account)])
  return { limit, runs }
}

/** Changes the records of some days, but nothing that they earn. */
const touchDays = (running: Running, { account }: Size, first: string, last: string) =>
  execute(running, [
    `update transactions set note = 'changed', revision = revision + 1 where account = '${account}'
     and day between unixepoch('${first}') / 86400 and unixepoch('${last}') / 86400`,
  ])
