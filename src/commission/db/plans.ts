import { markChanges } from '../../ingest/db/changed.ts'
import { dayNumber } from '../../platform/db/column-types.ts'
import type { Connection } from '../../platform/db/database.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import type { assignments, planVersions } from '../../platform/db/schema.ts'
import { abortAs, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { LAST_CLOSED_PERIOD, REJECT_CLOSED_PERIOD } from './closed-terms.ts'

type Row = typeof planVersions.$inferSelect

/** A version of a plan, also a withdrawn one; `terms` is JSON. */
export type StoredVersion = Omit<Row, 'account'>

/** An assignment; `from_day` is its first day. */
export type StoredAssignment = Omit<typeof assignments.$inferSelect, 'account'>

const READ_VERSIONS = compileStatement(`
  select plan, version, effective_from, terms, created_at, withdrawn_at from plan_versions
  where account = :account and (:plans is null or plan in (select value from ${JSON_EACH}(:plans)))
  order by plan, effective_from, version`)

/** Returns the versions of some plans of an account, or of all, by plan and first day. */
export const readVersions = (
  db: Connection,
  account: string,
  plans: readonly string[] | null = null,
): Promise<StoredVersion[]> =>
  all<StoredVersion>(db, READ_VERSIONS, { account, plans: plans && JSON.stringify(plans) })

const READ_ASSIGNMENTS = compileStatement(`
  select affiliate_id, from_day, plan, customers from assignments
  where account = :account order by affiliate_id, from_day`)

/** Returns the versions of all plans of an account, and all its assignments, by affiliate and first day. */
export async function readPlanRows(
  db: D1Database,
  account: string,
): Promise<{ versions: StoredVersion[]; assignments: StoredAssignment[] }> {
  const [versions, assignments] = await readBatch<[StoredVersion[], StoredAssignment[]]>(db, [
    bindStatement(db, READ_VERSIONS, { account, plans: null }),
    bindStatement(db, READ_ASSIGNMENTS, { account }),
  ])
  return { versions, assignments }
}

/** Returns the versions of all plans of an account, and the last closed period of one; null if it has none. */
export async function readBeforePut(
  db: D1Database,
  account: string,
  plan: string,
): Promise<{ versions: StoredVersion[]; closed: string | null }> {
  type Lists = [versions: StoredVersion[], closed: [{ closed: string | null }]]
  const [versions, [{ closed }]] = await readBatch<Lists>(db, [
    bindStatement(db, READ_VERSIONS, { account, plans: null }),
    bindStatement(db, LAST_CLOSED_PERIOD, { account, plan }),
  ])
  return { versions, closed }
}

const INSERT_VERSION = compileStatement(`
  insert into plan_versions (account, plan, version, effective_from, terms, created_at)
  values (:account, :plan, :version, :effective_from, :terms, :created_at)`)

/** The plan of an affiliate `a` on a day. */
const planOn = (day: string) => `(
      select x.plan from assignments x where x.account = :account and x.affiliate_id in (a.affiliate_id, '*')
        and x.from_day <= ${day} order by x.affiliate_id = '*', x.from_day desc limit 1)`

/** Tells affiliates that the plan which is theirs gets another version. */
const TELL_OF_VERSION = noticesOf(
  'terms_changed',
  `select :version || ' ' || :effective_from || ' ' || :plan as cause, 'affiliate:' || a.affiliate_id as recipient
    from affiliates a
    where a.account = :account and :version > 1 and ${planOn(':effective_from')} = :plan`,
)

/**
 * Inserts a version. The statements fail if its number or its first day is taken, or if the period of
 * its first day or a later one is closed.
 */
export const insertVersion = (
  db: D1Database,
  row: Omit<Row, 'withdrawn_at'> & { readonly period: string },
) =>
  [REJECT_CLOSED_PERIOD, INSERT_VERSION, TELL_OF_VERSION].map((statement) =>
    bindStatement(db, statement, row),
  )

/** Why a version cannot be withdrawn. */
export const IN_FORCE = 'in force'

const REJECT_IN_FORCE = compileStatement(`
  select ${abortAs(IN_FORCE)} from plan_versions v
  where account = :account and plan = :plan and version = :version and withdrawn_at is null and (
    effective_from <= :today or (
      not exists (
        select 1 from plan_versions e where e.account = v.account and e.plan = v.plan
          and e.withdrawn_at is null and e.effective_from < v.effective_from)
      and (
        exists (select 1 from assignments a where a.account = v.account and a.plan = v.plan)
        or exists (select 1 from manual_entries m indexed by manual_entries_open
          where m.account = v.account and m.plan = v.plan and m.statement is null)
        or exists (select 1 from closed_periods c where c.account = v.account and c.plan = v.plan)
        or exists (select 1 from statements s indexed by statements_closed
          where s.account = v.account and s.plan = v.plan and s.status <> 'draft'))))`)

const WITHDRAW_VERSION = compileStatement(`
  update plan_versions set withdrawn_at = :withdrawn_at
  where account = :account and plan = :plan and version = :version and withdrawn_at is null`)

/**
 * Withdraws a version. The statements fail if it is or was in force: its first day has come, or it is
 * the first version of a plan with assignments, open manual entries or closed periods, which governs the days before it, too.
 */
export const withdrawVersion = (
  db: D1Database,
  version: Pick<Row, 'account' | 'plan' | 'version'> & { today: string; withdrawn_at: string },
) => [bindStatement(db, REJECT_IN_FORCE, version), ...requiredChange(db, WITHDRAW_VERSION, version)]

const PUT_ASSIGNMENTS = compileStatement(`
  insert into assignments (account, affiliate_id, from_day, plan, customers)
  select :account, value ->> 'affiliate_id', value ->> 'from_day', value ->> 'plan', value ->> 'customers'
  from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, from_day) do update
  set plan = excluded.plan, customers = excluded.customers
  where plan is not excluded.plan or customers is not excluded.customers`)

/** Tells affiliates, before it is stored, that they get another plan than they had. */
const TELL_OF_PLAN = noticesOf(
  'terms_changed',
  `select '0 ' || (value ->> 'from_day') || ' ' || (value ->> 'plan') as cause,
      'affiliate:' || a.affiliate_id as recipient
    from ${JSON_EACH}(:rows) cross join affiliates a on a.account = :account
      and a.affiliate_id = value ->> 'affiliate_id'
    where ${planOn("(value ->> 'from_day')")} <> value ->> 'plan'`,
)

/** Upserts assignments by affiliate and first day. */
export const putAssignments = (
  db: D1Database,
  account: string,
  sent: readonly StoredAssignment[],
) =>
  toJsonChunks(sent).flatMap((rows) =>
    [TELL_OF_PLAN, PUT_ASSIGNMENTS].map((one) => bindStatement(db, one, { account, rows })),
  )

/** Marks the first days of changed assignments: from them on, statements may come to something else. */
export const markAssignments = (
  db: D1Database,
  account: string,
  changed: readonly Pick<StoredAssignment, 'from_day'>[],
) =>
  markChanges(
    db,
    account,
    changed.map(({ from_day }) => dayNumber(from_day)),
  )

/** Reads one page of an account's assignments, by affiliate and first day. */
export const listAssignments = (
  db: D1Database,
  account: string,
  affiliate_id: string | null,
  page: Page,
): Promise<FoundPage<StoredAssignment>> =>
  paginate(
    db,
    {
      columns: ['affiliate_id', 'from_day', 'plan', 'customers'],
      from: `assignments where account = :account ${affiliate_id === null ? '' : 'and affiliate_id = :affiliate_id'}`,
      key: ['affiliate_id', 'from_day'],
      values: { account, ...(affiliate_id !== null && { affiliate_id }) },
    },
    page,
  )

/** An assignment by its key. */
type AssignmentKey = Pick<StoredAssignment, 'affiliate_id' | 'from_day'>

const FIND = compileStatement(`
  select affiliate_id, from_day, plan, customers from assignments
  where account = :account and affiliate_id = :affiliate_id and from_day = :from_day`)

/** Returns the assignment of an affiliate that begins on a day; null if there is none. */
export const findAssignment = (
  db: D1Database,
  account: string,
  key: AssignmentKey,
): Promise<StoredAssignment | null> => first(db, FIND, { account, ...key })

const DELETE = compileStatement(`
  delete from assignments
  where account = :account and affiliate_id = :affiliate_id and from_day = :from_day`)

/** Deletes an assignment. The batch fails if there is none. */
export const deleteAssignment = (db: D1Database, account: string, key: AssignmentKey) => [
  markAssignments(db, account, [key]),
  ...requiredChange(db, DELETE, { account, ...key }),
]
