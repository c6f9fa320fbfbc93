import { KNOWN_MEMBERS } from '../db/directory/event-definitions.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { pointerStep } from '../validation/pointer.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { hasSeparators, isDecimal, readDecimal } from './decimal.ts'
import { type CompiledDefinition, DEFAULT_PRODUCT_FIELD, productField } from './definition.ts'
import {
  checkExtraSize,
  findCaseVariants,
  findInvalidValues,
  type RecordReading,
} from './members.ts'

/**
 * The amounts of an event. With a definition exactly the members that it names are KPIs; without
 * one each decimal is, unless there is a `Value`. What is left are details, kept as they were sent.
 */
export function readKpis(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  definition: CompiledDefinition | undefined,
): Warning[] {
  const kpis = new Map<string, number>()
  const details: [string, unknown][] = []
  const warnings: Warning[] = []
  const field = productField(definition)
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
    } else if (!KNOWN_MEMBERS.includes(name) && name !== field) {
      details.push([name, value])
      if (!definition && !hasValue && hasSeparators(value)) {
        warnings.push(warning('not_a_number', pointerStep(name), value))
      }
    }
  }
  const names = details.map(([name]) => name)
  if (definition) warnings.push(...findCaseVariants(names, definition.spelling))
  if (amounts === 0) issues.push({ pointer: '', code: 'no_kpi' })
  const amountsSent = [...kpis.keys()].map((name) => [name, members.get(name)] as const)
  issues.push(
    ...findInvalidValues([...details, ...amountsSent]),
    ...checkExtraSize([...details, ...amountsSent]),
  )
  if (kpis.size > 0) output.kpis = canonicalJson(Object.fromEntries(kpis))
  if (details.length > 0) output.details = canonicalJson(Object.fromEntries(details))
  return warnings
}
