import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import storedExamples from '../../recorded/examples.json'
import { ENTITIES } from '../../scripts/docs/entities.ts'
import type { PlanTerms, Unit } from '../../src/commission/engine/plan.ts'
import { ARCHIVED_MONTH, archiveRows } from '../archive/archive-rows.ts'
import {
  BOOK_APPROVED_ID,
  BOOK_DRAFT_ID,
  BOOK_HASH,
  BOOK_PERIOD,
  bookRows,
  STATEMENT_ID,
  statementRows,
} from '../commission/statement-rows.ts'
import { assign, draftsOf, monthly, storePlan } from '../commission/stored.ts'
import { storeDrafts } from '../commission/stored-runs.ts'
import { EXPORT_ID, exportRows, storeExport } from '../exports/export-rows.ts'
import { ask } from '../partner.ts'
import { asTeam, exampleRecorder, operations } from '../requests.ts'

// Records the responses that openapi.json shows as examples. `npm run generate` updates them.

const { take, takes } = exampleRecorder()

const entityOf = (vertical: string, resource: string) =>
  ENTITIES.find((entity) => entity.vertical === vertical && entity.resource === resource)!.example

const pascal = (text: string) => text.replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase())

/** Creates the account of a partner or a brand; returns a function that calls its admin routes. */
async function setUp(account: string, vertical: string) {
  const at = { account }
  const team = (id: string, name: string, summary: string, more: object = {}) =>
    take(id, `${vertical}-${name}`, summary, { at, headers: asTeam(), ...more })
  await team('createAccount', 'created', `An account for ${vertical}`, {
    body: { account, name: pascal(account), vertical, mode: 'test' },
  })
  await team('putAffiliates', 'configured', 'An affiliate, and who referred it', {
    body: [{ affiliate_id: 'IB-01' }, { affiliate_id: 'IB-07', parent: 'IB-01' }],
  })
  return team
}

async function partner(vertical: 'prop-trading' | 'forex') {
  const account = `acme-${vertical}`
  const team = await setUp(account, vertical)
  const { client_id, client_secret } = await team('issueClient', 'issued', 'A client')
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const { access_token } = await take('getToken', vertical, 'Credentials in the form', { form })
  const headers = { Authorization: `Bearer ${access_token}` }
  const api = (verb: string, noun: string, name: string, summary: string, more: object = {}) =>
    take(`${verb}${pascal(vertical)}${noun}`, name, summary, { headers, ...more })

  for (const resource of ['customers', 'transactions', 'trading-activity']) {
    const noun = pascal(resource)
    const record = entityOf(vertical, resource)
    await api('send', noun, 'one', 'A single record, which is new', { body: record })
    await api('send', noun, 'again', 'The same in an array: nothing changes', { body: [record] })
    await api('send', noun, 'lenient', LENIENT, {
      headers: { ...headers, Prefer: 'handling=lenient' },
      body: { data: [withOtherKey(record), invalidRecord(withOtherKey(record), resource)] },
    })
    const invalid =
      resource === 'customers' ? { signup_date: '2026-10-01 08:30' } : { currency: 'EUX' }
    const wrong = { ...record, ...invalid }
    await api('send', noun, 'wrong', 'An invalid record: nothing is stored', { body: [wrong] })
    await api('list', noun, 'page', 'One page', { query: '?per_page=1' })
  }
  await api('get', 'Customer', 'one', 'One record', { at: { id: 'C-1001' } })
  await api('get', 'CustomerById', 'one', 'One record', { query: '?customer_id=C-1001' })
  await api('get', 'Transaction', 'one', 'One record', { at: { id: 'T-5001' } })
  await api('get', 'TransactionById', 'one', 'One record', { query: '?transaction_id=T-5001' })
  await team('changeAccount', 'hold', 'Records that come before their customer are held', {
    body: { unknown_customer: 'hold' },
  })
  const early = { ...entityOf(vertical, 'transactions'), transaction_id: 'T-9', customer_id: 'C-9' }
  await api(
    'send',
    'Transactions',
    'held',
    'A record that comes before its customer, where the account has it held',
    {
      body: [early],
    },
  )
  await takeAccountRoutes(api)
  if (vertical === 'prop-trading') {
    await takeOwnStatements(api, account)
    await takeOwnCases(api, account)
    const { transaction_type } = entityOf(vertical, 'transactions') as { transaction_type: string }
    await takeOwnWhy(api, await firstLine(account, { count: { transactions: [transaction_type] } }))
  }
  return { team, client_id, client_secret, access_token }
}

const LENIENT = 'An invalid record beside a valid one, with `handling=lenient`'

/** Returns a record that matches the schema but is invalid: a repeated key or an unknown customer. */
const invalidRecord = (record: Record<string, unknown>, resource: string) =>
  resource === 'customers' ? record : { ...withOtherKey(record), customer_id: 'C-9' }

/** Returns the record with another value in the first member of its key. */
function withOtherKey(record: Record<string, unknown>) {
  const [name, value] = Object.entries(record)[0]!
  return { ...record, [name]: name === 'date' ? '2026-10-03' : String(value).replace(/\d$/, '2') }
}

type Api = (
  verb: string,
  noun: string,
  name: string,
  summary: string,
  more?: object,
  // biome-ignore lint/suspicious/noExplicitAny: members of the response are read by name
) => Promise<any>

async function takeAccountRoutes(api: Api, at: Record<string, string> = {}) {
  if (!at.account) await api('get', 'Account', 'mine', 'Who I am')
  const { data } = await api('list', 'Deliveries', 'page', 'One page', { at, query: '?per_page=2' })
  const delivery_id = data[1].delivery_id
  await api('get', 'Delivery', 'one', 'One of them', { at: { ...at, delivery_id } })
  await api('list', 'DeliveryRefused', 'page', 'One page', { at: { ...at, delivery_id } })
  await api('get', 'Totals', 'october', 'A month', { at, query: '?from=2026-10-01&to=2026-10-31' })
  await api('get', 'Report', 'october', 'A month by affiliate', { at, query: REPORT })
  await api('list', 'Held', 'page', 'One page', { at })
  await api('get', 'Feed', 'fresh', 'How fresh it is', { at })
  if (!at.account) await api('get', 'FxRates', 'day', 'A Sunday', { at, query: SUNDAY })
}

const REPORT =
  '?from=2026-10-01&to=2026-10-31&group_by=affiliate_id&currency=EUR&metrics=signups,active_customers'
const SUNDAY = '?day=2026-10-04'
const DAY = '2026-01-01'

const RATES = [
  'Date,USD,JPY,HUF',
  '2026-10-05,1.1702,187.1,366.2',
  '2026-10-02,1.1684,186.75,N/A',
  '2026-10-01,1.1711,186.43,N/A',
]

/** Records the import of exchange rates, and the rates of a day. */
async function takeRates() {
  const headers = { ...asTeam(), 'Content-Type': 'text/csv' }
  const put = (name: string, summary: string, body: string, query = '') =>
    take('importFxRates', name, summary, { headers, query, body })
  const file = RATES.map((line) => `${line}\n`).join('')
  await put('new', 'Three days, with a currency that has no rate on two of them', file)
  await put('again', 'The same file: nothing changes', file)
  const other = file.replace('1.1684', '1.1648')
  await put('wrong', 'Another rate for a stored day: nothing is stored', other)
  await put('corrected', 'The same with `?correct=true`', other, '?correct=true')
  await take('getFxRates', 'day', 'A Sunday', { headers: asTeam(), query: SUNDAY })
}

/** Records a webhook and what it sends. Nothing is sent in time: the test would depend on it. */
async function takeWebhooks(team: Team) {
  const { id } = await team('createWebhook', 'new', 'A webhook', {
    body: {
      url: 'https://hooks.lucky.example/tributary',
      events: ['delivery.refused', 'feed.late'],
      description: 'Alerts of the data team',
    },
  })
  const at = { account: 'lucky', webhook_id: id }
  await team('changeWebhook', 'changed', 'Other types of events', {
    at,
    body: { events: ['feed.late', 'statement.paid'] },
  })
  await team('getWebhook', 'one', 'One webhook', { at })
  await team('listWebhooks', 'all', 'All webhooks')
  await team('rotateWebhook', 'rotated', 'A new secret', { at, body: { overlap: '24h' } })
  const db = env.DB
  await db.batch([
    db.prepare(
      `insert into webhook_events values ('lucky', 'evt_1a20138dc52e28b68519d761e08', 'feed.late',
         'x', 1791190800000, '{"resource":"activities","day":"2026-10-04","last_delivery_at":null}',
         null)`,
    ),
    db.prepare(`update webhook_messages set status = 'dead', attempts = 10`),
    db
      .prepare(
        `insert into webhook_attempts values ('lucky', 'att_1a20138dc52e28b68519d761e08', ?,
           'evt_1a20138dc52e28b68519d761e08', 10, 1791190800000, 503, 120, 'http_status')`,
      )
      .bind(id),
  ])
  await team('listWebhookAttempts', 'page', 'One page', { at })
  await team('listWebhookEvents', 'dead', 'The dead letters', { at, query: '?status=dead' })
  await team('replayWebhook', 'dead', 'The dead letters of a span', {
    at,
    body: { from: '2026-10-01T00:00:00Z', only_dead: true },
  })
  await team('testWebhook', 'sent', 'A test event', { at, body: {} })
  await team('deleteWebhook', 'deleted', 'A webhook that is no longer needed', { at })
}

type Team = Awaited<ReturnType<typeof setUp>>

async function takePlans(team: Team) {
  const at = { account: 'acme-forex', plan: 'standard-ib' }
  const body = { ...perLot, effective_from: '9998-12-01' }
  await team('putPlan', 'new', 'A plan', { at, body })
  await team('putPlan', 'same', 'The same again', { at, body })
  const [lots, ...others] = perLot.rules
  const wrongLots = { ...lots, tiers: undefined, ammount: '5.00' }
  const headers = asTeam()
  await take('putPlan', 'wrong', 'A misspelt member and an unknown currency', {
    ...{ at, headers },
    body: { ...body, currency: 'USX', rules: [wrongLots, ...others] },
  })
  await team('putPlan', 'next', 'Another version', {
    at,
    body: { ...perLot, effective_from: '9999-01-01', hold_days: 10 },
  })
  await team('listPlans', 'all', 'All of them')
  await team('getPlan', 'one', 'One plan', { at })
  await team('listPlanVersions', 'page', 'Its versions', { at })
  await team('getPlanVersion', 'first', 'Its first version', { at: { ...at, version: '1' } })
  await team('withdrawPlanVersion', 'second', 'Its second version', { at: { ...at, version: '2' } })
  await team('putAssignments', 'all', 'A plan for everybody, and another for one affiliate', {
    body: [
      { affiliate_id: '*', plan: 'standard-ib', from: '2026-12-01', customers: 'new' },
      { affiliate_id: 'IB-70', plan: 'standard-ib', from: '2026-12-01', customers: 'all' },
    ],
  })
  await take('putAssignments', 'wrong', 'A plan that does not exist', {
    ...{ at, headers },
    body: [{ affiliate_id: 'IB-07', plan: 'standard', from: '2026-12-01', customers: 'new' }],
  })
  await team('listAssignments', 'page', 'One page')
  await team('deleteAssignment', 'one', 'One of them', {
    query: '?affiliate_id=IB-70&from=2026-12-01',
  })
}

/** Takes fraud rules: one that begins in the future, and one with mistakes. */
async function takeFraudRules(team: Team) {
  const at = { account: 'acme-forex', rule: 'minimum-deposit' }
  const body = {
    ...{ name: 'Deposits at the minimum', kind: 'minimum_deposit', effective_from: '9998-12-01' },
    ...{ severity: 'high', action: 'flag' },
    parameters: {
      min_customers: 10,
      days: 30,
      share_percent: '60',
      within_percent: '1',
      idle_days: 14,
    },
  }
  await team('putFraudRule', 'new', 'A rule', { at, body })
  await team('putFraudRule', 'same', 'The same again', { at, body })
  await take('putFraudRule', 'wrong', 'A misspelt parameter and a wrong severity', {
    ...{ at, headers: asTeam() },
    body: { ...body, severity: 'urgent', parameters: { idle_day: 14 } },
  })
  await team('listFraudRules', 'all', 'All of them')
  await team('getFraudRule', 'one', 'One rule', { at })
  await team('disableFraudRule', 'one', 'One of them', { at })
}

/** Takes the statements of an account that has one. */
async function takeOwnStatements(api: Api, account: string) {
  await env.DB.batch(statementRows(env.DB, account, 'IB-07'))
  await api('list', 'Statements', 'month', 'The statements of a month', {
    query: '?period=2026-10',
  })
  const at = { statement_id: STATEMENT_ID }
  await api('get', 'Statement', 'one', 'One of them', { at })
}

/** Takes a move that begins, one that can be confirmed, and one that is cancelled. */
async function takeMoves(team: Team) {
  const moves = await introspectWorkflow(env.ACCOUNT_MOVES)
  await moves.modifyAll((modifier) => modifier.mockStepResult({ name: 'step 1' }, 86_400))
  const { move: move_id, account } = await team('moveAccount', 'started', 'To another database', {
    body: { to: 'DB_2' },
  })
  const at = { account, move_id }
  await team('cancelMove', 'ended', 'The account stays', { at })
  await env.DB.prepare(
    `update account_moves set status = 'switched', closed_at = 1791190999160, switched_at = '2026-10-05T09:04:00.000Z'`,
  ).run()
  await team('getMove', 'one', 'The account is in the other database', { at })
  await team('listMoves', 'page', 'One page', { query: '?per_page=1' })
  await team('confirmMove', 'ended', 'The old copy is deleted', { at })
  await env.DB.prepare(`update account_moves set status = 'done', due_at = null`).run()
  await moves.dispose()
}

/** Takes a month that has left the database. */
async function takeArchives(team: Team) {
  await env.DB.batch(archiveRows(env.DB, 'acme-forex', 'activities'))
  const at = { account: 'acme-forex', month: ARCHIVED_MONTH }
  await team('listArchives', 'page', 'One month')
  await team('archiveMonth', 'archived', 'It is archived already', {
    body: { month: ARCHIVED_MONTH },
  })
  const putExports = (value: string) =>
    env.DB.prepare("update accounts set exports = ? where id = 'acme-forex'").bind(value).run()
  await putExports('without_personal_data')
  await team('archiveDue', 'none', 'No month may go', { at })
  await putExports('off')
  await team('loadMonth', 'begun', 'It comes back', { at })
  await env.DB.prepare('delete from archived_months').run()
}

/** Takes a run over October, and its statements. */
async function takeStatements(team: Team, headers: Record<string, string>) {
  const at = { account: 'acme-forex', period: '2026-10' }
  await env.DB.batch([
    env.DB.prepare('delete from assignments'),
    env.DB.prepare('delete from plan_versions'),
  ])
  await storePlan('acme-forex', 'standard-ib', { ...(perLot as PlanTerms), effective_from: DAY })
  await assign('acme-forex', 'standard-ib')
  const runs = await introspectWorkflow(env.STATEMENT_RUNS)
  const { id: run_id } = await team('startRun', 'started', 'The run of a month', { at })
  for (const run of await runs.get()) await run.waitForStatus('complete')
  await runs.dispose()
  await team('getRun', 'done', 'It is done', { at: { ...at, run_id } })
  const { data } = await team('listStatements', 'month', 'The statements of a month', {
    query: '?period=2026-10',
  })
  const statement_id = data[0].id
  await team('listStatements', 'fresh', 'One affiliate, computed at once', {
    query: '?affiliate_id=IB-07&period=2026-10&fresh=true',
  })
  await team('getStatementTotals', 'month', 'The sums of a month', { query: '?period=2026-10' })
  await team('listPeriods', 'latest', 'The latest periods')
  await team('verifyPeriods', 'all', 'What is stored is what the records come to')
  await team('getStatement', 'one', 'One of them', { at: { ...at, statement_id } })
  await takeSimulation()
  await takeFraudSimulation()
  const own = { headers, at: { statement_id } }
  await take('listForexStatements', 'month', 'The statements of a month', {
    ...own,
    query: '?period=2026-10',
  })
  await take('getForexStatement', 'one', 'One of them', own)
  const { line_id } = await takeWhy(team)
  await takeAffiliateApi(team, statement_id)
  const api = (verb: string, noun: string, name: string, summary: string, more: object = {}) =>
    take(`${verb}Forex${noun}`, name, summary, { headers, ...more })
  await takeOwnWhy(api, line_id)
  await takeOwnCases(api, 'acme-forex')
  await takeExports(team)
  const whole = { account: 'acme-forex', case_id: CASE_ID }
  await team('listFraudCases', 'open', 'Those that are open', { query: '?status=open' })
  await team('getFraudCase', 'one', 'One of them', { at: whole })
  await team('listFraudEvidence', 'page', 'Its records', { at: whole })
  await team('listFraudCustomers', 'page', 'Its customers', { at: whole })
  await team('runFraudRules', 'done', 'All days are evaluated')
  const text = 'Asked the affiliate for the contracts.'
  await team('addFraudCaseNote', 'note', 'A note', { at: whole, body: { text } })
  const decision = { decision: 'confirmed', reason: 'The customers share one device' }
  const body = { ...decision, refuse: ['C-1001'] }
  await team('decideFraudCase', 'confirmed', 'Confirmed', { at: whole, body })
  const several = { ...decision, case_ids: [CASE_ID] }
  await team('decideFraudCases', 'decided', 'What became of each', {
    at: { account: 'acme-forex' },
    body: several,
  })
}

/** Takes the keys of an affiliate, and what they read. */
async function takeAffiliateApi(team: Team, statement_id: string) {
  // What affiliates see in place of ids and checksums is made with it.
  const known = env.DB.prepare('update accounts set pseudonym_key = ? where id = ?')
  await known.bind('0f'.repeat(32), 'acme-forex').run()
  const at = { account: 'acme-forex', affiliate_id: 'IB-07' }
  const query = '?affiliate_id=IB-07'
  const body = { name: 'Tracker', scope: 'read links' }
  const landing_page = 'https://acme.example/start'
  await team('changeAccount', 'pages', 'Where links of affiliates may lead', {
    at: { account: at.account },
    body: { landing_pages: [landing_page] },
  })
  const { affiliate_key, id } = await team('makeAffiliateKey', 'new', 'A key', { at, body })
  const byId = await team('makeAffiliateKeyById', 'new', 'Another key', { query, body })
  await team('listAffiliateKeys', 'all', 'All of them', { at })
  await team('listAffiliateKeysById', 'all', 'All of them', { query })
  const headers = { Authorization: `Bearer ${affiliate_key}` }
  const read = (id: string, name: string, summary: string, more: object = {}) =>
    take(id, name, summary, { headers, ...more })
  const days = { query: '?from=2026-10-01&to=2026-10-31' }
  const month = { query: '?period=2026-10' }
  await read('getAffiliateSelf', 'one', 'Who asks')
  await read('getAffiliateOverview', 'month', 'A month', days)
  await read('listAffiliateStatements', 'month', 'The statements of a month', month)
  const { lines } = await read('getAffiliateStatement', 'one', 'One of them', {
    at: { statement_id },
  })
  const line_id = lines[0].id
  await read('getAffiliateExplanation', 'one', 'A line', { at: { line_id } })
  await read('listAffiliateLineParts', 'one', 'A line', { at: { line_id } })
  await read('getAffiliateUnearned', 'month', 'A month', month)
  await read('listAffiliateUnearnedRecords', 'month', 'A month', month)
  await read('listAffiliateCustomers', 'month', 'A month', month)
  const { link_id } = await read('createOwnLink', 'new', 'A link', {
    body: { landing_page: `${landing_page}/spring`, name: 'Spring' },
  })
  await read('createOwnLink', 'wrong-page', 'A page that is not allowed', {
    body: { landing_page: 'https://other.example/' },
  })
  await read('getOwnLink', 'one', 'One of them', { at: { link_id } })
  await read('changeOwnLink', 'disabled', 'A link is disabled', {
    at: { link_id },
    body: { disabled: true },
  })
  const { id: postback_id } = await read('createPostback', 'new', 'A postback', {
    body: {
      url: 'https://tracker.example/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}',
      events: ['signup', 'first_deposit', 'commission.approved', 'commission.adjusted'],
    },
  })
  await read('createPostback', 'wrong-macro', 'A macro that does not exist', {
    body: { url: 'https://tracker.example/p?amt={payout}', events: ['signup'] },
  })
  await read('listPostbacks', 'all', 'All of them')
  const atPostback = { at: { postback_id } }
  await read('changePostback', 'events', 'Other events', {
    ...{ ...atPostback, body: { events: ['signup', 'qualified'] } },
  })
  await read('testPostback', 'sent', 'A test event', { ...atPostback, body: {} })
  await read('replayPostback', 'span', 'What was not delivered', {
    ...{ ...atPostback, body: { from: '2026-10-01T00:00:00Z', only_dead: true } },
  })
  await read('listPostbackAttempts', 'page', 'One page', atPostback)
  await team('listAffiliatePostbacks', 'all', 'All of them', { at })
  await read('deletePostback', 'deleted', 'A postback is deleted', atPostback)
  await read('listOwnLinks', 'page', 'One page')
  await read('getAffiliateReport', 'month', 'By month', {
    query: `${days.query}&group_by=month&metrics=clicks,signups,deposit_amount`,
  })
  await read('listAffiliateLedger', 'page', 'One page')
  await read('listAffiliatePayouts', 'page', 'One page')
  await read('listSubAffiliates', 'month', 'A month', days)
  await takeQuestions(team, read, statement_id)
  await team('endAffiliateKey', 'ended', 'A key is ended', { at: { ...at, key_id: id } })
  await team('endAffiliateKeyById', 'ended', 'A key is ended', {
    ...{ query, at: { account: 'acme-forex', key_id: byId.id } },
  })
}

/** Takes a question about a statement, and its answer. */
async function takeQuestions(
  team: Team,
  own: (id: string, name: string, summary: string, more: object) => ReturnType<typeof take>,
  statement: string,
) {
  const question = await own('askQuestion', 'one', 'About a statement', {
    body: { statement, text: 'Why is this 40 euros less than in September?' },
  })
  const at = { question_id: question.id }
  const ofTeam = { account: 'acme-forex', ...at }
  await team('answerQuestion', 'answer', 'An answer', {
    ...{ at: ofTeam, body: { text: 'One customer was counted twice in September.' } },
  })
  await own('addToQuestion', 'one', 'More about it', { at, body: { text: 'And in August?' } })
  await team('listQuestions', 'open', 'Those that are open', { query: '?status=open' })
  await team('getQuestion', 'one', 'One of them', { at: ofTeam })
  await team('changeQuestion', 'closed', 'Without an answer', {
    ...{ at: ofTeam, body: { status: 'closed' } },
  })
  await own('listOwnQuestions', 'page', 'One page', {})
  await own('getOwnQuestion', 'one', 'One of them', { at })
}

const CASE_ID = 'case_0123456789abcdefghjkmnpqrs'

/** Takes a case of an account with one record. */
async function takeExports(team: Team) {
  await team('listExports', 'one', 'One file')
  await team('getExport', 'one', 'The file', {
    at: { account: 'acme-forex', export_id: EXPORT_ID },
  })
  const turnTo = (exports: string) =>
    env.DB.prepare(`update accounts set exports = ? where id = 'acme-forex'`).bind(exports).run()
  await turnTo('without_personal_data')
  await team('startExport', 'started', 'The export is started', { body: {} })
  await turnTo('off')
}

async function takeOwnCases(api: Api, account: string) {
  await storeExampleCase(account)
  const at = { case_id: CASE_ID }
  await api('list', 'FraudCases', 'open', 'Those that are open', { query: '?status=open' })
  await api('get', 'FraudCase', 'one', 'One of them', { at })
  await api('list', 'FraudEvidence', 'page', 'Its records', { at })
  await api('list', 'FraudCustomers', 'page', 'Its customers', { at })
  await env.DB.batch(exportRows(env.DB, account))
  await storeExport(account)
  await api('list', 'Exports', 'one', 'One file')
  await api('get', 'Export', 'one', 'The file', { at: { export_id: EXPORT_ID } })
}

/** Stores a case with one record, as an evaluation does. */
const storeExampleCase = (account: string) =>
  env.DB.batch([
    env.DB.prepare(
      `insert into fraud_cases (account, id, affiliate_id, rule, subject, position, customer_id,
         version, kind, severity, action, status, opened_for, opened_at, last_day, figures, sentence,
         evidence_count)
       values (?, ?, 'IB-07', 'shared-identity', 'customer:C-1001', 0, 'C-1001', 1, 'shared_identity',
         'medium', 'flag', 'open', 20728, 1790931600000, 20728, ?,
         'The customer has the e-mail of 1 earlier customer.', 1)`,
    ).bind(
      ...[account, CASE_ID],
      JSON.stringify([
        {
          ...{ name: 'customers_with_the_email', value: '2', comparison: 'at_least' },
          ...{ threshold: '2', unit: 'customers' },
        },
      ]),
    ),
    env.DB.prepare(
      `insert into fraud_findings values (?, ?, 0, 20728,
         '[["customers","C-1001",20728,"C-1001","dlv_01M7W0R4W8E3V15G8XPED3Z94X"]]')`,
    ).bind(account, CASE_ID),
  ])

/** Takes a version that pays twice as much per lot, and one with a mistake. */
async function takeSimulation() {
  const at = { account: 'acme-forex', plan: 'standard-ib' }
  const { effective_from, ...terms } = perLot
  const rules = terms.rules.map((rule) => ({ ...rule, tiers: undefined, amount: '12.00' }))
  const version = { ...terms, rules }
  await take('simulatePlan', 'month', 'A month', {
    ...{ at, headers: asTeam() },
    body: { period: '2026-10', version },
  })
  await take('simulatePlan', 'wrong', 'Another currency, and a week', {
    ...{ at, headers: asTeam() },
    body: { period: '2026-W41', version: { ...version, currency: 'EUR' } },
  })
}

/** Takes a rule that finds a customer who trades a lot, and one of another vertical. */
async function takeFraudSimulation() {
  const at = { account: 'acme-forex', rule: 'lot-churn' }
  const version = { kind: 'lot_churn', action: 'hold', parameters: { percent: '1' } }
  const body = { from: '2026-10-01', to: '2026-10-31', version }
  await take('simulateFraudRule', 'october', 'A month', { at, headers: asTeam(), body })
  const days = { from: body.from, to: body.to }
  await take('simulateFraudRule', 'stored', 'The stored versions', {
    ...{ at, headers: asTeam(), body: days },
  })
  await take('simulateFraudRule', 'wrong', 'A kind of another vertical', {
    ...{ at, headers: asTeam() },
    body: { ...body, version: { kind: 'resets' } },
  })
}

const OCTOBER = '?period=2026-10'

/** Takes what is behind the line of a statement, and what earned nothing. */
async function takeWhy(team: Team) {
  const [draft] = await draftsOf('acme-forex', '2026-10', ['IB-07'])
  const at = { account: 'acme-forex', line_id: draft!.lines[0]!.id, customer_id: 'C-1001' }
  await team('getExplanation', 'steps', 'The steps of a line', { at })
  await team('listLineParts', 'page', 'The customers of a line', { at })
  await team('listLineRecords', 'page', 'The records of a customer', { at })
  await team('getUnearned', 'month', 'What earned nothing in a month', { query: OCTOBER })
  await team('listUnearnedRecords', 'page', 'One page', { query: `${OCTOBER}&per_page=1` })
  await team('listQualifications', 'month', 'None: no rule pays once', { query: OCTOBER })
  const { transaction_id } = entityOf('forex', 'transactions') as { transaction_id: string }
  await team('getTransactionEarnings', 'one', 'A deposit', { at: { ...at, transaction_id } })
  await team('getTransactionEarningsById', 'one', 'A deposit', {
    at,
    query: `?transaction_id=${transaction_id}`,
  })
  const { date, instrument, currency } = entityOf('forex', 'trading-activity') as Record<
    string,
    string
  >
  const key = new URLSearchParams({ date, customer_id: 'C-1001', instrument, currency } as Record<
    string,
    string
  >)
  await team('getTradingActivityEarnings', 'one', 'A row of trading activity', { query: `?${key}` })
  await team('getSignupEarnings', 'one', 'A signup', { at })
  await team('listCustomerLines', 'month', 'The lines of a customer', { at, query: OCTOBER })
  await team('listRecords', 'page', 'The transactions of a customer', {
    at: { ...at, resource: 'transactions' },
    query: '?customer_id=C-1001',
  })
  await team('findRecords', 'one', 'A deposit', { at, query: `?id=${transaction_id}` })
  return at
}

/** Stores a plan of an account that pays 10 for each of a unit, and returns the id of a line. */
async function firstLine(account: string, unit: Unit) {
  const rule = { id: 'units', kind: 'unit', unit, amount: '10.00' } as const
  await storePlan(account, 'per-unit', monthly([rule]))
  await assign(account, 'per-unit')
  const drafts = [account, '2026-10', ['IB-07']] as const
  await storeDrafts(...drafts)
  const [draft] = await draftsOf(...drafts)
  return draft!.lines[0]!.id
}

/** Takes what an account reads of the line of its statement, and of what earned nothing. */
async function takeOwnWhy(api: Api, line_id: string) {
  await api('get', 'Explanation', 'steps', 'The steps of a line', { at: { line_id } })
  await api('get', 'Unearned', 'month', 'What earned nothing in a month', { query: OCTOBER })
  await api('list', 'Qualifications', 'month', 'Customers under rules that pay once', {
    query: OCTOBER,
  })
}

/** Takes approvals, manual entries, the ledger and payouts. */
async function takeBooks(team: Team) {
  const account = 'acme-forex'
  await env.DB.batch(bookRows(env.DB, account, 'IB-07'))
  const draft = { account, statement_id: BOOK_DRAFT_ID }
  const earlier = { account, statement_id: BOOK_APPROVED_ID }
  const other = { hash: '0'.repeat(64) }
  const refuse = (id: string, name: string, summary: string, at: object, body: object) =>
    take(id, name, summary, { headers: asTeam(), body, at: { ...at } })
  await refuse('approveStatement', 'wrong', 'Another hash', draft, other)
  await refuse('payStatement', 'wrong', 'A draft', draft, PAYMENT)
  await team('approveStatement', 'approved', 'The draft that was reviewed', {
    ...{ at: draft, body: { hash: BOOK_HASH } },
  })
  await team('approvePeriod', 'closed', 'All of its statements are approved', {
    at: { account, period: BOOK_PERIOD },
    body: {},
  })
  await team('addManualEntry', 'new', 'A bonus', {
    body: {
      ...{ affiliate_id: 'IB-07', plan: 'standard-ib', amount: '25', reason: 'Bonus' },
      reference: 'bonus-2026-10-IB-07',
    },
  })
  await team('listManualEntries', 'page', 'One page')
  await team('listPayouts', 'due', 'What has to be paid')
  await team('payStatement', 'paid', 'The payment of one statement', { at: earlier, body: PAYMENT })
  const row = { affiliate_id: 'IB-07', currency: 'EUR', paid_on: '2024-10-20' }
  const listed = (amount: string) => [{ ...row, amount, reference: 'PAY-18' }]
  await refuse('importPayouts', 'wrong', 'An amount that is not due', { account }, listed('2.00'))
  await team('importPayouts', 'paid', 'A payment', { body: listed('1.00') })
  await refuse('returnPayment', 'wrong', 'Before its payment', earlier, {
    ...RETURN,
    returned_on: '2024-10-19',
  })
  await team('returnPayment', 'returned', 'The bank returned it', { at: earlier, body: RETURN })
  const again = { reference: 'PAY-19', paid_on: '2024-11-02' }
  await team('payStatement', 'again', 'The payment after it', { at: earlier, body: again })
  const at = { account, affiliate_id: 'IB-07' }
  await team('listLedger', 'page', 'One page', { at })
  await team('getBalance', 'zero', 'Nothing is left', { at })
  const byQuery = { at: { account }, query: '?affiliate_id=IB-07' }
  await team('listLedgerById', 'page', 'One page', byQuery)
  await team('getBalanceById', 'zero', 'Nothing is left', byQuery)
}

const PAYMENT = { reference: 'PAY-17', paid_on: '2024-10-20' }
const RETURN = { reference: 'RET-17', returned_on: '2024-10-25', reason: 'Account closed' }

/** Takes the routes for what is known of a customer and of affiliates by day. */
async function takeHistories(team: Team) {
  const at = { account: 'acme-forex', customer_id: 'C-1001' }
  const query = '?customer_id=C-1001'
  const correction = {
    reason: 'The wrong link was sent',
    affiliations: [
      { from: null, affiliate_id: 'IB-01' },
      { from: '2026-10-02', affiliate_id: 'IB-07' },
    ],
  }
  const refusal = { reason: 'Self-referral', from: '2026-10-03' }
  await team('getAffiliations', 'first', 'The first affiliate', { at })
  await team('putAffiliations', 'corrected', 'Another affiliate until 2 October', {
    at,
    body: correction,
  })
  await team('putAffiliationsById', 'corrected', 'The same again', { query, body: correction })
  await team('refuseCustomer', 'refused', 'From a day on', { at, body: refusal })
  await team('refuseCustomerById', 'refused', 'The same again', { query, body: refusal })
  await team('getAffiliationsById', 'corrected', 'After the correction', { query })
  await team('endRefusal', 'ended', 'It is ended', { at })
  await team('refuseCustomer', 'always', 'From the beginning', {
    at,
    body: { reason: 'Duplicate of C-1000' },
  })
  await team('endRefusalById', 'ended', 'It is ended', { query })
  await team('getCustomerFields', 'first', 'The first values', { at })
  await team('getCustomerFieldsById', 'first', 'The first values', { query })
  await team('putAffiliates', 'dated', 'A parent from a day on', {
    body: [{ affiliate_id: 'IB-07', parent: null, from: '2026-10-20' }],
  })
  await team('listParents', 'page', 'One page')
  // This affiliate earned nothing: earnings are those of the last three months, which depend on today.
  await team('listAffiliateFigures', 'search', 'A search by id', { query: '?search=IB-01' })
  await team('addAffiliate', 'linked', 'An affiliate with a first link', {
    body: { affiliate_id: 'IB-12', parent: 'IB-01', landing_page: 'https://acme.example/start' },
  })
  await team('putAffiliates', 'mistyped', 'Affiliates that nothing names', {
    body: [{ affiliate_id: 'IB-O7' }, { affiliate_id: 'IB-O8' }],
  })
  const invited = { account: 'acme-forex', affiliate_id: 'IB-01' }
  const { id: invitation_id } = await team('inviteAffiliate', 'invited', 'A person is invited', {
    at: invited,
  })
  await team('endInvitation', 'ended', 'It is ended', { at: { ...invited, invitation_id } })
  await team('listInvitations', 'all', 'One that was ended', { at: invited })
  await env.DB.prepare(
    `insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at)
     values ('acme-forex', 'IB-01', 'b54adc00-67f9-4bd2-a1c3-6f1e5b1a2c3d', 'Ada', ?1, ?1)`,
  )
    .bind('2026-10-01T09:00:00.000Z')
    .run()
  const { data: members } = await team('listMembers', 'all', 'One person', { at: invited })
  await team('removeMember', 'removed', 'The person is removed', {
    at: { ...invited, member_id: members[0].id },
  })
  await takeMembersById(team)
  const mistyped = { account: 'acme-forex', affiliate_id: 'IB-O7' }
  await team('deleteAffiliate', 'deleted', 'An affiliate that nothing names', { at: mistyped })
  await team('deleteAffiliateById', 'deleted', 'The id in the query', {
    query: '?affiliate_id=IB-O8',
  })
}

/** Takes the operations on members whose affiliate is in the query. */
async function takeMembersById(team: Team) {
  const query = '?affiliate_id=IB-01'
  const at = { account: 'acme-forex' }
  const { id: invitation_id } = await team(
    'inviteAffiliateById',
    'invited',
    'A person is invited',
    {
      ...{ at, query },
    },
  )
  await team('endInvitationById', 'ended', 'It is ended', { at: { ...at, invitation_id }, query })
  await team('listInvitationsById', 'all', 'All of them', { at, query })
  await env.DB.prepare(
    `insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at) values ('acme-forex', 'IB-01', 'ada', 'Ada', ?1, ?1)`,
  )
    .bind('2026-10-01T09:00:00.000Z')
    .run()
  await team('listMembersById', 'all', 'One person', { at, query })
  await team('removeMemberById', 'removed', 'The person is removed', {
    ...{ at: { ...at, member_id: 'ada' }, query },
  })
}

test('the stored examples equal the responses of the service', async () => {
  await takeRates()
  const { team, client_id, client_secret, access_token } = await partner('forex')
  await partner('prop-trading')

  await takePlans(team)
  await takeFraudRules(team)
  await takeStatements(team, { Authorization: `Bearer ${access_token}` })
  await takeBooks(team)

  const casino = await setUp('lucky', 'igaming')
  await casino('putEventDefinition', 'new', 'Daily statistics', {
    at: { account: 'lucky', eventname: 'DailyStats' },
    body: {
      granularity: 'day',
      kpis: ['GGR', 'NGR', 'Bets', 'Games'],
      product: { field: 'Product', map: { Casino: 'casino', Sports: 'sports' } },
      currency: 'EUR',
    },
  })
  await casino('putEventDefinition', 'changed', 'The same, with fewer KPIs', {
    at: { account: 'lucky', eventname: 'DailyStats' },
    body: { granularity: 'day', kpis: ['GGR', 'NGR'], currency: 'EUR' },
  })
  await casino('listEventDefinitions', 'all', 'All of them')
  const { link_id } = await casino('createLink', 'new', 'A link', {
    body: { affiliate_id: 'IB-07', landing_page: 'https://lucky.example/start', name: 'Autumn' },
  })
  const link = { account: 'lucky', link_id }
  await casino('getLink', 'one', 'One link', { at: link })
  await casino('changeLink', 'moved', 'Another landing page', {
    at: link,
    body: { landing_page: 'https://lucky.example/welcome' },
  })
  await casino('listLinks', 'page', 'One page')
  await takeWebhooks(casino)
  const { headers: clickHeaders } = await ask(`/go/${link_id}`, { redirect: 'manual' })
  const tracking_data = new URL(clickHeaders.get('Location')!).searchParams.get('tracking_data')
  const { brand_token } = await casino('regenerateBrandToken', 'new', 'A Brand Token', {
    body: { overlap: '24h' },
  })
  const headers = { 'x-api-key': brand_token }
  const brand: Api = (verb, noun, name, summary, more = {}) =>
    take(`${verb}Igaming${noun}`, name, summary, { headers, ...more })
  const player = { ...entityOf('igaming', 'customers'), tracking_data }
  await brand('send', 'Customers', 'one', 'A player who followed a link', { body: player })
  await brand('send', 'Customers', 'again', 'What is left out is kept', {
    body: [{ customerId: 'P-1001', crm_status: 'gold' }],
  })
  const deposit = entityOf('igaming', 'activities')
  const { product: _, deposit_type: __, Value: ___, ...event } = deposit
  const stats = { ...event, eventname: 'DailyStats', createtime: '2026-10-02', eventid: 'ds-1' }
  await brand('send', 'Activities', 'one', 'An event with one amount', { body: deposit })
  await brand('send', 'Activities', 'day', 'A day with several KPIs', {
    body: [{ ...stats, GGR: '12.50', NGR: '10.00' }],
  })
  await brand('send', 'Customers', 'lenient', LENIENT, {
    headers: { ...headers, Prefer: 'handling=lenient' },
    body: [{ customerId: 'P-1002' }, { customerId: 'P-1003', regtime: '2026-02-31 08:30' }],
  })
  await brand('send', 'Activities', 'lenient', LENIENT, {
    headers: { ...headers, Prefer: 'handling=lenient' },
    body: [
      { ...deposit, eventid: 'dep-779', customerid: 'P-9' },
      { ...deposit, eventid: 'dep-780', createtime: '2026-02-31 09:30' },
    ],
  })
  await brand('send', 'Customers', 'wrong', 'An invalid record: nothing is stored', {
    body: [{ customerid: 'P-1003' }],
  })
  await brand('send', 'Activities', 'wrong', 'An invalid record: nothing is stored', {
    body: [{ ...deposit, eventid: 'dep-781', Value: '1,000.00' }],
  })
  const once = { headers: { ...headers, 'Idempotency-Key': '2026-10-02/part-1' } }
  await brand('send', 'Activities', 'keyed', 'With an Idempotency-Key', {
    ...once,
    body: [{ ...deposit, eventid: 'dep-781' }],
  })
  await brand('send', 'Activities', 'wrong-key', 'The same key with other records', {
    ...once,
    body: [{ ...deposit, eventid: 'dep-782' }],
  })
  await brand('list', 'Customers', 'page', 'One page', { query: '?per_page=1' })
  await brand('get', 'Customer', 'one', 'One record', { at: { id: 'P-1001' } })
  await brand('get', 'CustomerById', 'one', 'One record', { query: '?customerid=P-1001' })
  await brand('list', 'Activities', 'page', 'One page', { query: '?per_page=1' })
  await takeAccountRoutes(brand)
  await takeOwnStatements(brand, 'lucky')
  await takeOwnCases(brand, 'lucky')
  await env.DB.prepare(
    `insert into customer_affiliations (account, customer_id, day, affiliate_id)
     values ('lucky', 'P-1001', -719528, 'IB-07')`,
  ).run()
  const { eventname } = entityOf('igaming', 'activities') as { eventname: string }
  await takeOwnWhy(brand, await firstLine('lucky', { count: { event: eventname } }))
  const { data: events } = await casino('listUnearnedRecords', 'events', 'Of a brand', {
    query: OCTOBER,
  })
  const { id } = events.find(({ resource }: { resource: string }) => resource === 'activities')
  await casino('getActivityEarnings', 'one', 'An event', {
    query: `?id=${encodeURIComponent(id)}`,
  })

  const { data: tokens } = await casino('listBrandTokens', 'all', 'All of them')
  await casino('revokeBrandToken', 'ended', 'One is ended', {
    at: { account: 'lucky', token_id: tokens[0].id },
  })
  await casino('dropEventDefinition', 'gone', 'It is dropped', {
    at: { account: 'lucky', eventname: 'DailyStats' },
  })
  await casino('listAttributed', 'page', 'One page')
  await casino('listAttention', 'now', 'What needs attention')
  await casino('getChanges', 'now', 'What changed since yesterday')
  await team('searchAccounts', 'one', 'An affiliate', { query: '?id=aff-7' })
  const today = new Date().toISOString().slice(0, 10)
  await casino('countDeliveryErrors', 'days', 'The errors of some days', {
    query: `?from=${today}&to=${today}`,
  })
  await casino('listAffiliates', 'page', 'One page')
  await casino('listUnconfiguredAffiliates', 'none', 'There are none')
  await takeAccountRoutes(
    (verb, noun, name, summary, more) => casino(`${verb}${noun}`, name, summary, more ?? {}),
    { account: 'lucky' },
  )
  await casino('eraseCustomer', 'erased', 'A player', {
    at: { account: 'lucky', customer_id: 'P-1001' },
  })
  await casino('eraseCustomerById', 'erased', 'The same player again', {
    query: '?customer_id=P-1001',
  })
  await casino('listErasures', 'page', 'One page')
  await casino('replayErasures', 'again', 'After a restore')

  await takeHistories(team)

  const status = { done: 'approved', open: 'pending' }
  await team('putStatusMap', 'set', 'Two words', { body: status })
  await team('getStatusMap', 'all', 'All of them')
  await team('listUnmappedStatuses', 'none', 'Every status has a meaning')
  for (const [id, words] of [
    ['KycLabels', { 2: 'verified' }],
    ['SalesLabels', { hot: 'Hot lead' }],
  ] as const) {
    await team(`put${id}`, 'set', 'One word', { body: words })
    await team(`get${id}`, 'all', 'All of them')
  }
  await team('getAccount', 'one', 'One account')
  await team('listAccounts', 'page', 'One page', { query: '?per_page=1' })
  await takeMoves(team)
  await takeArchives(team)
  await team('listFeeds', 'page', 'One page', { query: '?per_page=1' })
  await team('listDatabases', 'all', 'All of them')
  await team('listAuditLog', 'page', 'One page', { query: '?per_page=2' })
  await team('listClients', 'all', 'All of them')
  const client = { account: 'acme-forex', client_id }
  const basic = { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` }
  await take('revokeToken', 'own', 'A token of my own', {
    headers: basic,
    form: { token: access_token },
  })
  await team('rotateClient', 'day', 'Both secrets are valid for a day', {
    at: client,
    body: { overlap: '24h' },
  })
  await team('revokeClient', 'ended', 'It is ended', { at: client })
  await team('resetAccount', 'empty', 'All records are forgotten')

  const failed = takes.filter(({ name, status }) =>
    name.startsWith('wrong') ? ![409, 422].includes(status) : status >= 400,
  )
  expect(failed).toEqual([])
  if (import.meta.env.MODE === 'record') {
    await fetch('http://recorder.local/', { method: 'POST', body: JSON.stringify(takes) })
  } else expect(takes, 'stale: npm run generate').toEqual(storedExamples)
})

test.skipIf(import.meta.env.MODE === 'record')(
  'every operation has an example of what it answers to each of its callers when it succeeds',
  () => {
    const taken = new Set(
      (storedExamples as { operation: string; status: number }[])
        .filter(({ status }) => status < 400)
        .map(({ operation }) => operation),
    )
    const missing = [...operations.keys()].filter((id) => !taken.has(id))
    // Each response was compared with openapi.json: see test/checked-fetch.ts.
    expect(missing, 'take a response of each in this file').toEqual([])
  },
)
