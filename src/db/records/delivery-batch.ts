import { encode } from '../column-types.ts'
import { deliveries } from '../schema.ts'
import type { Statement } from '../statement.ts'
import type { DeliveryInput } from './delivery-input.ts'
import { HELD_LIMITS } from './held-limits.ts'
import type { BatchParts, Values } from './prepare-batch.ts'
import { COMMON_STATEMENTS, type DeliveryStatements } from './statements.ts'

/** A variant of a request's batch. Later ones are sent only if an earlier one stored nothing. */
export interface BatchVariant {
  /** Whether it has the statements for records that move. */
  readonly moves: boolean
  readonly policy: DeliveryInput['policy']
  /** Whether it only finds out what would be written, and leaves nothing. */
  readonly probes?: true
}

/** Returns the batch of one attempt, in the order in which it must run. */
export function buildBatch(
  parts: BatchParts,
  attempt: number,
  variant: BatchVariant,
): D1PreparedStatement[] {
  const { bind, statements, input, lookup, flagged, references, records, recordBytes } = parts
  const { moves, policy, probes = false } = variant
  const dryRun = input.dryRun || probes
  // Skip the writes if validation has already rejected the request.
  const stores = records.length > 0 && (input.invalidCount === 0 || input.lenient)
  const writes = !dryRun && stores
  const values = {
    ...valuesOf(parts, attempt, policy),
    dry_run: Number(dryRun),
    probes: Number(probes),
    written_bytes: writes ? recordBytes.all : 0,
    record_bytes: recordBytes.largest,
  }
  const shape = {
    policy,
    lookupChunks: lookup.length,
    flaggedChunks: flagged.length,
    referenceChunks: references.length,
    refuseMoves: writes && !moves,
    limitsStorage: stores && !probes,
    probes,
  }
  const insertDelivery = bind(statements.insertDelivery(shape), values)
  // An earlier attempt may have inserted the row. Then the insert returns no row.
  const readBack = attempt > 1 ? readBackStatements(parts, values) : []
  const warnings = stores && !probes ? signupWarnings(parts, values) : []
  if (dryRun) {
    const discard = bind(COMMON_STATEMENTS.discardDryRun, values)
    return [insertDelivery, ...dryRunStatements(parts, values), ...warnings, ...readBack, discard]
  }
  const writing = writes ? writeStatements(parts, values, attempt, variant) : []
  return [insertDelivery, ...writing, ...warnings, ...readBack]
}

/** Returns the statements that find warnings about the signups of customers. */
function signupWarnings(
  { bind, statements, table, records, lacksTime }: BatchParts,
  values: Values,
) {
  const { signupWarnings: statement } = statements
  if (!statement || (table.hasFirstSeen && !lacksTime)) return []
  return records.map((rows) => bind(statement, { ...values, rows }))
}

/** Returns the statements that read what an earlier attempt stored. */
const readBackStatements = ({ bind, table, input }: BatchParts, values: Values) => [
  bind(COMMON_STATEMENTS.selectDelivery, values),
  ...(table.releases.length > 0 && !input.dryRun
    ? [bind(COMMON_STATEMENTS.selectReleasing, values)]
    : []),
]

/** Returns the statements that count and list what a dry run would write. */
const dryRunStatements = ({ bind, statements, records }: BatchParts, values: Values) =>
  records.flatMap((rows) => [
    bind(statements.countDryRun, { ...values, rows }),
    bind(statements.selectDryRun, { ...values, rows }),
  ])

/** The parameters that are the same for all statements of a batch. */
function valuesOf(parts: BatchParts, attempt: number, policy: DeliveryInput['policy']): Values {
  const { input, chunkValues, days } = parts
  return {
    account: input.account,
    delivery: input.id,
    attempt,
    received_at: input.receivedAt,
    received_day: encode(deliveries.received_day, input.receivedDay),
    book_zone: input.bookZone,
    resource: input.resource,
    form: input.form,
    lenient: Number(input.lenient),
    received: input.received,
    invalid: input.invalidCount,
    errors_total: input.errorsTotal,
    errors: input.errors,
    idempotency_key: input.idempotency?.key ?? null,
    records_digest: input.idempotency?.digests[0] ?? null,
    records_digests: JSON.stringify(input.idempotency?.digests ?? []),
    has_yesterday: Number(input.hasYesterday),
    has_today: Number(input.hasToday),
    days,
    max_held: HELD_LIMITS.account,
    max_released: HELD_LIMITS.release,
    hold_refused: Number(policy !== input.policy),
    storage_quota: input.storageQuota,
    ...chunkValues,
  }
}

/** Returns the statements that write records, and keep totals and held records in step with them. */
function writeStatements(
  parts: BatchParts,
  values: Values,
  attempt: number,
  { moves, policy }: BatchVariant,
): D1PreparedStatement[] {
  const { bind, statements, table, input, lookup, flagged, records } = parts
  const { countWritten, insertIdempotencyKey } = COMMON_STATEMENTS
  const each = (chunks: readonly string[], statement: Statement) =>
    chunks.map((rows) => bind(statement, { ...values, rows }))
  const upsert = (
    chunks: readonly string[],
    { withoutReturning, returning }: DeliveryStatements['upsert'],
  ) =>
    chunks.flatMap((rows) => [
      bind(input.returnRecordOutcomes ? returning : withoutReturning, { ...values, rows }),
      bind(countWritten, values),
    ])
  const isRetry = attempt > 1 && input.returnRecordOutcomes
  return [
    ...(isRetry ? each(lookup, statements.selectEarlierWrites) : []),
    ...(moves ? upsert(records, statements.upsertMoved) : []),
    ...upsert(records, statements.upsert),
    ...(table.canHold && policy === 'hold'
      ? [bind(statements.countHeld(lookup.length), values)]
      : []),
    ...(input.repeats.size > 0 ? [bind(statements.countRepeated(flagged.length), values)] : []),
    ...(statements.signUp && parts.lacksTime ? each(lookup, statements.signUp) : []),
    ...lookup.flatMap((rows) =>
      statements.releases.flatMap(({ release, addReleased }) => [
        bind(release, { ...values, rows }),
        bind(addReleased, values),
      ]),
    ),
    ...(input.idempotency ? [bind(insertIdempotencyKey, values)] : []),
  ]
}
