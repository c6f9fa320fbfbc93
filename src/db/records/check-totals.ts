import { isArchivedSql } from '../archive/archived.ts'
import { decode } from '../column-types.ts'
import { isDoorOpen, throughDoor } from '../door.ts'
import type { SumRow } from '../exact-sums.ts'
import type { KeyValue } from '../paginate.ts'
import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'
import type { RecordView } from './list.ts'
import {
  emptySums,
  formOf,
  fromKeptGroups,
  type KeptGroup,
  mergeSums,
  readStep,
  STEPS_PER_BATCH,
  startOfDay,
  stepSize,
  stepStatements,
  toKeptGroups,
} from './totals.ts'

/** The maximum number of days that one check compares. */
const MAX_DAYS = 10

/** The limits of a check. With at most four queries a step they are fewer than an invocation may make. */
export const CHECK_LIMITS = {
  /** The steps after which it begins no other day. */
  steps: 10,
  /** The steps of one day in one message; further messages go on with a day that has more records. */
  stepsOfDay: 110,
  /** The characters of the sums of such a day: a message has at most 128 KB. A day with more is not compared. */
  characters: 100_000,
}

const LEAST_RECENTLY_CHECKED = compileStatement(`
  select account, resource, day, form from day_totals indexed by day_totals_checked
  where computation is null and ${isDoorOpen('account')} order by checked_at limit ${MAX_DAYS}`)

/** The records of an archived day cannot be summed, and its totals do not change. */
const IS_ARCHIVED = isArchivedSql(':resource', ':day')

const NOTE_ARCHIVED = compileStatement(`
  update day_totals set checked_at = :now
  where account = :account and resource = :resource and day = :day and ${IS_ARCHIVED}`)

const READ_KEPT = compileStatement(`
  select totals, checked_at from day_totals
  where account = :account and resource = :resource and day = :day and computation is null
    and not ${IS_ARCHIVED}`)

const NOTE_CHECK = compileStatement(`
  update day_totals set checked_at = :now
  where account = :account and resource = :resource and day = :day and checked_at = :checked_at`)

/** Deletes kept totals, so that the day is summed anew. */
const DELETE_KEPT = compileStatement(`
  delete from day_totals where account = :account and resource = :resource and day = :day`)

/** A day whose totals are kept. */
interface KeptDay {
  account: string
  resource: string
  day: number
  form: string
}

interface Kept {
  totals: string
  checked_at: number
}

/** A day that a message has compared in part. */
export interface PartOfDay extends KeptDay {
  /** When the comparison began, as the day notes it: a day that has changed since then has another time. */
  readonly checked_at: number
  /** The position of the last record that was summed. */
  readonly after: readonly KeyValue[]
  /** The sums so far. */
  readonly sums: readonly KeptGroup[]
}

/** A day whose kept totals differed from its records. */
export interface WrongDay {
  account: string
  resource: string
  day: string
}

/** What a check has found and left. */
interface CheckResult {
  readonly wrong: WrongDay[]
  /** Days that have more records than one message compares. */
  readonly parts: PartOfDay[]
  /** Whether no other day is left. */
  readonly isDone: boolean
}

/**
 * Compares kept totals with the records, those first that were not compared for longest, or goes on with a `part`
 * of a day. Totals that differ are deleted, so that the day is summed anew, and returned. `views` are all
 * resources of all verticals.
 */
export async function checkTotals(
  db: D1Database,
  views: readonly RecordView[],
  now: number,
  part?: PartOfDay,
): Promise<CheckResult> {
  const session = db.withSession('first-primary')
  const days = part ? [part] : await all<KeptDay>(session, LEAST_RECENTLY_CHECKED)
  const checked: CheckResult = { wrong: [], parts: [], isDone: days.length < MAX_DAYS }
  let steps = 0
  for (const kept of days) {
    if (steps >= CHECK_LIMITS.steps) break
    steps += await checkDay(
      throughDoor(session, kept.account),
      views,
      { ...kept, part, now },
      checked,
    )
  }
  return checked
}

/** Compares one day, or goes on with its part. Returns its steps. */
async function checkDay(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  { part, now, ...kept }: KeptDay & { part: PartOfDay | undefined; now: number },
  { wrong, parts }: CheckResult,
): Promise<number> {
  const { account, resource, day, form } = kept
  const view = views.find((known) => known.name === resource && formOf(known) === form)
  // Kept totals of a form that no resource has are never read.
  if (!view) {
    await run(session, DELETE_KEPT, kept)
    return 0
  }
  const result = await compareDay(session, view, kept, part)
  if (result.isWrong) {
    await run(session, DELETE_KEPT, kept)
    const { encoded, dayColumn } = view.recordTable
    wrong.push({ account, resource, day: String(decode(encoded[dayColumn], day)) })
  } else if (result.kept) {
    await run(session, NOTE_CHECK, { ...kept, now, checked_at: result.kept.checked_at })
  } else await run(session, NOTE_ARCHIVED, { ...kept, now })
  if (result.rest) parts.push({ account, resource, day, form, checked_at: now, ...result.rest })
  return result.steps
}

const run = (
  session: D1DatabaseSession,
  statement: Parameters<typeof bindStatement>[1],
  values: object,
) => withD1Retry(() => bindStatement(session, statement, { ...values }).run())

/** What a comparison found: the kept totals, or null if the day changed meanwhile. */
interface Comparison {
  readonly kept: Kept | null
  readonly isWrong: boolean
  readonly steps: number
  /** Where another message goes on; absent if the day was compared, or has too many sums. */
  readonly rest?: Pick<PartOfDay, 'after' | 'sums'>
}

/**
 * Sums a day in steps and compares the sums with the kept ones. A change of the day deletes its row,
 * so that a row which is the same at each step has the totals of all records that were summed.
 */
async function compareDay(
  session: D1DatabaseSession,
  view: RecordView,
  { account, resource, day }: KeptDay,
  part: PartOfDay | undefined,
): Promise<Comparison> {
  const sums = part ? fromKeptGroups(part.sums) : emptySums()
  // The smallest size with which the kept totals can have been summed: no step is too large then.
  const size = stepSize(view) / STEPS_PER_BATCH
  let after = part?.after ?? startOfDay(view, day)
  let first = part?.checked_at
  for (let steps = 1; ; steps++) {
    const [[kept], ...rows] = await readBatch<[Kept[], ...SumRow[][]]>(session, [
      bindStatement(session, READ_KEPT, { account, resource, day }),
      ...stepStatements(session, view, { account, after, lastDay: day, size }),
    ])
    first ??= kept?.checked_at
    if (!kept || kept.checked_at !== first) return { kept: null, isWrong: false, steps }
    const step = readStep(view, size, rows)
    const ofDay = step.days.get(day)
    if (ofDay) mergeSums(sums, ofDay)
    if (step.isTooLarge) return { kept, isWrong: true, steps }
    if (step.end === null) {
      const isWrong = JSON.stringify(toKeptGroups(sums, view)) !== kept.totals
      return { kept, isWrong, steps }
    }
    after = step.end
    if (steps >= CHECK_LIMITS.stepsOfDay) {
      const rest = { after, sums: toKeptGroups(sums, view) }
      const fits = JSON.stringify(rest).length <= CHECK_LIMITS.characters
      return { kept, isWrong: false, steps, ...(fits && { rest }) }
    }
  }
}
