import { type CustomersCursor, findCustomersOf } from '../../db/commission/customers-of.ts'
import { endKeeping } from '../../db/commission/kept-days.ts'
import { beginStep, endStep, storeSteps } from '../../db/commission/run-steps.ts'
import {
  affiliatesToSettle,
  beginReading,
  endRun,
  findRun,
  lastDraftPeriod,
} from '../../db/commission/runs.ts'
import { countUnchanged } from '../../db/commission/unchanged-customers.ts'
import { resolveDatabase } from '../../db/database.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import type { Account } from '../../db/schema.ts'
import { ulid, ulidPrefix } from '../../db/ulid.ts'
import { insertReady } from '../../db/webhooks/causes.ts'
import { DAY_MS } from '../../durations.ts'
import { endOf } from '../books/period-end.ts'
import { dayText, type Period, parsePeriod } from '../engine/calendar.ts'
import { compareText } from '../engine/facts.ts'
import { keepFacts } from '../facts/keep-facts.ts'
import { openSource } from '../facts/source.ts'
import type { Computation } from './computation.ts'
import { openComputation } from './compute.ts'
import type { Dependencies } from './dependencies.ts'
import { STEP_LIMITS } from './limits.ts'
import { refreshDrafts } from './store.ts'

/** A run over the affiliates of an account, as its Workflow knows it. */
export interface RunParameters {
  readonly account: string
  readonly run: string
  readonly period: string
}

const PREFIX = 'run_'

/** How long runs are kept, in milliseconds. */
const KEPT_MS = 30 * DAY_MS

/** Returns a new id of a run. */
export const newRunId = (now: number): string => PREFIX + ulid(now)

/** Returns the first id that a run of this millisecond can have. */
export const firstRunId = (now: number): string => PREFIX + ulidPrefix(now)

async function findRunAccount(
  env: Env,
  { account: id, period: text }: RunParameters,
): Promise<{ account: Account; period: Period; db: D1Database }> {
  const account = await findAccount(env.DB, id)
  const period = parsePeriod(text)
  if (!account || !period) throw new Error('The account or the period of the run does not exist.')
  return { account, period, db: resolveDatabase(env, account.binding) }
}

/**
 * Prepares the computation of a run. It goes on to the last period of its kind with a draft, so that no
 * draft stays that the records no longer support (§16.32).
 */
async function openRun(
  env: Env,
  account: Account,
  period: Period,
  run: string,
): Promise<Computation> {
  const source = await openSource(env, account)
  const drafted = parsePeriod((await lastDraftPeriod(source.db, account.id, period.id)) ?? '')
  const last = drafted !== null && drafted.last > period.last ? drafted : period
  return openComputation(source, last, run)
}

/**
 * Plans and stores the steps of a run, and returns their number. If it is called again, it returns the
 * number of the stored steps. Returns 0 for a run that has ended or was deleted.
 */
export async function beginRun(env: Env, parameters: RunParameters, now: number): Promise<number> {
  const { account, period, db } = await findRunAccount(env, parameters)
  const { run: id } = parameters
  await beginReading(db, { account: account.id, id, active_at: new Date(now).toISOString() })
  const stored = await findRun(db, account.id, id)
  if (stored?.status !== 'running') return 0
  if (stored.steps !== null) return stored.steps
  const computation = await openRun(env, account, period, id)
  await keepFacts(computation.source, computation.range, { run: id, now })
  const steps = await planSteps(computation)
  return storeSteps(db, account.id, id, steps)
}

/** Makes one step of a run, and returns the number of statements that the step changed. */
export async function makeStep(
  env: Env,
  parameters: RunParameters,
  step: number,
  now: number,
): Promise<number> {
  const { account, period, db } = await findRunAccount(env, parameters)
  const stored = { account: account.id, id: parameters.run, step }
  const found = await beginStep(db, stored, new Date(now).toISOString())
  if (!found) return 0
  if (found.changed !== null) return found.changed
  const computation = await openRun(env, account, period, parameters.run)
  await refreshDrafts(computation, found.affiliates, stored, now)
  return endStep(db, stored)
}

/**
 * Returns the statement that writes `statement.ready` if the period is over; a run that fails
 * writes none.
 */
function readyEvents(db: D1Database, account: Account, run: string, text: string) {
  const period = parsePeriod(text)
  if (!period) return []
  const periodEnd = endOf(account, period)
  return [insertReady(db, { account: account.id, run, period: text, periodEnd })]
}

/** Ends a run that is done, and deletes the account's runs that began more than 30 days ago. */
export const finishRun = (env: Env, parameters: RunParameters, now: number): Promise<void> =>
  end(env, parameters, { status: 'done', reason: null }, now)

/**
 * Ends a run that failed, and deletes runs like `finishRun`. The response of the run shows the
 * reason.
 */
export function failRun(
  env: Env,
  parameters: RunParameters,
  reason: string,
  now: number,
): Promise<void> {
  const { account, run } = parameters
  console.error(JSON.stringify({ failed_run: run, account, reason }))
  return end(env, parameters, { status: 'failed', reason }, now)
}

async function end(
  env: Env,
  { account: name, run: id, period }: RunParameters,
  outcome: { status: 'done' | 'failed'; reason: string | null },
  now: number,
): Promise<void> {
  const account = await findAccount(env.DB, name)
  if (!account) return
  const before = firstRunId(now - KEPT_MS)
  const ended_at = new Date(now).toISOString()
  const db = resolveDatabase(env, account.binding)
  if (outcome.status === 'done') await endKeeping(db, account.id, id)
  const ready = readyEvents(db, account, id, period)
  await endRun(db, { account: account.id, id, ...outcome, ended_at, before }, ready)
}

/**
 * Divides the affiliates of an account into steps, so that those with the same customers share a
 * step.
 */
export async function planSteps(computation: Computation): Promise<string[][]> {
  const { source, range, dependenciesOf } = computation
  const { db, account, inForce, parents } = source
  const configured = new Set(parents.map(({ affiliate_id }) => affiliate_id))
  const assigned = [...configured].filter((one) => inForce.assignmentsOf(one).length > 0)
  const stored = await affiliatesToSettle(db, account.id, range.period.id)
  const affiliates = [...new Set([...assigned, ...stored])]
  if (affiliates.length === 0) return []
  const counts = await countCustomers(computation)
  return divide(orderByTree(computation, affiliates), dependenciesOf, counts)
}

/** Returns the number of customers that each affiliate has or had. */
async function countCustomers({ source, range }: Computation): Promise<Map<string, number>> {
  const counts = await countUnchanged(source, source.account.id)
  const query = {
    account: source.account.id,
    affiliates: null,
    from: '0000-01-01',
    to: dayText(range.lastDay),
  }
  for (let cursor: CustomersCursor = { phase: 'changed', customer_id: '' }; ; ) {
    const { customers, next } = await findCustomersOf(source, query, cursor)
    for (const { affiliations } of customers) {
      for (const affiliate of new Set(affiliations.map(({ affiliate_id }) => affiliate_id))) {
        if (affiliate !== null) counts.set(affiliate, (counts.get(affiliate) ?? 0) + 1)
      }
    }
    if (next === null) return counts
    cursor = next
  }
}

/** Orders affiliates so that those with the same uplines follow each other. */
function orderByTree({ context, range }: Computation, affiliates: readonly string[]): string[] {
  const paths = affiliates.map((affiliate) => {
    const uplines = context.tree.uplines(affiliate, range.period.last)
    return { affiliate, path: [...uplines.toReversed(), affiliate] }
  })
  return paths.sort((a, b) => comparePaths(a.path, b.path)).map(({ affiliate }) => affiliate)
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (const [i, name] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    if (other !== name) return compareText(name, other)
  }
  return a.length - b.length
}

/** Fills one step after the other, each within `STEP_LIMITS`. A customer counts once in a step. */
function divide(
  affiliates: readonly string[],
  dependenciesOf: (affiliate: string) => Dependencies,
  counts: ReadonlyMap<string, number>,
): string[][] {
  const steps: string[][] = []
  let read = new Set<string>()
  let customers = 0
  for (const affiliate of affiliates) {
    const { read: needed } = dependenciesOf(affiliate)
    const added = (to: ReadonlySet<string>) =>
      [...needed].reduce((sum, one) => (to.has(one) ? sum : sum + (counts.get(one) ?? 0)), 0)
    const more = added(read)
    const step = steps.at(-1)
    const fits =
      customers + more <= STEP_LIMITS.customers && (step?.length ?? 0) < STEP_LIMITS.affiliates
    if (step && fits) {
      step.push(affiliate)
      customers += more
    } else {
      steps.push([affiliate])
      read = new Set()
      customers = added(read)
    }
    for (const one of needed) read.add(one)
  }
  return steps
}
