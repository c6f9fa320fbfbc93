import { type EventDefinition, KNOWN } from '../db/definitions.ts'
import { step } from '../ingest/envelope.ts'
import { canonical } from '../ingest/idempotency.ts'
import { type Warning, warning } from '../ingest/warnings.ts'
import { isDecimal, isSeparated, readDecimal } from './decimal.ts'
import { excess, type Findings, flawsOf, lookalikes, spellingOf } from './members.ts'

/** The member that says the product line, unless a definition names another. */
const PRODUCT = 'product'

/** The member that says the product line of such events. */
export const productField = (definition: EventDefinition | undefined) =>
  definition?.product?.field ?? PRODUCT

/**
 * The amounts of an event. With a definition exactly the members that it names are KPIs; without
 * one each decimal is, unless there is a `Value`. What is left are details, kept as they were sent.
 */
export function readKpis(
  { found, output }: Findings,
  members: Map<string, unknown>,
  definition: EventDefinition | undefined,
): Warning[] {
  const kpis = new Map<string, number>()
  const details: [string, unknown][] = []
  const warnings: Warning[] = []
  const field = productField(definition)
  const hasValue = members.has('Value')
  const isKpi = (name: string, value: unknown) =>
    definition
      ? definition.kpis.includes(name)
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
  if (definition) {
    const named = spellingOf([...definition.kpis, field])
    warnings.push(
      ...lookalikes(
        details.map(([name]) => name),
        named,
      ),
    )
  }
  if (amounts === 0) found.push({ pointer: '', code: 'no_kpi' })
  const names = [...kpis.keys()].map((name) => [name, null] as const)
  found.push(
    ...flawsOf([...details, ...names]),
    ...excess([...details, ...amountsIn(members, kpis)]),
  )
  if (kpis.size > 0) output.kpis = canonical(Object.fromEntries(kpis))
  if (details.length > 0) output.details = canonical(Object.fromEntries(details))
  return warnings
}

const amountsIn = (members: Map<string, unknown>, kpis: Map<string, number>) =>
  [...kpis.keys()].map((name) => [name, members.get(name)] as const)
