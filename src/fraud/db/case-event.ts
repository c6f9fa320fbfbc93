import type { EvaluatedCase } from './findings.ts'

/** Returns the SQL of what events tell of a case; `column` returns that of a column. */
export const caseData = (column: (name: keyof EvaluatedCase) => string): string => `json_object(
      'case_id', ${column('id')}, 'affiliate_id', ${column('affiliate_id')},
      'subject', case substr(${column('subject')}, 1, instr(${column('subject')}, ':'))
        when 'affiliate:' then json_object('affiliate_id', substr(${column('subject')}, 11))
        when 'customer:' then json_object('customer_id', substr(${column('subject')}, 10))
        else json_object('customer_ids', json(substr(${column('subject')}, 11))) end,
      'rule', ${column('rule')}, 'version', ${column('version')}, 'kind', ${column('kind')},
      'severity', ${column('severity')}, 'action', ${column('action')},
      'opened_for', date(${column('opened_for')} * 86400, 'unixepoch'), 'sentence', ${column('sentence')})`
