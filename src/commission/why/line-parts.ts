import { fixedText, plainText, sum } from '../engine/decimal.ts'
import { type SourceLine, sourceLines } from '../engine/explain.ts'
import { compareText } from '../engine/facts.ts'
import type { Line } from '../engine/line.ts'
import { lineIds, statementId } from '../statements/ids.ts'
import type { LinePart } from './answers.ts'
import { type ComputedLine, recordsOf } from './explain.ts'
import type { LineParts } from './read-parts.ts'

const presentPart = (
  { customer_id, base, units, records }: LineParts['parts'][number],
  line: Line,
) => ({
  customer_id,
  records,
  base: line.base === null ? null : plainText(base),
  units: line.units === null ? null : plainText(units),
})

/** Returns what a line is made from: what each customer adds, or the lines of other statements. */
export async function listParts(computed: ComputedLine): Promise<readonly LinePart[]> {
  const { found } = computed
  const sources = sourceLines(found.context, found)
  if (sources) return listSources(sources.affiliate, sources.lines)
  const { once, base, units } = found.line
  if (once !== null) {
    const { customerId: customer_id } = once
    const { length: records } = await recordsOf(computed, customer_id)
    return [
      { customer_id, records, base: base && plainText(base), units: units && plainText(units) },
    ]
  }
  const { parts } = await computed.parts()
  return parts
    .map((part) => presentPart(part, found.line))
    .sort((a, b) => compareText(a.customer_id, b.customer_id))
}

/**
 * Returns what a line is made from, without the customers of affiliates below: what these add to a line is one
 * part in all.
 */
export async function listOwnParts(computed: ComputedLine): Promise<readonly LinePart[]> {
  const { line } = computed.found
  if (line.rule.kind !== 'override') return listParts(computed)
  const { parts } = await computed.parts()
  // An override over lines counts no customers: its sources are in the explanation.
  if (parts.length === 0) return []
  const total = (name: 'base' | 'units') => sum(parts.map((part) => part[name]))
  const records = parts.reduce((all, part) => all + part.records, 0)
  const { base, units } = line
  return [
    {
      records,
      base: base === null ? null : plainText(total('base')),
      units: units === null ? null : plainText(total('units')),
    },
  ]
}

/** Returns lines with their ids, in the order of statements and of the lines in them. */
async function listSources(
  affiliate_id: string,
  lines: readonly SourceLine[],
): Promise<LinePart[]> {
  const idsOf = new Map<readonly unknown[], Promise<string[]>>()
  return Promise.all(
    lines.map(async ({ line, plan, period, statement }) => {
      const ids = idsOf.get(statement) ?? statementLineIds(affiliate_id, plan, period.id, statement)
      idsOf.set(statement, ids)
      const { rule, version, scope, amount } = line
      return {
        affiliate_id,
        line_id: (await ids)[statement.indexOf(line)] ?? '',
        plan,
        period: period.id,
        rule: rule.id,
        version: version.version,
        scope,
        currency: version.currency,
        amount: fixedText(amount, version.digits),
      }
    }),
  )
}

const statementLineIds = async (
  affiliate: string,
  plan: string,
  period: string,
  lines: SourceLine['statement'],
): Promise<string[]> =>
  lineIds(
    await statementId(affiliate, plan, period),
    lines.map(({ rule, version, scope }) => ({
      rule: rule.id,
      version: version.version,
      scope,
    })),
  )
