import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { app } from '../src/app.ts'
import { affiliateWorld, askWith } from './affiliate-world.ts'
import { brand } from './brand.ts'
import { askAdmin, json } from './partner.ts'
import { countCalls } from './watched.ts'

// What an affiliate reads costs what it shows: D1 reads as many rows however much the account has of others.

const ACCOUNT = 'acme-forex'
const DAYS = 'from=2026-10-01&to=2026-10-31'

const numbered = (from: number, to: number) =>
  `with recursive n(i) as (select ${from} union all select i + 1 from n where i + 1 < ${to})`

/** The columns of a table. */
async function columnsOf(table: string): Promise<string[]> {
  const sql = 'select name from pragma_table_info(?)'
  const { results } = await env.DB.prepare(sql).bind(table).all<{ name: string }>()
  return results.map(({ name }) => name)
}

/** What the account has more of another affiliate: copies of rows, by table, with what differs in each. */
const COPIES: Readonly<Record<string, readonly [rows: string, changes: Record<string, string>]>> = {
  customers: [`customer_id = 'c-other'`, { customer_id: `'o-' || n.i` }],
  transactions: [
    `customer_id = 'c-other'`,
    { customer_id: `'o-' || n.i`, transaction_id: `r.transaction_id || '-' || n.i` },
  ],
  activity: [`customer_id = 'c-other'`, { customer_id: `'o-' || n.i` }],
  customer_affiliations: [`customer_id = 'c-other-waits'`, { customer_id: `'o-' || n.i` }],
  clicks: [`link_id = :link`, { click_id: `'click-' || n.i` }],
  links: [`affiliate_id = 'other'`, { link_id: `printf('x%07d', n.i)` }],
  statements: [
    `affiliate_id = 'other' and period = '2026-10'`,
    { plan: `'p-' || n.i`, id: `r.id || n.i` },
  ],
  ledger: [`affiliate_id = 'other'`, { id: `r.id || n.i` }],
  affiliate_questions: [`affiliate_id = 'other'`, { id: `r.id || n.i` }],
  affiliate_question_messages: [
    `question in (select id from affiliate_questions where affiliate_id = 'other')`,
    { question: `r.question || n.i` },
  ],
  affiliate_keys: [`affiliate_id = 'other'`, { id: `r.id || n.i`, digest: `printf('%064x', n.i)` }],
}

/** Stores copies of what the other affiliate has, numbered from one number to before another. */
async function copyOthers(link: string, from: number, to: number) {
  for (const [table, [rows, changes]] of Object.entries(COPIES)) {
    const columns = await columnsOf(table)
    const values = columns.map((name) => changes[name] ?? `r.${name}`)
    const { meta } = await env.DB.prepare(
      `${numbered(from, to)} insert into ${table} (${columns.join()})
       select ${values.join()} from (select * from ${table} where ${rows.replace(':link', `'${link}'`)}
         order by 1, 2, 3 limit 1) r cross join n`,
    ).run()
    expect([table, meta.changes >= to - from]).toEqual([table, true])
  }
  await env.DB.prepare('update totals set total = total + ? where account = ?')
    .bind(to - from, ACCOUNT)
    .run()
}

/** Creates the firm with what each route shows of the affiliate, and as much of another one. */
async function worldOfBoth() {
  const world = await affiliateWorld(ACCOUNT)
  const { id, hash } = world.statementOf('other')
  await askAdmin(`${world.path}/statements/${id}/approve`, 'POST', { hash, leave_out_holds: true })
  const own = world.statementOf('own')
  const approval = { hash: own.hash, leave_out_holds: true }
  await askAdmin(`${world.path}/statements/${own.id}/approve`, 'POST', approval)
  await askAdmin(`${world.path}/customers/c-other-waits/affiliations`, 'PUT', {
    reason: 'Agreed',
    affiliations: [
      { affiliate_id: 'other', from: null },
      { affiliate_id: 'top', from: '2026-10-20' },
    ],
  })
  const { data: links } = await json(askAdmin(`${world.path}/links`))
  const linkOf = (who: string): string =>
    links.find((one: { affiliate_id: string }) => one.affiliate_id === who).link_id
  for (const who of ['own', 'other']) {
    await env.DB.prepare(
      'insert into clicks values (?, 20728, ?, ?, ?, null, null, null, null, null)',
    )
      .bind(ACCOUNT, linkOf(who), 'click-0', 20_728 * 86_400_000)
      .run()
  }
  const keys = {
    own: await world.makeKey('own', { scope: 'read links' }),
    other: await world.makeKey('other', { scope: 'read links' }),
  }
  const send = (key: string, path: string, body: object) =>
    countCalls(`/affiliate/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  for (const who of ['own', 'other'] as const) {
    const { id: statement } = world.statementOf(who)
    await send(keys[who], 'questions', { statement, text: 'Why?' })
  }
  return { ...world, linkOf, keys, send }
}

/** Requests of each GET route of affiliates, by its path. */
async function requestsOf(world: Awaited<ReturnType<typeof worldOfBoth>>) {
  const { own: key } = world.keys
  const lines = await world.shownLinesOf(key, 'own')
  const lineOf = (rule: string) => lines.find((one) => one.rule === rule)?.id
  const read = async (path: string) => (await json(askWith(key, path))).data
  const [{ customer }] = await read('customers?period=2026-10')
  const [{ id: question }] = await read('questions')
  const made = await world.send(key, 'postbacks', {
    ...{ url: 'https://tracker.example/p?id={id}', method: 'GET', events: ['signup'] },
  })
  const { id: postback } = await made.response.json<{ id: string }>()
  return {
    requests: {
      '/me': ['me'],
      '/overview': [`overview?${DAYS}`],
      '/statements': ['statements', 'statements?period=2026-10'],
      '/statements/:statement_id': [`statements/${world.statementOf('own').id}`],
      '/lines/:line_id/explain': ['cpa', 'share', 'lots', 'up', 'master'].map(
        (rule) => `lines/${lineOf(rule)}/explain`,
      ),
      '/lines/:line_id/parts': ['share', 'up'].map((rule) => `lines/${lineOf(rule)}/parts`),
      '/unearned': ['unearned?period=2026-10', `unearned?period=2026-10&customer_id=${customer}`],
      '/unearned/facts': [
        'unearned/facts?period=2026-10',
        `unearned/facts?period=2026-10&customer_id=${customer}`,
      ],
      '/customers': ['customers?period=2026-10', 'customers?period=2026-10&status=waiting'],
      '/links': ['links'],
      '/links/:link_id': [`links/${world.linkOf('own')}`],
      '/clicks': [`clicks?${DAYS}`],
      '/reports': [
        `reports?${DAYS}`,
        `reports?${DAYS}&group_by=day,link,country_code`,
        `reports?${DAYS}&group_by=month,sub1&currency=EUR`,
      ],
      '/postbacks': ['postbacks'],
      '/postbacks/:postback_id/attempts': [`postbacks/${postback}/attempts`],
      '/ledger': ['ledger', 'ledger?order=latest'],
      '/payouts': ['payouts'],
      '/sub-affiliates': [`sub-affiliates?${DAYS}`],
      '/questions': ['questions', 'questions?status=open'],
      '/questions/:question_id': [`questions/${question}`],
    } as Record<string, string[]>,
    customer,
  }
}

/** Makes a key of which no request was made yet, so that no limit of requests or keys is reached. */
async function freshKey(world: Awaited<ReturnType<typeof worldOfBoth>>): Promise<string> {
  await env.DB.prepare(`delete from affiliate_keys where affiliate_id = 'own'`).run()
  return world.makeKey('own', { scope: 'read links' })
}

test('every route of affiliates reads as many rows however much the account has of others', async () => {
  const world = await worldOfBoth()
  const { requests, customer } = await requestsOf(world)
  const routes = app.routes.flatMap(({ method, path }) =>
    method === 'GET' && path.startsWith('/affiliate/v1/')
      ? [path.slice('/affiliate/v1'.length)]
      : [],
  )
  expect(Object.keys(requests).sort()).toEqual([...new Set(routes)].sort())
  const rowsOf = async () => {
    const counts: Record<string, number> = {}
    const key = await freshKey(world)
    const headers = { Authorization: `Bearer ${key}` }
    for (const path of Object.values(requests).flat()) {
      await env.DB.prepare('delete from totals_leases').run()
      const { response, rowsRead } = await countCalls(`/affiliate/v1/${path}`, { headers })
      expect([path, response.status]).toEqual([path, 200])
      counts[path] = rowsRead
    }
    const sent = await world.send(key, 'questions', { customer, text: 'Why?' })
    expect(sent.response.status).toBe(201)
    counts['POST questions'] = sent.rowsRead
    const { id } = await sent.response.json<{ id: string }>()
    await env.DB.batch([
      env.DB.prepare('delete from affiliate_questions where id = ?').bind(id),
      env.DB.prepare('delete from affiliate_question_messages where question = ?').bind(id),
    ])
    return counts
  }
  const link = world.linkOf('other')
  await copyOthers(link, 1, 100)
  const before = await rowsOf()
  await copyOthers(link, 100, 1000)
  expect(await rowsOf()).toEqual(before)
})

/** Stores customers who came by a link, each with events, clicks and a change of the affiliate. */
async function storePlayers(account: string, link: string, from: number, to: number) {
  const stored = 'delivery, idx, revision'
  const day = '20728 + i % 20'
  for (const sql of [
    `insert into customers (account, customer_id, day, first_day, link, ${stored})
     select ?1, ?2 || i, ${day}, ${day}, ?2, 'd', 0, 1 from n`,
    `insert into events (account, id, eventname, customer_id, amount, currency, kpis, record, day,
       first_day, held, ${stored})
     select ?1, 'e ' || ?2 || i, 'Bet', ?2 || i, 1, 'EUR', '{"Bets":1}', '{}', ${day}, ${day}, 0, 'd', 0, 1
     from n`,
    `insert into clicks (account, day, link_id, click_id, clicked_at)
     select ?1, ${day}, ?2, 'k' || i, 0 from n`,
    `insert into customer_affiliations (account, customer_id, day, link, previous_link)
     select ?1, ?2 || i, ${day} + 5, null, ?2 from n where i % 5 = 0`,
  ]) {
    await env.DB.prepare(`${numbered(from, to)} ${sql}`)
      .bind(account, link)
      .run()
  }
}

test('the affiliate of a brand reads by their links as many rows, however much is of other links', async () => {
  const casino = await brand()
  const path = `accounts/${casino.account}`
  await askAdmin(`${path}/affiliates`, 'PUT', [{ affiliate_id: 'own' }, { affiliate_id: 'other' }])
  const linkOf = async (affiliate_id: string): Promise<string> => {
    const landing_page = 'https://casino.example/'
    const link = await json(askAdmin(`${path}/links`, 'POST', { affiliate_id, landing_page }))
    return link.link_id
  }
  const [own, other] = [await linkOf('own'), await linkOf('other')]
  await storePlayers(casino.account, own, 0, 10)
  const rowsOf = async () => {
    const counts: Record<string, number> = {}
    for (const query of [
      `reports?${DAYS}`,
      `reports?${DAYS}&group_by=day,link,eventname`,
      `overview?${DAYS}`,
      'customers?period=2026-10',
      'unearned?period=2026-10',
    ]) {
      await env.DB.prepare('delete from totals_leases').run()
      await env.DB.prepare(`delete from affiliate_keys where affiliate_id = 'own'`).run()
      const made = await json(
        askAdmin(`${path}/affiliates/own/keys`, 'POST', { name: 'Tracker', scope: 'read' }),
      )
      const headers = { Authorization: `Bearer ${made.affiliate_key}` }
      const { response, rowsRead } = await countCalls(`/affiliate/v1/${query}`, { headers })
      expect([query, response.status]).toEqual([query, 200])
      counts[query] = rowsRead
    }
    return counts
  }
  await storePlayers(casino.account, other, 0, 500)
  await rowsOf()
  const before = await rowsOf()
  await storePlayers(casino.account, other, 500, 5000)
  expect(await rowsOf()).toEqual(before)
})
