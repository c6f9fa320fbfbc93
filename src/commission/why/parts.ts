import { ApiError } from '../../platform/errors.ts'
import { dayText, parsePeriod } from '../engine/calendar.ts'
import type { PeriodContext } from '../engine/context.ts'
import { add, compare, type Decimal, decimal, plainText, sum, ZERO } from '../engine/decimal.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import { asOf, type EvaluatedCustomer } from '../engine/evaluate.ts'
import { compareText, type Fact } from '../engine/facts.ts'
import type { LineJson } from '../engine/line-json.ts'
import { instantText, triggerStep } from '../engine/once-steps.ts'
import type { Version } from '../engine/plans-in-force.ts'
import type { CompiledRule } from '../engine/rules.ts'
import { type PeriodTallies, reduceCustomer, type Sums, sumsFor } from '../engine/tally.ts'
import { sumTexts } from '../engine/unearned.ts'
import { uplineRules } from '../engine/uplines.ts'
import { readClosingsOf } from '../statements/books.ts'
import { type Computation, openComputation, viewOf } from '../statements/compute.ts'
import { readStored } from '../statements/on-request.ts'
import type { LinePart, LineRecord } from './answers.ts'
import type { FoundItem, LineReader } from './explain.ts'
import { onceQueries, periodQueries, recordQueries } from './record-queries.ts'
import type { Step, StepOf } from './steps.ts'
import { type CustomerFilter, evaluatedCustomers } from './unearned.ts'

// The customers and records behind a line. They are read as they are now, so they may say more or less than the
// line, which stands as it was settled.

/** A line whose records are read. */
interface OpenedLine {
  /** With the rates that apply to the line's period. */
  readonly computation: Computation
  readonly context: PeriodContext
  readonly affiliate: string
  readonly rule: CompiledRule
  readonly version: Version
  readonly line: LineJson
  readonly steps: readonly Step[]
}

const NO_LINE = 'This adjustment has no records: its line is none now.'

/**
 * Prepares the reading of a line's records; for the id of an adjustment, those of the line that it corrects.
 *
 * @throws ApiError `not_found`
 */
export async function openLine(
  reader: LineReader,
  { item, steps, affiliate_id: affiliate, plan, ...found }: FoundItem,
): Promise<OpenedLine> {
  const line = 'of' in item ? steps?.line : item
  const period = parsePeriod('of' in item ? item.of.period : found.period)
  if (!line || !period) throw new ApiError('not_found', { detail: NO_LINE })
  const { source, beginnings } = await readStored(reader.env, reader.grant, reader.session)
  const [opened, closingsOf] = await Promise.all([
    openComputation(source, period, beginnings),
    readClosingsOf(source, [affiliate]),
  ])
  const computation = await viewOf(opened, { closingsOf }, affiliate, plan)
  const versions = [...source.inForce.plans.values()].flatMap((one) => one.versions)
  const version = versions.find((one) => one.plan === plan && one.version === line.version)
  const rule = version?.rules.find((one) => one.id === line.rule)
  if (!version || !rule) throw new ApiError('not_found', { detail: NO_LINE })
  const context = { ...computation.context, period }
  return { computation, context, affiliate, rule, version, line, steps: steps?.steps ?? [] }
}

/** Returns the customer, product or affiliate of a scope. */
const nameOf = (scope: string): string => scope.slice(scope.indexOf(':') + 1)

const stepIn = <N extends Step['step']>(steps: readonly Step[], name: N): StepOf<N> | undefined =>
  steps.find((one): one is StepOf<N> => one.step === name)

/** Returns a function that returns what a customer adds to a line; null: nothing. */
function reducer({ context, affiliate, rule, line }: OpenedLine) {
  const rulesOf = uplineRules(context)
  const name = nameOf(line.scope)
  return (evaluated: EvaluatedCustomer): Sums | null => {
    const tallies: PeriodTallies = new Map()
    reduceCustomer(context, tallies, asOf(evaluated, context.period.last), rulesOf)
    const own = tallies.get(affiliate)
    const tally =
      rule.kind === 'override' ? own?.overrides.get(rule)?.get(name) : own?.ownRules.get(rule)
    const sums = tally && sumsFor(tally, name)
    return sums && sums.facts > 0 ? sums : null
  }
}

/** Returns whose facts a line counts. */
function customersOf({ rule, line, affiliate }: OpenedLine): CustomerFilter {
  if (rule.kind === 'override') return { affiliate_id: nameOf(line.scope) }
  return line.scope.startsWith('customer:')
    ? { customer_id: nameOf(line.scope) }
    : { affiliate_id: affiliate }
}

/** What customers add to a line, by customer, and whether it is other than what the line counted. */
interface LineParts {
  readonly parts: readonly LinePart[]
  readonly changed: boolean
}

/** Returns what each customer adds to a line now. A line that counts other lines has no customers. */
export async function listParts(opened: OpenedLine): Promise<LineParts> {
  const { line, steps, computation, context, rule } = opened
  if (rule.kind === 'once') return oncePart(opened)
  const base = stepIn(steps, 'base')
  const units = stepIn(steps, 'units')
  if (stepIn(steps, 'sources') || !(base || units)) return { parts: [], changed: false }
  const reduce = reducer(opened)
  const found: { customer_id: string; sums: Sums }[] = []
  const queries = periodQueries(computation, context.period)
  for await (const evaluated of evaluatedCustomers(computation, customersOf(opened), queries)) {
    const sums = reduce(evaluated)
    if (sums) found.push({ customer_id: evaluated.customer.customer_id, sums })
  }
  const counted = base ?? units
  const isFewer =
    counted?.customers !== found.length ||
    counted.records !== found.reduce((all, { sums }) => all + sums.facts, 0)
  const isOther = base
    ? compare(add(sum(found.map(({ sums }) => sums.base)), fixedOf(opened)), decimal(base.base)) !==
      0
    : compare(sum(found.map(({ sums }) => sums.units)), unitsOf(steps)) !== 0
  return {
    changed: isFewer || isOther,
    parts: found
      .map(({ customer_id, sums }) => ({
        customer_id,
        records: sums.facts,
        base: line.base === null ? null : plainText(sums.base),
        units: line.units === null ? null : plainText(sums.units),
      }))
      .sort((a, b) => compareText(a.customer_id, b.customer_id)),
  }
}

/** Returns what the base of a line has besides its facts. */
function fixedOf({ rule, line }: OpenedLine): Decimal {
  if (rule.kind === 'override') return 'base' in rule.of ? rule.of.base.fixed : ZERO
  return rule.kind === 'share' && line.scope === 'affiliate' ? rule.base.fixed : ZERO
}

/** Returns the units that a line counted, before a floor. */
const unitsOf = (steps: readonly Step[]): Decimal =>
  decimal(stepIn(steps, 'floor')?.before ?? stepIn(steps, 'units')?.units ?? '0')

/** Evaluates the customer of a `once` line. */
async function qualificationNow({ computation, context, rule, line }: OpenedLine) {
  const customer_id = nameOf(line.scope)
  const queries = onceQueries(computation)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    return asOf(evaluated, context.period.last).qualified.get(rule.id) ?? null
  }
  return null
}

/** Returns the part of a `once` line: its customer. */
async function oncePart(opened: OpenedLine): Promise<LineParts> {
  const { line, steps, context } = opened
  const now = await qualificationNow(opened)
  const written = (of: readonly (Step | null | undefined)[]): string =>
    JSON.stringify(
      of.map((step) =>
        step?.step === 'qualification'
          ? { ...step, conditions: step.conditions.map((one) => ({ ...one, records: [] })) }
          : step,
      ),
    )
  const before = written([stepIn(steps, 'trigger'), stepIn(steps, 'qualification')])
  const changed = now === null || written([triggerStep(context, now), now.evidence()]) !== before
  const { base, units } = line
  const records = now?.used.size ?? 0
  return { parts: [{ customer_id: nameOf(line.scope), records, base, units }], changed }
}

/** Returns the records of a customer that a line counts, in order of time. */
export async function recordsOf(
  { computation, context, affiliate, rule, version, line }: OpenedLine,
  customer_id: string,
): Promise<LineRecord[]> {
  const isOfLine = (one: Earning): boolean =>
    one.affiliate_id === affiliate &&
    one.plan === version.plan &&
    one.version === version.version &&
    one.rule === rule.id &&
    one.period === context.period.id &&
    one.scope === line.scope
  const records: LineRecord[] = []
  const queries = recordQueries(computation, context.period)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const known = asOf(evaluated, context.period.last)
    for (const fact of known.customer.facts) {
      const earning = earningsOf(context, known, fact).find(isOfLine)
      if (earning) records.push(presentRecord(fact, earning))
    }
  }
  return records
}

const presentRecord = (fact: Fact, { base, units }: Earning): LineRecord => ({
  resource: fact.resource,
  id: fact.id,
  day: dayText(fact.day),
  at: instantText(fact),
  type: fact.kind === '' ? null : fact.kind,
  currency: fact.currency,
  amounts: sumTexts(new Map(fact.amounts)),
  base,
  units,
  delivery_id: fact.delivery_id ?? null,
})
