import type { Context } from 'hono'
import { dayText } from '../platform/db/column-types.ts'
import { ApiError } from '../platform/errors.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { type FormattedIssue, formatIssue } from '../platform/validation/messages.ts'
import { MAX_LISTED_PER_RECORD } from '../platform/validation/record-validator.ts'
import { type Warning, warning } from '../platform/validation/warnings.ts'
import type { Decision } from './db/decide.ts'
import type { Delivery, Item } from './db/item.ts'
import { recordPointer } from './envelope.ts'
import { inRecordOrder, issuesOf, prioritizeErrors, REUSED, referenceIssue } from './errors.ts'
import type { Resource } from './resource/resource.ts'
import type { Result } from './result-fields.ts'

/** The contract: the maximum number of errors in a response. */
const MAX_ERRORS = 1000

/**
 * Answers a delivery with the outcome of each record. `url` is the address at which the account reads it; `isMinimal`
 * leaves out results without warnings and errors.
 *
 * @throws ApiError `validation_failed` if nothing was stored, `idempotency_key_reused`.
 */
export function answer(
  c: Context,
  resource: Resource,
  delivery: Delivery,
  decision: Decision,
  { url, isMinimal }: { url: string; isMinimal: boolean },
) {
  const identity = { delivery_id: delivery.id, delivery_url: url }
  const { status, errorsTotal } = decision
  const summary = { ...decision.summary, warnings: 0 }
  if (decision.isReused) throw idempotencyKeyReused(identity, summary)
  const issues = errorsTotal === 0 ? [] : issuesOf(resource, delivery, decision)
  const listed = inRecordOrder(prioritizeErrors(issues).slice(0, MAX_ERRORS))
  if (status === 422) throw validationFailed(identity, summary, errorsTotal, listed)

  const errors = listed.map(formatIssue)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const results: Result['results'] = []
  for (const item of delivery.items) {
    const { index, key, outcome } = item
    const own = byIndex.get(index)
    // A rejected record shows its errors alone.
    const warnings = outcome === 'rejected' ? [] : warningsOf(item, resource, delivery)
    summary.warnings += warnings.length
    if (isMinimal && !own && warnings.length === 0) continue
    results.push({
      index,
      ...(key && { key }),
      outcome,
      ...(own && { errors: own.map(withoutPlace) }),
      ...(warnings.length > 0 && { warnings }),
    })
  }
  const body: Result = {
    ...identity,
    dry_run: delivery.dryRun,
    summary,
    ...(errorsTotal > 0 && { errors, errors_total: errorsTotal }),
    results,
  }
  return c.json(body, status)
}

const withoutPlace = ({ index: _, key: __, ...error }: FormattedIssue) => error

/**
 * Returns the last 10 warnings of a record: those of validation come first, those of the database tell what was stored.
 * A stale record is not stored, so it has none.
 */
function warningsOf(item: Item, resource: Resource, delivery: Delivery): Warning[] {
  if (item.outcome === 'stale') return []
  const warnings = [...item.warnings]
  if (delivery.policy === 'warn' && item.isRefusable) {
    const { pointer, code, message } = formatIssue(referenceIssue(resource, delivery, item, false))
    warnings.push({ code, pointer, message })
  }
  addFound(warnings, item, resource, recordPointer(delivery.form, item.index))
  return warnings.slice(-MAX_LISTED_PER_RECORD)
}

/** Adds the warnings about what is stored of a record at a pointer. */
function addFound(
  warnings: Warning[],
  { found, first, write }: Item,
  resource: Resource,
  at: string,
) {
  if (!found) return
  const { verdict, affiliated } = found
  const isWritten = (first ? first.write : write) !== null
  // The validator has already warned of tracking data that cannot be used.
  if (verdict !== null && !warnings.some(({ code }) => code === 'altered')) {
    const code = verdict === 'organic' ? 'unattributed' : (verdict as UnattributedVerdict)
    warnings.push(warning(code, `${at}/tracking_data`))
  }
  if (found.lacksSignup) warnings.push(warning('no_regtime', `${at}/regtime`))
  if (found.isErased) warnings.push(warning('erased', at))
  if (isWritten && found.changesKind) warnings.push(warning('changed_event', at))
  if (isWritten && found.replaced) warnings.push(warning('replaced_details', at, found.replaced))
  if (isWritten && affiliated) {
    const member = resource.recordTable.affiliation === 'link' ? 'tracking_data' : 'affiliate_id'
    const from = dayText(affiliated[0])
    warnings.push({ ...warning('affiliation_changed', `${at}/${member}`, from), from })
  }
}

/** A verdict on the `tracking_data` of a stored customer that attributes the customer to no affiliate. */
type UnattributedVerdict = 'altered' | 'foreign' | 'unrecognised' | 'conflict'

/** The id of a delivery and its address. */
interface Identity {
  delivery_id: string
  delivery_url: string
}

/** Returns the error for an Idempotency-Key that was used for other records. */
const idempotencyKeyReused = (identity: Identity, summary: Result['summary']) =>
  new ApiError('idempotency_key_reused', {
    detail:
      'Nothing was stored. Send different records with a new `Idempotency-Key`. If the records are the same, the event definitions of the account have changed since: check what was stored before you send them with a new key.',
    ...identity,
    summary,
    errors: [formatIssue(REUSED)],
    errors_total: 1,
  })

/** Returns the error for a delivery of which nothing was stored, with the errors that are listed. */
function validationFailed(
  identity: Identity,
  summary: Result['summary'],
  total: number,
  listed: readonly Issue[],
) {
  const { received, rejected } = summary
  const isWholeBody = received === rejected && listed[0]?.index === undefined
  const are = rejected === 1 ? 'is' : 'are'
  return new ApiError('validation_failed', {
    detail: isWholeBody
      ? 'The body is invalid. Nothing was stored.'
      : `${rejected} of ${received} ${received === 1 ? 'record is' : `records ${are}`} invalid. Nothing was stored.`,
    ...identity,
    summary,
    errors: listed.map(formatIssue),
    errors_total: total,
  })
}
