import type { Computation } from '../drafts/computation.ts'
import type { Period } from '../engine/calendar.ts'
import { compareText } from '../engine/facts.ts'
import {
  type QualificationReport,
  type QualificationStatus,
  reportOnce,
} from '../engine/once-report.ts'
import { judgedCustomers, onceReadings, type Whose } from './open.ts'

/** Which customers and rules are asked for. */
export interface QualificationQuery extends Whose {
  readonly plan?: string | undefined
  readonly rule?: string | undefined
  readonly status?: QualificationStatus | undefined
}

/** Returns customers under `once` rules as of the end of a period, by customer, plan and rule. */
export async function listQualifications(
  computation: Computation,
  { last }: Period,
  query: QualificationQuery,
): Promise<QualificationReport[]> {
  const { affiliate_id, plan, rule, status } = query
  const found: QualificationReport[] = []
  const readings = onceReadings(computation)
  for await (const judged of judgedCustomers(computation, query, readings)) {
    if (judged.customer.signupDay > last) continue
    for (const report of reportOnce(computation.context, judged, last)) {
      const isAsked =
        (affiliate_id === undefined || report.affiliate_id === affiliate_id) &&
        (plan === undefined || report.plan === plan) &&
        (rule === undefined || report.rule === rule) &&
        (status === undefined || report.status === status)
      if (isAsked) found.push(report)
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
