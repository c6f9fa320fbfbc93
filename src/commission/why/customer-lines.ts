import type { Computation } from '../drafts/computation.ts'
import { lineId, statementId } from '../drafts/ids.ts'
import type { Period } from '../engine/calendar.ts'
import { add, type Decimal, decimal, plainText } from '../engine/decimal.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import { asOf } from '../engine/evaluate.ts'
import { compareText } from '../engine/facts.ts'
import { evaluatedCustomers } from './evaluated-customers.ts'
import { recordQueries } from './record-queries.ts'

/** A line that counts records of a customer, on the wire. */
export interface CustomerLine extends Omit<Earning, 'as'> {
  readonly statement_id: string
  readonly line_id: string
  /** The number of the customer's records that it counts. */
  readonly records: number
}

/** What the customer's records add to a line. */
interface Added {
  readonly earning: Earning
  records: number
  base: Decimal | null
  units: Decimal | null
}

/**
 * Returns the lines that count records of a customer of a period, by all that is known now, in the order
 * of affiliate, plan, period, rule and version.
 */
export async function customerLines(
  computation: Computation,
  period: Period,
  customer_id: string,
): Promise<CustomerLine[]> {
  const { context } = computation
  const lines = new Map<string, Added>()
  const queries = recordQueries(computation, period)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const known = asOf(evaluated, period.last)
    for (const fact of known.customer.facts) {
      if (fact.day < period.first || fact.day > period.last) continue
      for (const earning of earningsOf(context, known, fact)) addEarning(lines, earning)
    }
  }
  const presented = await Promise.all([...lines.values()].map(presentLine))
  return presented.sort(
    (a, b) =>
      compareText(a.affiliate_id, b.affiliate_id) ||
      compareText(a.plan, b.plan) ||
      compareText(a.period, b.period) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version,
  )
}

function addEarning(lines: Map<string, Added>, earning: Earning): void {
  const { affiliate_id, plan, version, rule, period, scope, base, units } = earning
  const key = JSON.stringify([affiliate_id, plan, version, rule, period, scope])
  const line = lines.get(key) ?? { earning, records: 0, base: null, units: null }
  line.records += 1
  line.base = plus(line.base, base)
  line.units = plus(line.units, units)
  lines.set(key, line)
}

const plus = (sum: Decimal | null, text: string | null): Decimal | null =>
  text === null ? sum : add(sum ?? decimal('0'), decimal(text))

async function presentLine({ earning, records, base, units }: Added): Promise<CustomerLine> {
  const { as: _, ...line } = earning
  const { affiliate_id, plan, period } = line
  const statement_id = await statementId(affiliate_id, plan, period)
  return {
    statement_id,
    line_id: await lineId(statement_id, line, 0),
    ...line,
    records,
    base: base && plainText(base),
    units: units && plainText(units),
  }
}
