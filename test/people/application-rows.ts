/** The id of the application that `applicationRows` stores. */
export const APPLICATION_ID = 'app_01M7W0R4W8E3V15G8XPED3Z94X'

/** Returns the statement that stores an application that waits, of which somebody has proved the address. */
export const applicationRows = (db: D1Database, account: string, name: string) => [
  db
    .prepare(
      `insert into applications (account, id, status, applied_at, proved_at, name, company, country, website,
         promotion, email, language, answers, terms_version, parent)
       values (?1, '${APPLICATION_ID}', 'waiting', 1792486800000, '2026-10-20T09:05:00.000Z', ?2, 'Forex Friends', 'MT',
         'https://friends.example', 'Videos', 'ada@friends.example', 'en',
         '[{"question":"Where from?","answer":"Malta"}]', '2026-10', 'aff-7')`,
    )
    .bind(account, name),
]
