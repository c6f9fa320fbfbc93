import { pointerStep } from '../../validation/pointer.ts'
import { quote } from '../../validation/quote.ts'
import { suggest } from '../../validation/suggest.ts'
import { currencyWarnings, type Warning } from '../../validation/warnings.ts'
import type { PlanTerms, Rule } from '../engine/plan.ts'
import { compareDecimals } from './decimals.ts'
import type { PlanNames } from './named-facts.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What the warnings of a plan depend on beside the plan. */
export interface WarningContext {
  vocabulary: Vocabulary
  /** The currencies that have ever had an exchange rate; null if this is not known. */
  ratedCurrencies: ReadonlySet<string> | null
  /** The ids of the `once` rules of the account's other plans. */
  onceIds: ReadonlySet<string>
}

/** Returns the warnings of a valid plan: what is allowed, and probably a mistake. */
export function warningsOf(plan: PlanTerms, names: PlanNames, context: WarningContext): Warning[] {
  return [
    ...currencyWarnings(plan.currency, '/currency'),
    ...warnOfRates(plan, context),
    ...plan.rules.flatMap((rule, i) => warnOfPercentages(rule, `/rules/${i}`)),
    ...warnOfEvents(names, context.vocabulary),
    ...warnOfConditions(names, context.vocabulary),
    ...warnOfRebates(plan),
    ...warnOfReferences(plan, context),
    ...warnOfAdvances(plan),
  ]
}

function warnOfRates({ currency }: PlanTerms, { ratedCurrencies }: WarningContext): Warning[] {
  if (currency === 'EUR' || !ratedCurrencies || ratedCurrencies.has(currency)) return []
  const message = `There are no exchange rates for ${quote(currency)}. Amounts in other currencies are not paid until rates are imported.`
  return [{ code: 'no_rates', pointer: '/currency', message }]
}

/** Warns of a percentage above 100 %: what it pays exceeds what it is computed from. */
function warnOfPercentages(rule: Rule, pointer: string): Warning[] {
  if (rule.kind === 'unit' || rule.allow_over_100) return []
  const percentages = [
    { at: `${pointer}/percent`, percent: rule.percent },
    ...(rule.tiers?.steps ?? []).map(({ percent }, i) => ({
      at: `${pointer}/tiers/steps/${i}/percent`,
      percent,
    })),
  ]
  return percentages.flatMap(({ at, percent }) => {
    if (percent === undefined || compareDecimals(percent, '100') <= 0) return []
    const message = `${quote(percent)} is more than 100 %. If that is meant, send \`"allow_over_100": true\` with the rule.`
    return [{ code: 'over_100', pointer: at, message }]
  })
}

function warnOfEvents({ facts }: PlanNames, { events }: Vocabulary): Warning[] {
  if (!events) return []
  return facts.flatMap(({ pointer, kind }): Warning[] => {
    if (!('event' in kind)) return []
    const { event, kpi = 'Value' } = kind
    const definition = events.find(({ eventname }) => eventname === event)
    if (!definition) {
      const names = events.map(({ eventname }) => eventname)
      const message = `The account has no definition of the event ${quote(event)}.`
      return [
        {
          code: 'unknown_event',
          pointer: `${pointer}/event`,
          message: message + hint(event, names),
        },
      ]
    }
    const kpis = [...definition.kpis, 'Value']
    if (kpis.includes(kpi)) return []
    const message = `The definition of the event ${quote(event)} has no KPI ${quote(kpi)}.`
    return [{ code: 'unknown_kpi', pointer: `${pointer}/kpi`, message: message + hint(kpi, kpis) }]
  })
}

function hint(name: string, names: readonly string[]): string {
  const closest = suggest(name, names)
  return closest ? ` Did you mean ${quote(closest)}?` : ''
}

function warnOfConditions({ conditions }: PlanNames, vocabulary: Vocabulary): Warning[] {
  return conditions.flatMap(({ pointer, conditions }) =>
    Object.keys(conditions)
      .filter((name) => !vocabulary.conditions.has(name.replace(/^not_/, '')))
      .map((name) => ({
        code: 'never_sent',
        pointer: pointer + pointerStep(name),
        message: `Accounts of this vertical send no field for ${quote(name)}: the value is always missing.`,
      })),
  )
}

/**
 * Warns of a plan that passes rebates on and pays for lots, too: the broker has computed the rebates
 * from the same trades. Rebates name no instrument, so each of them may overlap.
 */
function warnOfRebates({ rules }: PlanTerms): Warning[] {
  const passesOn = rules.find(
    (rule) =>
      rule.kind === 'share' &&
      rule.base.some(
        (term) =>
          'transactions' in term &&
          term.transactions.includes('ib_rebate') &&
          !term.times?.startsWith('-'),
      ),
  )
  if (!passesOn) return []
  return rules.flatMap((rule, i) => {
    if (rule.kind !== 'unit' || !('activity' in rule.unit)) return []
    const message = `The rule ${quote(passesOn.id)} passes on \`ib_rebate\`, which the broker computed from the same trades: they may be paid twice.`
    return [{ code: 'rebate_and_unit', pointer: `/rules/${i}/unit`, message }]
  })
}

/** Warns of an override for lines of a rule that no plan has. */
function warnOfReferences({ rules }: PlanTerms, { onceIds }: WarningContext): Warning[] {
  const own = rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : []))
  const ids = [...new Set([...own, ...onceIds])]
  return rules.flatMap((rule, i) => {
    if (rule.kind !== 'override' || !('once' in rule.of) || ids.includes(rule.of.once)) return []
    const { once } = rule.of
    const message = `No plan of this account has a \`once\` rule with the id ${quote(once)}.`
    return [
      { code: 'unknown_rule', pointer: `/rules/${i}/of/once`, message: message + hint(once, ids) },
    ]
  })
}

/** Warns of shares that recoup the same `once` rule: each of them deducts all that it paid. */
const warnOfAdvances = ({ rules }: PlanTerms): Warning[] =>
  rules.flatMap((rule, i) => {
    if (rule.kind !== 'share' || rule.recoups === undefined) return []
    const { recoups } = rule
    const first = rules.find((one) => one.kind === 'share' && one.recoups === recoups)
    if (!first || first === rule) return []
    const message = `The rule ${quote(first.id)} recoups ${quote(recoups)}, too: both deduct the whole CPA.`
    return [{ code: 'recouped_twice', pointer: `/rules/${i}/recoups`, message }]
  })
