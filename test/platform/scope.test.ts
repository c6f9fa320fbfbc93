import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../src/api/operations.ts'
import { app } from '../../src/app.ts'
import { PAGES } from '../../src/console/pages.ts'
import { DECIDED_TABLES } from '../../src/platform/db/scope.ts'
import { STATEMENT_ID } from '../commission/statement-rows.ts'
import { signedIn } from '../console/browser.ts'
import { askAs, memberKey } from '../members.ts'
import { parametersOf, ROUTES, type Route, requestOf } from '../sweep/routes.ts'
import { prepare, type World } from '../sweep/worlds.ts'
import { contentsOfDatabases } from '../world.ts'

// §21.1: what a member of the team with a scope sees and does.

const TEAM_ROUTES = ROUTES.filter(({ as, vertical }) => as === 'team' && vertical === 'forex')

const MEMBERS = {
  all: {},
  own: { affiliates: { own: true } },
  elsewhere: { accounts: ['elsewhere'] },
} as const
type Who = keyof typeof MEMBERS
const keyOf = (name: Who) => memberKey({ name, role: 'manager', ...MEMBERS[name] })
const NO_RUNS = { create: async () => ({}), createBatch: async () => [] }

const operationOf = (route: Route) => OPERATIONS.find(({ id }) => id === route.id)!

/** Sends the request of a route as a member, and returns status and text of the answer. */
async function ask(who: Who, route: Route, world: World, accept?: string) {
  const request = requestOf(route, world)
  request.headers.set('Authorization', `Bearer ${await keyOf(who)}`)
  if (accept) request.headers.set('Accept', accept)
  const context = createExecutionContext()
  const platform = { ...env, STATEMENT_RUNS: NO_RUNS, ACCOUNT_MOVES: NO_RUNS } as unknown as Env
  const response = await app.fetch(request, platform, context)
  const text = await response.text()
  await waitOnExecutionContext(context)
  return { status: response.status, text: text.replaceAll(/"request_id":"[^"]+"/g, '') }
}

/** The requests that read, in each format of their answers. */
const READS = TEAM_ROUTES.filter(({ writes }) => !writes).flatMap((route) =>
  [undefined, ...Object.keys(operationOf(route).files ?? {})].map((accept) => ({ route, accept })),
)

async function readAll(who: Who, world: World) {
  const answers: Record<string, { status: number; text: string }> = {}
  for (const { route, accept } of READS)
    answers[`${route.id} ${route.way ?? ''} ${accept ?? ''}`] = await ask(who, route, world, accept)
  return answers
}

/** What pages are asked for beside their paths, by the names of the parameters. */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  affiliate_id: ['aff-7', 'aff-8'],
  customer_id: ['c-1'],
  record_id: ['aff-7', 'c-1', 't-1', 'T00000000B', 'paid-1', 'stm_000000000000000000000001'],
  search: ['aff'],
  period: ['2026-10', '2024-08'],
  status: ['draft', 'all', 'open'],
  from: ['2026-10-01&to=2026-10-31'],
  plan: ['lined'],
  new: ['cpa'],
  edit: ['next'],
  list: ['records'],
  on: ['2030-01-01'],
  batch: ['B000000002'],
  run: ['run_01M7W0R4W8E3V15G8XPED3Z94X'],
}

/** The addresses of the pages of the console for a world, with those that a scope does not have. */
const addressesOf = (world: World) =>
  PAGES.flatMap((page) => {
    const at: Record<string, string> = {
      ...parametersOf(world),
      member: 'member-own',
      resource: 'transactions',
      id: 't-1',
      plan: 'lined',
      rule: 'stored',
    }
    const path = `/console${page.path.replace(/:(\w+)/g, (_, name) => at[name]!)}`
    const asked = (page.query ?? []).flatMap((name) =>
      (ASKED[name] ?? []).map((value) => `?${name}=${value}`),
    )
    return ['', ...asked].map((query) => ({ page, at: path + query }))
  })

async function openAll(world: World) {
  const { get } = await signedIn(undefined, undefined, await keyOf('own'))
  const pages: Record<string, { status: number; text: string }> = {}
  const wrong: string[] = []
  for (const { page, at } of addressesOf(world)) {
    const response = await get(at)
    const text = (await response.text()).replaceAll(
      /name="csrf" value="[^"]*"|request <code>.*?<\/code>/g,
      '',
    )
    pages[at] = { status: response.status, text }
    const isOpen = page.shows === 'affiliate' || page.shows === 'public'
    const isRefused = response.status === 403 || text.includes('Only a member of the team for')
    if (isOpen === isRefused || response.status >= 500) wrong.push(`${at}: ${response.status}`)
    if (!isOpen) continue
    const next = `href="${response.headers.get('Location') ?? ''}"`
    for (const [, to = ''] of `${text}${next}`.matchAll(/href="(\/console[^"?#]*)/g)) {
      const path = { pathname: to }
      const found = PAGES.find((one) =>
        new URLPattern({ pathname: `/console${one.path}` }).test(path),
      )
      if (found?.shows === 'account' || found?.shows === 'firm') wrong.push(`${at} leads to ${to}`)
    }
  }
  expect(wrong).toEqual([])
  return pages
}

/** Gives affiliates of a world to the member with own affiliates. */
const give = (world: World, ...ids: string[]) =>
  env.DB.batch(
    ids.map((id) =>
      env.DB.prepare(
        `insert into affiliates (account, affiliate_id, manager) values (?, ?, 'member-own')
         on conflict do update set manager = 'member-own'`,
      ).bind(world.account, id),
    ),
  )

/** What belongs to what, where no column names an affiliate or a customer. */
const BELONGS: Readonly<Record<string, string>> = {
  assignments: `affiliate_id = '*' or affiliate_id = :own`,
  payees: `party = 'payer' or id = :own`,
  clicks: 'link_id in (select link_id from links where affiliate_id = :own)',
  statement_lines: 'id in (select id from statements where affiliate_id = :own)',
  statement_approvals: 'id in (select id from statements where affiliate_id = :own)',
  payment_returns: 'payment in (select reference from payments where affiliate_id = :own)',
  bank_movements: 'reference in (select id from transfers where affiliate_id = :own)',
  payout_batches: 'id in (select batch from transfers where affiliate_id = :own)',
  affiliate_question_messages:
    'question in (select id from affiliate_questions where affiliate_id = :own)',
  fraud_decisions: 'case_id in (select id from fraud_cases where affiliate_id = :own)',
  fraud_evidence: 'case_id in (select id from fraud_cases where affiliate_id = :own)',
  webhook_messages: 'event in (select id from webhook_events where affiliate_id = :own)',
  audit_log: `details ->> 'affiliate_id' = :own`,
}
/** What holds nothing of affiliates. */
const OPEN =
  /^(accounts|members|member_.*|plan_versions|fraud_rule_versions|event_definitions|vocabulary|fx_rates|closed_periods|statement_runs|doors|sqlite_.*|_cf.*|d1_.*)$/

/** Deletes all but what is of one affiliate, or of none. */
async function forgetOthers(own: string) {
  const list = async <T>(sql: string) => (await env.DB.prepare(sql).all<T>()).results
  for (const { name } of await list<{ name: string }>(
    "select name from sqlite_schema where type = 'trigger'",
  ))
    await env.DB.exec(`drop trigger ${name}`)
  const tables = await list<{ name: string; columns: string }>(
    `select m.name, (select group_concat(c.name) from pragma_table_info(m.name) c) as columns
     from (select * from sqlite_schema where type = 'table' and name not glob '_cf*') m`,
  )
  const deletions = tables.flatMap(({ name, columns }) => {
    if (OPEN.test(name)) return []
    const has = (column: string) => columns.split(',').includes(column)
    const kept =
      BELONGS[name] ??
      (has('affiliate_id')
        ? 'affiliate_id = :own'
        : has('customer_id')
          ? 'customer_id in (select customer_id from customers where affiliate_id = :own)'
          : 'false')
    return [`delete from ${name} where not ifnull(${kept}, false)`.replaceAll(':own', `'${own}'`)]
  })
  await env.DB.exec('pragma defer_foreign_keys = on')
  const order = (sql: string) =>
    Number(
      /from (statements|payments|transfers|affiliate_questions|fraud_cases|webhook_events|links|customers) /.test(
        sql,
      ),
    )
  await env.DB.batch([
    ...deletions.toSorted((a, b) => order(a) - order(b)).map((sql) => env.DB.prepare(sql)),
    env.DB.prepare(
      `update payout_batches set total = '77.77', rows = '[]', hash = '', files = null`,
    ),
  ])
}

test('it is decided of each table what a member with own affiliates reads of it', async () => {
  const { results } = await env.DB.prepare(
    "select name from sqlite_schema where type in ('table', 'view') and name not glob '_cf*' and name not glob '*_wants' and name not glob 'd1_*' and name not glob 'sqlite_*'",
  ).all<{ name: string }>()
  expect(DECIDED_TABLES.toSorted()).toEqual(results.map(({ name }) => name).sort())
})

test.each([[''], ['aff-7'], ['aff-8']])(
  '§21.1 what others have changes no answer to the member of affiliate “%s”',
  async (own) => {
    const world = await prepare('forex', true)
    if (own) await give(world, own)
    const before = await readAll('own', world)
    const refused = Object.entries(before).filter(([, { status }]) => status >= 500)
    expect(refused).toEqual([])
    await forgetOthers(own)
    expect(await readAll('own', world)).toEqual(before)
  },
)

test('§21.1 a member whose own affiliates are all of an account reads what a member for all reads of them', async () => {
  const world = await prepare('forex', true)
  await give(world, 'aff-7', 'aff-8', 'aff-9')
  const own = await readAll('own', world)
  const all = await readAll('all', world)
  for (const { route } of READS) {
    // What waits of records and payers cannot be told affiliate by affiliate.
    if (route.id === 'listAttention') continue
    const { shows } = operationOf(route)
    for (const name of Object.keys(all).filter((one) => one.startsWith(`${route.id} `))) {
      // What covers rows of others is not shown of a batch, whoever they are.
      const seen = (text = '') =>
        text.replaceAll(/"hash":"[^"]*"/g, '').replaceAll(/"files":\[.*?\],"tr/g, '"files":[],"tr')
      if (shows === 'affiliate' || shows === 'public')
        expect([name, seen(own[name]?.text)]).toEqual([name, seen(all[name]?.text)])
      else expect([name, own[name]?.status]).toEqual([name, 403])
    }
  }
})

test('§21.1 a member with own affiliates changes nothing of others', async () => {
  const world = await prepare('forex', true)
  await give(world, 'mine')
  await keyOf('own')
  const rows = async () => JSON.stringify([...(await contentsOfDatabases(true)).values()])
  for (const route of TEAM_ROUTES.filter(({ writes }) => writes)) {
    const before = await rows()
    const { status, text } = await ask('own', route, world)
    expect([route.id, status >= 400 && status < 500, text]).toEqual([route.id, true, text])
    expect([route.id, (await rows()) === before]).toEqual([route.id, true])
  }
})

test('§21.1 an account outside of the scope of a member does not exist', async () => {
  const world = await prepare('forex', true)
  for (const route of TEAM_ROUTES) {
    const { status, text } = await ask('elsewhere', route, world)
    const { of } = operationOf(route)
    if (of === 'account') {
      expect([route.id, [403, 404].includes(status)]).toEqual([route.id, true])
      if (status === 404) expect(text).toContain('There is no account')
    } else
      expect([route.id, text.includes(world.account) && status < 400]).toEqual([route.id, false])
  }
})

test.each([[''], ['aff-8']])(
  '§21.1 no page shows the member of affiliate “%s” what others have, or a refusal in place of it',
  async (own) => {
    const world = await prepare('forex', true)
    if (own) await give(world, own)
    const before = await openAll(world)
    await forgetOthers(own)
    const after = await openAll(world)
    for (const at of Object.keys(before).filter((one) => one.includes(world.account)))
      expect([at, after[at]]).toEqual([at, before[at]])
  },
)

/** Sends a request about a world as a member. */
const askOf = async (world: World, who: Who, path: string, method?: string, body?: unknown) => {
  const response = await askAs(await keyOf(who), `accounts/${world.account}/${path}`, method, body)
  return { status: response.status, ...(await response.json<Record<'data' | 'lines', unknown>>()) }
}

test('§21.1 what a member with own affiliates adds is theirs, and the id of another’s is taken', async () => {
  const world = await prepare('forex', true)
  const put = (who: Who, one: object) => askOf(world, who, 'affiliates', 'PUT', [one])
  expect(await put('own', { affiliate_id: 'new' })).toMatchObject({ status: 200, changed: 1 })
  expect(await put('own', { affiliate_id: 'new', note: 'Mine' })).toMatchObject({ status: 200 })
  expect(await askOf(world, 'own', 'affiliates')).toMatchObject({
    data: [{ affiliate_id: 'new', manager: 'member-own', note: 'Mine' }],
    meta: { total: 1 },
  })
  expect(await put('own', { affiliate_id: 'aff-7' })).toMatchObject({
    status: 409,
    detail: expect.stringContaining('taken'),
  })
  for (const only of [{ manager: null }, { parent: 'new' }, { status: 'suspended' }])
    expect((await put('own', { affiliate_id: 'new', ...only })).status).toBe(403)

  const given = (manager: string) => put('all', { affiliate_id: 'aff-7', manager })
  expect((await given('member-nobody')).status).toBe(422)
  expect((await given('member-own')).status).toBe(200)
  expect(await askOf(world, 'own', 'affiliates')).toMatchObject({ meta: { total: 2 } })
  await env.DB.exec("update members set removed_at = '2026-12-01' where id = 'member-own'")
  const { data } = await askOf(world, 'all', 'affiliates?affiliate_id=aff-7')
  expect(data).toMatchObject([{ manager: null }])
  expect(JSON.stringify(await askOf(world, 'all', 'attention'))).toContain(
    '"unmanaged_affiliates","count":2,"names":["aff-7","new"]',
  )
})

test('§21.1 of a customer who changed hands each sees the days of their own affiliate', async () => {
  const world = await prepare('forex', true)
  await give(world, 'aff-8')
  const day = 'cast(unixepoch(?) / 86400 as integer)'
  await env.DB.prepare(
    `insert into customer_affiliations (account, customer_id, day, affiliate_id, previous_affiliate_id)
     values (?, 'c-1', ${day}, 'aff-8', 'aff-7')`,
  )
    .bind(world.account, '2026-10-04')
    .run()
  await env.DB.prepare(
    `insert into transactions select account, 'later', customer_id, transaction_type, amount_currency, currency,
       transaction_date, status, amount_usd, transaction_subtype, note, ${day}, held, delivery, idx, revision
     from transactions where account = ?2 and transaction_id = 't-1'`,
  )
    .bind('2026-10-05', world.account)
    .run()
  const found = await askOf(world, 'own', 'records/transactions?customer_id=c-1')
  expect(found).toMatchObject({ data: [{ transaction_id: 'later' }], meta: { total: 1 } })
  const history = JSON.stringify(await askOf(world, 'own', 'customers/c-1/affiliations'))
  expect([history.includes('aff-8'), history.includes('aff-7')]).toEqual([true, false])
})

test('§21.1 a line for an affiliate of somebody else says what it earns, and its explanation is refused', async () => {
  const world = await prepare('forex', true)
  await give(world, 'aff-7')
  const id = `lin_${'0'.repeat(23)}1${'0'.repeat(16)}`
  const line = {
    id,
    rule: 'r',
    version: 1,
    kind: 'share',
    scope: 'affiliate:aff-8',
    amount: '5.00',
  }
  const more = {
    base: '98.76',
    units: null,
    measure: null,
    step: null,
    rate: '5',
    fence: null,
    fx: [],
  }
  const carried = {
    carried_in: '0.00',
    carried_out: '0.00',
    capped: '0.00',
    recouped: '0.00',
    deficit: '0.00',
  }
  const steps = {
    [id]: { line: null, steps: [{ step: 'sources', affiliate_id: 'aff-8', lines: [] }] },
  }
  await env.DB.prepare('update statements set lines = ?, steps = ? where account = ? and id = ?')
    .bind(
      JSON.stringify([{ ...line, ...more, ...carried }]),
      JSON.stringify(steps),
      ...[world.account, STATEMENT_ID],
    )
    .run()
  const statement = await askOf(world, 'own', `statements/${STATEMENT_ID}`)
  expect(statement.lines).toMatchObject([
    { scope: 'affiliate:another affiliate', amount: '5.00', base: null },
  ])
  expect(JSON.stringify(statement)).not.toMatch(/aff-8|98\.76/)
  expect((await askOf(world, 'own', `lines/${id}/explain`)).status).toBe(403)
})

test('§21.1 who is paid to the same account is “another affiliate”', async () => {
  const world = await prepare('forex', true)
  await give(world, 'aff-8')
  await env.DB.exec("update payees set state = 'approved', payable_from = 1 where id = 'aff-7'")
  const doubts = async (who: Who) =>
    JSON.stringify(await askOf(world, who, 'payable?on=2039-01-01'))
  expect(await doubts('all')).toContain('The same account as aff-7')
  expect(await doubts('own')).toContain('The same account as another affiliate')
})
