import { readBatch } from '../batch.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import type { StoredAssignment } from './plans.ts'

const PUT_ASSIGNMENTS = compileStatement(`
  insert into assignments (account, affiliate_id, from_day, plan, customers)
  select :account, value ->> 0, value ->> 1, value ->> 2, value ->> 3
  from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, from_day) do update
  set plan = excluded.plan, customers = excluded.customers
  where plan is not excluded.plan or customers is not excluded.customers`)

/** Returns assignments as the parameters `:rows` of statements. */
const toRows = (sent: readonly StoredAssignment[]): string[] =>
  toJsonChunks(
    sent.map(({ affiliate_id, from_day, plan, customers }) => [
      affiliate_id,
      from_day,
      plan,
      customers,
    ]),
  )

/** Upserts assignments by affiliate and first day. */
export const putAssignments = (
  db: D1Database,
  account: string,
  sent: readonly StoredAssignment[],
) => toRows(sent).map((rows) => bindStatement(db, PUT_ASSIGNMENTS, { account, rows }))

/** Text that is not valid JSON: `json()` of it aborts the batch. See `isAssertionFailure`. */
const NOT_JSON = 'no plan'

const REJECT_UNKNOWN_PLANS = compileStatement(`
  select json('${NOT_JSON}') from ${JSON_EACH}(:plans) where not exists (
    select 1 from plan_versions
    where account = :account and plan = value and withdrawn_at is null) limit 1`)

/** Fails, and so does its batch, if one of these plans has no version, or only withdrawn ones. */
export const rejectUnknownPlans = (db: D1Database, account: string, plans: readonly string[]) =>
  bindStatement(db, REJECT_UNKNOWN_PLANS, { account, plans: JSON.stringify(plans) })

const PLANS = compileStatement(`
  select distinct plan from plan_versions
  where account = :account and withdrawn_at is null order by plan`)

const COUNT = compileStatement('select count(*) as n from assignments where account = :account')

const UNCONFIGURED = compileStatement(`
  select value as affiliate_id from ${JSON_EACH}(:ids) where value <> '*' and not exists (
    select 1 from affiliates where account = :account and affiliate_id = value)`)

const REPLACED = compileStatement(`
  select t.affiliate_id, t.from_day, t.plan, t.customers
  from ${JSON_EACH}(:rows) r
  cross join assignments t on t.account = :account and t.affiliate_id = r.value ->> 0
    and t.from_day = r.value ->> 1
  where t.plan is not r.value ->> 2 or t.customers is not r.value ->> 3`)

/** What is needed to check the assignments of a request. */
export interface AssignmentContext {
  /** The plans with a version that is not withdrawn. */
  plans: string[]
  /** The number of assignments of the account. */
  count: number
  /** The affiliates of the request that are not configured. */
  unconfigured: ReadonlySet<string>
  /** The stored assignments that the request changes. */
  replaced: StoredAssignment[]
}

type ContextRows = [
  plans: { plan: string }[],
  counted: [{ n: number }],
  unconfigured: { affiliate_id: string }[],
  ...replaced: StoredAssignment[][],
]

/** Reads what is needed to check the assignments of a request, and what they replace. */
export async function readAssignmentContext(
  db: D1Database,
  account: string,
  sent: readonly StoredAssignment[],
): Promise<AssignmentContext> {
  const affiliates = [...new Set(sent.map(({ affiliate_id }) => affiliate_id))]
  const values = { account, ids: JSON.stringify(affiliates) }
  const [plans, [counted], unconfigured, ...replaced] = await readBatch<ContextRows>(db, [
    bindStatement(db, PLANS, values),
    bindStatement(db, COUNT, values),
    bindStatement(db, UNCONFIGURED, values),
    ...toRows(sent).map((rows) => bindStatement(db, REPLACED, { account, rows })),
  ])
  return {
    plans: plans.map(({ plan }) => plan),
    count: counted.n,
    unconfigured: new Set(unconfigured.map(({ affiliate_id }) => affiliate_id)),
    replaced: replaced.flat(),
  }
}

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
export type AssignmentKey = Pick<StoredAssignment, 'affiliate_id' | 'from_day'>

const FIND = compileStatement(`
  select affiliate_id, from_day, plan, customers from assignments
  where account = :account and affiliate_id = :affiliate_id and from_day = :from_day`)

/** Returns the assignment of an affiliate that begins on a day; null if there is none. */
export const findAssignment = (
  db: D1Database,
  account: string,
  key: AssignmentKey,
): Promise<StoredAssignment | null> =>
  withD1Retry(() => bindStatement(db, FIND, { account, ...key }).first())

const DELETE = compileStatement(`
  delete from assignments
  where account = :account and affiliate_id = :affiliate_id and from_day = :from_day`)

/** Deletes an assignment. */
export const deleteAssignment = (db: D1Database, account: string, key: AssignmentKey) =>
  bindStatement(db, DELETE, { account, ...key })
