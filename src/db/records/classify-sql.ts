import { aggregatesOf, type Filter, type Findings, findingColumns } from './findings-sql.ts'
import { unknownKeys } from './logged-keys-sql.ts'
import type { RecordTable } from './record-table.ts'
import { missingReferences, wasHeld } from './reference-sql.ts'
import {
  chunkNames,
  columnList,
  DELIVERY_ROW,
  IDX,
  type SqlFragments,
  unionOfChunks,
} from './sql-fragments.ts'
import { USAGE } from './storage-sql.ts'

/** The `over_quota` of a row with `probes`: triggers skip it, the batch deletes it. */
const QUOTA_CHECK_ONLY = '-1'

/** What happens to records that refer to something unknown. */
export type Policy = 'reject' | 'hold' | 'warn'

/** What an `insertDelivery` statement depends on beside its table. */
export interface DeliveryShape {
  /** With `hold`, inserts nothing if the account would have more than `:max_held` held records. */
  readonly policy: Policy
  /** The number of chunks with lookup columns, with flagged rows, and with references. */
  readonly lookupChunks: number
  readonly flaggedChunks: number
  readonly referenceChunks: number
  /** Inserts nothing if a record to be stored moves, because this batch has no `upsertMoved`. */
  readonly refuseMoves: boolean
  /** Refuses the delivery if the account stores as much as its quota. A dry run is not refused here. */
  readonly limitsStorage: boolean
  /**
   * Only finds out whether anything would be written. Then sizes and the number of held records do not
   * matter: a record that stays as it is exceeds neither limit.
   */
  readonly probes: boolean
}

/**
 * Inserts the delivery row and classifies every record: unknown reference, too large, new, stale,
 * erased, moved. Later statements read this row. If an earlier attempt inserted it, it stays as it is.
 * Triggers of the table count the delivery in its hour, and add its records to the total of their list.
 *
 * Inserts nothing if it cannot decide whether a record is too large, if it would rewrite too many bytes,
 * or if the account accepts no such delivery now (`delivery_conditions`).
 *
 * Parameters, beside those of sql-fragments.ts: `:received_at` (milliseconds), `:received_day`,
 * `:resource`, `:form`, `:dry_run`, `:lenient`, `:received`, `:has_yesterday`, `:has_today`; `:invalid`, `:errors_total` and `:errors` (JSON) of
 * validation; `:idempotency_key` and `:records_digests` (JSON); `:max_held`; `:hold_refused` (1 if the
 * account would hold what this variant rejects); `:days` (JSON, computed in `:book_zone`);
 * `:storage_quota`, `:written_bytes` and `:record_bytes`; the chunks `:lookup_1` …, `:flagged_1` … and
 * `:references_1` ….
 */
export function insertDeliverySql(
  table: RecordTable,
  fragments: SqlFragments,
  {
    policy,
    lookupChunks,
    flaggedChunks,
    referenceChunks,
    refuseMoves,
    limitsStorage,
    probes,
  }: DeliveryShape,
): string {
  const hasFlags = flaggedChunks > 0
  // Fails in a database of an older layout, which lacks the index.
  const access = table.indexes.key ? `indexed by ${table.indexes.key}` : ''
  const findings = findingColumns(table, fragments, hasFlags, policy === 'hold')
  const chunks = [...chunkNames('lookup', lookupChunks), ...chunkNames('flagged', flaggedChunks)]
  const isStopped = '(is_full and not :dry_run)'
  const isRefused = 'reused or (rejected > 0 and not :lenient)'
  // `classified` is evaluated row by row and not stored. Without its limit SQLite would merge it
  // into `counted`, and evaluate each column again wherever it is named.
  return `
      insert into deliveries (account, id, attempt, received_at, received_day, resource, form, dry_run,
        lenient, received, errors_total, rejected, refused, held, stale, created, listed, held_change,
        hold_refused, reused, yesterday, today, days, errors, unknown_at, unknown_keys,
        stale_at, moved, erased_at, verdicts, affiliated, written_bytes, record_bytes, over_quota)
      with sent(value) as (${unionOfChunks(chunks)}),
      ${table.reference ? missingReferences(table.reference, chunkNames('references', referenceChunks)) : ''}
      classified as not materialized (
        select value,
          ${columnList(Object.keys(findings), (name) => `${findings[name]} as ${name}`)}
        from sent left join ${table.table} t ${access} on ${fragments.keyMatches(fragments.fromLookup)}
        limit -1
      ),
      counted as (
        select ${countedColumns(table, fragments, findings, policy)},
          exists (select 1 from idempotency_keys
            where account = :account and resource = :resource and key = :idempotency_key
              and digest not in (select value from json_each(:records_digests))) as reused,
          ${limitsStorage ? USAGE : 'null'} as usage
        from classified
      ),
      decided as (
        select *, ${isRefused} as is_refused, usage >= :storage_quota and not (${isRefused}) as is_full
        from counted
      )
      select :account, :delivery, :attempt, :received_at, :received_day, :resource, :form, :dry_run, :lenient,
        :received, iif(reused, 1, :errors_total + errors),
        iif(reused, :received, :invalid + rejected),
        iif(reused or (is_full and not :dry_run), :received, iif(:lenient, 0, :invalid + rejected)),
        held, stale, created, created - repeated_created + leaves_held - becomes_held,
        new_held + becomes_held - leaves_held,
        :hold_refused, reused, :has_yesterday, :has_today,
        iif(:dry_run or is_refused or (:invalid and not :lenient) or is_full, '[]', :days),
        :errors,
        unknown_at, iif(errors, ${unknownKeys(table, fragments)}, null),
        stale_at, moved, erased_at, verdicts, affiliated, iif(is_refused, 0, :written_bytes), :record_bytes,
        ${probes ? QUOTA_CHECK_ONLY : 'iif(is_full, usage, null)'}
      from decided
      where not exists (select 1 from delivery_conditions
          where account = :account and (resetting or book_zone <> :book_zone))
        and ${refuseMoves ? '(moved is null or is_refused or is_full)' : 'true'}
        ${table.sizeLimit && !probes ? `and (undecided = 0 or reused or ${isStopped})` : ''}
        ${table.sizeLimit ? `and (rewritten <= ${table.sizeLimit.maxRewritten} or is_refused or (:invalid and not :lenient) or ${isStopped})` : ''}
        ${policy === 'hold' && table.canHold && !probes ? `and (${isStopped} or ${HAS_ROOM_TO_HOLD})` : ''}
      on conflict (account, id) do nothing
      returning *, iif(rejected > 0, exists (select 1 from webhook_wants
        where account = :account and type in ('delivery.refused', '*')), 0) as notifies`
}

/** The condition that the account may hold the records of this delivery that are not held yet. */
const HAS_ROOM_TO_HOLD = `(new_held + becomes_held = 0
          or new_held + becomes_held + (
            select coalesce(sum(held), 0) from totals where account = :account) <= :max_held)`

/** Selects the delivery row, when the batch of a repeated attempt or of a dry run is done. */
export const SELECT_DELIVERY = `select * from ${DELIVERY_ROW}`

/** Counts and lists the records by their findings. */
function countedColumns(
  table: RecordTable,
  { fromLookup }: SqlFragments,
  findings: Findings,
  policy: Policy,
): string {
  const { sizeLimit } = table
  const { count, list, map } = aggregatesOf({
    ...Object.fromEntries(Object.keys(findings).map((name) => [name, name])),
    ...(table.canHold &&
      'moved' in findings && {
        was_held: wasHeld(table, fromLookup, 'moved'),
      }),
    ...(table.affiliation && { affiliated: 'affiliated is not null' }),
    ...(policy === 'reject' && { refused: 'unknown' }),
    ...(policy === 'hold' && { held: 'unknown' }),
  })
  const notCreated = ['invalid', 'refused', 'held']
  const stale: Filter = { has: ['stale'], lacks: ['invalid', 'refused'] }
  const columns = {
    errors: count('*', { has: ['refused'], lacks: [] }),
    rejected: count('*', { has: ['refused'], lacks: ['invalid'] }),
    held: count('*', { has: ['held'], lacks: ['invalid'] }),
    stale: count('*', stale),
    ...(sizeLimit && {
      undecided: count('*', { has: ['undecided'], lacks: [] }),
      rewritten: 'total(rewritten)',
    }),
    created: count('*', { has: ['is_new'], lacks: notCreated }),
    // Records that were merged into a new one: they are `created`, too, but no further record is stored.
    repeated_created: count('*', { has: ['is_new', 'flagged'], lacks: notCreated }),
    // Stored records that stop or start being held, and new ones that are held.
    leaves_held: count('*', { has: ['was_held', 'moved'], lacks: ['unknown'] }),
    becomes_held: count('*', { has: ['moved', 'held'], lacks: ['was_held'] }),
    new_held: count('*', { has: ['is_new', 'held'], lacks: ['invalid', 'flagged'] }),
    unknown_at: list(IDX, { has: ['unknown'], lacks: [] }),
    stale_at: list(IDX, stale),
    moved: list(IDX, { has: ['moved'], lacks: ['stale', 'refused'] }),
    erased_at: list(IDX, { has: ['erased'], lacks: ['invalid'] }),
    affiliated: map(IDX, 'json(affiliated)', {
      has: ['affiliated'],
      lacks: ['stale', 'refused', 'invalid'],
    }),
    verdicts: list(`json_array(${IDX}, verdict)`, { has: ['not_attributed'], lacks: ['invalid'] }),
  }
  return Object.entries(columns)
    .map(([name, sql]) => `${sql} as ${name}`)
    .join(',\n          ')
}
