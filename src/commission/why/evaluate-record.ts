import { type ClosingsOf, readClosingsOf } from '../drafts/closings.ts'
import type { Computation } from '../drafts/computation.ts'
import { type RateView, rateViews } from '../drafts/rate-views.ts'
import { periodOf } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import { type Earning, earningsOf } from '../engine/earnings.ts'
import { evaluateCustomer } from '../engine/evaluate.ts'
import { factEvaluator } from '../engine/evaluate-uplines.ts'
import type { EvaluatedCustomer } from '../engine/evaluated.ts'
import { type FactReport, reportFacts } from '../engine/fact-reports.ts'
import type { FactResource } from '../engine/facts.ts'
import { evaluatedCustomers } from './evaluated-customers.ts'
import { recordQueries } from './record-queries.ts'

/** What a record comes to, and when the periods of the affiliates concerned were closed. */
export interface EvaluatedRecord {
  readonly report: FactReport
  readonly earnings: readonly Earning[]
  readonly affiliates: readonly string[]
  readonly closingsOf: ClosingsOf
}

/** A record, by the key that facts have. */
interface RecordOfCustomer {
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
}

/** Evaluates a record by all that is known now; returns null if it is not a fact. */
export async function evaluateRecord(
  computation: Computation,
  { resource, id, customer_id }: RecordOfCustomer,
  day: number,
): Promise<EvaluatedRecord | null> {
  const queries = recordQueries(computation, { first: day, last: day })
  const onDay = { ...periodOf(day, 'month'), first: day, last: Number.POSITIVE_INFINITY }
  const isRecord = ({ fact }: FactReport): boolean => fact.resource === resource && fact.id === id
  const reportIn = (context: Context, evaluated: EvaluatedCustomer): FactReport | undefined =>
    reportFacts(context, factEvaluator(context), evaluated, onDay).find(isRecord)
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    const report = reportIn(computation.context, evaluated)
    if (report) return evaluateClosed(computation, evaluated, report, reportIn)
  }
  return null
}

/**
 * Evaluates a record again for affiliates and plans whose closed periods see other rates than those of
 * now.
 */
async function evaluateClosed(
  computation: Computation,
  evaluated: EvaluatedCustomer,
  report: FactReport,
  reportIn: (context: Context, evaluated: EvaluatedCustomer) => FactReport | undefined,
): Promise<EvaluatedRecord> {
  const { source, context } = computation
  const { fact, affiliate_id } = report
  const now = earningsOf(context, evaluated, fact)
  const own = affiliate_id === null ? [] : [affiliate_id]
  const affiliates = [...new Set([...own, ...now.map((one) => one.affiliate_id)])]
  const closingsOf = await readClosingsOf(source, affiliates)
  const views = await rateViews(computation, { closingsOf }, affiliates)
  const covers = (view: RateView, affiliate: string, name: string | null): boolean => {
    const plan = source.inForce.plans.get(name ?? '')
    return plan !== undefined && view.covers({ affiliate, plan })
  }
  const seen = views.map((view) => {
    const again =
      view.context === context ? evaluated : evaluateCustomer(view.context, evaluated.customer)
    const isOwn = covers(view, affiliate_id ?? '', report.state.plan)
    return {
      report: isOwn ? reportIn(view.context, again) : undefined,
      earnings: earningsOf(view.context, again, fact).filter((one) =>
        covers(view, one.affiliate_id, one.plan),
      ),
    }
  })
  return {
    report: seen.find((one) => one.report)?.report ?? report,
    earnings: seen.flatMap(({ earnings }) => earnings),
    affiliates,
    closingsOf,
  }
}
