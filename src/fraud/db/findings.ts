import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import type { fraudCases } from '../../platform/db/schema.ts'
import { ABORT, JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import { ulidPrefix } from '../../platform/db/ulid.ts'
import { eventOf } from '../../webhooks/db/events.ts'
import type { Case } from '../cases.ts'
import { evidenceKey } from '../findings.ts'
import type { Evidence } from '../kind.ts'

// Cases, and the records that are added to them.

/** A record of a case, as it is stored. */
export interface EvidenceRow extends Evidence {
  readonly case_id: string
  readonly position: number
}

type CaseRow = typeof fraudCases.$inferSelect

/** A rule and subject of an affiliate. */
export type SubjectOfRule = Pick<CaseRow, 'affiliate_id' | 'rule' | 'subject'>

/** The columns of a case that an evaluation writes, in the order of the rows. */
const EVALUATED = [
  'id',
  'affiliate_id',
  'rule',
  'subject',
  'position',
  'customer_id',
  'other_customer_id',
  'opened_for',
  'version',
  'kind',
  'severity',
  'action',
  'status',
  'last_day',
  'since',
  'figures',
  'sentence',
  'evidence_count',
] as const satisfies readonly (keyof CaseRow)[]

/** Those of them that change when a finding is added. */
const CHANGED = EVALUATED.slice(EVALUATED.indexOf('version'))

/** A case as an evaluation writes it. Days are in days since 1970, ids of customers as stored. */
export interface EvaluatedCase
  extends Omit<
    Pick<CaseRow, (typeof EVALUATED)[number]>,
    'opened_for' | 'last_day' | 'customer_id'
  > {
  readonly customer_id: string | null
  readonly opened_for: number
  readonly last_day: number
}

/** What is stored of a rule and subject. */
interface KnownSubject {
  /** The case of the last position; null if there is none. */
  last: Case | null
  /** The keys of the records of all cases. */
  readonly known: Set<string>
}

/** The cases `c` of the subjects of `:rows`, which have their positions among them. */
const CASES_OF = `${JSON_EACH}(:rows) s
  cross join fraud_cases c indexed by fraud_cases_position
    on c.account = :account and c.affiliate_id = s.value ->> 0
    and c.rule = s.value ->> 1 and c.subject = s.value ->> 2`

const READ_LAST = compileStatement(`
  select s.value ->> 3 as at, ${EVALUATED.map((name) => `c.${name}`).join()}
  from ${CASES_OF}
  where not exists (select 1 from fraud_cases n where n.account = c.account
    and n.affiliate_id = c.affiliate_id and n.rule = c.rule and n.subject = c.subject
    and n.position > c.position)`)

const READ_KNOWN = compileStatement(`
  select s.value ->> 3 as at, e.resource, e.id from ${CASES_OF}
  cross join fraud_evidence e on e.account = c.account and e.case_id = c.id`)

type LastRow = EvaluatedCase & { readonly at: number }
type KnownRow = Pick<EvidenceRow, 'resource' | 'id'> & { readonly at: number }

/** Returns what is stored of some subjects, in their order. */
export async function readSubjects(
  db: D1Database,
  account: string,
  subjects: readonly SubjectOfRule[],
): Promise<KnownSubject[]> {
  const found = subjects.map((): KnownSubject => ({ last: null, known: new Set() }))
  const keys = subjects.map(({ affiliate_id, rule, subject }, at) => [
    affiliate_id,
    rule,
    subject,
    at,
  ])
  for (const rows of toJsonChunks(keys)) {
    const bind = (one: typeof READ_LAST) => bindStatement(db, one, { account, rows })
    const [cases, records] = await readBatch<[LastRow[], KnownRow[]]>(db, [
      bind(READ_LAST),
      bind(READ_KNOWN),
    ])
    for (const { at, figures, ...row } of cases) {
      found[at]!.last = { ...row, figures: JSON.parse(figures), added: [] }
    }
    for (const { at, ...record } of records) found[at]!.known.add(evidenceKey(record))
  }
  return found
}

const cell = (name: (typeof EVALUATED)[number]) => `r.value ->> ${EVALUATED.indexOf(name)}`

/** The rows of cases, each with the stored one `c`, whose columns are null if there is none. */
const WITH_STORED = `${JSON_EACH}(:rows) r
  left join fraud_cases c on c.account = :account and c.id = ${cell('id')}`

/** Aborts the batch if a person has decided one of the cases since it was read. */
const REJECT_DECIDED = compileStatement(`
  select ${ABORT} where exists (select 1 from ${WITH_STORED} where ifnull(c.status, 'open') <> 'open')`)

/** Adds an entry to the audit log for each case that begins to hold payouts (§17, law 4). */
const LOG_HOLDS = compileStatement(`
  insert into audit_log (id, at, actor, account, action, details)
  select :prefix || hex(randomblob(8)), :at, :actor, :account, 'fraud-case.hold', json_object(
    'case', ${cell('id')}, 'affiliate_id', ${cell('affiliate_id')}, 'rule', ${cell('rule')})
  from ${WITH_STORED} where ${cell('action')} = 'hold' and c.action is not 'hold'`)

/** Returns the SQL of what events tell of a case; `column` returns that of a column. */
export const caseData = (
  column: (name: (typeof EVALUATED)[number]) => string,
): string => `json_object(
      'case_id', ${column('id')}, 'affiliate_id', ${column('affiliate_id')},
      'subject', case substr(${column('subject')}, 1, instr(${column('subject')}, ':'))
        when 'affiliate:' then json_object('affiliate_id', substr(${column('subject')}, 11))
        when 'customer:' then json_object('customer_id', substr(${column('subject')}, 10))
        else json_object('customer_ids', json(substr(${column('subject')}, 11))) end,
      'rule', ${column('rule')}, 'version', ${column('version')}, 'kind', ${column('kind')},
      'severity', ${column('severity')}, 'action', ${column('action')},
      'opened_for', date(${column('opened_for')} * 86400, 'unixepoch'), 'sentence', ${column('sentence')})`

/** Writes `case.opened`. */
const NOTIFY_OPENED = eventOf(
  'case.opened',
  `select ${cell('id')} as about, ${caseData(cell)} as data from ${WITH_STORED} where c.id is null`,
)

const STORE_CASES = compileStatement(`
  insert into fraud_cases (account, opened_at, ${EVALUATED.join()})
  select :account, :now, ${EVALUATED.map(cell).join()} from ${JSON_EACH}(:rows) r
  where true on conflict (account, id) do update set
    ${CHANGED.map((name) => `${name} = excluded.${name}`).join()}`)

/** The columns of records, in the order of the rows. */
const RECORD = [
  'case_id',
  'position',
  'resource',
  'id',
  'day',
  'customer_id',
  'delivery_id',
] as const satisfies readonly (keyof EvidenceRow)[]

const INSERT_EVIDENCE = compileStatement(`
  insert into fraud_evidence (account, ${RECORD.join()})
  select :account, ${RECORD.map((_, i) => `value ->> ${i}`).join()} from ${JSON_EACH}(:rows)`)

/** Who evaluates rules, and when. */
export interface Evaluator {
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/**
 * Stores cases and what is added to them. Fails if the evaluation has moved on, or if one of the cases was
 * decided since: see `isAssertionFailure`.
 *
 * @param check Checks the place of the evaluation.
 */
export async function storeCases(
  db: D1Database,
  account: string,
  cases: readonly EvaluatedCase[],
  evidence: readonly EvidenceRow[],
  by: Evaluator,
  check: D1PreparedStatement,
): Promise<void> {
  const { actor, now } = by
  const values = { account, actor, now, at: new Date(now).toISOString(), prefix: ulidPrefix(now) }
  const records = evidence.map((one) => RECORD.map((name) => one[name]))
  const statements = [
    check,
    ...toJsonChunks(cases.map((one) => EVALUATED.map((name) => one[name]))).flatMap((rows) =>
      [REJECT_DECIDED, LOG_HOLDS, NOTIFY_OPENED, STORE_CASES].map((one) =>
        bindStatement(db, one, { ...values, rows }),
      ),
    ),
    ...toJsonChunks(records).map((rows) => bindStatement(db, INSERT_EVIDENCE, { account, rows })),
  ]
  await withD1Retry(() => db.batch(statements))
}
