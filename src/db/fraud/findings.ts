import { ABORT } from '../commission/books/audit-guard.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import type { fraudCases, fraudFindings } from '../schema.ts'
import { bindStatement, compileStatement, readBatch } from '../statement.ts'
import { eventOf } from '../webhooks/events.ts'
import { caseData } from './case-event.ts'
import { type Evaluator, logBegun } from './hold-log.ts'

// What rules found, and the cases that follow from it. An evaluation replaces both in one batch.

type FindingRow = typeof fraudFindings.$inferSelect

/** A part of a finding; `evidence` is a JSON array of rows. */
export type StoredFinding = Omit<FindingRow, 'account' | 'day'> & { readonly day: number }

/** A rule and subject of an affiliate. */
export type SubjectOfRule = Pick<FindingRow, 'affiliate_id' | 'rule' | 'subject'>

type CaseRow = typeof fraudCases.$inferSelect

/** A case as an evaluation derives it. Days are in days since 1970, ids of customers as stored. */
export interface DerivedCase
  extends Omit<
    CaseRow,
    'account' | 'opened_for' | 'opened_at' | 'last_day' | 'keep_hold' | 'decided_at' | 'customer_id'
  > {
  readonly customer_id: string | null
  readonly opened_for: number
  readonly last_day: number
}

/** What an evaluation compares a stored case with. */
export interface KnownCase extends SubjectOfRule, Pick<CaseRow, 'id' | 'position' | 'status'> {
  /** The records that the person saw who decided it, in parts that are JSON arrays; none if it is not decided. */
  readonly seen: readonly string[]
}

/** A case with the first part of what was seen; null if it is not decided. */
type FirstPart = Omit<KnownCase, 'seen'> & { readonly seen: string | null }

const FIND_SUBJECTS = compileStatement(`
  select distinct f.affiliate_id, f.rule, f.subject
  from json_each(:affiliates) a
  cross join fraud_findings f on f.account = :account and f.affiliate_id = a.value
  where f.part = 0 and f.day between :first and :last`)

const COUNT_DECISIONS = `(select count(*) from json_each(:affiliates) a
  cross join fraud_cases c indexed by fraud_cases_position
    on c.account = :account and c.affiliate_id = a.value
  cross join fraud_decisions d on d.account = c.account and d.case_id = c.id)`

const READ_DECISIONS = compileStatement(`select ${COUNT_DECISIONS} as decisions`)

/** The days of an evaluation, and the affiliates of a group of it. */
export interface GroupOfDays {
  readonly affiliates: readonly string[]
  readonly first: number
  readonly last: number
}

const valuesOf = (account: string, { affiliates, first, last }: GroupOfDays) => ({
  account,
  affiliates: JSON.stringify(affiliates),
  first,
  last,
})

/** Returns the subjects of whom rules found something on the days, and the number of decisions. */
export async function readFoundSubjects(
  db: D1Database,
  account: string,
  group: GroupOfDays,
): Promise<{ subjects: SubjectOfRule[]; decisions: number }> {
  const values = valuesOf(account, group)
  const [subjects, [{ decisions }]] = await readBatch<[SubjectOfRule[], [{ decisions: number }]]>(
    db,
    [bindStatement(db, FIND_SUBJECTS, values), bindStatement(db, READ_DECISIONS, values)],
  )
  return { subjects, decisions }
}

const READ_FINDINGS = compileStatement(`
  select f.affiliate_id, f.rule, f.subject, f.day, f.part, f.version, f.figures, f.sentence,
    f.evidence
  from ${JSON_EACH}(:rows) s
  cross join fraud_findings f on f.account = :account and f.affiliate_id = s.value ->> 0
    and f.rule = s.value ->> 1 and f.subject = s.value ->> 2
    and not f.day between :first and :last
  order by f.affiliate_id, f.rule, f.subject, f.day, f.part`)

const READ_CASES = compileStatement(`
  select c.id, c.affiliate_id, c.rule, c.subject, c.position, c.status,
    iif(c.status in ('confirmed', 'dismissed'), (
      select d.seen from fraud_decisions d
      where d.account = c.account and d.case_id = c.id and d.decision = c.status
      order by d.position desc limit 1), null) as seen
  from ${JSON_EACH}(:rows) s
  cross join fraud_cases c indexed by fraud_cases_position
    on c.account = :account and c.affiliate_id = s.value ->> 0
    and c.rule = s.value ->> 1 and c.subject = s.value ->> 2
  order by c.affiliate_id, c.rule, c.subject, c.position`)

/** What was seen of decided cases, from the second part on. */
const READ_PARTS = compileStatement(`
  select p.case_id, p.seen
  from ${JSON_EACH}(:rows) s
  cross join fraud_cases c indexed by fraud_cases_position
    on c.account = :account and c.affiliate_id = s.value ->> 0
    and c.rule = s.value ->> 1 and c.subject = s.value ->> 2
    and c.status in ('confirmed', 'dismissed')
  cross join fraud_seen_parts p on p.account = c.account and p.case_id = c.id
    and p.position = (select max(d.position) from fraud_decisions d
      where d.account = c.account and d.case_id = c.id and d.decision = c.status)`)

const rowOf = ({ affiliate_id, rule, subject }: SubjectOfRule) => [affiliate_id, rule, subject]

/** Returns what is stored of some subjects: their findings of other days, and their cases. */
export async function readSubjects(
  db: D1Database,
  account: string,
  subjects: readonly SubjectOfRule[],
  { first, last }: Pick<GroupOfDays, 'first' | 'last'>,
): Promise<{ findings: StoredFinding[]; cases: KnownCase[] }> {
  const found: { findings: StoredFinding[]; cases: KnownCase[] } = { findings: [], cases: [] }
  for (const rows of toJsonChunks(subjects.map(rowOf))) {
    const values = { account, rows, first, last }
    const [findings, cases, parts] = await readBatch<
      [StoredFinding[], FirstPart[], { case_id: string; seen: string }[]]
    >(db, [
      bindStatement(db, READ_FINDINGS, values),
      bindStatement(db, READ_CASES, values),
      bindStatement(db, READ_PARTS, values),
    ])
    const more = Map.groupBy(parts, ({ case_id }) => case_id)
    const known = cases.map((one) => ({
      ...one,
      seen: [one.seen ?? [], (more.get(one.id) ?? []).map(({ seen }) => seen)].flat(),
    }))
    found.findings = found.findings.concat(findings)
    found.cases = found.cases.concat(known)
  }
  return found
}

const CHECK_DECISIONS = compileStatement(
  `select iif(${COUNT_DECISIONS} = :decisions, null, ${ABORT})`,
)

const DELETE_FINDINGS = compileStatement(`
  delete from fraud_findings where account = :account
    and affiliate_id in (select value from json_each(:affiliates)) and day between :first and :last`)

const INSERT_FINDINGS = compileStatement(`
  insert into fraud_findings
    (account, affiliate_id, rule, subject, day, part, version, figures, sentence, evidence)
  select :account, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
    value ->> 6, value ->> 7, value ->> 8
  from ${JSON_EACH}(:rows)`)

const KEEP_OPENED = compileStatement(`
  insert into fraud_gone_cases (account, id, opened_at)
  select c.account, c.id, c.opened_at from ${JSON_EACH}(:ends) r
  cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
  where c.status in ('open', 'expired') on conflict do nothing`)

const DELETE_CASES = compileStatement(`
  delete from fraud_cases where account = :account
    and id in (select value ->> 0 from ${JSON_EACH}(:ends)) and status in ('open', 'expired')`)

/** The columns of a case that an evaluation writes, in the order of the rows. */
const DERIVED = [
  ...['id', 'affiliate_id', 'rule', 'subject', 'position', 'customer_id', 'other_customer_id'],
  ...['version', 'kind', 'severity', 'action', 'reserve_percent', 'status', 'opened_for'],
  ...['last_day', 'figures', 'sentence', 'evidence_count', 'evidence_digest'],
] as const satisfies readonly (keyof DerivedCase)[]

const REPLACED = DERIVED.slice(DERIVED.indexOf('version'))

const STORE_CASES = compileStatement(`
  insert into fraud_cases (account, opened_at, ${DERIVED.join()})
  select :account, ifnull((select g.opened_at from fraud_gone_cases g
    where g.account = :account and g.id = value ->> 0), :now), ${DERIVED.map((_, i) => `value ->> ${i}`).join()}
  from ${JSON_EACH}(:rows)
  where true on conflict (account, id) do update set
    ${REPLACED.map((name) => `${name} = excluded.${name}`).join()}
  where (${REPLACED.map((name) => `fraud_cases.${name}`).join()})
    is not (${REPLACED.map((name) => `excluded.${name}`).join()})`)

const cell = (name: (typeof DERIVED)[number]) => `r.value ->> ${DERIVED.indexOf(name)}`

/**
 * Writes `case.opened` before cases are stored: once for a case, also if it loses its records and is found again, and
 * once for each time that it opens again after it had expired.
 */
const NOTIFY_OPENED = eventOf(
  'case.opened',
  `select concat_ws(' ', ${cell('id')}, iif(c.id is null, null, ${cell('last_day')})) as about,
      ${caseData(cell)} as data
    from ${JSON_EACH}(:rows) r left join fraud_cases c on c.account = :account and c.id = ${cell('id')}
    where ${cell('status')} = 'open' and ifnull(c.status, 'expired') = 'expired'`,
)

/** What an evaluation found of a group. */
export interface GroupResult {
  readonly findings: readonly StoredFinding[]
  readonly cases: readonly DerivedCase[]
  /** The ids of cases whose records are gone. */
  readonly gone: readonly string[]
  /** The number of decisions from which the cases were derived. */
  readonly decisions: number
  readonly by: Evaluator
}

/**
 * Replaces what was found of a group on the days. Fails if the evaluation has moved on, or if a case was
 * decided since: see `isAssertionFailure`.
 *
 * @param check Checks the place of the evaluation.
 * @param advance Moves it behind the group.
 */
export async function storeGroup(
  db: D1Database,
  account: string,
  group: GroupOfDays,
  { findings, cases, gone, decisions, by }: GroupResult,
  { check, advance }: Readonly<Record<'check' | 'advance', D1PreparedStatement>>,
): Promise<void> {
  const values = { ...valuesOf(account, group), decisions }
  const found = findings.map((one) => [
    ...[one.affiliate_id, one.rule, one.subject, one.day, one.part, one.version],
    ...[one.figures, one.sentence, one.evidence],
  ])
  const derived = cases.map((one) => DERIVED.map((name) => one[name]))
  const holds = cases.map((one) => [
    ...[one.id, one.affiliate_id, one.rule, one.action, one.status, one.reserve_percent],
  ])
  const statements = [
    check,
    bindStatement(db, CHECK_DECISIONS, values),
    bindStatement(db, DELETE_FINDINGS, values),
    ...toJsonChunks(found).map((rows) => bindStatement(db, INSERT_FINDINGS, { account, rows })),
    ...toJsonChunks(gone.map((id) => [id])).flatMap((ends) => [
      bindStatement(db, KEEP_OPENED, { account, ends }),
      bindStatement(db, DELETE_CASES, { account, ends }),
    ]),
    ...toJsonChunks(holds).map((rows) => logBegun(db, account, by, rows)),
    ...toJsonChunks(derived).flatMap((rows) =>
      [NOTIFY_OPENED, STORE_CASES].map((one) =>
        bindStatement(db, one, { account, now: by.now, rows }),
      ),
    ),
    advance,
  ]
  await withD1Retry(() => db.batch(statements))
}
