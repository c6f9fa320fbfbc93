import type { PeriodContext } from './context.ts'
import { memoize } from './memoize.ts'
import { overrideVersion, type Version, versionsOf } from './plans-in-force.ts'
import type { CompiledOverride, CompiledRule } from './rules.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

/** A rule of an upline that facts of an affiliate below enter. */
export type UplineRule =
  | {
      readonly purpose: 'override'
      readonly upline: string
      readonly version: Version
      readonly rule: CompiledOverride
    }
  | {
      readonly purpose: 'network'
      readonly upline: string
      readonly version: Version
      readonly rule: CompiledRule
    }

/**
 * Returns a function that finds the rules of uplines which the facts of an affiliate enter: overrides
 * over facts at the rule's level, and tiers over the network. The tree is that of the period's last day.
 */
export const uplineRules = (
  context: PeriodContext,
): ((affiliate: string) => readonly UplineRule[]) =>
  memoize((affiliate) => findRules(context, affiliate))

function findRules(context: PeriodContext, affiliate: string): UplineRule[] {
  const uplines = context.tree.uplines(affiliate, context.period.last)
  return uplines.flatMap((upline, index) => [
    ...overridesOf(context, upline, index + 1),
    ...networkRulesOf(context, upline),
  ])
}

/** The overrides over facts that an upline earns from affiliates at the rule's level. */
function overridesOf(context: PeriodContext, upline: string, level: number): UplineRule[] {
  const version = overrideVersion(context.inForce, upline, context.period.last)
  if (version?.period !== context.period.kind) return []
  return version.rules.flatMap((rule) =>
    rule.kind === 'override' && rule.level === level && termsOf(rule).length > 0
      ? [{ purpose: 'override', upline, version, rule } as const]
      : [],
  )
}

/** Returns what an override sums over facts; nothing if it follows lines. */
export function termsOf({ of }: CompiledOverride): readonly (CompiledTerm | CompiledUnit)[] {
  if ('base' in of) return of.base.terms
  return 'unit' in of ? [of.unit] : []
}

/** The rules of any version of an upline's plans whose tiers measure facts of the network. */
function networkRulesOf({ inForce, period }: PeriodContext, upline: string): UplineRule[] {
  const plans = new Set(inForce.assignmentsOf(upline).map(({ plan }) => plan))
  return [...plans].flatMap((name) =>
    versionsOf(inForce, name)
      .filter((version) => version.period === period.kind)
      .flatMap((version) =>
        version.rules.flatMap((rule) =>
          rule.tiers?.network ? [{ purpose: 'network', upline, version, rule } as const] : [],
        ),
      ),
  )
}
