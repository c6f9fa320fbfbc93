import { ulid } from 'ulid'
import type { FoundPage, Page } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'

/** Who did what, and to whom; `details` never holds a secret, nor anything personal. */
export interface AuditEntry {
  actor: string
  action: string
  account: string | null
  details: Record<string, unknown>
}

/** A line of the audit log. */
export interface AuditRecord extends AuditEntry {
  id: string
  at: string
}

/**
 * Runs statements and notes who did it, in one atomic batch: nothing changes unseen. A failed try
 * of ours leaves no trace, since the batch is one.
 */
export function withAudit(
  db: D1Database,
  act: AuditEntry,
  statements: D1PreparedStatement[],
): Promise<D1Result<Record<string, unknown>>[]> {
  const now = Date.now()
  const line = db
    .prepare(
      `insert into audit_log (id, at, actor, action, account, details)
       values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do nothing`,
    )
    .bind(
      ulid(now),
      new Date(now).toISOString(),
      act.actor,
      act.action,
      act.account,
      JSON.stringify(act.details),
    )
  return withD1Retry(() => db.batch<Record<string, unknown>>([...statements, line]))
}

/** The audit log of these databases as one, newest first; of one account if it is named. */
export async function listAudit(
  databases: readonly D1Database[],
  account: string | null,
  { number, size, after }: Page,
): Promise<FoundPage<AuditRecord>> {
  const [before = '~'] = after ?? []
  const offset = after ? 0 : (number - 1) * size
  const where = account === null ? '?1 is null' : 'account = ?1'
  const answers = await Promise.all(
    databases.map((db) =>
      withD1Retry(() =>
        db.batch<Record<string, string>>([
          db
            .prepare(
              `select * from audit_log where ${where} and id < ?2
               order by id desc limit ${offset + size + 1}`,
            )
            .bind(account, before),
          db.prepare(`select count(*) as total from audit_log where ${where}`).bind(account),
        ]),
      ),
    ),
  )
  const lines = answers
    .flatMap(([found]) => found!.results)
    .sort((a, b) => (a.id! < b.id! ? 1 : -1))
    .slice(offset)
  const data = lines
    .slice(0, size)
    .map((line) => ({ ...line, details: JSON.parse(line.details!) }) as unknown as AuditRecord)
  return {
    data,
    total: answers.reduce((sum, [, counted]) => sum + Number(counted!.results[0]?.total), 0),
    last: lines.length > size ? [data.at(-1)!.id] : null,
  }
}
