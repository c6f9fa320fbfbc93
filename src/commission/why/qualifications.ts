import type { Computation } from '../drafts/computation.ts'
import type { Period } from '../engine/calendar.ts'
import { compareText } from '../engine/facts.ts'
import {
  type QualificationReport,
  type QualificationStatus,
  reportOnce,
} from '../engine/once-report.ts'
import { type CustomerFilter, evaluatedCustomers } from './evaluated-customers.ts'
import { onceQueries } from './record-queries.ts'

/** Which customers, rules and statuses are listed. */
export interface QualificationFilter extends CustomerFilter {
  readonly plan?: string | undefined
  readonly rule?: string | undefined
  readonly status?: QualificationStatus | undefined
}

/** Returns customers under `once` rules as of the end of a period, by customer, plan and rule. */
export async function listQualifications(
  computation: Computation,
  { last }: Period,
  filter: QualificationFilter,
): Promise<QualificationReport[]> {
  const { affiliate_id, plan, rule, status } = filter
  const found: QualificationReport[] = []
  for await (const evaluated of evaluatedCustomers(computation, filter, onceQueries(computation))) {
    if (evaluated.customer.signupDay > last) continue
    for (const report of reportOnce(computation.context, evaluated, last)) {
      const isWanted =
        (affiliate_id === undefined || report.affiliate_id === affiliate_id) &&
        (plan === undefined || report.plan === plan) &&
        (rule === undefined || report.rule === rule) &&
        (status === undefined || report.status === status)
      if (isWanted) found.push(report)
    }
  }
  return found.sort(
    (a, b) =>
      compareText(a.customer_id, b.customer_id) ||
      compareText(a.plan, b.plan) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version,
  )
}
