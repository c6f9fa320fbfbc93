import { type Context, Hono } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { findRun, insertRun } from '../../db/commission/runs.ts'
import { findStatement, listStatements } from '../../db/commission/statements.ts'
import { resolveDatabase } from '../../db/database.ts'
import { withAudit } from '../../db/directory/audit.ts'
import { ApiError, unavailable } from '../../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../../http/pagination.ts'
import { invalidQuery, readQuery } from '../../http/query.ts'
import { ReadMemory } from '../../http/read-memory.ts'
import { sendJson } from '../../http/send-json.ts'
import { withReadSession } from '../../http/session.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { formatOf } from '../export/accept.ts'
import {
  checkPageSize,
  sendListCsv,
  sendListPage,
  sendStatementCsv,
  sendStatementPage,
} from '../export/respond.ts'
import { respondWithFresh } from './fresh.ts'
import { isFarAhead } from './limits.ts'
import { presentStatement, presentWhole } from './present.ts'
import { finishRun, newRunId } from './run.ts'

/** The paths of the statements of an account, below the path of the account. */
export const STATEMENT_PATHS = {
  statements: '/statements',
  statement: '/statements/:statement_id',
} as const

/** The paths of runs, which only the integrations team has. */
export const RUN_PATHS = {
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
    throw invalidQuery('`period` must be a month such as `2026-10` or a week such as `2026-W41`.')
  }
  if (status !== undefined && !STATUSES.includes(status)) {
    throw invalidQuery('`status` must be `draft`, `approved` or `paid`.')
  }
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
    const { fresh = 'false', ...query } = readQuery(
      c.req.url,
      ...PAGE_PARAMETERS,
      ...FILTERS,
      'fresh',
    )
    if (fresh !== 'true' && fresh !== 'false') {
      throw invalidQuery('`fresh` must be `true` or `false`.')
    }
    if (fresh === 'false') return respondWithStatements(c, query)
    if (PAGE_PARAMETERS.some((name) => query[name] !== undefined)) {
      throw invalidQuery('`fresh` returns all statements of one affiliate, without pages.')
    }
    return respondWithFresh(c, readFilters(query))
  })
  .get(STATEMENT_PATHS.statement, (c) => respondWithStatement(c, c.req.param('statement_id')))
  .post(RUN_PATHS.start, (c) => startRun(c, c.req.param('period')))
  .get(RUN_PATHS.run, (c) => respondWithRun(c, c.req.param('run_id')))

function respondWithStatements(
  c: Context<AppEnv>,
  query: Query & Parameters<typeof readPage>[2],
): Promise<Response> {
  const filter = readFilters(query)
  const format = formatOf(c)
  return withReadSession(c, async ({ grant, session }) => {
    const context = JSON.stringify([grant.account, 'statements', filter])
    const page = await readPage(c.env, context, query)
    if (format === 'html') checkPageSize(page)
    const rows = await listStatements(session, grant.account, filter, page)
    const found = { ...rows, data: rows.data.map(presentStatement) }
    if (format === 'json') return respondWithPage(c, context, page, found)
    const send = format === 'csv' ? sendListCsv : sendListPage
    const books = { db: session, account: grant.account }
    return send(c, books, { context, page, found, period: filter.period })
  })
}

const NO_STATEMENT = 'This account has no statement with this id, or not so many parts of it.'

/** The most parts that a statement can have. */
const MAX_PART = 10_000

function respondWithStatement(c: Context<AppEnv>, id: string): Promise<Response> {
  const { part: text = '1' } = readQuery(c.req.url, 'part')
  const part = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (part < 1 || part > MAX_PART) {
    throw invalidQuery(`\`part\` must be an integer from 1 to ${MAX_PART}.`)
  }
  const format = formatOf(c)
  return withReadSession(c, async ({ grant, session }) => {
    const found = await findStatement(session, grant.account, id, part)
    if (found?.lines == null) throw new ApiError('not_found', { detail: NO_STATEMENT })
    const whole = presentWhole(found, part)
    if (format === 'json') return sendJson(c, whole, new ReadMemory(grant.account))
    const send = format === 'csv' ? sendStatementCsv : sendStatementPage
    return send(c, { db: session, account: grant.account }, presentStatement(found), whole)
  })
}

/** Returns the period of a path, or throws `not_found`. */
function readPeriod(text: string): Period {
  const period = parsePeriod(text)
  if (period && !isFarAhead(period, Date.now())) return period
  const detail =
    'There is no such period in the next 10 years or before. A month is written as `2026-10`, a week of ISO 8601 as `2026-W41`.'
  throw new ApiError('not_found', { detail })
}

/** Stores a run and starts its Workflow. */
async function startRun(c: Context<AppEnv>, text: string): Promise<Response> {
  readQuery(c.req.url)
  const { id: period } = readPeriod(text)
  const { account, binding } = await c.var.grantPromise
  const db = resolveDatabase(c.env, binding)
  const now = Date.now()
  const id = newRunId(now)
  const run = { account, id, period, started_at: new Date(now).toISOString() }
  const entry = { actor: c.var.actor, action: 'period.run', account, details: { period, run: id } }
  await withAudit(db, entry, [insertRun(db, run)])
  try {
    await c.env.STATEMENT_RUNS.create({ id, params: { account, run: id, period } })
  } catch (error) {
    await finishRun(c.env, { account, run: id, period }, 'failed', Date.now())
    throw unavailable(error)
  }
  return withReadSession(c, async ({ session }) => c.json(await findRun(session, account, id), 202))
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
