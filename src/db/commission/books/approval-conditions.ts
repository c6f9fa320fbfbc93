import { isClosedFor } from './closed-for.ts'

// Conditions of approval, over a row `s` of `statements`.

/** The period of the row before a row of the same affiliate and plan. */
export const periodBefore = (row: string) => `(
    select max(x.period) from statements x indexed by statements_affiliate
    where x.account = :account and x.affiliate_id = ${row}.affiliate_id and x.plan = ${row}.plan
      and x.period < ${row}.period)`

/** Whether the period was approved as a whole, or a later one, and not left open for the affiliate. */
export const IS_CLOSED = isClosedFor({
  affiliate: 's.affiliate_id',
  plan: 's.plan',
  period: 's.period',
})

/** Whether the statement lists a manual entry that another approved statement has. */
export const LISTS_BOOKED_ENTRY = `exists (
    select 1 from json_each(s.statement, '$.manual') m where not exists (
      select 1 from manual_entries e
      where e.account = :account and e.id = m.value ->> 'id' and e.statement is null))`

/** The statement of another plan that transferred a balance `r` to the statement. */
const SENDER = `t.account = :account and t.affiliate_id = s.affiliate_id
    and t.plan = r.value ->> 'from' and t.period = r.value ->> 'period'`

/** The id of a draft that transfers to the statement; null if there is none. */
export const DRAFT_SENDER = `(
    select t.id from json_each(s.statement, '$.received') r cross join statements t on ${SENDER}
    where t.status = 'draft' limit 1)`

/** Whether the statement received a balance that no approved statement transferred. */
export const RECEIVES_UNSENT = `exists (
    select 1 from json_each(s.statement, '$.received') r where not exists (
      select 1 from statements t where ${SENDER} and t.status <> 'draft'
        and t.statement ->> '$.transferred.amount' = r.value ->> 'amount'
        and t.statement ->> '$.transferred.to' = s.plan
        and t.statement ->> '$.transferred.period' = s.period))`

/**
 * The hash under which approvals of a row are stored: its hash or, if it has no statement, its
 * digest.
 */
export const approvedHash = (row: string) => `iif(${row}.hash = '', ${row}.digest, ${row}.hash)`
