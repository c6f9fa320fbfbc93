import { digest } from '../auth/secret.ts'
import { dayNumber, parsePeriod } from '../commission/engine/calendar.ts'
import { type AccountBeginnings, beginningsOf } from '../commission/statements/days.ts'
import { type AccountSource, readSource, sourceOf } from '../commission/statements/source.ts'
import { datedTree } from '../commission/statements/tree.ts'
import { countUnchanged } from '../db/commission/customers-of.ts'
import { loadRates } from '../db/commission/rates.ts'
import { accountDatabase } from '../db/database.ts'
import { type PeriodSums, readContacts, readPeriodSums } from '../db/fraud/view.ts'
import type { Account } from '../db/schema.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { type RuleDays, reachOf, ruleDaysOf } from './rule-days.ts'
import { type RuleVersion, readStoredRules } from './stored-rules.ts'
import { firstPeriodDay } from './views.ts'

// What findings follow from beside the records: a change of it is noticed by its digest, so that an
// evaluation begins on the first day for which something else counts.

/** Digests by the first day for which the inputs count, and affiliates that were not configured. */
export interface Inputs {
  readonly days: Readonly<Record<string, string>>
  /** Affiliates with customers who were not configured: what they are paid changes when they are. */
  readonly unknown: readonly string[]
}

/** What an evaluation of an account is made from. Days are in days since 1970. */
export interface EvaluationSource {
  readonly source: AccountSource
  readonly beginnings: AccountBeginnings
  readonly versions: readonly RuleVersion[]
  /** The numbers of customers by affiliate. */
  readonly counts: ReadonlyMap<string, number>
  /** The first day that can be evaluated. */
  readonly first: number
  /** The last complete day. */
  readonly last: number
  readonly inputs: Inputs
}

/** The most affiliates that are not configured of which an evaluation takes note. */
const MOST_UNKNOWN = 5000

/** The digits of a digest that are kept. */
const DIGITS = 12

/** Something that counts from a day on; null: always. */
type Input = readonly [from: number | null, ...values: unknown[]]

/**
 * Reads what an evaluation of an account needs.
 *
 * @param last The last complete day.
 * @returns Null if no rule has begun.
 */
export async function openEvaluation(
  env: Env,
  account: Account,
  last: number,
): Promise<EvaluationSource | null> {
  const db = accountDatabase(env, account)
  const versions = await readStoredRules(db, account.id)
  const begin = versions.map(({ effective_from }) => dayNumber(effective_from))
  const first = Math.min(Number.POSITIVE_INFINITY, ...begin)
  if (first > last) return null
  const databases = { db, directory: env.DB }
  const [stored, beginnings, contacts] = await Promise.all([
    readSource(databases, account),
    beginningsOf({ db, account }),
    readContacts(db, account.id),
  ])
  const source = sourceOf(databases, account, stored)
  const counts = await countUnchanged(source, account.id)
  const rules = ruleDaysOf(versions, first, last)
  const [rates, sums] = await Promise.all([
    readRateInputs(source, beginnings, rules, first, last),
    readSumInputs(db, account.id, rules, first, last),
  ])
  const [plans, , definitions, statusMap] = stored
  const all: Input[] = [
    [null, account.book_zone, account.time_zone, account.amount_signs],
    [null, 'definitions', definitions],
    [null, 'statuses', statusMap],
    [null, 'contacts', contacts],
    ...versions.map((one): Input => [dayNumber(one.effective_from), 'rule', one]),
    ...plans.versions.map((one): Input => [firstOf(plans.versions, one), 'plan', one]),
    ...plans.assignments.map((one): Input => [dayNumber(one.from), 'assignment', one]),
    ...rates,
    ...sums,
  ]
  const tree = datedTree(source.parents)
  const unknown = [...counts.keys()].filter((one) => !tree.isConfigured(one)).sort()
  const days = await digestByDay(all, first, last)
  return {
    ...{ source, beginnings, versions, counts, first, last },
    inputs: { days, unknown: unknown.slice(0, MOST_UNKNOWN) },
  }
}

/** Returns the day from which a version of a plan counts; the first one also counts before. */
function firstOf<V extends { readonly plan: string; readonly effective_from: string }>(
  versions: readonly V[],
  one: V,
): number | null {
  const isFirst = versions.find(({ plan }) => plan === one.plan) === one
  return isFirst ? null : dayNumber(one.effective_from)
}

/** Returns the first day of the rates that views use. */
export const firstRateDay = (
  beginnings: Pick<AccountBeginnings, 'days'>,
  rules: readonly RuleDays[],
  first: number,
): number => {
  const reach = reachOf(rules)
  const all = Object.values(beginnings.days).flat()
  return all.reduce((least, day) => Math.min(least, day), firstPeriodDay(reach, first))
}

async function readRateInputs(
  { directory }: AccountSource,
  beginnings: AccountBeginnings,
  rules: readonly RuleDays[],
  first: number,
  last: number,
): Promise<Input[]> {
  const days = [{ first: firstRateDay(beginnings, rules, first), last }]
  const { rates } = await loadRates(directory, { currencies: null, days, at: null })
  return rates.map(({ currency, day, rate }) => [day, 'rate', currency, rate])
}

/** Returns what statements of periods that are over say, if a rule reads it. */
async function readSumInputs(
  db: D1Database,
  account: string,
  rules: readonly RuleDays[],
  first: number,
  last: number,
): Promise<Input[]> {
  const reach = reachOf(rules)
  if (!reach.periods) return []
  const sums: PeriodSums[] = await readPeriodSums(db, account)
  return sums.flatMap(({ period, statements }): Input[] => {
    const one = parsePeriod(period)
    if (!one || one.last > last || one.last < firstPeriodDay(reach, first)) return []
    return [[one.last, 'statements', period, statements]]
  })
}

/** Returns a digest for each day with inputs. Those that count before the first day count on it. */
async function digestByDay(
  inputs: readonly Input[],
  first: number,
  last: number,
): Promise<Record<string, string>> {
  const byDay = Map.groupBy(inputs, ([from]) => Math.max(first, from ?? first))
  const days = [...byDay].filter(([day]) => day <= last)
  const digests = await Promise.all(
    days.map(async ([day, own]) => {
      const texts = own.map((one) => canonicalJson(one)).sort()
      return [String(day), (await digest(texts.join('\n'))).slice(0, DIGITS)] as const
    }),
  )
  return Object.fromEntries(digests)
}

/**
 * Returns the first evaluated day for which other inputs count than before; Infinity if there is none.
 *
 * @param through The last day that was evaluated with the former inputs.
 */
export function firstChange(before: Inputs, now: EvaluationSource, through: number): number {
  const configured = datedTree(now.source.parents)
  if (before.unknown.some((one) => configured.isConfigured(one))) return now.first
  const days = new Set([...Object.keys(before.days), ...Object.keys(now.inputs.days)])
  const changed = [...days]
    .filter((day) => before.days[day] !== now.inputs.days[day])
    .map(Number)
    .filter((day) => day <= through)
  return Math.min(Number.POSITIVE_INFINITY, ...changed)
}
