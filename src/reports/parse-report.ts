import * as v from 'valibot'
import { invalidQuery, readDayRange } from '../http/query.ts'
import { currencyHint } from '../validation/currency-hint.ts'
import { currency as currencyCode } from '../validation/fields.ts'
import { quote, quoteAll } from '../validation/quote.ts'
import { suggest } from '../validation/suggest.ts'
import { groupsOf } from './groups.ts'
import { REPORT_LIMITS } from './limits.ts'
import { EVENTS, isEventMetric, metricsOf } from './metrics.ts'

/** The query parameters of a report. */
export const REPORT_PARAMETERS = ['from', 'to', 'group_by', 'currency', 'metrics'] as const

/** The query parameters of a report, as sent. */
export type SentReport = Partial<Record<(typeof REPORT_PARAMETERS)[number], string>>

/** A valid request for a report. */
export interface ReportQuery {
  /** The first and the last day, as `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
  readonly groups: readonly string[]
  /** The currency of all amounts. */
  readonly currency: string
  /** The names of the metrics; null for all of the vertical. */
  readonly metrics: readonly string[] | null
}

const DEFAULT_CURRENCY = 'USD'

/**
 * Validates the parameters of a report of a vertical.
 *
 * @throws ApiError `invalid_query`, which names the parameter.
 */
export function parseReport(vertical: string, sent: SentReport): ReportQuery {
  const { from, to } = readDayRange(sent)
  return {
    from,
    to,
    groups: parseGroups(vertical, sent.group_by),
    currency: parseCurrency(sent.currency ?? DEFAULT_CURRENCY),
    metrics: parseMetrics(vertical, sent.metrics),
  }
}

function parseGroups(vertical: string, text: string | undefined): string[] {
  if (text === undefined) return []
  const known = groupsOf(vertical)
  const groups = namesOf('group_by', text)
  for (const name of groups) {
    if (!known.includes(name)) throw unknownName('group_by', name, vertical, known)
  }
  const { groupBy } = REPORT_LIMITS
  if (groups.length > groupBy) {
    throw invalidQuery(
      `\`group_by\` names ${groups.length} groups. A report has at most ${groupBy}.`,
    )
  }
  return groups
}

function parseMetrics(vertical: string, text: string | undefined): string[] | null {
  if (text === undefined) return null
  const hasEvents = vertical === 'igaming'
  const known = [...metricsOf(vertical).map(({ name }) => name), ...(hasEvents ? [EVENTS] : [])]
  const metrics = namesOf('metrics', text)
  for (const name of metrics) {
    if (hasEvents && isEventMetric(name)) continue
    if (!known.includes(name)) throw unknownName('metrics', name, vertical, known)
  }
  return metrics
}

/** Returns the names of a list, which are separated by commas. */
function namesOf(parameter: string, text: string): string[] {
  const names = new Set<string>()
  for (const name of text.split(',')) {
    if (name === '') throw invalidQuery(`\`${parameter}\` has an empty name between its commas.`)
    if (names.has(name)) {
      throw invalidQuery(`\`${parameter}\` names ${quote(name)} twice. Name it once.`)
    }
    names.add(name)
  }
  return [...names]
}

function unknownName(parameter: string, name: string, vertical: string, known: readonly string[]) {
  const closest = suggest(name, known)
  const hint = closest ? `Did you mean ${quote(closest)}? ` : ''
  return invalidQuery(
    `\`${parameter}\`: ${quote(name)} is not a ${parameter === 'metrics' ? 'metric' : 'group'} of ${vertical}. ${hint}Supported: ${quoteAll(known)}.`,
  )
}

function parseCurrency(code: string): string {
  if (v.is(currencyCode, code)) return code
  const hint = currencyHint(code)
  throw invalidQuery(
    `\`currency\`: ${quote(code)} is not an ISO 4217 currency code.${hint ? ` ${hint}` : ''}`,
  )
}
