import { lookUp, readBatch } from '../../batch.ts'
import type { Connection } from '../../database.ts'
import { all } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import {
  approvedHash,
  DRAFT_SENDER,
  IS_CLOSED,
  LISTS_BOOKED_ENTRY,
  periodBefore,
  RECEIVES_UNSENT,
} from './approval-conditions.ts'
import { isDraft } from './is-draft.ts'

/** A row of `statements`. It builds on the row before it, of the same affiliate and plan. */
export interface ChainRow {
  readonly id: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly digest: string
  /** The digest on which it builds; empty if there is no row before it. */
  readonly previous: string
  /** 1 if the row has no statement and only carries something. */
  readonly is_carry: 0 | 1
}

/** A statement that may be approved. */
export interface Candidate {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly hash: string
  /** When its computation began to read, in milliseconds. */
  readonly read_at: number
  /** The records that wait for a rate or a currency. */
  readonly held: number
  /** 1 if its period is closed for its affiliate. */
  readonly closed: 0 | 1
  /** 1 if it lists a manual entry or a received balance that has changed since. */
  readonly outdated: 0 | 1
  /** The id of a draft that transfers to it. */
  readonly sender: string | null
  /** Who has approved it so far, where two persons must. */
  readonly approvals: readonly { actor: string; at: number }[]
  /** The row itself, then the rows before it back to the latest approved row or the latest statement. */
  readonly chain: readonly ChainRow[]
}

/** Reads rows, each with the rows on which it builds. */
export const READ_CHAINS = compileStatement(`
  with recursive chain (target, depth, id, affiliate_id, plan, period, status, digest, previous,
    is_carry) as (
    select s.id, 0, s.id, s.affiliate_id, s.plan, s.period, s.status, s.digest, s.previous,
      s.statement is null
    from ${JSON_EACH}(:ids) i cross join statements s on s.account = :account and s.id = i.value
    union all
    select c.target, c.depth + 1, b.id, b.affiliate_id, b.plan, b.period, b.status, b.digest,
      b.previous, b.statement is null
    from chain c
    cross join statements b on b.account = :account and b.affiliate_id = c.affiliate_id
      and b.plan = c.plan and b.period = ${periodBefore('c')}
    where c.status = 'draft' and (c.depth = 0 or c.is_carry = 1)
  )
  select target, id, status, digest, previous, is_carry from chain order by target, depth`)

/** Reads what decides whether rows can be approved. */
export const READ_CANDIDATES = compileStatement(`
  select s.id, s.affiliate_id, s.plan, s.period, s.hash, s.read_at,
    ifnull((select sum(h.value ->> 'count') from json_each(s.statement, '$.holds') h), 0) as held,
    ${IS_CLOSED} as closed,
    ${LISTS_BOOKED_ENTRY} or ${RECEIVES_UNSENT} as outdated,
    ${DRAFT_SENDER} as sender,
    (select json_group_array(json_object('actor', a.actor, 'at', a.at))
      from statement_approvals a
      where a.account = :account and a.id = s.id and a.hash = ${approvedHash('s')}) as approvals
  from ${JSON_EACH}(:ids) i cross join statements s on s.account = :account and s.id = i.value`)

/** Returns candidates by id; those that do not exist are left out. */
export async function readCandidates(
  db: Connection,
  account: string,
  ids: readonly string[],
): Promise<Candidate[]> {
  const values = { account, ids: JSON.stringify(ids) }
  type Lists = [
    chains: (ChainRow & { target: string })[],
    rows: (Omit<Candidate, 'approvals' | 'chain'> & { approvals: string })[],
  ]
  const [chains, rows] = await readBatch<Lists>(db, [
    bindStatement(db, READ_CHAINS, values),
    bindStatement(db, READ_CANDIDATES, values),
  ])
  const byTarget = Map.groupBy(chains, ({ target }) => target)
  return rows.map((row) => ({
    ...row,
    approvals: JSON.parse(row.approvals),
    chain: lookUp(byTarget, row.id),
  }))
}

/** Reads the drafts of a plan and period after an affiliate. */
export const LIST_DRAFT_IDS = compileStatement(`
  select id, affiliate_id from statements indexed by statements_status
  where account = :account and ${isDraft('status')} and plan = :plan
    and period = :period
    and affiliate_id > :after
  order by affiliate_id limit :limit`)

/** Returns the ids of some drafts of a plan and period, by affiliate. */
export async function listDraftIds(
  db: Connection,
  account: string,
  page: { plan: string; period: string; after: string; limit: number },
): Promise<{ id: string; affiliate_id: string }[]> {
  return all<{ id: string; affiliate_id: string }>(db, LIST_DRAFT_IDS, { account, ...page })
}
