import type { Adjustment, StatementLine } from '../../commission/run/draft.ts'
import { add, type Decimal, decimal, ZERO } from '../../platform/money/decimal.ts'

/** The lines of a version of a rule. */
export interface RuleLines {
  readonly rule: string
  readonly version: number
  /** The first of them. */
  readonly lines: StatementLine[]
  count: number
  sum: Decimal
}

/** The lines of a rule that a page lists. The CSV file has all. */
export const SHOWN_LINES = 100

/** A part of a statement. */
interface Part {
  readonly parts: number
  readonly lines: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
}

/** Reads the parts of a statement, of which the first is read already: its lines by rule, and its corrections. */
export async function readLines(first: Part, readPart: (part: number) => Promise<Part>) {
  const groups = new Map<string, RuleLines>()
  const adjustments: Adjustment[] = []
  for (let number = 1; number <= first.parts; number++) {
    const part = number === 1 ? first : await readPart(number)
    adjustments.push(...part.adjustments)
    for (const line of part.lines) {
      const { rule, version } = line
      const key = JSON.stringify([rule, version])
      const group = groups.get(key) ?? { rule, version, lines: [], count: 0, sum: ZERO }
      groups.set(key, group)
      if (group.lines.length < SHOWN_LINES) group.lines.push(line)
      group.count++
      group.sum = add(group.sum, decimal(line.amount))
    }
  }
  return { groups: [...groups.values()], adjustments }
}
