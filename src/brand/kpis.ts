import { KNOWN } from '../db/directory/event-definitions.ts'
import { canonical } from '../validation/canonical-json.ts'
import { step } from '../validation/pointer.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { isDecimal, isSeparated, readDecimal } from './decimal.ts'
import { type Definition, PRODUCT, productField } from './definition.ts'
import { excess, type Findings, flawsOf, lookalikes } from './members.ts'

/**
 * The amounts of an event. With a definition exactly the members that it names are KPIs; without
 * one each decimal is, unless there is a `Value`. What is left are details, kept as they were sent.
 */
export function readKpis(
  { found, output }: Findings,
  members: Map<string, unknown>,
  definition: Definition | undefined,
): Warning[] {
  const kpis = new Map<string, number>()
  const details: [string, unknown][] = []
  const warnings: Warning[] = []
  const field = productField(definition)
  const hasValue = members.has('Value')
  const isKpi = (name: string, value: unknown) =>
    definition
      ? definition.kpis.has(name)
      : !hasValue && isDecimal(value) && name.toLowerCase() !== PRODUCT
  let amounts = 0
  for (const [name, value] of members) {
    if (name === 'Value' || isKpi(name, value)) {
      if (KNOWN.includes(name) && name !== 'Value') continue
      amounts += 1
      const { issue, number } = readDecimal(name, value)
      if (issue) found.push(issue)
      else if (name === 'Value') output.amount = number
      else kpis.set(name, number)
    } else if (!KNOWN.includes(name) && name !== field) {
      details.push([name, value])
      if (!definition && !hasValue && isSeparated(value)) {
        warnings.push(warning('not_a_number', step(name), JSON.stringify(value)))
      }
    }
  }
  const names = details.map(([name]) => name)
  if (definition) warnings.push(...lookalikes(names, definition.spelling))
  if (amounts === 0) found.push({ pointer: '', code: 'no_kpi' })
  const amountsSent = [...kpis.keys()].map((name) => [name, members.get(name)] as const)
  found.push(...flawsOf([...details, ...amountsSent]), ...excess([...details, ...amountsSent]))
  if (kpis.size > 0) output.kpis = canonical(Object.fromEntries(kpis))
  if (details.length > 0) output.details = canonical(Object.fromEntries(details))
  return warnings
}
