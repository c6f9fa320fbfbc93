import type { Context } from 'hono'
import { decode } from '../platform/db/column-types.ts'
import { customers } from '../platform/db/schema.ts'
import { ApiError } from '../platform/errors.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { type FormattedIssue, formatIssue } from '../platform/validation/messages.ts'
import {
  isObject,
  MAX_LISTED_PER_RECORD,
  type RecordValidator,
} from '../platform/validation/record-validator.ts'
import { type Warning, warning } from '../platform/validation/warnings.ts'
import type { Decision } from './db/decide.ts'
import type { DeliveryInput } from './db/request.ts'
import { recordPointer } from './envelope.ts'
import { inRecordOrder, prioritizeErrors } from './error-order.ts'
import { type Resource, toReferenceIssue } from './resource.ts'
import type { Result } from './result-fields.ts'
import { keyOfRecord, type ValidatedRequest } from './validate-records.ts'

/** The contract: the maximum number of errors in a response. */
const MAX_ERRORS = 1000

/** A stored delivery and what its response is made of. */
interface HandledDelivery {
  validated: ValidatedRequest
  resource: Resource
  validator: RecordValidator
  input: Pick<DeliveryInput, 'id' | 'policy' | 'dryRun' | 'repeats'>
  decision: Decision
  /** The address at which the account reads the delivery. */
  url: string
  /** Whether to leave out results without warnings and errors. */
  minimal: boolean
}

type ReferenceIssue = ReturnType<typeof toReferenceIssue>

/**
 * Responds to a delivery with the outcome of each record.
 *
 * @throws ApiError `validation_failed` if nothing was stored, `idempotency_key_reused`.
 */
export function respond(c: Context, handled: HandledDelivery) {
  const { input, decision, url } = handled
  const identity = { delivery_id: input.id, delivery_url: url }
  const { status } = decision
  const summary = { ...decision.summary, warnings: 0 }
  if (decision.isReused) throw idempotencyKeyReused(identity, summary)
  const referenceIssues = referenceIssuesOf(handled, decision)
  const issues = issuesOf(handled, decision)
  const listed = inRecordOrder(prioritizeErrors(issues).slice(0, MAX_ERRORS))
  if (status === 422) {
    throw validationFailed(identity, summary, decision.errorsTotal, listed)
  }

  const errors = listed.map(formatIssue)
  const warnings = warningsOf(handled, input.policy === 'warn' ? referenceIssues : [])
  // A rejected record shows its errors alone.
  for (const { index = -1 } of issues) warnings.delete(index)
  for (const own of warnings.values()) summary.warnings += own.length
  const body: Result = {
    ...identity,
    dry_run: input.dryRun,
    summary,
    ...(decision.errorsTotal > 0 && { errors, errors_total: decision.errorsTotal }),
    results: resultsOf(handled, errors, warnings),
  }
  return c.json(body, status)
}

/** A request whose issues are listed. */
type Judged = Pick<HandledDelivery, 'validated' | 'resource' | 'validator'> & {
  readonly input: Pick<DeliveryInput, 'policy' | 'repeats'>
}

const REUSED: Issue = { pointer: '', code: 'idempotency_key_reused' }

/** Returns the issues of a decided request: of validation, and of references that the policy rejects. */
export function issuesOf(judged: Judged, decision: Decision): readonly Issue[] {
  if (decision.isReused) return [REUSED]
  const { validated, input } = judged
  const rejects = input.policy === 'reject' || decision.holdRefused
  return rejects ? [...validated.issues, ...referenceIssuesOf(judged, decision)] : validated.issues
}

/** Returns the issues of records that refer to something unknown. */
function referenceIssuesOf({ validated, resource, validator, input }: Judged, decision: Decision) {
  const { form, records } = validated
  const { referenceMember: member } = resource
  // Of records with one key the last has the reference that is stored.
  const lastOf = new Map([...input.repeats].map(([index, first]) => [first, index]))
  return decision.unknown.map((index) => {
    const key = keyOfRecord(records[index], validator)
    const stored = records[lastOf.get(input.repeats.get(index) ?? index) ?? index]
    const value = member !== null && isObject(stored) ? stored[member] : undefined
    const place = { form, index, key }
    return toReferenceIssue(resource, place, value, decision.holdRefused)
  })
}

function resultsOf(
  { validated, validator, decision, minimal }: HandledDelivery,
  listed: readonly FormattedIssue[],
  warnings: ReadonlyMap<number, Warning[]>,
): Result['results'] {
  const { outcomes } = decision
  const errors = Map.groupBy(listed, ({ index }) => index)
  if (minimal && errors.size === 0 && warnings.size === 0) return []
  const results: Result['results'] = []
  for (const [index, record] of validated.records.entries()) {
    const recordErrors = errors.get(index)
    if (minimal && !recordErrors && !warnings.has(index)) continue
    const key = keyOfRecord(record, validator)
    const place = { index, ...(key && { key }) }
    if (recordErrors) {
      const own = recordErrors.map(({ index: _, key: __, ...error }) => error)
      results.push({ ...place, outcome: 'rejected', errors: own })
    } else {
      const outcome = outcomes.get(index) ?? 'rejected'
      const own = warnings.get(index)
      results.push({ ...place, outcome, ...(own && { warnings: own }) })
    }
  }
  return results
}

/**
 * Returns the last 10 warnings of each record that has any: those of validation come first, those of the database tell
 * what was stored.
 */
function warningsOf(
  { validated: { form, valid }, resource, decision }: HandledDelivery,
  referenceIssues: readonly ReferenceIssue[],
): Map<number, Warning[]> {
  const warnings = new Map<number, Warning[]>()
  const add = (index: number, ...added: Warning[]) => {
    if (added.length > 0) warnings.set(index, [...(warnings.get(index) ?? []), ...added])
  }
  for (const record of valid) add(record.index, ...record.warnings)
  for (const issue of referenceIssues) {
    const { pointer, code, message } = formatIssue(issue)
    add(issue.index, { code, pointer, message })
  }
  const { verdicts, unsigned, erased, changedEvents, replaced, affiliated, outcomes } = decision
  for (const [index, verdict] of verdicts as readonly (readonly [number, UnattributedVerdict])[]) {
    // The validator has already warned of tracking data that cannot be used.
    if (warnings.get(index)?.some(({ code }) => code === 'altered')) continue
    const code = verdict === 'organic' ? 'unattributed' : verdict
    add(index, warning(code, `${recordPointer(form, index)}/tracking_data`))
  }
  for (const index of unsigned) {
    add(index, warning('no_regtime', `${recordPointer(form, index)}/regtime`))
  }
  for (const index of erased) {
    add(index, warning('erased', recordPointer(form, index)))
  }
  for (const index of changedEvents) {
    add(index, warning('changed_event', recordPointer(form, index)))
  }
  for (const [index, names] of replaced) {
    add(index, warning('replaced_details', recordPointer(form, index), names))
  }
  for (const [index, [day]] of affiliated) {
    const member = resource.recordTable.affiliation === 'link' ? 'tracking_data' : 'affiliate_id'
    const pointer = `${recordPointer(form, index)}/${member}`
    const from = String(decode(customers.day, day))
    add(index, { ...warning('affiliation_changed', pointer, from), from })
  }
  // A stale record is not stored, so it has no warnings.
  for (const [index, outcome] of outcomes) if (outcome === 'stale') warnings.delete(index)
  return new Map([...warnings].map(([index, own]) => [index, own.slice(-MAX_LISTED_PER_RECORD)]))
}

/** A verdict on the `tracking_data` of a stored customer that attributes the customer to no affiliate. */
type UnattributedVerdict = 'organic' | 'altered' | 'foreign' | 'unrecognised' | 'conflict'

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
