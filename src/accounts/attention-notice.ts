import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { writeBatch } from '../platform/db/statement.ts'
import { ROOT } from '../platform/directory/members.ts'
import { lastCause, noticeStatement } from '../platform/directory/outbox.ts'
import { perform } from '../platform/http/operation.ts'
import { todayOf } from '../platform/zone.ts'
import { listAttention } from './attention.ts'

/** What a summary says, behind its day: how much of what needed attention, and how much of that was new. */
interface Summary {
  readonly count: number
  readonly fresh: number
  readonly codes: Readonly<Record<string, number>>
}

const DAY_LENGTH = '2026-12-01 '.length

/** Writes the daily summary of an account, if something needs attention that did not when the last one was written. */
export async function noteAttention(env: Env, account: Account): Promise<void> {
  const db = accountDatabase(env, account)
  const caller = {
    ...{ env, member: ROOT, actor: ROOT.actor, role: 'manager' as const },
    waitUntil: () => {},
    once: <T>(_key: string, make: () => Promise<T>) => make(),
  }
  const [{ data }, last] = await Promise.all([
    perform(listAttention, caller, { account: account.id }),
    lastCause(db, account.id, 'attention'),
  ])
  const before: Summary['codes'] = last ? JSON.parse(last.slice(DAY_LENGTH)).codes : {}
  const codes = Object.fromEntries(data.map(({ code, count }) => [code, count]))
  const sumOf = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0)
  const fresh = sumOf(
    Object.entries(codes).map(([code, count]) => Math.max(count - (before[code] ?? 0), 0)),
  )
  if (fresh === 0) return
  const summary: Summary = { count: sumOf(Object.values(codes)), fresh, codes }
  const cause = `${todayOf(account)} ${JSON.stringify(summary)}`
  const notice = { account: account.id, kind: 'attention', cause } as const
  await writeBatch(db, [noticeStatement(db, { ...notice, recipient: { role: 'manager' } })])
}
