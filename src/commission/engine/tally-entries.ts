import type { CountedOwner, PeriodContext } from './context.ts'
import type { WaitingFact } from './hold.ts'
import { type Version, versionsOf } from './plans-in-force.ts'
import type { CompiledRule } from './rules.ts'
import {
  type AffiliateTallies,
  overrideTallyOf,
  type PeriodTallies,
  type RuleTally,
  talliesOf,
  tallyOf,
} from './tallies.ts'
import { type CustomerTally, newCustomerTally } from './tally-groups.ts'
import type { CompiledBase, CompiledUnit } from './terms.ts'
import type { UplineRule } from './uplines.ts'

/** What a rule sums: a base or units, and whether its `when` and `months` apply to the facts. */
export interface TallySource {
  /** `unlisted`: the measure of another version; holds are listed by the other version. */
  readonly purpose: WaitingFact['purpose'] | 'unlisted'
  readonly base: CompiledBase | null
  readonly unit: CompiledUnit | null
  readonly conditional: boolean
}

const NOTHING: TallySource = { purpose: 'paid', base: null, unit: null, conditional: false }

/** A tally that facts of an owner enter, and what the customer adds to it. */
export interface Entry {
  /** The affiliate that earns from it. */
  readonly earner: string
  readonly target: RuleTally
  readonly source: TallySource
  readonly customerTally: CustomerTally
}

/** Returns the tallies that facts of an owner enter: of its own rules, then of its uplines' rules. */
export function entriesFor(
  context: PeriodContext,
  tallies: PeriodTallies,
  customerTallies: Map<RuleTally, CustomerTally>,
  { affiliate, version }: CountedOwner,
  uplineRulesOf: (affiliate: string) => readonly UplineRule[],
): Entry[] {
  const entries: Entry[] = []
  const enter: Enter = (earner, target, source) => {
    const customerTally = customerTallies.get(target) ?? newCustomerTally()
    customerTallies.set(target, customerTally)
    entries.push({ earner, target, source, customerTally })
  }
  if (version?.period === context.period.kind) {
    enterOwnRules(context, talliesOf(tallies, affiliate), affiliate, version, enter)
  }
  for (const { purpose, upline, version: earning, rule } of uplineRulesOf(affiliate)) {
    const ofUpline = talliesOf(tallies, upline)
    if (purpose === 'network') {
      enter(upline, tallyOf(ofUpline.network, earning, rule), measureSource(rule))
    } else {
      enter(upline, overrideTallyOf(ofUpline, earning, rule, affiliate), ownSource(rule))
    }
  }
  return entries
}

/** Enters facts into a tally of the affiliate that earns from it. */
type Enter = (earner: string, target: RuleTally, source: TallySource) => void

/** Enters facts of a plan into the rules of its version, and into the measures of all versions. */
function enterOwnRules(
  { inForce }: PeriodContext,
  tallies: AffiliateTallies,
  affiliate: string,
  version: Version,
  enter: Enter,
): void {
  for (const rule of version.rules) {
    if (rule.kind === 'share' || rule.kind === 'unit') {
      enter(affiliate, tallyOf(tallies.ownRules, version, rule), ownSource(rule))
    }
  }
  for (const other of versionsOf(inForce, version.plan)) {
    for (const rule of other.rules) {
      const by = rule.tiers?.by
      if (!by || typeof by !== 'object' || !('terms' in by)) continue
      if (!version.rules.some(({ id }) => id === rule.id)) continue
      const purpose = other === version ? 'paid' : 'unlisted'
      const source: TallySource = { purpose, base: by, unit: null, conditional: false }
      enter(affiliate, tallyOf(tallies.measures, other, rule), source)
    }
  }
}

const ownSources = new WeakMap<CompiledRule, TallySource>()

/** Returns what a rule pays for. */
function ownSource(rule: CompiledRule): TallySource {
  const found = ownSources.get(rule) ?? findOwnSource(rule)
  ownSources.set(rule, found)
  return found
}

function findOwnSource(rule: CompiledRule): TallySource {
  const paid = { purpose: 'paid', base: null, unit: null, conditional: true } as const
  if (rule.kind === 'share') return { ...paid, base: rule.base }
  if (rule.kind === 'unit') return { ...paid, unit: rule.unit }
  if (rule.kind === 'once') return NOTHING
  if ('base' in rule.of) return { ...paid, base: rule.of.base }
  return 'unit' in rule.of ? { ...paid, unit: rule.of.unit } : NOTHING
}

/** What a rule's tiers measure over the network. */
function measureSource(rule: CompiledRule): TallySource {
  const by = rule.tiers?.by ?? null
  const purpose = 'measure'
  if (by === null || by === 'active') return { ...ownSource(rule), purpose }
  return 'once' in by ? NOTHING : { purpose, base: by, unit: null, conditional: false }
}
