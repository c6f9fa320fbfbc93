/** Moves of an account that have ended: one was cancelled, and one has its old copy deleted. */
export const MOVES = {
  cancelled: 'mov_01M7W0R4W8E3V15G8XPED3Z94X',
  done: 'mov_01M7W0R4W8E3V15G8XPED3Z94Y',
}

/** Returns the statements that store them. */
export const moveRows = (db: D1Database, account: string): D1PreparedStatement[] =>
  Object.entries(MOVES).map(([status, id]) =>
    db
      .prepare(
        `insert into account_moves (account, id, source, target, status, actor, started_at, ended_at,
          switched_at)
        values (?1, ?2, 'DB', 'DB_2', ?3, 'root-key', '2026-11-27T10:00:00.000Z',
          '2026-11-27T10:05:00.000Z', iif(?3 = 'done', '2026-11-27T10:04:00.000Z', null))`,
      )
      .bind(account, id, status),
  )
