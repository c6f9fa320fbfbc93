import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import template from '../../examples/plans/ib-per-lot.json'
import { viewContextOf } from '../../src/affiliates/pseudonyms.ts'
import { app } from '../../src/app.ts'
import { newLinkId } from '../../src/attribution/code.ts'
import { lineId, statementId } from '../../src/commission/run/ids.ts'
import { expiryOf, issueAccessToken } from '../../src/platform/auth/access-token.ts'
import { DEFAULT_VIEW } from '../../src/platform/auth/affiliate-view.ts'
import { grantOf } from '../../src/platform/auth/grant.ts'
import { digest, newSecret } from '../../src/platform/auth/secret.ts'
import { affiliateKeyObjectName, brandTokenObjectName } from '../../src/platform/auth/token-gate.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { canonicalJson } from '../../src/platform/validation/canonical-json.ts'
import { moveRows } from '../accounts/move-rows.ts'
import { questionRows } from '../affiliates/question-rows.ts'
import { JOURNAL_ACCOUNTS } from '../books/book-rows.ts'
import { deposited, eve } from '../brand.ts'
import { BOOK_APPROVED_ID, bookRows, statementRows } from '../commission/statement-rows.ts'
import { monthly } from '../commission/stored.ts'
import { storeDrafts } from '../commission/stored-runs.ts'
import { exportRows, storeExport } from '../exports/export-rows.ts'
import { caseRows } from '../fraud/case-rows.ts'
import { actorOf, memberKey } from '../members.ts'
import { ada, deposit, json, ORIGIN, traded } from '../partner.ts'
import { payoutRows } from '../payouts/payout-rows.ts'
import { applicationRows } from '../people/application-rows.ts'

/** The name of a database. */
export type Binding = 'DB' | 'DB_2'

/** An account with everything that a request may name, its live tokens, and some records. */
export interface World {
  account: string
  vertical: string
  /** The database of its records. */
  binding: Binding
  client_id: string
  client_secret: string
  access_token: string
  brand_token: string
  token_id: string
  /** The key of its affiliate aff-7, and the id of that key. */
  affiliate_key: string
  /** The key of an approver of the account. */
  member_key: string
  key_id: string
  link_id: string
  /** The id of a line for the signup of a customer, if the account has records. */
  line_id: string
  /** The id under which the affiliate sees the line. */
  shown_line_id: string
  /** The id of its first delivery, if it has records. */
  delivery_id: string
  /** The address of its caller: wrong secrets are counted by address. */
  address: string
  objects: () => Record<string, DurableObjectStub>
}

/** What may differ between worlds. */
interface WorldOptions {
  binding?: Binding
  policy?: 'hold' | 'reject'
  /** Whether no affiliate has read anything yet: the first read makes the key of the pseudonyms. */
  unread?: boolean
}

/** The key of the names that affiliates see. */
const PSEUDONYM_KEY = 'a'.repeat(64)

/** Stores an approver of an account, whose key it returns, and a manager whose name they want to change. */
async function storeTeam(account: string): Promise<string> {
  const own = { accounts: [account], affiliates: 'all', hasPasskey: false } as const
  const key = await memberKey({ ...own, name: `approver-${account}`, role: 'approver' })
  await memberKey({ ...own, name: `manager-${account}`, role: 'manager' })
  const at = '2026-01-01T00:00:00.000Z'
  const by = actorOf(`approver-${account}`)
  const waiting = { id: 'request', kind: 'change', by, at, change: { name: 'Ada' } }
  await env.DB.batch([
    env.DB.prepare('update members set waiting = ? where id = ?').bind(
      ...[JSON.stringify(waiting), `member-manager-${account}`],
    ),
    env.DB.prepare(
      `insert into member_keys values (?, ?, ?, 'Spare', 'viewer', '"all"', '"all"', ?)`,
    ).bind(await digest(account), `spare-${account}`, `member-approver-${account}`, at),
  ])
  return key
}

let made = 0

/** Creates an account with its rows and objects directly; records go through the service. */
export async function prepare(
  vertical: string,
  withRecords: boolean,
  { binding = 'DB', policy = 'hold', unread = false }: WorldOptions = {},
): Promise<World> {
  made += 1
  const account = `firm-${made}-of-${vertical}`
  const isBrand = vertical === 'igaming'
  const client_secret = newSecret('tcs', 'test')
  const brand_token = newSecret('tbt', 'test')
  const affiliate_key = newSecret('taf', 'test')
  const key_digest = await digest(affiliate_key)
  const [client_id, jti, token_id, key_id] = Array.from({ length: 4 }, () => crypto.randomUUID())
  const [link_id, name] = [newLinkId(), await digest(brand_token)]
  const row = (text: string, ...values: unknown[]) => env.DB.prepare(text).bind(account, ...values)
  const db = env[binding]
  const settings = [
    ...moveRows(env.DB, account),
    row(
      `insert into accounts
         (id, name, vertical, mode, binding, unknown_customer, created_at, pseudonym_key, landing_pages,
          exports, journal_accounts)
       values (?1, ?1, ?2, 'test', ?3, ?4, '2026-01-01T00:00:00.000Z', ?5, '["https://new.example/"]',
         'without_personal_data', ?6)`,
      vertical,
      binding,
      policy,
      unread ? null : PSEUDONYM_KEY,
      JSON.stringify(JOURNAL_ACCOUNTS),
    ),
    row(
      `insert into links (link_id, account, affiliate_id, landing_page, created_at)
       values (?2, ?1, 'aff-7', 'https://landing.example/', '2026-01-01T00:00:00.000Z')`,
      link_id,
    ),
    row(
      `insert into affiliate_keys (digest, id, account, affiliate_id, name, scope, created_at, created_by)
       values (?2, ?3, ?1, 'aff-7', 'Tracker', 'read links', '2026-01-01T00:00:00.000Z', 'root-key')`,
      key_digest,
      key_id,
    ),
    isBrand
      ? row(
          `insert into brand_tokens (digest, id, account, created_at)
           values (?2, ?3, ?1, '2026-01-01T00:00:00.000Z')`,
          name,
          token_id,
        )
      : row(
          `insert into clients (client_id, account, secret_digest, created_at)
           values (?2, ?1, ?3, '2026-01-01T00:00:00.000Z')`,
          client_id,
          await digest(client_secret),
        ),
    ...(isBrand
      ? [
          row(
            `insert into event_definitions (account, eventname, granularity, eventid, kpis)
             values (?1, 'DailyStats', 'day', 'used', '["GGR"]')`,
          ),
        ]
      : []),
  ]
  const content = [
    db
      .prepare(
        `insert into affiliates (account, affiliate_id)
         values (?1, 'aff-7')`,
      )
      .bind(account),
    db
      .prepare(
        `insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by)
         values (?1, 'aff-7', 'mem-1', 'Ada', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'root-key')`,
      )
      .bind(account),
    db
      .prepare(
        `insert into affiliate_invitations
         values (?1, 'aff-7', 'inv-1', ?2, '2026-01-01T00:00:00.000Z', 'root-key', ?3, null, null)`,
      )
      .bind(account, '0'.repeat(64), Date.now() + 3_600_000),
    db
      .prepare(
        `insert into outbox (account, id, kind, cause, recipient, at)
         values (?1, 'ntc_1', 'terms_changed', '0 2026-01-01 standard', 'affiliate:aff-7', 1796145600000)`,
      )
      .bind(account),
    ...plansOf(account, db),
    ...fraudRulesOf(account, db),
    ...statementRows(db, account),
    ...bookRows(db, account),
    ...paidRows(db, account),
    ...caseRows(db, account, 'aff-7', 'stored'),
    ...exportRows(db, account),
    ...questionRows(db, account, 'aff-7', 'Why?'),
    ...applicationRows(db, account, 'Ada'),
    ...webhookRows(db, account),
    ...(await payoutRows(db, account)),
  ]
  const member_key = await storeTeam(account)
  if (binding === 'DB') await db.batch([...settings, ...content])
  else await Promise.all([env.DB.batch(settings), db.batch(content)])

  await storeExport(account)
  const now = Date.now()
  const objectName = isBrand ? brandTokenObjectName(name) : jti!
  const known = (await findAccount(env.DB, account))!
  const grant = grantOf(known, isBrand ? null : client_id!, 'read write')
  await env.TOKEN_GATE.getByName(objectName).open(grant, isBrand ? null : expiryOf(now))
  const keyObjectName = affiliateKeyObjectName(key_digest)
  const keyGrant = {
    ...grantOf(known, null, 'read links'),
    affiliate: { id: 'aff-7', member: null, key: null, view: DEFAULT_VIEW },
  }
  await env.TOKEN_GATE.getByName(keyObjectName).open(keyGrant, null)
  if (!isBrand) {
    const live = { jti: jti!, version: 1, expiresAt: expiryOf(now) }
    await env.CLIENT_GATE.getByName(`client:${client_id}`).mint(live)
  }
  const claims = { client_id: client_id!, jti: jti!, scope: 'read write' }
  const line_id = await signupLine(vertical)
  const { nameOf } = await viewContextOf({ line_id }, DEFAULT_VIEW, PSEUDONYM_KEY, 'aff-7')
  const world: World = {
    account,
    vertical,
    binding,
    client_id: client_id!,
    client_secret,
    brand_token,
    token_id: token_id!,
    affiliate_key,
    member_key,
    key_id: key_id!,
    link_id,
    line_id,
    shown_line_id: nameOf(line_id, 'line'),
    delivery_id: '',
    address: `10.0.${made >> 8}.${made & 255}`,
    access_token: isBrand ? '' : await issueAccessToken(claims, env, now),
    objects: () => ({
      token: env.TOKEN_GATE.getByName(objectName),
      affiliate: env.TOKEN_GATE.getByName(keyObjectName),
      client: env.CLIENT_GATE.getByName(`client:${client_id}`),
      journal: env.ERASURE_JOURNAL.getByName(account),
    }),
  }
  if (withRecords) {
    world.delivery_id = await fill(world)
    const rows = [
      `insert into customer_refusals
       values (?, 'c-1', 20000, 'Duplicate', '2026-10-02T00:00:00.000Z')`,
      `insert into customer_affiliations (account, customer_id, day, affiliate_id)
       values (?, 'p-2', -719528, 'aff-7')`,
      `insert into changed select account, 'customer-changes', min(day, ifnull(first_seen_day, day)), 9
       from customers where account = ? and customer_id = 'p-2'`,
    ]
    await db.batch(rows.slice(0, isBrand ? 3 : 1).map((text) => db.prepare(text).bind(account)))
    await storeDrafts(account, '2026-10', ['aff-7'])
    // The computation drops a draft that it does not come to.
    await db.batch(statementRows(db, account).slice(0, 1))
    // The state after the database was restored to a time before this customer was erased.
    await env.ERASURE_JOURNAL.getByName(account).add('c-2', '2026-10-03T00:00:00.000Z')
  }
  return world
}

/** The ids of the webhook of each world, and of an event that it was sent. */
export const WEBHOOK_ID = 'whk_0000000000000000000000'
export const WEBHOOK_EVENT = 'evt_01a20138dc60000000000000000'

/** The ids of the postback of its affiliate, and of an event that it was sent. */
export const POSTBACK_ID = 'pbk_0000000000000000000000'
export const POSTBACK_EVENT = 'evt_01a20138dc60000000000000001'

/** Returns the rows of a webhook and a postback that want none of the events that requests cause. */
const webhookRows = (db: D1Database, account: string) => [
  db
    .prepare(
      `insert into webhook_endpoints (account, id, url, events, secrets, created_at)
       values (?, ?, 'https://hooks.example/swept', '["feed.late"]', '[]', '2026-01-01T00:00:00.000Z')`,
    )
    .bind(account, WEBHOOK_ID),
  db
    .prepare(`insert into webhook_events values (?, ?, 'feed.late', 'swept', 0, '{}', null)`)
    .bind(account, WEBHOOK_EVENT),
  db
    .prepare(
      `insert into webhook_endpoints
         (account, id, affiliate_id, url, method, events, secrets, created_at, active_since)
       values (?, ?, 'aff-7', 'https://tracker.example/{sub1}', 'GET', '["statement.paid"]', '[]',
         '2026-01-01T00:00:00.000Z', 4102444800000)`,
    )
    .bind(account, POSTBACK_ID),
  db
    .prepare(
      `insert into webhook_events values (?, ?, 'statement.paid', 'swept', 0, '{}', 'aff-7')`,
    )
    .bind(account, POSTBACK_EVENT),
  db.prepare(`update webhook_messages set status = 'dead' where account = ?`).bind(account),
]

const LINED = monthly([{ id: 'signups', kind: 'once', trigger: { signup: true }, amount: '1' }])

/** Returns the id of the line that a customer of each world brings. */
const signupLine = async (vertical: string) =>
  lineId(
    await statementId('aff-7', 'lined', '2026-10'),
    {
      version: 1,
      rule: 'signups',
      scope: vertical === 'igaming' ? 'customer:p-2' : 'customer:c-2',
    },
    0,
  )

/** The id of a statement that is paid. */
export const BOOK_PAID_ID = 'stm_00000000000000000000000f'

/** Returns a statement that is paid, and its payment. */
const paidRows = (db: D1Database, account: string) => [
  db
    .prepare(
      `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable,
         closing, statement, lines, parts, state, read_at, computed_at, previous, approval,
         approved_at, payment)
       select account, '2024-06', affiliate_id, plan, ?2, 'paid', hash, digest, payable, closing,
         json_set(statement, '$.id', ?2, '$.period', '2024-06'), lines, parts, state, read_at,
         computed_at, previous, approval, approved_at, 'paid-1'
       from statements where account = ?1 and id = ?3`,
    )
    .bind(account, BOOK_PAID_ID, BOOK_APPROVED_ID),
  db
    .prepare(
      `insert into payments values (?1, 'paid-1', 'aff-7', 'EUR', '1.00', '2024-10-20',
         json_array(?2), 'root-key', '2024-10-20T09:00:00.000Z')`,
    )
    .bind(account, BOOK_PAID_ID),
  db
    .prepare(
      `insert into ledger values (?1, 'aff-7', 'paid-00001', 'paid', 'lined', '2024-06', ?2, 'EUR',
         '-1.00', 'paid-1', 'root-key', '2024-10-20T09:00:00.000Z', '2024-10-20', '2024-10-20')`,
    )
    .bind(account, BOOK_PAID_ID),
]

const FRAUD_RULE = {
  ...{ kind: 'signup_burst', name: 'Stored', severity: 'low', action: 'flag', disabled: false },
  ...{ scope: { affiliates: ['*'] }, parameters: { min: 20, times: '5' } },
}

/** Returns the rows of a fraud rule with a second version in the future. */
const fraudRulesOf = (account: string, db: D1Database) =>
  ['2026-01-01', '9998-01-01'].map((effective_from, i) =>
    db
      .prepare(
        `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
         values (?, 'stored', ?, ?, ?, '2026-01-01T00:00:00.000Z')`,
      )
      .bind(account, i + 1, effective_from, canonicalJson({ ...FRAUD_RULE, effective_from })),
  )

/** Returns the rows of a plan with a second version in the future, and of an assignment. */
const plansOf = (account: string, db: D1Database) => [
  ...[template, { ...template, effective_from: '9998-01-01' }].map((terms, i) =>
    db
      .prepare(
        `insert into plan_versions (account, plan, version, effective_from, terms, created_at)
         values (?, 'swept', ?, ?, ?, '2026-01-01T00:00:00.000Z')`,
      )
      .bind(account, i + 1, terms.effective_from, canonicalJson(terms)),
  ),
  db
    .prepare(
      `insert into plan_versions (account, plan, version, effective_from, terms, created_at)
       values (?, 'lined', 1, '2026-01-01', ?, '2026-01-01T00:00:00.000Z')`,
    )
    .bind(account, canonicalJson(LINED)),
  ...[
    ['*', '2026-12-01', 'swept'],
    ['aff-7', '2026-01-01', 'lined'],
  ].map((values) =>
    db
      .prepare(
        `insert into assignments (account, affiliate_id, from_day, plan, customers)
         values (?, ?, ?, ?, 'new')`,
      )
      .bind(account, ...values),
  ),
]

/** Sends records, one of which waits for its customer. Returns the id of the first delivery. */
async function fill(world: World): Promise<string> {
  const deliveries: string[] = []
  for (const [resource, records] of Object.entries(recordsOf(world.vertical))) {
    // If nothing is held, the record of an unknown customer is rejected.
    const headers = { ...asSender(world), Prefer: 'handling=lenient' }
    const init = { method: 'POST', body: JSON.stringify(records), headers }
    const at = new URL(`${baseOf(world)}/${resource}`, ORIGIN)
    const response = await app.fetch(new Request(at, init), env, createExecutionContext())
    if (response.status > 207) throw new Error(await response.text())
    deliveries.push((await json(response)).delivery_id)
  }
  return deliveries[0]!
}

/** Returns the path that an account sends to. */
export const baseOf = ({ vertical }: World) =>
  vertical === 'igaming' ? '/tracking/events' : `/api/v1/${vertical}`

/** Returns the headers that authenticate an account. */
export const asSender = ({
  vertical,
  access_token,
  brand_token,
}: World): Record<string, string> => ({
  'Content-Type': 'application/json',
  ...(vertical === 'igaming'
    ? { 'x-api-key': brand_token }
    : { Authorization: `Bearer ${access_token}` }),
})

const person = { first_name: 'Ada', email: 'ada@person.example' }

/** Returns valid records of a vertical. */
export function recordsOf(vertical: string): Record<string, object[]> {
  if (vertical === 'igaming') {
    return {
      customers: [eve, { ...eve, customerId: 'p-2' }],
      activities: [deposited, { ...deposited, eventid: 'e-2', customerid: 'p-9' }],
    }
  }
  const paid = { ...deposit, transaction_type: vertical === 'forex' ? 'deposit' : 'challenge_fee' }
  return {
    customers: [
      { ...ada, ...person },
      { ...ada, customer_id: 'c-2' },
    ],
    transactions: [paid, { ...paid, transaction_id: 't-2', customer_id: 'c-9' }],
    'trading-activity': [traded, { ...traded, instrument: 'X' }],
  }
}
