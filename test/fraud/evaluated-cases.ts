import { env } from 'cloudflare:workers'
import { readBeginnings } from '../../src/commission/db/facts.ts'
import { readAccount } from '../../src/commission/run/stored-account.ts'
import type { EvidenceRow } from '../../src/fraud/db/findings.ts'
import { parseSubjectKey } from '../../src/fraud/findings.ts'
import { openViews } from '../../src/fraud/read-views.ts'
import type { RuleTerms } from '../../src/fraud/rules.ts'
import { simulateRule } from '../../src/fraud/simulate.ts'
import { MARK_DAYS, markAttribution } from '../../src/ingest/db/changed.ts'
import { bindStatement } from '../../src/platform/db/statement.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { dayNumber, dayText } from '../../src/platform/money/calendar.ts'
import { canonicalJson } from '../../src/platform/validation/canonical-json.ts'
import { instantOfLocalTime } from '../../src/platform/zone.ts'
import type { WorldFinding } from './fraud-world.ts'
import type { Days } from './random-worlds.ts'
import { withoutWords, written } from './world-findings.ts'

// What evaluations have stored, and what they should have.

const DAY_MS = 86_400_000

/** A case as both write it. Days are texts. */
export interface WorldCase {
  affiliate: string
  rule: string
  subject: string[]
  version: number
  status: string
  opened_for: string
  last_day: string
  since: string
  figures: WorldFinding['figures']
  /** In the order in which findings named them. */
  evidence: WorldFinding['evidence']
}

const bySubject = <T extends Pick<WorldCase, 'affiliate' | 'rule' | 'subject'>>(one: T) =>
  JSON.stringify([one.affiliate, one.rule, one.subject])

export const inOrder = (cases: readonly WorldCase[]): WorldCase[] =>
  cases.toSorted((a, b) => (bySubject(a) < bySubject(b) ? -1 : 1))

/** A finding with what found it. */
export interface RuleWorldFinding extends WorldFinding {
  affiliate: string
  rule: string
  version: number
}

/**
 * Returns the cases that follow from findings without decisions within 90 days, written from the contract:
 * one case for each rule and subject, to which later evidence is added.
 */
export function expectedCases(findings: readonly RuleWorldFinding[]): WorldCase[] {
  const cases = new Map<string, WorldCase>()
  const ordered = findings.toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  for (const { affiliate, rule, version, day, subject, figures, evidence } of ordered) {
    const key = bySubject({ affiliate, rule, subject })
    const known = cases.get(key)
    const has = (one: WorldFinding['evidence'][number]) =>
      known?.evidence.some(({ resource, id }) => resource === one.resource && id === one.id)
    const added = evidence.filter((one) => !has(one))
    if (added.length === 0) continue
    const since = evidence.map((one) => one.day).sort()[0]!
    cases.set(key, {
      ...{ affiliate, rule, subject, version, status: 'open', figures, last_day: day, since },
      opened_for: known?.opened_for ?? day,
      evidence: [...(known?.evidence ?? []), ...added],
    })
  }
  return inOrder([...cases.values()])
}

interface CaseRow {
  id: string
  affiliate_id: string
  rule: string
  subject: string
  version: number
  status: string
  opened_for: number
  last_day: number
  since: number
  figures: string
  evidence_count: number
}

/** Returns the stored cases of an account, with the records of the stored findings. */
export async function storedCases(account: string): Promise<WorldCase[]> {
  const { results } = await env.DB.prepare('select * from fraud_cases where account = ?')
    .bind(account)
    .all<CaseRow>()
  const found = await env.DB.prepare(
    'select * from fraud_evidence where account = ? order by case_id, position',
  )
    .bind(account)
    .all<EvidenceRow>()
  return inOrder(
    results.map(({ affiliate_id, rule, subject, ...row }): WorldCase => {
      const evidence = found.results.filter(({ case_id }) => case_id === row.id)
      if (evidence.length !== row.evidence_count) throw new Error('The count of records is wrong.')
      return {
        affiliate: affiliate_id,
        rule,
        subject: Object.values(parseSubjectKey(subject)).flat(),
        version: row.version,
        status: row.status,
        opened_for: dayText(row.opened_for),
        last_day: dayText(row.last_day),
        since: dayText(row.since),
        figures: JSON.parse(row.figures).map(withoutWords),
        evidence: evidence.map(({ customer_id, resource, id, day }) => ({
          ...{ customer_id, resource, id, day: dayText(day) },
        })),
      }
    }),
  )
}

/** A version of a rule to store. */
export interface RuleToStore {
  rule: string
  version: number
  effective_from: string
  kind: string
  parameters: unknown
  disabled?: boolean
  action?: 'flag' | 'hold'
  scope?: object
}

/** Stores versions of rules as they are put. */
export async function storeRules(account: string, rules: readonly RuleToStore[]): Promise<void> {
  const statements = rules.map(({ rule, version, ...one }) => {
    const terms = {
      ...{ name: rule, severity: 'low', action: 'flag', disabled: false },
      ...{ scope: { affiliates: ['*'] }, ...one },
    }
    return env.DB.prepare(
      `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
       values (?, ?, ?, ?, ?, '2026-01-01T00:00:00.000Z')`,
    ).bind(account, rule, version, one.effective_from, canonicalJson(terms))
  })
  if (statements.length > 0) await env.DB.batch(statements)
}

/** Returns an instant of the day after, in a zone: the day is the last complete one. */
export const morningAfter = (day: string, zone = 'UTC'): number =>
  instantOfLocalTime(zone, (dayNumber(day) + 1) * DAY_MS).instant + 1

/** Marks days of a resource, as ingestion does. */
const markDays = (account: string, resource: string, days: readonly number[]) =>
  bindStatement(env.DB, MARK_DAYS, { account, resource, days: JSON.stringify(days) })

const RESOURCES = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
} as const

/**
 * Takes some records of an account out of its tables, and returns the function that delivers them.
 *
 * @param isLate Whether to take a record out.
 */
export async function holdBack(
  account: string,
  isLate: () => boolean,
): Promise<() => Promise<void>> {
  const late: [table: keyof typeof RESOURCES, row: Record<string, string | number | null>][] = []
  for (const table of ['transactions', 'activity', 'events'] as const) {
    const { results } = await env.DB.prepare(`select * from ${table} where account = ?`)
      .bind(account)
      .all<Record<string, string | number | null>>()
    for (const row of results) if (isLate()) late.push([table, row])
  }
  const keys = { transactions: 'transaction_id', activity: 'instrument', events: 'id' }
  const dayOf = (table: string) => (table === 'activity' ? 'date' : 'day')
  const remove = late.map(([table, row]) =>
    env.DB.prepare(
      `delete from ${table} where account = ? and ${dayOf(table)} = ? and customer_id = ?
         and ${keys[table]} = ? ${table === 'activity' ? 'and currency = ?' : ''}`,
    ).bind(
      ...[account, row[dayOf(table)], row.customer_id, row[keys[table]]],
      ...(table === 'activity' ? [row.currency] : []),
    ),
  )
  if (remove.length > 0) await env.DB.batch(remove)
  return async () => {
    const statements = late.flatMap(([table, row]) => {
      const names = Object.keys(row)
      return [
        env.DB.prepare(
          `insert into ${table} (${names.join()}) values (${names.map(() => '?').join()})`,
        ).bind(...Object.values(row)),
        markDays(account, RESOURCES[table], [Number(row[dayOf(table)])]),
      ]
    })
    if (statements.length > 0) await env.DB.batch(statements)
  }
}

type StoredRow = Record<string, string | number | null>

const insertRow = (table: string, row: StoredRow) => {
  const names = Object.keys(row)
  return env.DB.prepare(
    `insert into ${table} (${names.join()}) values (${names.map(() => '?').join()})`,
  ).bind(...Object.values(row))
}

/** The values that can come late: of customers without a history, whose first value it is. */
const LATE_VALUES = ['email', 'country_code'] as const

const WITHOUT_HISTORY =
  'not exists (select 1 from customer_fields f where f.account = t.account and f.customer_id = t.customer_id)'

/** What can come late beside records: affiliates of customers, or values of a column. */
export const LATE_INPUTS = ['affiliations', ...LATE_VALUES] as const

/** Takes some of what customers are out of an account. Returns the function that stores it as ingestion does. */
export async function holdBackInput(
  account: string,
  input: (typeof LATE_INPUTS)[number],
  isLate: () => boolean,
): Promise<() => Promise<void>> {
  const read = async (sql: string) =>
    (await env.DB.prepare(sql).bind(account).all<StoredRow>()).results.filter(isLate)
  const mark = (id: unknown) => markAttribution(env.DB, account, [id])
  const removals: D1PreparedStatement[] = []
  const insertions: D1PreparedStatement[] = []
  if (input === 'affiliations') {
    for (const row of await read('select * from customer_affiliations where account = ?')) {
      const remove = env.DB.prepare(
        'delete from customer_affiliations where account = ? and customer_id = ? and day = ?',
      )
      removals.push(remove.bind(account, row.customer_id, row.day))
      insertions.push(insertRow('customer_affiliations', row), ...mark(row.customer_id))
    }
  } else {
    const set = env.DB.prepare(
      `update customers set ${input} = ? where account = ? and customer_id = ?`,
    )
    for (const { customer_id, value } of await read(
      `select customer_id, ${input} as value from customers t
       where account = ? and ${input} is not null and ${WITHOUT_HISTORY}`,
    )) {
      removals.push(set.bind(null, account, customer_id))
      insertions.push(set.bind(value, account, customer_id), ...mark(customer_id))
    }
  }
  const run = (statements: D1PreparedStatement[]) =>
    statements.length > 0 ? env.DB.batch(statements) : null
  await run(removals)
  return async () => {
    await run(insertions)
  }
}

/** Returns the cases of a back-test of each rule with one version. */
export async function simulatedCases(
  account: string,
  rules: readonly RuleToStore[],
  days: Days,
): Promise<[rule: string, cases: WorldCase[]][]> {
  const source = await readAccount(env as Env, (await findAccount(env.DB, account))!)
  const beginnings = await readBeginnings(source.db, source.row.id)
  const affiliates = source.parents.map(({ affiliate_id }) => affiliate_id).sort()
  const alone = rules.filter(({ rule }) => rules.filter((one) => one.rule === rule).length === 1)
  const found: [string, WorldCase[]][] = []
  for (const { rule, kind, parameters, scope = { affiliates: ['*'] } } of alone) {
    const [first, last] = [dayNumber(days.first), dayNumber(days.last)]
    const terms = { severity: 'low', action: 'flag', scope, kind, parameters } as RuleTerms
    const versions = [{ rule, version: 1, effective_from: days.first, terms }]
    const test = { versions, first, last }
    const cases = await simulateRule(await openViews(source, beginnings, test), test, affiliates)
    const writtenCases = cases.map((one): WorldCase => {
      const { subject, last_day: day, added: evidence } = one
      const [finding] = written([{ ...one, subject: parseSubjectKey(subject), day, evidence }])
      return {
        ...{ affiliate: one.affiliate_id, rule, version: 1, status: one.status },
        ...{ opened_for: dayText(one.opened_for), last_day: dayText(one.last_day) },
        since: dayText(one.since),
        subject: finding!.subject,
        figures: finding!.figures,
        evidence: finding!.evidence,
      }
    })
    found.push([rule, inOrder(writtenCases)])
  }
  return found
}
