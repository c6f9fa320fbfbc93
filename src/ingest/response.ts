import type { Context } from 'hono'
import type { DeliveryInput } from '../db/records/delivery-input.ts'
import type { DeliveryResult } from '../db/records/store-delivery.ts'
import { ApiError } from '../errors.ts'
import type { Issue } from '../validation/issue.ts'
import { type FormattedIssue, formatIssue } from '../validation/messages.ts'
import type { RecordValidator } from '../validation/record-validator.ts'
import { type Warning, warning } from '../validation/warnings.ts'
import { recordPointer } from './envelope.ts'
import { outcomeOf, statusOf, summaryOf } from './outcome.ts'
import { limitPerRecord, type Resource, toReferenceIssue } from './resource.ts'
import { keyOfRecord, type ValidatedRequest } from './validate-records.ts'

/** The contract: all errors are counted, the first 1000 are written out. */
const MAX_ERRORS = 1000

/** What an answer is made of. */
interface HandledDelivery {
  validated: ValidatedRequest
  resource: Resource
  validator: RecordValidator
  input: DeliveryInput
  stored: DeliveryResult
  minimal: boolean
}

/** Answers a delivery: its outcomes, or why it is refused. */
export function respond(c: Context, handled: HandledDelivery) {
  const { validated, resource, validator, input, stored } = handled
  const { delivery } = stored
  if (delivery.reused) throw reused(input)
  const { form, records } = validated
  const referring = indexesOf(delivery.unknown_at).map((index) => {
    const record = records[index] as Record<string, unknown>
    const named = { form, index, key: keyOfRecord(record, validator) }
    return toReferenceIssue(resource, named, record[resource.referenceMember ?? ''])
  })
  const issues =
    input.policy === 'reject'
      ? limitPerRecord([...validated.issues, ...referring])
      : validated.issues

  const status = statusOf(delivery)
  if (status === 422) throw refusal(input, delivery.errors_total, delivery.rejected, issues)

  const body = {
    delivery_id: input.id,
    dry_run: input.dryRun,
    summary: summaryOf(delivery),
    ...(delivery.errors_total > 0 && { errors_total: delivery.errors_total }),
    results: resultsOf(handled, issues, referring),
  }
  return c.json(body, status)
}

const reused = ({ id }: DeliveryInput) =>
  new ApiError('idempotency_key_reused', {
    detail: 'Nothing was stored: send other records under another Idempotency-Key.',
    delivery_id: id,
    errors: [formatIssue({ pointer: '', code: 'idempotency_key_reused' })],
    errors_total: 1,
  })

function refusal(input: DeliveryInput, total: number, rejected: number, issues: readonly Issue[]) {
  const { received, id } = input
  const are = rejected === 1 ? 'is' : 'are'
  return new ApiError('validation_failed', {
    detail:
      received === rejected && issues[0]?.index === undefined
        ? 'The body is wrong as a whole; nothing was stored.'
        : `${rejected} of ${received} records ${are} wrong; nothing was stored.`,
    delivery_id: id,
    errors: issues.slice(0, MAX_ERRORS).map(formatIssue),
    errors_total: total,
  })
}

interface Result {
  index: number
  key?: Record<string, string>
  outcome: string
  warnings?: Warning[]
  warnings_total?: number
  errors?: Omit<FormattedIssue, 'index' | 'key'>[]
}

function resultsOf(
  { validated, validator, input, stored, minimal }: HandledDelivery,
  issues: readonly Issue[],
  referring: readonly Issue[],
): Result[] {
  const { delivery, revisions } = stored
  const errors = Map.groupBy(issues.slice(0, MAX_ERRORS), ({ index }) => index)
  const stale = new Set(indexesOf(delivery.stale_at))
  const held = new Set(input.policy === 'hold' ? indexesOf(delivery.unknown_at) : [])
  const rejected = new Set(issues.map(({ index }) => index))
  const warnings = warningsOf(validated, delivery, input.policy === 'warn' ? referring : [])
  const unsaid = new Map(
    validated.valid
      .filter((one) => one.omittedWarnings > 0)
      .map((one) => [one.index, one.omittedWarnings]),
  )

  const results: Result[] = []
  for (const [index, record] of validated.records.entries()) {
    const isRejected = rejected.has(index)
    // What is stale is not stored: there is nothing to warn of.
    const told = stale.has(index) ? undefined : warnings.get(index)
    if (minimal && !isRejected && !told) continue
    const key = keyOfRecord(record, validator)
    const result = { index, ...(key && { key }) }
    if (isRejected) {
      const said = (errors.get(index) ?? []).map(({ index: _, key: __, ...issue }) =>
        formatIssue(issue),
      )
      results.push({ ...result, outcome: 'rejected', errors: said })
    } else {
      const outcome = outcomeOf(revisions.get(index), held.has(index), stale.has(index))
      const more = unsaid.get(index)
      const total = told && more && { warnings_total: told.length + more }
      results.push({ ...result, outcome, ...(told && { warnings: told, ...total }) })
    }
  }
  return results
}

/** The warnings of each record that has any: of the door, and of what only the database knows. */
function warningsOf(
  { form, valid }: ValidatedRequest,
  { verdicts, erased_at }: DeliveryResult['delivery'],
  referring: readonly Issue[],
): Map<number, Warning[]> {
  const warnings = new Map<number, Warning[]>()
  for (const { index, warnings: own } of valid) if (own.length > 0) warnings.set(index, own)
  const warn = (index: number, told: Warning) => {
    const before = warnings.get(index)
    if (before) before.push(told)
    else warnings.set(index, [told])
  }
  for (const issue of referring) {
    const { pointer, code, message } = formatIssue(issue)
    warn(issue.index!, { code, pointer, message })
  }
  for (const [index, verdict] of JSON.parse(verdicts ?? '[]') as [number, Verdict][]) {
    const code = verdict === 'organic' ? 'unattributed' : verdict
    warn(index, warning(code, `${recordPointer(form, index)}/tracking_data`))
  }
  for (const index of indexesOf(erased_at))
    warn(index, warning('erased', recordPointer(form, index)))
  return warnings
}

/** What the stored customer's `tracking_data` proves, where that is less than who is paid. */
type Verdict = 'organic' | 'altered' | 'foreign' | 'unrecognised' | 'conflict'

const indexesOf = (json: string | null): number[] => (json === null ? [] : JSON.parse(json))
