/** Returns a database, or a session of one, with methods beside and in place of its own. */
export const withMethods = <Database extends Pick<D1Database, 'prepare' | 'batch'>>(
  db: Database,
  methods: object,
): Database => {
  const { withSession, getBookmark } = db as unknown as D1Database & D1DatabaseSession
  return {
    prepare: (sql: string) => db.prepare(sql),
    batch: (list: D1PreparedStatement[]) => db.batch(list),
    withSession: (constraint?: string) => withSession.call(db, constraint),
    getBookmark: () => getBookmark.call(db),
    ...methods,
  } as unknown as Database
}
