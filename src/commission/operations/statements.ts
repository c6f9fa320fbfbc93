import * as v from 'valibot'
import { type Grant, maySee, ownFilter } from '../../platform/auth/grant.ts'
import { LIST_LIMITS, type Page } from '../../platform/db/paginate.ts'
import { ApiError } from '../../platform/errors.ts'
import { list, operation, type Read, type ReadCall } from '../../platform/http/operation.ts'
import { invalidQuery } from '../../platform/http/query.ts'
import { showTo } from '../../platform/http/show.ts'
import { nextPeriod, parsePeriod } from '../../platform/money/calendar.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { described } from '../../platform/validation/described.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { findRun } from '../db/runs.ts'
import {
  findStatement,
  listStatements as findStatements,
  STATEMENT_ORDERS,
  SUMMED_STATEMENTS,
  sumPeriods,
  sumStatements,
} from '../db/statements.ts'
import { PART_LIMITS, PERIOD_FORMS, RUN_LIMITS } from '../limits.ts'
import { startPeriodRun } from '../run/runs.ts'
import {
  listedStatement,
  periodSums,
  run,
  statementInFull,
  statementTotals,
} from '../shapes/statements.ts'
import { readPathPeriod } from './path-period.ts'
import { presentPeriods, presentStatement, presentSums, presentWhole } from './present-statement.ts'
import { ENTRY_COLUMNS, sendStatementCsv } from './statement-csv.ts'

const filters = {
  affiliate_id: optional(v.string(), said('Returns only this affiliate.', 'IB-07')),
  period: optional(
    v.pipe(
      v.string(),
      v.check((text) => parsePeriod(text) !== null, `pattern ${PERIOD_FORMS}`),
    ),
    said('Returns only this period.', '2026-10'),
  ),
  plan: optional(v.string(), said('Returns only statements of this plan.', 'standard-ib')),
  status: optional(
    v.picklist(['draft', 'approved', 'paid']),
    said('Returns only statements with this status.', 'draft' as const),
  ),
}

/** The filters and the order of a list of statements. */
export const listFilters = {
  ...filters,
  order: optional(
    v.picklist(STATEMENT_ORDERS),
    said(
      'The `oldest` period first, which is the default, or the `latest`; or, with `period`, the largest `change` of `earned` against the period before, which `earned_before` has.',
      'latest' as const,
    ),
  ),
}

type ListFilter = Read<typeof listFilters>

const number = (n: number) => n.toLocaleString('en')

const ID = 'stm_3f1c52a9d0e84b7796c1d20b'

/** Returns the filter that leaves out drafts, for affiliates who do not see them. */
const approvedFilter = ({ affiliate }: Grant): { isApproved?: true } =>
  !affiliate || affiliate.view.drafts ? {} : { isApproved: true }

/** Reads a page of stored statements: of an affiliate who calls, those that they see. */
export async function readStatements(
  { grant, session }: ReadCall,
  { order, ...sent }: ListFilter,
  page: Page,
) {
  const period = order === 'change' ? parsePeriod(sent.period ?? '') : null
  if (order === 'change' && !period) throw invalidQuery('`order=change` requires `period`.')
  const filter = { ...sent, ...ownFilter(grant), ...approvedFilter(grant) }
  const found = await findStatements(session, grant.account, filter, page, {
    by: order ?? 'oldest',
    ...(period && { before: nextPeriod(period, -1).id }),
  })
  return { ...found, data: found.data.map(presentStatement) }
}

/** The columns of a list of statements. */
export const STATEMENT_COLUMNS = [
  'id',
  'affiliate_id',
  'plan',
  'period',
  'status',
  'currency',
  'opening',
  'lines_sum',
  'adjustments_sum',
  'earned',
  'manual_sum',
  'total',
  'payable',
  'closing',
  'dropped',
  'transferred',
  'received',
  'holds',
  'lines_total',
  'adjustments_total',
  'payable_on',
  'approved_at',
  'reference',
  'paid_on',
  'returned',
  'computed_at',
  'hash',
]

/** Returns the row of a statement in a file. */
export const statementCells = ({ paid, ...one }: Readonly<Record<string, unknown>>) => [
  { ...one, ...(paid as object | null) },
]

export const listStatements = list({
  topic: 'statements',
  id: 'listStatements',
  shows: 'affiliate',
  path: '/statements',
  callers: ['team', 'account'],
  params: listFilters,
  words: described(() => ({
    description: `Returns the stored statements of affiliates in the order of period, affiliate and plan, without their lines. A run of the period brings drafts up to date; each account has one every morning. With \`Accept: text/csv\` it returns one row for each statement.`,
    answer: listedStatement,
    files: csvWords(STATEMENT_COLUMNS),
    errors: ['validation_failed'],
    command: {
      name: 'statements list',
      columns: [
        'id',
        'affiliate_id',
        'plan',
        'period',
        'currency',
        'opening',
        'earned',
        'total',
        'payable',
        'closing',
        'payable_on',
        'status',
      ],
    },
  })),
  list: readStatements,
  files: asCsv('statements', STATEMENT_COLUMNS, statementCells),
})

export const getStatementTotals = operation({
  topic: 'statements',
  id: 'getStatementTotals',
  shows: 'affiliate',
  method: 'GET',
  path: '/statements/totals',
  params: filters,
  words: described(() => ({
    description: `Adds up the stored statements that the parameters match, by status and currency: at most ${number(LIST_LIMITS.total)} of them, the first by period.`,
    answer: statementTotals,
    command: { name: 'statements totals' },
  })),
  async run({ grant: { account }, session }, filter) {
    const sums = await sumStatements(session, account, filter)
    const counted = sums.reduce((all, { statements }) => all + statements, 0)
    return {
      data: presentSums(sums, ['earned', 'payable']),
      is_limited: counted === LIST_LIMITS.total,
    }
  },
})

export const listPeriods = operation({
  topic: 'statements',
  id: 'listPeriods',
  shows: 'affiliate',
  method: 'GET',
  path: '/periods',
  words: described(() => ({
    description: `Adds up the stored statements of the latest periods by status and currency: at most ${number(SUMMED_STATEMENTS)} statements. If there are more, the last period may be a part. A day has no commission of its own: a statement is for an affiliate and a period.`,
    answer: periodSums,
    command: { name: 'periods list' },
  })),
  async run({ grant, session }) {
    const found = await sumPeriods(session, grant.account, todayOf(grant))
    const { sums, due } = found
    const counted = sums.reduce((all, { statements }) => all + statements, 0)
    return {
      data: presentPeriods(sums),
      is_limited: counted === SUMMED_STATEMENTS,
      due: presentSums(due, ['amount']),
    }
  },
})

const NO_STATEMENT = 'This account has no statement with this id, or it has no such `part`.'

/** The maximum number of parts that a statement can have. */
const MAX_PART = 10_000

/** A statement, and a part of its lines. */
export const partOf = {
  statement_id: member(v.string(), said('The id of the statement.', ID)),
  part: optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_PART)),
    said('The part of the lines, from 1.', 1),
  ),
}

type SentPart = Read<typeof partOf>

/** Reads a part of a statement. Throws `not_found`. */
export async function readStatement(
  { grant, session }: ReadCall,
  { statement_id, part }: SentPart,
) {
  const found = await findStatement(session, grant.account, statement_id, part ?? 1)
  if (found?.lines == null || !maySee(grant, found.affiliate_id, found.status)) {
    throw new ApiError('not_found', { detail: NO_STATEMENT })
  }
  return presentWhole(found, part ?? 1)
}

export const getStatement = operation({
  topic: 'statements',
  id: 'getStatement',
  shows: 'affiliate',
  method: 'GET',
  path: '/statements/{statement_id}',
  callers: ['team', 'account'],
  params: partOf,
  words: described(() => ({
    description: `Returns a statement with its lines. A long one has parts of at most ${PART_LIMITS.lines} lines. With \`Accept: text/csv\` it returns one row for each line, adjustment and manual entry, of all parts from \`part\` on, at most 50.`,
    answer: statementInFull,
    files: csvWords(ENTRY_COLUMNS),
    errors: ['not_found'],
    command: { name: 'statements show' },
  })),
  run: readStatement,
  files: {
    'text/csv': async (c, call, { statement_id }, read) =>
      sendStatementCsv(
        c,
        call,
        (await read()) as Awaited<ReturnType<typeof readStatement>>,
        async (part) => showTo(c, await readStatement(call, { statement_id, part })),
      ),
  },
})

export const startRun = operation({
  topic: 'statements',
  id: 'startRun',
  shows: 'account',
  method: 'POST',
  path: '/periods/{period}/run',
  role: 'manager',
  params: {
    period: member(v.string(), said('The period: a month or a week of ISO 8601.', '2026-10')),
  },
  status: 202,
  words: described(() => ({
    description: `Starts a run over all affiliates of the account. It computes the drafts of the period and of open periods before it, and writes those that have changed. Two runs at the same time do no harm. A period that has not begun in the time zone of the account's records is 422. A database has at most ${RUN_LIMITS.byHand} runs at once; another one is 429 \`rate_limited\`.`,
    answer: run,
    errors: ['validation_failed', 'rate_limited'],
    command: { name: 'runs start' },
  })),
  run: (call, { period }) => startPeriodRun(call, readPathPeriod(period)),
})

const NO_RUN = 'This account has no run with this id. Runs are kept for 30 days.'

export const getRun = operation({
  topic: 'statements',
  id: 'getRun',
  shows: 'account',
  method: 'GET',
  path: '/runs/{run_id}',
  params: {
    run_id: member(v.string(), said('The id of the run.', 'run_01M7W0R4W8E3V15G8XPED3Z94X')),
  },
  words: described(() => ({
    description: 'Returns how far a run is. Runs are kept for 30 days.',
    answer: run,
    command: { name: 'runs show' },
  })),
  async run({ grant, session }, { run_id }) {
    const found = await findRun(session, grant.account, run_id)
    if (!found) throw new ApiError('not_found', { detail: NO_RUN })
    return found
  },
})

/** The operations on statements, and on the runs that compute them. */
export const STATEMENT_OPERATIONS = [
  listStatements,
  getStatementTotals,
  listPeriods,
  getStatement,
  startRun,
  getRun,
]
