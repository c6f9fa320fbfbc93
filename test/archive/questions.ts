import { env, exports } from 'cloudflare:workers'
import openapi from '../../openapi.json'
import { askWith } from '../affiliate-world.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { asTeam, operations } from '../take.ts'
import { AFFILIATES, eventsOf, MONTHS, type Twin, tradingOf } from './twin-firms.ts'

// Every GET request about an account, with values that have answers.

/** A request by an operation of openapi.json, and the name by which twins share it. */
export interface Question {
  readonly id: string
  readonly at: Readonly<Record<string, string>>
  readonly query: string
  /** The affiliate whose key it has, if it is an affiliate's request. */
  readonly affiliate: string | null
  readonly name: string
}

const WITHOUT_DAYS = 'without days'

/** The values of path parameters and of the query. Ids of an account stand behind names that twins share. */
type Values = Readonly<Record<string, string>>

const YEARS = [...new Set(MONTHS.map((month) => month.slice(0, 4)))]
const rangeOf = (month: string) => {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return `from=${month}-01&to=${new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)}`
}
/** An old month, the last old one, the first later one, and the one that is not over. */
const SOME_MONTHS = ['2028-08', '2029-10', '2029-11', '2030-12']
const LINE_MONTHS = ['2028-08', '2029-10']

const CUSTOMERS = ['c-0', 'c-2', 'c-5', 'c-11']

interface Line {
  readonly id: string
  readonly rule: string
  readonly scope: string
}

/** A statement with its lines. Affiliates see other ids of its lines. */
export interface Statement {
  readonly id: string
  readonly period: string
  readonly plan: string
  readonly affiliate_id: string
  readonly lines: readonly Line[]
  readonly shown: readonly Line[]
}

const headersOf = ({ headers, keys }: Twin, path: string, affiliate: string | null) => {
  if (path.startsWith('/admin')) return asTeam()
  return affiliate === null ? headers : { Authorization: `Bearer ${keys[affiliate]}` }
}

/** Returns the records of a page of a list as text, and how many the list has; null if it is none. */
function recordsOf(text: string): { records: string; total: string } | null {
  const [, records = '', meta = ''] = /^{"data":\[(.*)\],"meta":({.*})}$/s.exec(text) ?? []
  const total = /"total":(\d+)/.exec(meta)?.[1]
  return total === undefined ? null : { records, total }
}

/** Returns the records of a list. One without days comes in the order of days once months are archived. */
const ordered = ({ name }: Question, pages: readonly string[]): string =>
  name.endsWith(WITHOUT_DAYS)
    ? (JSON.parse(`[${pages.join()}]`) as unknown[])
        .map((one) => JSON.stringify(one))
        .sort()
        .join()
    : pages.join()

/**
 * Sends a question. Lists are read to their end: archived records come in pages of another length, so the pages are
 * put together.
 */
export async function answerOf(twin: Twin, question: Question): Promise<[number, string]> {
  const { path } = operations.get(question.id)!
  const at: Values = { account: twin.account, ...question.at }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(at[part]!))
  const headers = headersOf(twin, path, question.affiliate)
  const pages: string[] = []
  for (let cursor: string | undefined; ; ) {
    const parameters = [question.query, cursor && `cursor=${cursor}`].filter(Boolean).join('&')
    const response = await exports.default.fetch(`${ORIGIN}${address}?${parameters}`, { headers })
    const text = await response.text()
    const found = response.status === 200 ? recordsOf(text) : null
    if (!found) return [response.status, text]
    if (found.records !== '') pages.push(found.records)
    cursor = /"next_cursor":"([^"]+)"/.exec(text)?.[1]
    if (cursor === undefined) return [200, `${found.total} records: ${ordered(question, pages)}`]
  }
}

/** Reads the statements of some months with their lines. */
export async function readStatements({ path, keys }: Twin): Promise<Statement[]> {
  const statements: Statement[] = []
  for (const period of SOME_MONTHS) {
    const { data } = await json(askAdmin(`${path}/statements?period=${period}&per_page=100`))
    for (const { id } of data) {
      const { lines, affiliate_id, plan } = await json(askAdmin(`${path}/statements/${id}`))
      const shown = await json(askWith(keys[affiliate_id]!, `statements/${id}`))
      statements.push({ id, period, plan, affiliate_id, lines, shown: shown.lines })
    }
  }
  return statements
}

/** Reads the ids of the first deliveries of an account, in their order. */
async function deliveriesOf({ account }: Twin): Promise<string[]> {
  const { results } = await env.DB.prepare(
    'select id from deliveries where account = ? order by id limit 3',
  )
    .bind(account)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** Returns questions about each of some values. */
const eachOf = <T>(
  values: readonly T[],
  ask: (value: T, i: number) => NamedQuery[],
): NamedQuery[] => values.flatMap(ask)

type NamedQuery = readonly [
  id: string,
  name: string,
  query?: string,
  at?: Values,
  affiliate?: string,
]

const of = (vertical: string, name: string) =>
  `${name[0] === 'l' ? 'list' : 'get'}${vertical}${name.slice(name[0] === 'l' ? 4 : 3)}`

/** The questions that do not depend on what an account has. */
const ABOUT_ACCOUNT: NamedQuery[] = [
  'listMoves',
  'getAccount',
  'getStatusMap',
  'getKycLabels',
  'getSalesLabels',
  'listUnmappedStatuses',
  'listAffiliates',
  'listParents',
  'listAffiliateFigures',
  'listUnconfiguredAffiliates',
  'listQuestions',
  'listLinks',
  'listAttributed',
  'listPlans',
  'listAssignments',
  'listFraudRules',
  'listFraudCases',
  'listEndedHolds',
  'listStatements',
  'getStatementTotals',
  'listPeriods',
  'listManualEntries',
  'listPayouts',
  'listErasures',
  'listAttention',
  'getChanges',
  'listAccountDeliveries',
  'listAccountHeld',
  'listExports',
  'listArrivals',
  'getAccountFeed',
  'listWebhooks',
].map((id) => [id, ''])

/** The questions of each month. */
const ofMonth =
  (vertical: string) =>
  (month: string): NamedQuery[] => {
    const period = `period=${month}`
    const range = rangeOf(month)
    return [
      ['getAccountTotals', month, range],
      [of(vertical, 'getTotals'), month, range],
      ['getAccountReport', month, range],
      ['getAccountReport', `${month} by affiliate`, `${range}&group_by=affiliate_id`],
      [of(vertical, 'getReport'), `${month} by day`, `${range}&group_by=day`],
      ['getUnearned', month, period],
      [of(vertical, 'getUnearned'), month, period],
      ['listUnearnedRecords', month, period],
      ['listQualifications', month, period],
      [of(vertical, 'listQualifications'), month, period],
      ['listStatements', month, period],
      [of(vertical, 'listStatements'), month, period],
      ['listStatements', `${month} fresh`, `${period}&affiliate_id=own&fresh=true`],
      ['getFxRates', month, `day=${month}-09`],
      [of(vertical, 'getFxRates'), month, `day=${month}-09`],
      ['getStatementTotals', month, period],
      ['listAttributed', month, range],
      ['countAttribution', month, range],
      ['countClicks', month, range],
      ...eachOf(['c-0', 'c-5'], (customer_id) => [
        ['listCustomerLines', `${month} ${customer_id}`, period, { customer_id }],
      ]),
      ...eachOf(['own', 'other'], (affiliate): NamedQuery[] => [
        ['getAffiliateOverview', `${month} ${affiliate}`, range, {}, affiliate],
        ['getAffiliateUnearned', `${month} ${affiliate}`, period, {}, affiliate],
        ['listAffiliateUnearnedRecords', `${month} ${affiliate}`, period, {}, affiliate],
        ['listAffiliateCustomers', `${month} ${affiliate}`, period, {}, affiliate],
        ['getAffiliateReport', `${month} ${affiliate}`, range, {}, affiliate],
        ['listSubAffiliates', `${month} ${affiliate}`, range, {}, affiliate],
        ['listAffiliateClicks', `${month} ${affiliate}`, range, {}, affiliate],
      ]),
    ]
  }

const ofCustomer =
  (vertical: string, resources: readonly string[]) =>
  (customer_id: string): NamedQuery[] => {
    const filter = vertical === 'Igaming' ? 'customerid' : 'customer_id'
    const at = { customer_id }
    return [
      [of(vertical, 'getCustomers'), customer_id, '', { id: customer_id }],
      [of(vertical, 'getCustomersById'), customer_id, `${filter}=${customer_id}`],
      ...eachOf(resources, (resource): NamedQuery[] => [
        ['listRecords', `${resource} ${customer_id}`, `customer_id=${customer_id}`, { resource }],
      ]),
      ['getSignupEarnings', customer_id, '', at],
      ['getAffiliations', customer_id, '', at],
      ['getAffiliationsById', customer_id, `customer_id=${customer_id}`],
      ['getCustomerFields', customer_id, '', at],
      ['getCustomerFieldsById', customer_id, `customer_id=${customer_id}`],
      ['findRecords', customer_id, `id=${customer_id}`],
    ]
  }

const ofAffiliate = (affiliate: string): NamedQuery[] => {
  const at = { affiliate_id: affiliate }
  const query = `affiliate_id=${affiliate}`
  return [
    ['listLedger', affiliate, '', at],
    ['listLedgerById', affiliate, query],
    ['getBalance', affiliate, '', at],
    ['getBalanceById', affiliate, query],
    ['listAffiliatePostbacks', affiliate, '', at],
    ['getAffiliateSelf', affiliate, '', {}, affiliate],
    ['listAffiliateStatements', affiliate, '', {}, affiliate],
    ['listAffiliateLedger', affiliate, '', {}, affiliate],
    ['listAffiliatePayouts', affiliate, '', {}, affiliate],
    ['listOwnLinks', affiliate, '', {}, affiliate],
    ['listOwnQuestions', affiliate, '', {}, affiliate],
    ['listPostbacks', affiliate, '', {}, affiliate],
  ]
}

/** The questions of each line of a statement. */
const ofLine = (vertical: string, { period, affiliate_id, plan }: Statement) => {
  const query = `affiliate_id=${affiliate_id}&period=${period}`
  const named = (line: Line) => `${period} ${affiliate_id} ${plan} ${line.rule} ${line.scope}`
  return (line: Line): NamedQuery[] => {
    const at = { line_id: line.id }
    return [
      ['getExplanation', named(line), query, at],
      [of(vertical, 'getExplanation'), named(line), query, at],
      ['listLineParts', named(line), query, at],
      ['listLineRecords', named(line), query, { ...at, customer_id: 'c-2' }],
    ]
  }
}

const ofShownLine = ({ period, affiliate_id, plan }: Statement) => {
  return (line: Line, i: number): NamedQuery[] => {
    const name = `${period} ${affiliate_id} ${plan} ${line.rule} ${i}`
    const at = { line_id: line.id }
    return [
      ['explainAffiliateLine', name, `period=${period}`, at, affiliate_id],
      ['listAffiliateLineParts', name, `period=${period}`, at, affiliate_id],
    ]
  }
}

const ofStatement =
  (vertical: string) =>
  (statement: Statement): NamedQuery[] => {
    const name = `${statement.period} ${statement.affiliate_id} ${statement.plan}`
    const at = { statement_id: statement.id }
    return [
      ['getStatement', name, '', at],
      [of(vertical, 'getStatement'), name, '', at],
      ['getAffiliateStatement', name, '', at, statement.affiliate_id],
      ...(LINE_MONTHS.includes(statement.period)
        ? [
            ...eachOf(statement.lines, ofLine(vertical, statement)),
            ...eachOf(statement.shown, ofShownLine(statement)),
          ]
        : []),
    ]
  }

/** The questions of one record of a month. */
const ofTransaction = (month: string): NamedQuery[] => {
  const transaction_id = `t-${month}-0-0`
  const query = `transaction_id=${transaction_id}`
  const trading = tradingOf(month)[0]!
  const { date, customer_id, instrument, currency } = trading
  return [
    ['getForexTransactions', month, '', { id: transaction_id }],
    ['getForexTransactionsById', month, query],
    ['getTransactionEarnings', month, '', { transaction_id }],
    ['getTransactionByIdEarnings', month, query],
    ['searchAccounts', month, `id=${transaction_id}`],
    ['findRecords', month, `id=${transaction_id}`],
    [
      'getTradingActivityEarnings',
      month,
      `date=${date}&customer_id=${customer_id}&instrument=${instrument}&currency=${currency}`,
    ],
  ]
}

const ofEvent = (id: string): NamedQuery[] => [
  ['getActivityEarnings', id, `id=${encodeURIComponent(id)}`],
  ['searchAccounts', id, `id=${encodeURIComponent(id)}`],
  ['findRecords', id, `id=${encodeURIComponent(id)}`],
]

/** Returns the ids of the deposits of a month. */
const depositsOf = (month: string): string[] =>
  eventsOf(month).flatMap((event) => ('eventid' in event ? [`e ${event.eventid}`] : []))

const ofDelivery =
  (vertical: string) =>
  (delivery_id: string, i: number): NamedQuery[] => {
    const at = { delivery_id }
    return [
      [of(vertical, 'getDelivery'), String(i), '', at],
      ['getAccountDelivery', String(i), '', at],
      [of(vertical, 'listDeliveryRefused'), String(i), '', at],
      ['listAccountDeliveryRefused', String(i), '', at],
    ]
  }

/** Returns every question about an account. */
export async function questionsAbout(twin: Twin): Promise<Question[]> {
  const statements = await readStatements(twin)
  const deliveries = await deliveriesOf(twin)
  const events = SOME_MONTHS.flatMap((month) => depositsOf(month).slice(0, 2))
  const vertical = twin.vertical === 'forex' ? 'Forex' : 'Igaming'
  const lists = vertical === 'Forex' ? ['Transactions', 'TradingActivity'] : ['Activities']
  const resources = vertical === 'Forex' ? ['transactions', 'trading-activity'] : ['activities']
  const requests: NamedQuery[] = [
    ...ABOUT_ACCOUNT,
    [of(vertical, 'getAccount'), ''],
    [of(vertical, 'getFeed'), ''],
    [of(vertical, 'listDeliveries'), ''],
    [of(vertical, 'listHeld'), ''],
    [of(vertical, 'listCustomers'), ''],
    ...eachOf(lists, (list): NamedQuery[] => [
      [of(vertical, `list${list}`), WITHOUT_DAYS, 'per_page=100'],
      ...eachOf(YEARS, (year): NamedQuery[] => [
        [of(vertical, `list${list}`), year, `per_page=100&from=${year}-01-01&to=${year}-12-31`],
      ]),
    ]),
    ...eachOf(SOME_MONTHS, ofMonth(vertical)),
    ...eachOf(YEARS, (year): NamedQuery[] => [
      ['getAccountReport', year, `from=${year}-01-01&to=${year}-12-31&group_by=month`],
      ['getAccountTotals', year, `from=${year}-01-01&to=${year}-12-31`],
    ]),
    ...eachOf(CUSTOMERS, ofCustomer(vertical, resources)),
    ...eachOf(AFFILIATES, ofAffiliate),
    ...eachOf(statements, ofStatement(vertical)),
    ...(vertical === 'Forex' ? eachOf(SOME_MONTHS, ofTransaction) : eachOf(events, ofEvent)),
    ...eachOf(deliveries, ofDelivery(vertical)),
  ]
  return requests.map(
    ([id, name, query = '', at = {}, affiliate = null]): Question => ({
      ...{ id, at, query, affiliate },
      name: `${id} ${name}`,
    }),
  )
}

/** The GET requests about an account, by the paths that openapi.json has. */
export const operationsAbout = (vertical: string): string[] =>
  Object.entries(openapi.paths).flatMap(([path, methods]) => {
    const { get } = methods as { get?: { operationId: string } }
    const isAbout =
      path.startsWith('/admin/v1/accounts/{account}') ||
      path.startsWith('/affiliate/') ||
      path.startsWith(vertical === 'forex' ? '/api/v1/forex/' : '/tracking/events/')
    return get && isAbout ? [get.operationId] : []
  })
