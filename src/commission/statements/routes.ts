import { type Context, Hono } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { type Grant, maySee, ownFilter } from '../../auth/grant.ts'
import { findRun } from '../../db/commission/runs.ts'
import {
  findChanges,
  findStatement,
  listStatements,
  SUMMED_STATEMENTS,
  sumPeriods,
  sumStatements,
} from '../../db/commission/statements.ts'
import { LIST_LIMITS, LIST_ORDERS } from '../../db/paginate.ts'
import { ulidPrefix } from '../../db/ulid.ts'
import { ApiError } from '../../errors.ts'
import { ReadMemory } from '../../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../../http/pagination.ts'
import {
  invalidQuery,
  invalidValue,
  readChoice,
  readFlag,
  readInstant,
  readQuery,
} from '../../http/query.ts'
import { withReadSession } from '../../http/read-session.ts'
import { sendJson } from '../../http/send.ts'
import { showTo } from '../../http/show.ts'
import { todayOf } from '../../zone.ts'
import { nextPeriod, parsePeriod } from '../engine/calendar.ts'
import {
  checkPageSize,
  formatOf,
  sendListCsv,
  sendListPage,
  sendStatementCsv,
  sendStatementPage,
} from '../export/respond.ts'
import { PERIOD_FORMS } from './limits.ts'
import { respondWithFresh } from './on-request.ts'
import {
  presentChange,
  presentDueSums,
  presentPeriods,
  presentStatement,
  presentSums,
  presentWhole,
} from './present.ts'
import { respondWithStart } from './run.ts'

/** The paths of the statements of an account, below the path of the account. */
export const STATEMENT_PATHS = {
  statements: '/statements',
  statement: '/statements/:statement_id',
} as const

/** The paths of totals, periods and runs, which only the integrations team has. */
export const RUN_PATHS = {
  statementTotals: '/statements/totals',
  periods: '/periods',
  start: '/periods/:period/run',
  run: '/runs/:run_id',
} as const

const FILTERS = ['affiliate_id', 'period', 'plan', 'status'] as const
const STATUSES = ['draft', 'approved', 'paid']

type Query = Partial<Record<(typeof FILTERS)[number], string>>

/** Returns the filters of a query. */
function readFilters(query: Query) {
  const { affiliate_id, period, plan, status } = query
  if (period !== undefined && parsePeriod(period) === null) {
    throw invalidValue('period', period, PERIOD_FORMS)
  }
  readChoice('status', status, STATUSES)
  return {
    ...(affiliate_id !== undefined && { affiliate_id }),
    ...(period !== undefined && { period }),
    ...(plan !== undefined && { plan }),
    ...(status !== undefined && { status }),
  }
}

/** Routes for an account and the integrations team: the statements that are stored. */
export const accountStatements = new Hono<AppEnv>()
  .get(STATEMENT_PATHS.statements, (c) =>
    respondWithStatements(c, readQuery(c.req.url, ...PAGE_PARAMETERS, ...FILTERS)),
  )
  .get(STATEMENT_PATHS.statement, (c) => respondWithStatement(c, c.req.param('statement_id')))

/** Routes of the integrations team: statements, also computed at once, and runs over a period. */
export const teamStatements = new Hono<AppEnv>()
  .get(STATEMENT_PATHS.statements, (c) => {
    const parameters = [...PAGE_PARAMETERS, ...FILTERS, 'fresh', 'approved_since', 'order'] as const
    const { fresh, approved_since, order, ...query } = readQuery(c.req.url, ...parameters)
    if (!readFlag('fresh', fresh)) {
      const isLatestFirst = readChoice('order', order, LIST_ORDERS) === 'latest'
      return respondWithStatements(c, query, { approved_since, isLatestFirst })
    }
    if (approved_since !== undefined) {
      throw invalidQuery('`fresh` computes one affiliate: send `affiliate_id`.')
    }
    if (PAGE_PARAMETERS.some((name) => query[name] !== undefined)) {
      throw invalidQuery('`fresh` returns all statements of one affiliate, without pages.')
    }
    return respondWithFresh(c, readFilters(query))
  })
  .get(RUN_PATHS.statementTotals, (c) => respondWithTotals(c, readQuery(c.req.url, ...FILTERS)))
  .get(RUN_PATHS.periods, respondWithPeriods)
  .get(STATEMENT_PATHS.statement, (c) => respondWithStatement(c, c.req.param('statement_id')))
  .post(RUN_PATHS.start, (c) => respondWithStart(c, c.req.param('period')))
  .get(RUN_PATHS.run, (c) => respondWithRun(c, c.req.param('run_id')))

/** Routes for affiliates: the statements that are stored, also the latest first. */
export const affiliateStatements = new Hono<AppEnv>()
  .get(STATEMENT_PATHS.statements, (c) => {
    const { order, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...FILTERS, 'order')
    const isLatestFirst = readChoice('order', order, LIST_ORDERS) === 'latest'
    return respondWithStatements(c, query, { isLatestFirst })
  })
  .get(STATEMENT_PATHS.statement, (c) => respondWithStatement(c, c.req.param('statement_id')))

/** What else a list of statements can be asked for. */
interface ListOptions {
  readonly approved_since?: string | undefined
  readonly isLatestFirst?: boolean
}

function respondWithStatements(
  c: Context<AppEnv>,
  query: Query & Parameters<typeof readPage>[2],
  { approved_since, isLatestFirst = false }: ListOptions = {},
): Promise<Response> {
  const sent = {
    ...readFilters(query),
    ...(isLatestFirst && { isLatestFirst }),
    ...(approved_since !== undefined && {
      approved_since: ulidPrefix(Math.max(0, readInstant('approved_since', approved_since))),
    }),
  }
  const format = formatOf(c)
  return withReadSession(c, async ({ grant, session }) => {
    const filter = { ...sent, ...ownFilter(grant), ...approvedFilter(grant) }
    const context = JSON.stringify([grant.account, 'statements', filter])
    const page = await readPage(c.env, context, query)
    if (format === 'html') checkPageSize(page)
    const rows = await listStatements(session, grant.account, filter, page)
    const presented = rows.data.map(presentStatement)
    if (format === 'json') return respondWithPage(c, context, page, { ...rows, data: presented })
    const found = { ...rows, data: presented }
    const send = format === 'csv' ? sendListCsv : sendListPage
    const books = { db: session, account: grant.account }
    return send(c, books, { context, page, found, period: filter.period })
  })
}

/** Returns the filter that leaves out drafts, for affiliates who do not see them. */
const approvedFilter = ({ affiliate }: Grant): { isApproved?: true } =>
  !affiliate || affiliate.view.drafts ? {} : { isApproved: true }

function respondWithTotals(c: Context<AppEnv>, query: Query): Promise<Response> {
  const filter = readFilters(query)
  return withReadSession(c, async ({ grant, session }) => {
    const { account } = grant
    const period = filter.status === 'draft' && filter.period ? parsePeriod(filter.period) : null
    const [sums, changes] = await Promise.all([
      sumStatements(session, account, filter),
      period && findChanges(session, account, filter, nextPeriod(period, -1).id),
    ])
    const count = sums.reduce((all, { statements }) => all + statements, 0)
    const data = sums.map((one) => presentSums(one, filter.period !== undefined))
    return c.json({
      data,
      is_limited: count === LIST_LIMITS.total,
      changes: changes?.map(presentChange) ?? null,
    })
  })
}

function respondWithPeriods(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  return withReadSession(c, async ({ grant, session }) => {
    const { sums, due, leading, last_run_at } = await sumPeriods(
      session,
      grant.account,
      todayOf(grant),
    )
    const count = sums.reduce((all, { statements }) => all + statements, 0)
    const is_limited = count === SUMMED_STATEMENTS
    return c.json({
      data: presentPeriods(sums),
      is_limited,
      due: presentDueSums(due),
      leading,
      last_run_at,
    })
  })
}

const NO_STATEMENT = 'This account has no statement with this id.'
const NO_PART = 'This account has no statement with this id, or it has no such `part`.'

/** The maximum number of parts that a statement can have. */
const MAX_PART = 10_000

function respondWithStatement(c: Context<AppEnv>, id: string): Promise<Response> {
  const { part: sent } = readQuery(c.req.url, 'part')
  const text = sent ?? '1'
  const part = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (part < 1 || part > MAX_PART) {
    throw invalidValue('part', text, `an integer from 1 to ${MAX_PART}`)
  }
  const format = formatOf(c)
  return withReadSession(c, async ({ grant, session }) => {
    const found = await findStatement(session, grant.account, id, part)
    if (found?.lines == null || !maySee(grant, found.affiliate_id, found.status)) {
      throw new ApiError('not_found', { detail: sent === undefined ? NO_STATEMENT : NO_PART })
    }
    const whole = presentWhole(found, part)
    if (format === 'json') return sendJson(c, whole, new ReadMemory(grant.account))
    const send = format === 'csv' ? sendStatementCsv : sendStatementPage
    const statement = await showTo(c, presentStatement(found))
    return send(c, { db: session, account: grant.account }, statement, whole)
  })
}

const NO_RUN = 'This account has no run with this id. Runs are kept for 30 days.'

const respondWithRun = (c: Context<AppEnv>, id: string): Promise<Response> => {
  readQuery(c.req.url)
  return withReadSession(c, async ({ grant, session }) => {
    const run = await findRun(session, grant.account, id)
    if (!run) throw new ApiError('not_found', { detail: NO_RUN })
    return c.json(run)
  })
}
