import { dayNumber, dayText } from '../../platform/db/column-types.ts'
import type { clicks } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'
import { DAY_HOURS, DAY_MS } from '../../platform/durations.ts'

/** A click on a link; `clicked_at` in milliseconds. */
export interface StoredClick
  extends Pick<typeof clicks.$inferSelect, 'account' | 'link_id' | 'click_id' | 'clicked_at'> {
  readonly subs: Subs
}

/** Parameters of a link with which an affiliate tells its campaigns apart. Landing pages do not get them. */
export const SUBS = ['sub1', 'sub2', 'sub3', 'sub4', 'sub5'] as const

/** The values of these parameters that a click keeps. */
export type Subs = Readonly<Partial<Record<(typeof SUBS)[number], string>>>

/** The start of click times, in milliseconds; five bytes count until 2060. */
export const CLICK_EPOCH = Date.UTC(2026, 0, 1)

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Returns the SQL of the time of the click, in milliseconds, that a code of `tracking_data` names. `code.ts` has the
 * layout of a code: after the prefix, 8 characters of the link and 12 of the click, whose first 40 bits are its time.
 */
export function clickTimeSql(code: string): string {
  const digits = Array.from({ length: 7 }, (_, i) => {
    const digit = `(instr('${ALPHABET}', substr(${code}, ${12 + i}, 1)) - 1)`
    return `(${digit} << ${36 - 6 * i})`
  })
  return `(${CLICK_EPOCH} + ((${digits.join(' + ')}) >> 2))`
}

/** Returns the SQL of a column of the click that a code of `tracking_data` names; null if none is stored. */
export const clickSql = (column: string, code: string): string =>
  `(select k.${column} from clicks k where k.account = :account
      and k.day = ${clickTimeSql(code)} / ${DAY_MS}
      and k.link_id = substr(${code}, 4, 8) and k.click_id = substr(${code}, 12, 12))`

/**
 * The clicks of an account and day (UTC) from which on further ones are not stored. Anybody can follow
 * a link, so clicks do not count in the account's storage quota and need a bound of their own.
 */
export const MAX_CLICKS_PER_DAY = 100_000

const STORE_CLICKS = compileStatement(`
  insert into clicks (account, day, link_id, click_id, clicked_at, ${SUBS.join(', ')})
  select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4,
    ${SUBS.map((name) => `value ->> 5 ->> '${name}'`).join(', ')}
  from ${JSON_EACH}(:rows)
  where coalesce((select received from arrivals
    where account = value ->> 0 and hour = (value ->> 1) * ${DAY_HOURS} and resource = 'clicks'), 0) < :limit
  on conflict do nothing`)

/**
 * Counts clicks in the row of the first hour of their day. A click that the queue delivers again counts
 * again, so the count may be too high. Returns the accounts and days that were below their limit, and
 * whether each has reached it now.
 */
const COUNT_CLICKS = compileStatement(`
  insert into arrivals (account, hour, resource, received, last_at)
  select value ->> 0, (value ->> 1) * ${DAY_HOURS}, 'clicks', count(*), max(value ->> 4)
  from ${JSON_EACH}(:rows) where true group by 1, 2
  on conflict (account, hour, resource) do update set received = received + excluded.received
    where received < :limit
  returning account, hour / ${DAY_HOURS} as day, received >= :limit as is_full`)

/** An account that has reached the daily limit of clicks, and the day. */
export interface FullDay {
  account: string
  day: string
}

/**
 * Stores clicks in one batch, up to the daily limit of each account. A click that is stored already keeps
 * its row. Returns the days whose limit is reached now.
 */
export async function storeClicks(
  db: D1Database,
  sent: readonly StoredClick[],
): Promise<FullDay[]> {
  const cells = sent.map(({ account, link_id, click_id, clicked_at, subs }) => {
    const day = new Date(clicked_at).toISOString().slice(0, 10)
    return [account, dayNumber(day), link_id, click_id, clicked_at, subs]
  })
  const values = { rows: JSON.stringify(cells), limit: MAX_CLICKS_PER_DAY }
  type Counted = { account: string; day: number; is_full: number }
  const [, counted] = await writeBatch<[[], Counted[]]>(db, [
    bindStatement(db, STORE_CLICKS, values),
    bindStatement(db, COUNT_CLICKS, values),
  ])
  return counted
    .filter(({ is_full }) => is_full === 1)
    .map(({ account, day }) => ({ account, day: dayText(day) }))
}
