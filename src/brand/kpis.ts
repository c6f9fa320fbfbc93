import { DEFAULT_PRODUCT_FIELD, KNOWN_MEMBERS } from '../db/directory/event-definitions.ts'
import { HAS_MASK, MASK_PATCH } from '../db/records/sql-fragments.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import type { Issue } from '../validation/issue.ts'
import { pointerStep } from '../validation/pointer.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { hasSeparators, isDecimal, readDecimal } from './decimal.ts'
import { type CompiledDefinition, productFieldOf } from './definition.ts'
import { checkExtraNumber, checkExtras, findCaseVariants, type RecordReading } from './members.ts'

/** The maximum number of KPIs of one record beside `Value`: control totals sum each of them. */
const MAX_KPIS = 32

/** Returns an issue if a record has more than 32 KPIs. */
function checkKpiNumber(kpis: ReadonlyMap<string, number>): Issue[] {
  if (kpis.size <= MAX_KPIS) return []
  return [
    {
      pointer: '',
      code: 'length',
      expected: `at most ${MAX_KPIS} KPIs in one record`,
      received: String(kpis.size),
      instruction: 'Send the other KPIs as another event, with an `eventname` of its own.',
    },
  ]
}

/**
 * Reads the amounts of an event. With a definition, exactly the members that it names are KPIs.
 * Without one, every decimal is a KPI unless `Value` is present. The remaining members are details,
 * stored as sent.
 */
export function readKpis(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  definition: CompiledDefinition | undefined,
): Warning[] {
  const kpis = new Map<string, number>()
  const details: [string, unknown][] = []
  const warnings: Warning[] = []
  const productField = productFieldOf(definition)
  const hasValue = members.has('Value')
  const isKpi = (name: string, value: unknown) =>
    definition
      ? definition.kpis.has(name)
      : !hasValue && isDecimal(value) && name.toLowerCase() !== DEFAULT_PRODUCT_FIELD
  let amounts = 0
  for (const [name, value] of members) {
    if (name === 'Value' || isKpi(name, value)) {
      if (KNOWN_MEMBERS.includes(name) && name !== 'Value') continue
      amounts += 1
      const { issue, number } = readDecimal(name, value)
      if (issue) issues.push(issue)
      else if (name === 'Value') output.amount = number
      else kpis.set(name, number)
    } else if (!KNOWN_MEMBERS.includes(name) && name !== productField) {
      details.push([name, value])
      if (!definition && !hasValue && hasSeparators(value)) {
        warnings.push(warning('not_a_number', pointerStep(name), value))
      }
    }
  }
  if (definition) {
    const names = details.map(([name]) => name)
    warnings.push(...findCaseVariants(names, definition.spelling))
  }
  if (amounts === 0) issues.push({ pointer: '', code: 'no_kpi' })
  const stored = [...details, ...[...kpis.keys()].map((name) => [name, members.get(name)] as const)]
  const tooMany = [...checkExtraNumber(stored), ...checkKpiNumber(kpis)]
  issues.push(...(tooMany.length > 0 ? tooMany : checkExtras(stored)))
  if (kpis.size > 0) output.kpis = canonicalJson(Object.fromEntries(kpis))
  output[HAS_MASK] = Number(details.length > 0)
  if (details.length > 0) {
    output.details = canonicalJson(Object.fromEntries(details))
    // The status of an event decides what is paid, so it is kept when personal data is erased.
    const personal = details.filter(([name]) => name !== definition?.statusMember)
    output[MASK_PATCH] = JSON.stringify(Object.fromEntries(personal.map(([name]) => [name, null])))
  }
  return warnings
}
