import { endingWithin, type Period } from './calendar.ts'
import { convertAmount } from './convert.ts'
import { add, type Decimal, integer, plainText, ZERO } from './decimal.ts'
import { usedRates } from './explain-base.ts'
import type { ExplainContext, ExplainedLine } from './explain-input.ts'
import { isFunded } from './explain-plan.ts'
import type { FundedStep, SourceLines, SourcesStep } from './explanation-facts.ts'
import type { Line } from './line.ts'
import { scopeName } from './line-facts.ts'
import type { CompiledOverride } from './rules.ts'

/** A line of another statement that a line is made from. */
export interface SourceLine {
  readonly line: Line
  readonly plan: string
  readonly period: Period
  /** All lines of its statement. */
  readonly statement: readonly Line[]
}

/** Returns the lines of an affiliate in statements whose period ends within the context's. */
function linesOf({ settlement, period }: ExplainContext, affiliate: string): SourceLine[] {
  return endingWithin(period).flatMap((one) =>
    settlement
      .settle(one)
      .filter((result) => result.affiliate === affiliate)
      .flatMap(({ plan, lines: statement }) =>
        statement.map((line) => ({ line, plan: plan.plan, period: one, statement })),
      ),
  )
}

/** Whether an override over lines pays for a line. */
function isSource({ of }: CompiledOverride, { rule, beyondCount }: Line): boolean {
  if ('lines' in of) return of.lines.has(rule.kind)
  return 'once' in of && rule.kind === 'once' && rule.id === of.once && !beyondCount
}

const usedLines = (context: ExplainContext, line: Line, rule: CompiledOverride): SourceLine[] =>
  linesOf(context, scopeName(line.scope)).filter((one) => isSource(rule, one.line))

/**
 * Returns the lines of other statements that a line is made from, with their affiliate; null if it is
 * made from facts.
 */
export function sourceLines(
  context: ExplainContext,
  explained: ExplainedLine,
): { affiliate: string; lines: SourceLine[] } | null {
  const { line } = explained
  const { rule } = line
  if (rule.kind !== 'override') return null
  const affiliate = scopeName(line.scope)
  if (isFunded(line)) {
    const paid = paidLine(context, explained)
    return { affiliate, lines: paid ? [paid] : [] }
  }
  if ('lines' in rule.of || 'once' in rule.of) {
    return { affiliate, lines: usedLines(context, line, rule) }
  }
  return null
}

/** Returns the lines below that an override pays for, and what they sum to before a floor. */
export function sourcesStep(
  context: ExplainContext,
  line: Line,
  rule: CompiledOverride,
): { step: SourcesStep; sum: Decimal } {
  const below = scopeName(line.scope)
  const used = usedLines(context, line, rule)
  const { rates, period } = context
  const { currency: to } = line.version
  const isCount = 'once' in rule.of
  let sum: Decimal = isCount ? integer(used.length) : ZERO
  const groups = isCount ? new Map() : byCurrency(used)
  const conversions = [...groups].map(([currency, amount]) => {
    const converted = convertAmount(amount, currency, to, period.last, rates)
    if (typeof converted !== 'string') sum = add(sum, converted)
    return {
      currency,
      amount: plainText(amount),
      rates: usedRates(context, currency, to, period.last),
      converted: typeof converted === 'string' ? null : plainText(converted),
      reason: typeof converted === 'string' ? converted : null,
    }
  })
  const step: SourcesStep = {
    step: 'sources',
    affiliate_id: below,
    sources: groupLines(used),
    conversions,
    sum: plainText(sum),
  }
  return { step, sum }
}

function byCurrency(used: readonly SourceLine[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>()
  for (const { line } of used) {
    const { currency } = line.version
    sums.set(currency, add(sums.get(currency) ?? ZERO, line.amount))
  }
  return sums
}

/** Adds up lines by statement, rule and version. */
function groupLines(used: readonly SourceLine[]): SourceLines[] {
  const groups = Map.groupBy(used, ({ plan, period, line }) =>
    JSON.stringify([plan, period.id, line.rule.id, line.version.version]),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { plan, period, line } = first
    return [
      {
        plan,
        period: period.id,
        rule: line.rule.id,
        version: line.version.version,
        currency: line.version.currency,
        lines: group.length,
        amount: plainText(group.reduce((total, one) => add(total, one.line.amount), ZERO)),
      },
    ]
  })
}

/** Returns the upline's line that this line pays for; nothing if it is not found. */
export function fundedSteps(context: ExplainContext, explained: ExplainedLine): FundedStep[] {
  const { result, line } = explained
  const paid = paidLine(context, explained)
  if (paid === undefined) return []
  const { currency, plan } = paid.line.version
  const to = result.plan.first.currency
  const { last, id } = paid.period
  const converted = convertAmount(paid.line.amount, currency, to, last, context.rates)
  return [
    {
      step: 'funded',
      affiliate_id: scopeName(line.scope),
      plan,
      period: id,
      amount: plainText(paid.line.amount),
      currency,
      rates: usedRates(context, currency, to, last),
      converted: typeof converted === 'string' ? '0' : plainText(converted),
    },
  ]
}

function paidLine(
  context: ExplainContext,
  { result, line }: ExplainedLine,
): SourceLine | undefined {
  // A month's statement has one such line for each week of the upline, in order of the weeks.
  const twins = result.lines.filter((one) => isFunded(one) && isTwin(one, line))
  return paidLines(context, line, result.affiliate)[twins.indexOf(line)]
}

const isTwin = (a: Line, b: Line): boolean => a.rule === b.rule && a.scope === b.scope

/** Returns the override lines of the upline for this affiliate, by period. */
function paidLines(context: ExplainContext, line: Line, affiliate: string): SourceLine[] {
  return linesOf(context, scopeName(line.scope)).filter(
    (one) =>
      one.line.rule === line.rule && !isFunded(one.line) && scopeName(one.line.scope) === affiliate,
  )
}
