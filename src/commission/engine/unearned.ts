import { dayText, type Period } from './calendar.ts'
import { isTriggerKind } from './candidate.ts'
import type { Context } from './context.ts'
import { fromFact, plainText, ZERO } from './decimal.ts'
import { compareText, type Fact, type FactResource } from './facts.ts'
import type { Judgement, RuleVerdict } from './judge.ts'
import type { FactJudge } from './judge-uplines.ts'
import type { JudgedCustomer } from './judged.ts'
import { memoize } from './memoize.ts'
import type { OnceState } from './once.ts'
import { onceThrough } from './once-through.ts'
import type { Progress } from './qualify.ts'
import { rankOf, type Verdict } from './reasons.ts'

/** Why facts earn nothing: the reason, and the rule and the condition it comes from. */
export interface Cause {
  readonly reason: Verdict
  readonly plan: string | null
  readonly version: number | null
  readonly rule: string | null
  /** The condition, such as `not_countries`, `months` or `qualify/0`. */
  readonly condition: string | null
  /** What the sum or count of `qualify` has reached, and what it must reach, if it is a sum or count. */
  readonly reached?: string
  readonly min?: string
}

/** A fact of a period, what became of it, and what each rule that names it makes of it. */
export interface FactReport {
  readonly fact: Fact
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly state: Cause
  readonly rules: readonly Cause[]
}

/** Facts with the same cause: how many, and the sums of their amounts by currency. */
export interface UnearnedGroup extends Omit<Cause, 'reached' | 'min'> {
  readonly resource: FactResource
  readonly currency: string | null
  readonly count: number
  readonly sums: Readonly<Record<string, string>>
}

/** Reports the facts of a customer whose day lies in a period, judged as of its last day. */
export function reportFacts(
  context: Context,
  judge: FactJudge,
  judged: JudgedCustomer,
  { first, last }: Period,
): FactReport[] {
  const statesOn = memoize((day: number) => onceThrough(context, judged, day))
  return judged.customer.facts
    .filter(({ day }) => day >= first && day <= last)
    .map((fact) => reportFact(judged, judge(judged, fact), () => statesOn(last)))
}

function reportFact(
  judged: JudgedCustomer,
  judgement: Judgement,
  states: () => readonly OnceState[],
): FactReport {
  const { fact, owner, verdict, by, rules } = judgement
  const state = { reason: verdict, plan: null, version: null, rule: null, condition: null }
  return {
    fact,
    customer_id: judged.customer.customer_id,
    affiliate_id: owner.affiliate,
    state: by === null ? state : causeOf(fact, by, states),
    rules: rules.map((one) => causeOf(fact, one, states)),
  }
}

function causeOf(fact: Fact, by: RuleVerdict, states: () => readonly OnceState[]): Cause {
  const { verdict, rule, version } = by
  const state =
    verdict === 'not_qualified'
      ? states().find((one) => one.version === version && one.rule === rule)
      : undefined
  const condition = conditionOf(fact, by, state)
  const open = condition?.startsWith('qualify/') ? state?.progress.find(isOpen) : undefined
  return {
    reason: verdict,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    condition,
    ...(open?.min && { reached: plainText(open.reached ?? ZERO), min: plainText(open.min) }),
  }
}

const isOpen = (one: Progress) => one.status === 'open'

/** Names the condition that keeps a fact from being counted. */
function conditionOf(
  fact: Fact,
  { verdict, rule, condition }: RuleVerdict,
  state: OnceState | undefined,
): string | null {
  if (verdict === 'expired') return 'months'
  if (condition !== null || verdict !== 'not_qualified' || rule.kind !== 'once') return condition
  switch (state?.status) {
    case 'no_trigger':
      return isTriggerKind(rule, fact) && rule.min !== null ? 'min' : 'trigger'
    case 'reversed':
      return state.trigger?.state === 'reversed' ? 'reversed' : 'void_by'
    case 'blocked':
      return 'rate'
    case 'open':
      return `qualify/${state.progress.findIndex(isOpen)}`
    case 'qualified':
      return 'min'
    default:
      return state === undefined ? null : 'elsewhere'
  }
}

interface OpenGroup extends Omit<UnearnedGroup, 'count' | 'sums'> {
  count: number
  readonly sums: Map<string, bigint>
}

/** Groups of facts by cause and currency, while they are added up. */
export type Groups = Map<string, OpenGroup>

/** Adds a fact to its group. */
export function addToGroups(groups: Groups, cause: Cause, fact: Fact): void {
  const { resource, currency } = fact
  const { reason, plan, version, rule, condition } = cause
  const key = JSON.stringify([resource, reason, plan, version, rule, condition, currency])
  const group = groups.get(key) ?? {
    reason,
    plan,
    version,
    rule,
    condition,
    resource,
    currency,
    count: 0,
    sums: new Map(),
  }
  groups.set(key, group)
  group.count += fact.count
  for (const [field, units] of fact.amounts) {
    // The control totals sum a transaction's amount in its own currency only.
    if (field !== 'amount_usd') group.sums.set(field, (group.sums.get(field) ?? 0n) + units)
  }
}

/** Returns the groups in the order of the reasons, then by resource, plan, rule and currency. */
export function listGroups(groups: Groups): UnearnedGroup[] {
  return [...groups.values()]
    .sort(
      (a, b) =>
        rankOf(a.reason) - rankOf(b.reason) ||
        compareText(a.resource, b.resource) ||
        compareText(a.plan ?? '', b.plan ?? '') ||
        compareText(a.rule ?? '', b.rule ?? '') ||
        (a.version ?? 0) - (b.version ?? 0) ||
        compareText(a.condition ?? '', b.condition ?? '') ||
        compareText(a.currency ?? '', b.currency ?? ''),
    )
    .map(({ sums, ...group }) => ({ ...group, sums: sumTexts(sums) }))
}

const sumTexts = (sums: ReadonlyMap<string, bigint>): Record<string, string> =>
  Object.fromEntries(
    [...sums]
      .sort(([a], [b]) => compareText(a, b))
      .map(([field, units]) => [field, plainText(fromFact(units))]),
  )

/** A record that earned nothing, as it is listed. */
export interface UnearnedRecord extends Cause {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
  readonly affiliate_id: string | null
  readonly day: string
  readonly currency: string | null
  readonly amounts: Readonly<Record<string, string>>
  /** What each rule that names the record makes of it. */
  readonly rules: readonly Cause[]
}

/** Lists a record. */
export const unearnedRecord = ({
  fact,
  customer_id,
  affiliate_id,
  state,
  rules,
}: FactReport): UnearnedRecord => ({
  resource: fact.resource,
  id: fact.id,
  customer_id,
  affiliate_id,
  day: dayText(fact.day),
  ...state,
  currency: fact.currency,
  amounts: sumTexts(new Map(fact.amounts)),
  rules,
})
