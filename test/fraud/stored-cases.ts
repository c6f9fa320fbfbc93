import { env } from 'cloudflare:workers'
import * as v from 'valibot'
import { minimumDeposit } from '../../src/fraud/kinds/minimum-deposit.ts'

/** What a stored case has; the rest has its default. */
export interface StoredCase {
  id: string
  account?: string
  affiliate?: string
  customers?: readonly string[]
  rule?: string
  severity?: 'low' | 'medium' | 'high'
  action?: 'flag' | 'hold'
  status?: 'open' | 'confirmed' | 'dismissed' | 'expired'
  keepHold?: boolean
  openedAt?: number
  lastDay?: number
  openedFor?: number
  /** The number of its records. */
  evidence?: number
}

/** Stores cases as an evaluation stores them. */
export const storeCases = (...cases: readonly StoredCase[]) =>
  env.DB.batch(
    cases.map((one) => {
      const { account = 'acme-forex', affiliate = 'a', customers = [], rule = 'minimum' } = one
      const [customer = null, other = null] = customers
      const subject = other
        ? `customers:${JSON.stringify(customers)}`
        : customer
          ? `customer:${customer}`
          : `affiliate:${affiliate}`
      return env.DB.prepare(
        `insert into fraud_cases (account, id, affiliate_id, rule, subject, position, customer_id,
           other_customer_id, version, kind, severity, action, status, opened_for,
           opened_at, last_day, since, figures, sentence, evidence_count, keep_hold)
         values (?, ?, ?, ?, ?, 0, ?, ?, 1, 'minimum_deposit', ?, ?, ?, ?, ?, ?, ?13, '[]',
           '12 of 15 customers who qualified deposited the minimum.', ?, ?)`,
      ).bind(
        ...[account, one.id, affiliate, rule, subject],
        ...[customer, other, one.severity ?? 'high', one.action ?? 'hold'],
        ...[one.status ?? 'open', one.openedFor ?? 20000, one.openedAt ?? Date.now()],
        ...[one.lastDay ?? 20000, one.evidence ?? 0, one.keepHold ? 1 : 0],
      )
    }),
  )

/** Changes a column of a case. */
export const changeCase = (id: string, column: string, value: string | number) =>
  env.DB.prepare(`update fraud_cases set ${column} = ? where id = ?`).bind(value, id).run()

/** A record of a finding: its id, and its customer. */
export type FoundRecord = readonly [id: string, customer: string]

/** Adds what a rule found on a day to a stored case, as an evaluation does. */
export const addFinding = (
  day: number,
  records: readonly FoundRecord[],
  { id = 'case_1', account = 'acme-forex' } = {},
) => {
  return env.DB.batch([
    env.DB.prepare(
      `insert into fraud_evidence
       select ?1, ?2, n.count + key, 'transactions', value ->> 0, ?3, value ->> 1, 'dlv_1'
       from json_each(?4), (select count(*) as count from fraud_evidence
         where account = ?1 and case_id = ?2) n`,
    ).bind(account, id, day, JSON.stringify(records)),
    env.DB.prepare(
      `update fraud_cases set evidence_count = evidence_count + ?, last_day = max(last_day, ?)
       where account = ? and id = ?`,
    ).bind(records.length, day, account, id),
  ])
}

const RULE = {
  ...{ name: 'Deposits at the minimum', kind: 'minimum_deposit', effective_from: '2024-01-01' },
  ...{ severity: 'high', action: 'hold', scope: { affiliates: ['*'] }, disabled: false },
  parameters: v.parse(minimumDeposit.parameters, {}),
}

/** Stores the version of the rule that has found stored cases. */
export const storeRule = (account = 'acme-forex', rule = 'minimum') =>
  env.DB.prepare(
    `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
     values (?, ?, 1, '2024-01-01', ?, '2024-01-01')`,
  )
    .bind(account, rule, JSON.stringify(RULE))
    .run()
