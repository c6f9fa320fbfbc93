import { type Context, Hono } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { oncePerRequest } from '../../http/once-per-request.ts'
import { PAGE_PARAMETERS } from '../../http/pagination.ts'
import { checkPercentEncoding, readQuery } from '../../http/query.ts'
import { ReadMemory } from '../../http/read-memory.ts'
import { type Reader, withReadSession } from '../../http/read-session.ts'
import { sendJson } from '../../http/send-json.ts'
import { openPeriod } from '../drafts/on-request.ts'
import type { Period } from '../engine/calendar.ts'
import { computeById } from './compute-by-id.ts'
import { lineReader } from './compute-line.ts'
import { customerLines } from './customer-lines.ts'
import { type RecordKey, recordEarnings } from './earnings.ts'
import { explainById } from './explain-by-id.ts'
import { recordsOf } from './explain-line.ts'
import { listParts } from './line-parts.ts'
import { listQualifications } from './qualifications.ts'
import { readDay, readPeriod, readReason, readStatus, required } from './read-parameters.ts'
import { computeFor, prefersText, respondWith, respondWithList } from './respond.ts'
import { groupUnearned, listUnearned } from './unearned.ts'

/** The paths that an account has for itself, below the path of the account. */
export const WHY_PATHS = {
  explain: '/lines/:line_id/explain',
  unearned: '/unearned',
  qualifications: '/qualifications',
} as const

/** The paths that only the integrations team has. */
export const TEAM_WHY_PATHS = {
  parts: '/lines/:line_id/parts',
  partFacts: '/lines/:line_id/parts/:customer_id/facts',
  unearnedFacts: '/unearned/facts',
  transaction: '/transactions/:transaction_id/earnings',
  tradingActivity: '/trading-activity/earnings',
  activity: '/activities/earnings',
  customer: '/customers/:customer_id/earnings',
  customerLines: '/customers/:customer_id/lines',
} as const

const LINE_PARAMETERS = ['affiliate_id', 'period'] as const
const FILTER_PARAMETERS = ['affiliate_id', 'customer_id'] as const

/**
 * Prepares the computation of a period, once per request: a page of the console uses it several
 * times.
 */
const periodFor = (c: Context<AppEnv>, { grant, session }: Reader, period: Period) =>
  oncePerRequest(c, JSON.stringify(['period', grant.account, period.id]), () =>
    openPeriod(c.env, grant, session, period),
  )

function respondWithExplanation(c: Context<AppEnv>, id: string): Promise<Response> {
  const hint = readQuery(c.req.url, ...LINE_PARAMETERS)
  const isText = prefersText(c)
  const compute = (reader: Reader) => explainById(c.env, lineReader(c, reader), id, hint, isText)
  return withReadSession(c, async (reader) => {
    const body = await computeFor(reader, compute)
    return typeof body === 'string'
      ? c.text(body)
      : sendJson(c, body, new ReadMemory(reader.grant.account))
  })
}

function respondWithUnearned(c: Context<AppEnv>): Promise<Response> {
  const {
    period: text,
    reason,
    ...whose
  } = readQuery(c.req.url, 'period', 'reason', ...FILTER_PARAMETERS)
  const period = readPeriod(text)
  const query = { ...whose, reason: readReason(reason) }
  return respondWith(c, async (reader) =>
    groupUnearned(await periodFor(c, reader, period), period, query),
  )
}

function respondWithQualifications(c: Context<AppEnv>): Promise<Response> {
  const names = ['plan', 'rule', ...FILTER_PARAMETERS] as const
  const all = readQuery(c.req.url, ...PAGE_PARAMETERS, 'period', 'status', ...names)
  const { period: text, status, affiliate_id, customer_id, plan, rule, ...page } = all
  const period = readPeriod(text)
  const query = { affiliate_id, customer_id, plan, rule, status: readStatus(status) }
  const list = ['qualifications', period.id, query]
  return respondWithList(c, list, page, async (reader) =>
    listQualifications(await periodFor(c, reader, period), period, query),
  )
}

/** Routes for an account and the integrations team: explanations, and why records earned nothing. */
export const accountWhy = new Hono<AppEnv>()
  .get(WHY_PATHS.explain, (c) => respondWithExplanation(c, c.req.param('line_id')))
  .get(WHY_PATHS.unearned, respondWithUnearned)
  .get(WHY_PATHS.qualifications, respondWithQualifications)

function respondWithParts(c: Context<AppEnv>, id: string): Promise<Response> {
  const { affiliate_id, period, ...page } = readQuery(
    c.req.url,
    ...PAGE_PARAMETERS,
    ...LINE_PARAMETERS,
  )
  return respondWithList(c, ['parts', id], page, async (reader) => {
    const hint = { affiliate_id, period }
    return listParts(await computeById(c.env, lineReader(c, reader), id, hint))
  })
}

function respondWithPartFacts(c: Context<AppEnv>, id: string, customer: string): Promise<Response> {
  const { affiliate_id, period, ...page } = readQuery(
    c.req.url,
    ...PAGE_PARAMETERS,
    ...LINE_PARAMETERS,
  )
  checkPercentEncoding(new URL(c.req.url).pathname)
  return respondWithList(c, ['facts', id, customer], page, async (reader) => {
    const hint = { affiliate_id, period }
    return recordsOf(await computeById(c.env, lineReader(c, reader), id, hint), customer)
  })
}

function respondWithUnearnedFacts(c: Context<AppEnv>): Promise<Response> {
  const names = [...PAGE_PARAMETERS, ...FILTER_PARAMETERS] as const
  const all = readQuery(c.req.url, 'period', 'reason', ...names)
  const { period: text, reason, affiliate_id, customer_id, ...page } = all
  const period = readPeriod(text)
  const query = { affiliate_id, customer_id, reason: readReason(reason) }
  const list = ['unearned', period.id, query]
  return respondWithList(c, list, page, async (reader) =>
    listUnearned(await periodFor(c, reader, period), period, query),
  )
}

const respondWithEarnings = (c: Context<AppEnv>, key: RecordKey): Promise<Response> =>
  respondWith(c, (reader) => recordEarnings(c.env, reader, key))

/** Returns the id in a path, which has no query. */
function idOf(c: Context<AppEnv>, id: string): string {
  readQuery(c.req.url)
  checkPercentEncoding(new URL(c.req.url).pathname)
  return id
}

function respondWithCustomerLines(c: Context<AppEnv>, customer_id: string): Promise<Response> {
  const period = readPeriod(readQuery(c.req.url, 'period').period)
  checkPercentEncoding(new URL(c.req.url).pathname)
  return respondWith(c, async (reader) => {
    const computation = await periodFor(c, reader, period)
    const data = await customerLines(computation, period, customer_id)
    return { customer_id, period: period.id, data }
  })
}

function readActivityKey(url: string): RecordKey {
  const query = readQuery(url, 'date', 'customer_id', 'instrument', 'currency')
  return {
    resource: 'trading-activity',
    date: readDay('date', query.date),
    customer_id: required('customer_id', query.customer_id),
    instrument: required('instrument', query.instrument),
    currency: required('currency', query.currency),
  }
}

/** Routes of the integrations team: all that is behind a line, and what a record earns. */
export const teamWhy = new Hono<AppEnv>()
  .route('/', accountWhy)
  .get(TEAM_WHY_PATHS.parts, (c) => respondWithParts(c, c.req.param('line_id')))
  .get(TEAM_WHY_PATHS.partFacts, (c) =>
    respondWithPartFacts(c, c.req.param('line_id'), c.req.param('customer_id')),
  )
  .get(TEAM_WHY_PATHS.unearnedFacts, respondWithUnearnedFacts)
  .get(TEAM_WHY_PATHS.transaction, (c) => {
    const id = idOf(c, c.req.param('transaction_id'))
    return respondWithEarnings(c, { resource: 'transactions', id })
  })
  .get(TEAM_WHY_PATHS.tradingActivity, (c) => respondWithEarnings(c, readActivityKey(c.req.url)))
  .get(TEAM_WHY_PATHS.activity, (c) => {
    const id = required('id', readQuery(c.req.url, 'id').id)
    return respondWithEarnings(c, { resource: 'activities', id })
  })
  .get(TEAM_WHY_PATHS.customer, (c) => {
    const id = idOf(c, c.req.param('customer_id'))
    return respondWithEarnings(c, { resource: 'customers', id })
  })
  .get(TEAM_WHY_PATHS.customerLines, (c) => respondWithCustomerLines(c, c.req.param('customer_id')))
