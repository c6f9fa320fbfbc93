/** The id of the question that `questionRows` stores. */
export const QUESTION_ID = 'qst_01M7W0R4W8E3V15G8XPED3Z94X'

/** Returns statements that store a question of an affiliate about a statement, with one message. */
export const questionRows = (db: D1Database, account: string, affiliate: string, text: string) => [
  db
    .prepare(
      `insert into affiliate_questions (account, id, affiliate_id, about, subject,
         statement, period, customer_id, status, asked_at) values (?1, '${QUESTION_ID}', ?2, 'statement', ?3, ?3,
         '2026-10', null, 'open', '2026-10-20T09:00:00.000Z')`,
    )
    .bind(account, affiliate, 'stm_3f1c52a9d0e84b7796c1d20b'),
  db
    .prepare(
      `insert into affiliate_question_messages values (?1, '${QUESTION_ID}', 1, 'msg_1', 'affiliate',
         'affiliate-key key-1', '2026-10-20T09:00:00.000Z', ?2)`,
    )
    .bind(account, text),
]
