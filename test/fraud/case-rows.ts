/** The case of `caseRows`. */
export const CASE_ID = 'case_0123456789abcdefghjkmnpqrs'

const RULE = {
  ...{ name: 'Reversals', kind: 'reversals', severity: 'medium', action: 'flag', disabled: false },
  ...{ scope: { affiliates: ['*'] }, parameters: { percent: '20', days: 30, min_count: 5 } },
}

/** Returns the rows of an open case that rests on one transaction, with a decision that waits. */
export const caseRows = (db: D1Database, account: string, affiliate: string, rule: string) => {
  const subject = `affiliate:${affiliate}`
  return [
    db
      .prepare(
        `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
         values (?, ?, 1, '2026-01-01', ?, '2026-01-01T00:00:00.000Z') on conflict do nothing`,
      )
      .bind(account, rule, JSON.stringify(RULE)),
    db
      .prepare(
        `insert into fraud_cases (account, id, affiliate_id, rule, subject, position, version, kind,
           severity, action, status, opened_for, opened_at, last_day, since, figures, sentence,
           evidence_count)
         values (?, ?, ?, ?, ?, 0, 1, 'reversals', 'medium', 'flag', 'open', 20728, 1790931600000,
           20728, 20728, '[]', 'A sentence.', 1)`,
      )
      .bind(account, CASE_ID, affiliate, rule, subject),
    db
      .prepare(
        `insert into fraud_evidence values (?, ?, 0, 'transactions', 't-1', 20728, 'c-1',
           'dlv_01M7W0R4W8E3V15G8XPED3Z94X')`,
      )
      .bind(account, CASE_ID),
    db
      .prepare(
        `insert into fraud_decisions values (?, ?, 0, 'dismissed', ?, 0, '[]', null, 0,
           'root-key', ?)`,
      )
      .bind(account, CASE_ID, affiliate, '2026-10-05T09:00:00.000Z'),
  ]
}
