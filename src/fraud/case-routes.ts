import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { type AffiliateHolds, readHolds } from '../commission/books/holds.ts'
import { dayNumber } from '../commission/engine/calendar.ts'
import {
  CASE_NEEDS,
  type CaseFilter,
  findCase,
  listCases,
  type StoredCase,
  type WholeCase,
} from '../db/fraud/cases.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readChoice, readDays, readFlag, readInstant, readQuery } from '../http/query.ts'
import { type Reader, withReadSession } from '../http/read-session.ts'
import { quote } from '../validation/quote.ts'
import { pageCustomers, pageEvidence } from './case-evidence.ts'
import { presentOwnCase, presentStoredCase, presentWholeCase } from './present-case.ts'

/** The paths of the cases of an account, below the path of the account. */
export const CASE_PATHS = {
  cases: '/cases',
  case: '/cases/:case_id',
  evidence: '/cases/:case_id/evidence',
  customers: '/cases/:case_id/customers',
} as const

const STATUSES = ['open', 'confirmed', 'dismissed', 'expired'] as const
const SEVERITIES = ['low', 'medium', 'high'] as const
const FILTERS = [
  ...['status', 'rule', 'severity', 'affiliate_id', 'customer_id', 'from', 'to', 'keep_hold'],
  ...['needs', 'opened_since', 'draft_of'],
] as const

type Present = (whole: WholeCase, holds: AffiliateHolds | undefined) => object

const routesWith = (present: Present) =>
  new Hono<AppEnv>()
    .get(CASE_PATHS.cases, respondWithCases)
    .get(CASE_PATHS.case, (c) => respondWithCase(c, present))
    .get(CASE_PATHS.evidence, (c) => respondWithPart(c, 'evidence', pageEvidence))
    .get(CASE_PATHS.customers, (c) => respondWithPart(c, 'customers of a case', pageCustomers))

/** Routes for an account: its cases, read-only. */
export const accountCases = routesWith(presentOwnCase)

/** Routes of the integrations team: cases with notes, and who decided. */
export const teamCases = routesWith(presentWholeCase)

/** Returns the filters of a query. */
function readFilter(query: Partial<Record<string, string>>): CaseFilter {
  const { status, severity, from, to, keep_hold, opened_since } = query
  readChoice('status', status, STATUSES)
  readChoice('severity', severity, SEVERITIES)
  readDays({ ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
  const texts = ['rule', 'severity', 'affiliate_id', 'customer_id', 'draft_of'] as const
  const isStatus = STATUSES.find((one) => one === status)
  const needs = readChoice('needs', query.needs, CASE_NEEDS)
  return {
    ...(isStatus && { status: isStatus }),
    ...(needs && { needs }),
    ...(opened_since !== undefined && {
      opened_since: readInstant('opened_since', opened_since),
    }),
    ...(readFlag('keep_hold', keep_hold) && { keep_hold: 1 as const }),
    ...Object.fromEntries(
      texts.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
    ),
    ...(from !== undefined && { from: dayNumber(from) }),
    ...(to !== undefined && { to: dayNumber(to) }),
  }
}

function respondWithCases(c: Context<AppEnv>): Promise<Response> {
  const query = readQuery<string>(c.req.url, ...PAGE_PARAMETERS, ...FILTERS)
  const filter = readFilter(query)
  return withReadSession(c, async ({ grant, session }) => {
    const context = JSON.stringify([grant.account, 'cases', filter])
    const page = await readPage(c.env, context, query)
    const { affiliate_id } = filter
    // What holds the payouts of one affiliate is read together with its cases.
    const [found, ofOne] = await Promise.all([
      listCases(session, grant.account, filter, page, Date.now()),
      affiliate_id === undefined ? null : readHolds(session, grant.account, [affiliate_id]),
    ])
    const affiliates = [...new Set(found.data.map((one) => one.affiliate_id))]
    const holds = ofOne ?? (await readHolds(session, grant.account, affiliates))
    const data = found.data.map((one) => presentStoredCase(one, holds.get(one.affiliate_id)))
    return respondWithPage(c, context, page, { ...found, data })
  })
}

async function findRouteCase(c: Context<AppEnv>, { grant, session }: Reader): Promise<WholeCase> {
  const id = c.req.param('case_id') ?? ''
  const whole = await findCase(session, grant.account, id)
  if (!whole) throw new ApiError('not_found', { detail: `There is no case ${quote(id)}.` })
  return whole
}

function respondWithCase(c: Context<AppEnv>, present: Present): Promise<Response> {
  readQuery(c.req.url)
  return withReadSession(c, async (reader) => {
    const whole = await findRouteCase(c, reader)
    const { affiliate_id } = whole.found
    const holds = await readHolds(reader.session, reader.grant.account, [affiliate_id])
    return c.json(present(whole, holds.get(affiliate_id)))
  })
}

/** Responds with a page of what a case has. */
function respondWithPart<T extends object>(
  c: Context<AppEnv>,
  list: string,
  readPart: (
    db: D1DatabaseSession,
    account: string,
    found: StoredCase,
    page: Page,
  ) => Promise<FoundPage<T>>,
): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  return withReadSession(c, async (reader) => {
    const { found } = await findRouteCase(c, reader)
    const { account } = reader.grant
    const context = JSON.stringify([account, list, found.id])
    const page = await readPage(c.env, context, query)
    const data = await readPart(reader.session, account, found, page)
    return respondWithPage(c, context, page, data)
  })
}
