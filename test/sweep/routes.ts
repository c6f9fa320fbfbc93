import { env } from 'cloudflare:workers'
import template from '../../examples/plans/ib-per-lot.json'
import { app } from '../../src/app.ts'
import { DAY_MS } from '../../src/platform/durations.ts'
import { MOVES } from '../accounts/move-rows.ts'
import { QUESTION_ID } from '../affiliates/question-rows.ts'
import { deposited, eve } from '../brand.ts'
import { checkResponse } from '../checked-fetch.ts'
import {
  BOOK_DRAFT_ID,
  BOOK_HASH,
  BOOK_PERIOD,
  RUN_ID,
  STATEMENT_ID,
} from '../commission/statement-rows.ts'
import { EXPORT_ID } from '../exports/export-rows.ts'
import { CASE_ID } from '../fraud/case-rows.ts'
import { ORIGIN } from '../partner.ts'
import {
  ADA,
  ANSWER_HASH,
  BATCH_ID,
  BY_HAND_ID,
  CONFIRMED,
  EXECUTE_ON,
  EXPORTED_ID,
  MAIN,
  PREPARED_ID,
} from '../payouts/payout-rows.ts'
import { APPLICATION_ID } from '../people/application-rows.ts'
import { asTeam, operations } from '../requests.ts'
import {
  asSender,
  type Binding,
  POSTBACK_EVENT,
  POSTBACK_ID,
  recordsOf,
  WEBHOOK_EVENT,
  WEBHOOK_ID,
  type World,
} from './worlds.ts'

/** A request of an operation, with the properties that the sweep needs. */
export interface Route {
  /** Its name in openapi.json, or that of a public address. */
  id: string
  /** The public address that is read; openapi.json does not describe it. */
  path?: string
  /** The variant of the request, if it is not the ordinary one. */
  way?: string
  vertical: string
  /** The database of its account, if not `DB`. */
  binding?: Binding
  /** The policy for records that name an unknown customer, if they are not held. */
  policy?: 'reject'
  /** Whether it is the first read of an affiliate of its account. */
  unread?: true
  as: 'account' | 'affiliate' | 'client' | 'team' | 'member' | 'anyone'
  at?: Record<string, string>
  query?: string | ((world: World) => string)
  headers?: Record<string, string>
  body?: unknown | ((world: World) => unknown)
  form?: (world: World) => Record<string, string>
  /** Whether it changes something, so that each fault needs its own account. */
  writes?: true
  /** Whether its account has records. */
  records?: true
  /** Whether it repeats a key: after a retry only the last of these records has its own outcome. */
  twice?: true
  /** Why a repeat creates something again; without it a repeat changes nothing. */
  repeats?: string
  /** Whether a request that fails may have done a part, which a repeat completes. */
  partly?: true
}

const VERTICALS = { PropTrading: 'prop-trading', Forex: 'forex', Igaming: 'igaming' }
const PERIOD = '?period=2026-10'
const OCTOBER = '?from=2026-10-01&to=2026-10-31'

/** The requests that read an account's own data. */
const accountReads = Object.entries(VERTICALS).flatMap(([name, vertical]): Route[] => {
  const read = { vertical, as: 'account', records: true } as const
  const second = vertical === 'igaming' ? 'Activities' : 'Transactions'
  const lists = ['Customers', second, ...(vertical === 'igaming' ? [] : ['TradingActivity'])]
  const id = vertical === 'igaming' ? 'p-1' : 'c-1'
  return [
    ...lists.map((noun) => ({ ...read, id: `list${name}${noun}`, query: '?per_page=1' })),
    { ...read, id: `get${name}Customer`, at: { id } },
    ...(vertical === 'igaming'
      ? []
      : [{ ...read, id: `get${name}Transaction`, at: { id: 't-1' } }]),
    { ...read, id: `get${name}Account` },
    { ...read, id: `list${name}Deliveries` },
    { ...read, id: `get${name}Delivery` },
    { ...read, id: `get${name}Totals`, query: OCTOBER },
    { ...read, id: `get${name}Report`, query: OCTOBER },
    { ...read, id: `list${name}Held` },
    { ...read, id: `get${name}Feed` },
    { ...read, id: `get${name}FxRates`, query: '?day=2026-10-02' },
    { ...read, id: `list${name}Statements` },
    { ...read, id: `get${name}Statement` },
    { ...read, id: `get${name}Explanation` },
    { ...read, id: `get${name}Unearned`, query: PERIOD },
    { ...read, id: `list${name}Qualifications`, query: PERIOD },
    { ...read, id: `list${name}FraudCases`, query: '?status=open' },
    { ...read, id: `list${name}Exports` },
    { ...read, id: `get${name}Export` },
    { ...read, id: `list${name}FraudEvidence` },
  ]
})

/** Deliveries that change a record, create one, and release a held one. */
const deliveries = Object.entries(VERTICALS).flatMap(([name, vertical]): Route[] => {
  const delivery = { vertical, as: 'account', writes: true, records: true } as const
  const { customers = [], transactions = [], ...rest } = recordsOf(vertical)
  if (vertical === 'igaming') {
    const keyed = { headers: { 'Idempotency-Key': 'part-1' } }
    const { eventid, ...keyless } = deposited
    // One record moves to another day and occurs twice.
    const moved = { ...deposited, Value: '7.00', createtime: '2026-10-05 10:00' }
    const events = [keyless, moved, { ...keyless, customerid: 'p-8' }, moved]
    const players = [
      { ...eve, country: 'FR', regtime: '2026-10-05 10:00' },
      { ...eve, customerId: 'p-9' },
    ]
    return [
      { ...delivery, id: `send${name}Customers`, body: players },
      { ...delivery, id: `send${name}Activities`, body: events, ...keyed, twice: true },
    ]
  }
  const [trader, payment, day] = [customers[0], transactions[0], rest['trading-activity']![0]]
  return [
    {
      ...delivery,
      id: `send${name}Customers`,
      body: [
        { ...trader, email: 'b@person.example' },
        { ...trader, customer_id: 'c-9' },
      ],
    },
    {
      ...delivery,
      id: `send${name}Transactions`,
      body: [
        { ...payment, status: 'reversed', transaction_date: '2026-10-05T00:00:00Z' },
        { ...payment, transaction_id: 't-3' },
        { ...payment, transaction_id: 't-4', customer_id: 'c-8' },
      ],
    },
    {
      ...delivery,
      id: `send${name}TradingActivity`,
      body: [
        { ...day, lots_traded: 2 },
        { ...day, instrument: 'Y' },
      ],
    },
  ]
})

const SWEPT = { plan: 'swept', version: '1' }

const team = { vertical: 'forex', as: 'team' } as const
const reads = { ...team, records: true } as const
const changes = { ...team, writes: true } as const
const brand = { vertical: 'igaming', as: 'team' } as const
const brandChanges = { ...brand, writes: true } as const

/** A correction of a customer's affiliates. */
const correction = {
  reason: 'Wrong link',
  affiliations: [
    { from: null, affiliate_id: 'aff-7' },
    { from: '2026-10-02', affiliate_id: null },
  ],
}

/** A payment of the statement that waits for one. */

const administration: Route[] = [
  {
    ...changes,
    id: 'createAccount',
    body: ({ account }: World) => ({
      account: `${account}-new`,
      name: 'New',
      vertical: 'forex',
      mode: 'test',
    }),
  },
  { ...reads, id: 'listAccounts' },
  { ...reads, id: 'getAccount' },
  { ...changes, id: 'changeAccount', body: { name: 'Other', unknown_customer: 'reject' } },
  { ...changes, id: 'resetAccount', records: true, partly: true },
  { ...changes, id: 'moveAccount', body: { to: 'DB_2' } },
  { ...reads, id: 'listMoves' },
  { ...changes, id: 'cancelMove', at: { move_id: MOVES.cancelled } },
  { ...changes, id: 'issueClient', repeats: 'each is a new client' },
  { ...reads, id: 'listClients' },
  { ...changes, id: 'rotateClient', body: { overlap: '24h' }, repeats: 'each has a new secret' },
  { ...changes, id: 'revokeClient' },
  { ...brandChanges, id: 'regenerateBrandToken', body: {}, repeats: 'each is a new token' },
  { ...brand, id: 'listBrandTokens' },
  { ...brandChanges, id: 'revokeBrandToken' },
  { ...changes, id: 'putAffiliates', body: [{ affiliate_id: 'aff-8', parent: 'aff-7' }] },
  {
    ...changes,
    id: 'inviteAffiliate',
    repeats: 'each is a new invitation',
  },
  { ...reads, id: 'listInvitations' },
  { ...changes, id: 'endInvitation' },
  { ...reads, id: 'listMembers' },
  { ...changes, id: 'removeMember' },
  {
    ...changes,
    id: 'makeAffiliateKey',
    body: { name: 'Swept' },
    repeats: 'each is a new key',
  },
  { ...reads, id: 'listAffiliateKeys' },
  { ...changes, id: 'endAffiliateKey' },
  { ...reads, id: 'listAffiliates' },
  { ...reads, id: 'listParents' },
  { ...reads, id: 'listAffiliateFigures' },
  { ...reads, id: 'listUnconfiguredAffiliates' },
  { ...brand, id: 'listEventDefinitions' },
  { ...brandChanges, id: 'putEventDefinition', body: { granularity: 'day', kpis: ['NGR'] } },
  { ...brandChanges, id: 'dropEventDefinition' },
  { ...reads, id: 'getStatusMap' },
  { ...changes, id: 'putStatusMap', body: { done: 'approved' } },
  {
    ...changes,
    id: 'createLink',
    body: { affiliate_id: 'aff-7', landing_page: 'https://new.example/' },
    repeats: 'each is a new link',
  },
  { ...reads, id: 'listLinks' },
  { ...reads, id: 'getLink' },
  { ...changes, id: 'changeLink', body: { landing_page: 'https://moved.example/' } },
  {
    ...changes,
    id: 'putFraudRule',
    at: { rule: 'swept' },
    body: { name: 'Swept', kind: 'signup_burst', effective_from: '9998-01-01', severity: 'low' },
  },
  { ...reads, id: 'listFraudRules' },
  { ...reads, id: 'getFraudRule', at: { rule: 'stored' } },
  { ...changes, id: 'disableFraudRule', at: { rule: 'stored' } },
  {
    ...changes,
    id: 'putPlan',
    at: { plan: 'swept' },
    body: { ...template, effective_from: '2027-01-01' },
  },
  { ...reads, id: 'listPlans' },
  { ...reads, id: 'getPlan', at: SWEPT },
  { ...changes, id: 'withdrawPlanVersion', at: { plan: 'swept', version: '2' } },
  {
    ...reads,
    id: 'simulatePlan',
    at: SWEPT,
    body: { period: '2026-10', version: template },
  },
  {
    ...reads,
    id: 'simulateFraudRule',
    at: { rule: 'swept' },
    body: { from: '2026-10-01', to: '2026-10-31', version: { kind: 'shared_identity' } },
  },
  {
    ...changes,
    id: 'putAssignments',
    body: [{ affiliate_id: 'aff-7', plan: 'swept', from: '2026-12-01', customers: 'all' }],
  },
  { ...reads, id: 'listAssignments', query: '?affiliate_id=*' },
  { ...changes, id: 'deleteAssignment', query: '?affiliate_id=*&from=2026-12-01' },
  { ...reads, id: 'getFxRates', query: '?day=2026-10-02' },
  {
    ...changes,
    id: 'importFxRates',
    headers: { 'Content-Type': 'text/csv' },
    body: ({ account }: World) => `Date,USD\n${rateDayOf(account)},1.1684\n`,
  },
  { ...reads, id: 'listStatements' },
  { ...reads, id: 'getStatementTotals' },
  { ...reads, id: 'listPeriods' },
  { ...reads, id: 'getStatement' },
  { ...reads, id: 'getExplanation' },
  { ...reads, id: 'listLineParts' },
  { ...reads, id: 'listLineRecords' },
  { ...reads, id: 'getUnearned', query: PERIOD },
  { ...reads, id: 'listUnearnedRecords', query: PERIOD },
  { ...reads, id: 'listQualifications', query: PERIOD },
  { ...reads, id: 'getEarnings', query: '?resource=transactions&id=t-1' },
  { ...changes, id: 'startRun', repeats: 'each is a new run' },
  { ...reads, id: 'getRun' },
  {
    ...changes,
    id: 'approveStatement',
    at: { statement_id: BOOK_DRAFT_ID },
    body: { hash: BOOK_HASH },
  },
  { ...reads, id: 'listFraudCases', query: '?status=open' },
  { ...reads, id: 'getFraudCase' },
  { ...reads, id: 'listFraudEvidence' },
  { ...changes, id: 'runFraudRules', partly: true },
  {
    ...changes,
    id: 'decideFraudCase',
    body: { decision: 'confirmed', reason: 'One device', refuse: ['c-1'] },
  },
  {
    ...changes,
    id: 'decideFraudCases',
    body: { decision: 'confirmed', reason: 'One device', case_ids: [CASE_ID] },
    repeats: 'a case that is decided is not open',
  },
  { ...reads, id: 'listApplications', query: '?status=waiting' },
  {
    ...changes,
    id: 'approveApplication',
    body: { affiliate_id: 'forex-friends' },
    repeats: 'an application that is approved does not wait',
  },
  {
    ...changes,
    id: 'rejectApplication',
    body: { reason: 'No website' },
    repeats: 'an application that is rejected does not wait',
  },
  { ...reads, id: 'listQuestions', query: '?status=open' },
  { ...reads, id: 'getQuestion' },
  { ...reads, id: 'getCustomerNames' },
  {
    ...changes,
    id: 'answerQuestion',
    body: { text: 'Because' },
    repeats: 'each is a new answer',
  },
  { ...changes, id: 'approvePeriod', at: { period: BOOK_PERIOD }, body: { plan: 'lined' } },
  {
    ...changes,
    id: 'addManualEntry',
    body: { affiliate_id: 'aff-7', plan: 'lined', amount: '-1', reason: 'R', reference: 'm-2' },
  },
  { ...reads, id: 'listManualEntries' },
  { ...reads, id: 'listLedger' },
  { ...reads, id: 'listBalances', query: '?on=2026-10-31' },
  { ...reads, id: 'listJournal', query: OCTOBER },
  { ...reads, id: 'listPayouts' },
  ...['Payee', 'Payer'].flatMap((name): Route[] => [
    { ...reads, id: `list${name}s` },
    { ...reads, id: `get${name}` },
    {
      ...changes,
      id: `put${name}`,
      body: name === 'Payee' ? { ...ADA, name: 'Ada King' } : { ...MAIN, currency: 'USD' },
    },
    { ...changes, id: `approve${name}`, body: { version: 1 } },
    { ...changes, id: `block${name}`, body: { reason: 'Not theirs' } },
    { ...changes, id: `reveal${name}`, body: { reason: 'The bank asks' } },
    { ...changes, id: `erase${name}` },
  ]),
  { ...changes, id: 'explainPayee', body: { reason: 'An agency' } },
  {
    ...changes,
    id: 'importPayees',
    headers: { 'Content-Type': 'text/csv' },
    body: 'affiliate_id,name,kind,city,country,method\naff-7,Ada King,person,London,GB,manual\n',
  },
  { ...reads, id: 'listPayable' },
  { ...reads, id: 'listPayeeVersions' },
  { ...reads, id: 'listBatches', query: '?reference=to%20t000-00000B' },
  { ...reads, id: 'getBatch' },
  {
    ...changes,
    id: 'prepareBatch',
    body: {
      ...{ payer: 'spare', method: 'sepa', execute_on: EXECUTE_ON },
      rows: [{ id: 'aff-8:EUR' }],
    },
    repeats: 'each is a new batch',
  },
  {
    ...changes,
    id: 'setBatchRows',
    at: { batch: PREPARED_ID },
    body: { rows: [{ id: 'aff-8:EUR', waive: ['first_payment'] }] },
  },
  { ...changes, id: 'discardBatch', at: { batch: PREPARED_ID } },
  { ...changes, id: 'confirmBatch', at: { batch: PREPARED_ID }, body: CONFIRMED },
  { ...changes, id: 'exportBatch' },
  { ...reads, id: 'getBatchFile', at: { batch: EXPORTED_ID } },
  { ...changes, id: 'payBatch', at: { batch: BY_HAND_ID }, body: { paid_on: '2026-10-20' } },
  { ...changes, id: 'cancelBatch', body: { reason: 'The bank refused the file.' } },
  {
    ...changes,
    id: 'previewPayoutAnswer',
    query: '?payer=spare',
    headers: { 'Content-Type': 'text/csv' },
    body: 'affiliate_id,currency,amount,reference,paid_on\naff-8,EUR,2.00,none,2026-11-27\n',
  },
  { ...changes, id: 'applyPayoutAnswer', body: { hash: ANSWER_HASH }, partly: true },
  { ...reads, id: 'listPayoutAnswers' },
  { ...reads, id: 'getPayoutAnswer', at: { hash: ANSWER_HASH } },
  {
    ...changes,
    id: 'bookTransfer',
    at: { reference: 'T00000000C' },
    body: { direction: 'paid', booked_on: '2026-11-27', amount: '3.00' },
  },
  { ...changes, id: 'dismissMovements', body: { reason: 'The bank took it back.' } },
  { ...reads, id: 'listInvoices', query: '?affiliate_id=aff-8' },
  { ...reads, id: 'getInvoice' },
  { ...reads, id: 'getInvoice', way: 'html', headers: { Accept: 'text/html' } },
  { ...changes, id: 'correctInvoice', body: { reason: 'The address has changed.' } },
  { ...reads, id: 'listAttributed' },
  { ...reads, id: 'listAttention' },
  { ...reads, id: 'listRecords', at: { resource: 'transactions' }, query: '?customer_id=c-1' },
  { ...reads, id: 'findRecords', query: '?id=t-1' },
  { ...changes, id: 'eraseCustomer', records: true },
  { ...reads, id: 'listErasures' },
  { ...reads, id: 'getAffiliations' },
  { ...changes, id: 'putAffiliations', records: true, body: correction },
  { ...changes, id: 'refuseCustomer', records: true, body: { reason: 'Fraud' } },
  { ...changes, id: 'endRefusal', records: true },
  {
    ...changes,
    id: 'replayErasures',
    records: true,
    query: ({ account }: World) => `?account=${account}`,
  },
  {
    ...changes,
    id: 'createWebhook',
    body: { url: 'https://hooks.example/new' },
    repeats: 'each is a new webhook',
  },
  { ...reads, id: 'listWebhooks' },
  { ...reads, id: 'listNotices' },
  { ...reads, id: 'getWebhook' },
  { ...changes, id: 'changeWebhook', body: { events: ['feed.late', 'statement.paid'] } },
  { ...changes, id: 'deleteWebhook' },
  { ...changes, id: 'rotateWebhook', body: { overlap: 'none' }, repeats: 'each has a new secret' },
  { ...changes, id: 'testWebhook', repeats: 'each is a new event' },
  { ...changes, id: 'replayWebhook', body: { event_id: WEBHOOK_EVENT } },
  { ...reads, id: 'listWebhookEvents' },
  { ...reads, id: 'listAffiliatePostbacks' },
  { ...reads, id: 'listFeeds' },
  { ...reads, id: 'listExports' },
  { ...reads, id: 'getExport' },
  { ...changes, id: 'startExport', body: {}, repeats: 'each starts an export' },
  { ...reads, id: 'listDatabases' },
  { ...reads, id: 'listAuditLog' },
  {
    ...changes,
    id: 'makeMember',
    body: ({ account }: World) => ({
      ...{ name: 'Ada Lovelace', email: `ada@${account}.example`, role: 'manager' },
      ...{ accounts: [account], affiliates: 'all', language: 'en' },
    }),
  },
  { ...reads, id: 'listTeam', as: 'member' },
  { ...reads, id: 'getMember' },
  { ...changes, id: 'patchMember', body: { role: 'viewer' } },
  { ...changes, id: 'endMember' },
  { ...changes, id: 'makeMemberLink', repeats: 'each is a new link' },
  { ...changes, id: 'approveMember', body: { request: 'request' } },
  { ...reads, id: 'getMe', as: 'member' },
  {
    ...changes,
    ...{ id: 'makeMyKey', as: 'member', body: { name: 'Month end script' } },
    repeats: 'each is a new key',
  },
  { ...reads, id: 'listMyKeys', as: 'member' },
  { ...changes, id: 'endMyKey', as: 'member' },
  { ...reads, id: 'listDeliveries' },
  { ...reads, id: 'getDelivery' },
  { ...reads, id: 'getTotals', query: OCTOBER },
  { ...reads, id: 'getReport', query: OCTOBER },
  { ...reads, id: 'listHeld' },
  { ...reads, id: 'getFeed' },
]

const own = { vertical: 'forex', as: 'affiliate', records: true } as const

/** What an affiliate reads of their own. */
const affiliateReads: Route[] = [
  { ...own, id: 'getAffiliateSelf' },
  { ...own, id: 'getAffiliateSelf', way: 'first', unread: true, writes: true },
  { ...own, id: 'getAffiliateOverview', query: OCTOBER },
  { ...own, id: 'listAffiliateStatements' },
  { ...own, id: 'getAffiliateStatement' },
  { ...own, id: 'getAffiliateExplanation' },
  { ...own, id: 'listAffiliateLineParts' },
  { ...own, id: 'getAffiliateUnearned', query: PERIOD },
  { ...own, id: 'listAffiliateUnearnedRecords', query: PERIOD },
  { ...own, id: 'listAffiliateCustomers', query: PERIOD },
  { ...own, id: 'listOwnLinks' },
  { ...own, id: 'getOwnLink' },
  {
    ...own,
    id: 'createOwnLink',
    body: { landing_page: 'https://new.example/' },
    writes: true,
    repeats: 'each is a new link',
  },
  { ...own, id: 'changeOwnLink', body: { name: 'Moved' }, writes: true },
  { ...own, id: 'listPostbacks' },
  {
    ...own,
    id: 'createPostback',
    body: { url: 'https://tracker.example/{sub1}', method: 'POST', events: ['qualified'] },
    writes: true,
    repeats: 'each is a new postback',
  },
  { ...own, id: 'changePostback', body: { events: ['signup', 'qualified'] }, writes: true },
  { ...own, id: 'deletePostback', writes: true },
  { ...own, id: 'testPostback', writes: true, repeats: 'each is a new event' },
  { ...own, id: 'replayPostback', body: { event_id: POSTBACK_EVENT }, writes: true },
  { ...own, id: 'listPostbackAttempts' },
  { ...own, id: 'getAffiliateReport', query: OCTOBER },
  { ...own, id: 'listAffiliateLedger' },
  { ...own, id: 'listAffiliatePayouts' },
  { ...own, id: 'listSubAffiliates', query: OCTOBER },
  { ...own, id: 'listOwnNotices' },
  { ...own, id: 'listOwnQuestions' },
  {
    ...{ ...own, id: 'askQuestion', writes: true },
    ...{ body: { statement: STATEMENT_ID, text: 'Why?' }, repeats: 'each is a new question' },
  },
  {
    ...{ ...own, id: 'addToQuestion', writes: true },
    ...{ body: { text: 'And May?' }, repeats: 'each is a new message' },
  },
]

/** Returns a day of its own for each account `firm-12-of-forex`: all accounts share exchange rates. */
function rateDayOf(account: string): string {
  const number = Number(account.split('-')[1])
  return new Date(number * DAY_MS).toISOString().slice(0, 10)
}

const anyone = { vertical: 'forex', as: 'anyone' } as const
const client = { vertical: 'forex', as: 'client', writes: true } as const

/** A request of every operation. */
export const ROUTES: Route[] = [
  {
    ...client,
    id: 'getToken',
    form: () => ({ grant_type: 'client_credentials' }),
    repeats: 'each is a new token',
  },
  { ...client, id: 'revokeToken', form: ({ access_token }) => ({ token: access_token }) },
  ...deliveries,
  ...accountReads,
  ...affiliateReads,
  ...administration,
  {
    ...{ ...anyone, id: 'followLink', path: '/go/{link_id}', writes: true },
    repeats: 'each visit is a new click',
  },
  { ...anyone, id: 'getAuthorizationServer', path: '/.well-known/oauth-authorization-server' },
  { ...anyone, id: 'getJwks', path: '/.well-known/jwks.json' },
  { ...anyone, id: 'getGuide', path: '/docs/start' },
  { ...anyone, id: 'getAsset', path: '/assets/page.css' },
]

let origins = 1024

/** Returns what the parameters of paths name in a world. */
export const parametersOf = (world: World): Record<string, string> => ({
  account: world.account,
  member: `member-manager-${world.account}`,
  client_id: world.client_id,
  token_id: world.token_id,
  key_id: world.key_id,
  link_id: world.link_id,
  delivery_id: world.delivery_id,
  eventname: 'DailyStats',
  line_id: world.line_id,
  customer_id: 'c-1',
  affiliate_id: 'aff-7',
  invitation_id: 'inv-1',
  member_id: 'mem-1',
  statement_id: STATEMENT_ID,
  run_id: RUN_ID,
  move_id: MOVES.done,
  case_id: CASE_ID,
  export_id: EXPORT_ID,
  question_id: QUESTION_ID,
  application_id: APPLICATION_ID,
  payer: 'main',
  batch: BATCH_ID,
  number: 'SB-1-2026-0001',
  reference: 'T00000000B',
  webhook_id: WEBHOOK_ID,
  postback_id: POSTBACK_ID,
  period: '2026-10',
})

/** Returns the request of a route. */
export function requestOf(route: Route, world: World): Request {
  const { method, path } = route.path
    ? { method: 'GET', path: route.path }
    : operations.get(route.id)!
  const at: Record<string, string> = {
    ...parametersOf(world),
    ...(route.as === 'affiliate' && { line_id: world.shown_line_id }),
    ...(route.as === 'member' && { key_id: `spare-${world.account}` }),
    ...route.at,
  }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, part: string) => at[part]!)
  const query = typeof route.query === 'function' ? route.query(world) : (route.query ?? '')
  const body = typeof route.body === 'function' ? route.body(world) : route.body
  return new Request(new URL(address + query, ORIGIN), {
    method,
    headers: { ...credentials(route, world), ...route.headers, 'CF-Connecting-IP': world.address },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(route.form && { body: new URLSearchParams(route.form(world)) }),
  })
}

/** A Workflow that starts nothing: a run would go on after its test. */
const NO_RUNS = { create: async () => ({}), createBatch: async () => [] }

/** Sends the request of a route to this platform, and compares the response with openapi.json. */
export async function asks(route: Route, world: World, platform: Env, context: ExecutionContext) {
  const request = requestOf(route, world)
  // Documents are cached by origin, so every request has its own.
  const BASE_URL = route.as === 'anyone' ? `${ORIGIN}:${origins++}` : env.BASE_URL
  const isReal = platform.STATEMENT_RUNS === env.STATEMENT_RUNS
  const STATEMENT_RUNS = isReal ? NO_RUNS : platform.STATEMENT_RUNS
  const workflows = { STATEMENT_RUNS, ACCOUNT_MOVES: NO_RUNS }
  return checkResponse(
    request,
    Promise.resolve(app.fetch(request, { ...platform, BASE_URL, ...workflows }, context)),
  )
}

function credentials({ as }: Route, world: World): Record<string, string> {
  const { client_id, client_secret } = world
  if (as === 'account') return asSender(world)
  if (as === 'affiliate') {
    return {
      Authorization: `Bearer ${world.affiliate_key}`,
      'Content-Type': 'application/json',
    }
  }
  if (as === 'member') {
    return { Authorization: `Bearer ${world.member_key}`, 'Content-Type': 'application/json' }
  }
  if (as === 'team') return { ...asTeam(), 'Content-Type': 'application/json' }
  return as === 'client' ? { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` } : {}
}
