import { type Context, Hono } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { ownFilter } from '../../auth/grant.ts'
import { ReadMemory } from '../../http/memory.ts'
import { oncePerRequest } from '../../http/once-per-request.ts'
import {
  PAGE_PARAMETERS,
  type PageQuery,
  pageOfAll,
  readPage,
  respondWithPage,
} from '../../http/pagination.ts'
import { preferredType } from '../../http/preferred-type.ts'
import {
  checkDay,
  checkPercentEncoding,
  invalidQuery,
  invalidValue,
  readChoice,
  readQuery,
} from '../../http/query.ts'
import { type Reader, withReadSession } from '../../http/read-session.ts'
import { sendJson } from '../../http/send.ts'
import { namedCustomer, namedLine, showTo } from '../../http/show.ts'
import { todayOf } from '../../zone.ts'
import { dayNumber, type Period, parsePeriod, periodUntil } from '../engine/calendar.ts'
import type { QualificationStatus } from '../engine/once-report.ts'
import { REASONS } from '../engine/reasons.ts'
import { FAR_AHEAD, isFarAhead, PERIOD_FORMS } from '../statements/limits.ts'
import { NARROW, withinLimit } from '../statements/on-request.ts'
import { type Language, wordsOf } from '../words/words.ts'
import { textOfSentences } from './affiliate-words.ts'
import { customerLines, type RecordKey, recordEarnings } from './earnings.ts'
import { computeById, explainById, lineReader, recordsOf, textOf } from './explain.ts'
import { listOwnParts, listParts } from './line-parts.ts'
import { periodIn } from './period.ts'
import {
  groupUnearned,
  listQualifications,
  listUnearned,
  NO_RATE,
  type ReasonFilter,
} from './unearned.ts'

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
  transactionById: '/transactions/earnings',
  tradingActivity: '/trading-activity/earnings',
  activity: '/activities/earnings',
  customer: '/customers/:customer_id/earnings',
  customerLines: '/customers/:customer_id/lines',
} as const

const LINE_PARAMETERS = ['affiliate_id', 'period'] as const
const FILTER_PARAMETERS = ['affiliate_id', 'customer_id'] as const

const periodFor = (c: Context<AppEnv>, reader: Reader, period: Period) =>
  periodIn({ ...reader, env: c.env, once: (key, make) => oncePerRequest(c, key, make) }, period)

/** Writes an explanation: in English all of it, in other languages without the ids of records. */
const textIn = (language: Language, explanation: Parameters<typeof textOf>[0]): string =>
  language === 'en' ? textOf(explanation) : textOfSentences(explanation, wordsOf(language))

/** Returns the id of the line that the caller names. What an affiliate sees no line under is the id of none. */
const lineOf = async (c: Context<AppEnv>, id: string): Promise<string> =>
  (await namedLine(c.var, id)) ?? id.slice(0, 'lin_'.length)

/** Returns a filter with the id of the customer whom the caller names. The name of nobody is the id of nobody. */
async function withNamed<T extends { readonly customer_id?: string | undefined }>(
  c: Context<AppEnv>,
  filter: T,
): Promise<T> {
  const { customer_id: name } = filter
  return name === undefined
    ? filter
    : { ...filter, customer_id: (await namedCustomer(c.var, name)) ?? '' }
}

function respondWithExplanation(c: Context<AppEnv>, id: string): Promise<Response> {
  const hint = readQuery(c.req.url, ...LINE_PARAMETERS)
  const isText = prefersText(c)
  const compute = async (reader: Reader) => {
    const own = { ...hint, ...ownFilter(reader.grant) }
    return explainById(c.env, lineReader(c, reader), await lineOf(c, id), own)
  }
  return withReadSession(c, async (reader) => {
    const explanation = await computeFor(reader, compute)
    return isText
      ? c.text(textIn(c.var.affiliate?.language ?? 'en', await showTo(c, explanation)))
      : sendJson(c, explanation, new ReadMemory(reader.grant.account))
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
    groupUnearned(await periodFor(c, reader, period), period, {
      ...(await withNamed(c, query)),
      ...ownFilter(reader.grant),
    }),
  )
}

function respondWithQualifications(c: Context<AppEnv>): Promise<Response> {
  const names = ['plan', 'rule', 'qualified_from', ...FILTER_PARAMETERS] as const
  const all = readQuery(c.req.url, ...PAGE_PARAMETERS, 'period', 'status', ...names)
  const {
    period: text,
    status,
    affiliate_id,
    customer_id,
    plan,
    rule,
    qualified_from,
    ...page
  } = all
  if (qualified_from !== undefined) checkDay('qualified_from', qualified_from)
  const period = readPeriod(text)
  const query = {
    ...{ affiliate_id, customer_id, plan, rule, qualified_from },
    status: readStatus(status),
  }
  const list = ['qualifications', period.id, query]
  return respondWithList(c, list, page, async (reader) => {
    const today = dayNumber(todayOf(reader.grant))
    const computation = await periodFor(c, reader, period)
    return listQualifications(computation, periodUntil(period, today), query)
  })
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
    const { grant } = reader
    const hint = { affiliate_id, period, ...ownFilter(grant) }
    const line = await computeById(c.env, lineReader(c, reader), await lineOf(c, id), hint)
    const isSummed = grant.affiliate && grant.affiliate.view.sub_affiliates !== 'customers'
    return isSummed ? listOwnParts(line) : listParts(line)
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
    listUnearned(await periodFor(c, reader, period), period, {
      ...(await withNamed(c, query)),
      ...ownFilter(reader.grant),
    }),
  )
}

const respondWithEarnings = (c: Context<AppEnv>, key: RecordKey): Promise<Response> =>
  respondWith(c, (reader) => recordEarnings(c.env, reader, key))

/** Routes for affiliates: why a line pays what it pays, of whom it is made, and what earned nothing. */
export const affiliateWhy = new Hono<AppEnv>()
  .get(WHY_PATHS.explain, (c) => respondWithExplanation(c, c.req.param('line_id')))
  .get(TEAM_WHY_PATHS.parts, (c) => respondWithParts(c, c.req.param('line_id')))
  .get(WHY_PATHS.unearned, respondWithUnearned)
  .get(TEAM_WHY_PATHS.unearnedFacts, respondWithUnearnedFacts)

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
  .get(TEAM_WHY_PATHS.transactionById, (c) => {
    const { transaction_id } = readQuery(c.req.url, 'transaction_id')
    const id = required('transaction_id', transaction_id)
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

/** Returns the period of a query, which requires one. */
export function readPeriod(text: string | undefined): Period {
  const period = parsePeriod(text ?? '')
  if (period && isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD, 'period')
  if (period) return period
  if (text !== undefined) throw invalidValue('period', text, PERIOD_FORMS)
  throw invalidQuery(`The parameter \`period\` is missing. Send ${PERIOD_FORMS}.`)
}

/** Returns the reason of a query. */
const readReason = (text: string | undefined): ReasonFilter | undefined =>
  readChoice('reason', text, [...REASONS, NO_RATE])

/** What can have become of a customer under a rule that pays once. */
export const STATUSES = ['qualified', 'waiting', 'failed', 'refused'] as const

/** Returns the status of a query. */
const readStatus = (text: string | undefined): QualificationStatus | undefined =>
  readChoice('status', text, STATUSES)

/** Returns a parameter, or throws `invalid_query` if it is missing. */
function required(name: string, text: string | undefined): string {
  if (text === undefined) throw invalidQuery(`The parameter \`${name}\` is missing.`)
  return text
}

/** Returns a day of a query, in days since 1970. */
function readDay(name: string, text: string | undefined): number {
  const day = required(name, text)
  checkDay(name, day)
  return dayNumber(day)
}

/** Computes an answer for a reader. */
const computeFor = <T>(reader: Reader, compute: (reader: Reader) => Promise<T>): Promise<T> =>
  withinLimit(reader.grant, NARROW, () => compute(reader))

/** Returns whether the `Accept` of a request prefers sentences to JSON, by its weights. */
const prefersText = (c: Context): boolean =>
  preferredType(c, ['application/json', 'text/plain']) === 'text/plain'

/** Responds with what is computed from an account's records. */
const respondWith = (
  c: Context<AppEnv>,
  compute: (reader: Reader) => Promise<object>,
): Promise<Response> =>
  withReadSession(c, async (reader) => {
    const body = await computeFor(reader, compute)
    return sendJson(c, body, new ReadMemory(reader.grant.account))
  })

/**
 * Responds with a page of a computed list. The whole list is computed for each page, so its length is
 * exact.
 */
const respondWithList = <T extends object>(
  c: Context<AppEnv>,
  list: readonly unknown[],
  query: PageQuery,
  compute: (reader: Reader) => Promise<readonly T[]>,
): Promise<Response> =>
  withReadSession(c, async (reader) => {
    const { account } = reader.grant
    const context = JSON.stringify([account, ...list])
    const page = await readPage(c.env, context, query)
    const all = await computeFor(reader, compute)
    return respondWithPage(c, context, page, pageOfAll(all, page), new ReadMemory(account))
  })
