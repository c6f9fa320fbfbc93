import {
  createExecutionContext,
  createMessageBatch,
  getQueueResult,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  decodeTrackingCode,
  encodeTrackingCode,
  newClickId,
  newLinkId,
} from '../../src/attribution/code.ts'
import { MAX_CLICKS_PER_DAY } from '../../src/attribution/db/clicks.ts'
import { type Click, withTracking } from '../../src/attribution/go.ts'
import { verifierFor } from '../../src/attribution/verdict.ts'
import worker from '../../src/index.ts'
import { brand, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overriding } from '../ingest/watched.ts'
import { ada, ask, askAdmin, json, ORIGIN, issuedPartner as partner } from '../partner.ts'
import { printedAs } from '../secrecy.ts'

const KEYS = env.TRACKING_KEYS
const origin = { link_id: 'abcdefgh', account: 'acme-casino', affiliate_id: 'A-1' }

/** Creates a brand with an affiliate and a link. */
async function brandWithLink(settings: Parameters<typeof brand>[0] = {}) {
  const acme = await brand(settings)
  await askAdmin(`accounts/${acme.account}/affiliates`, 'PUT', [{ affiliate_id: 'A-1' }])
  return { ...acme, link: await linkOf(acme.account) }
}

const linkOf = (
  account: string,
  landing_page = 'https://casino.example/?lang=en',
  affiliate = 'A-1',
) => json(askAdmin(`accounts/${account}/links`, 'POST', { affiliate_id: affiliate, landing_page }))

const follow = (link_id: string, init: RequestInit = {}) =>
  ask(`/go/${link_id}`, { redirect: 'manual', ...init })

const codeIn = (response: Response) =>
  new URL(response.headers.get('Location')!).searchParams.get('tracking_data')!

afterEach(() => {
  vi.useRealTimers()
})

describe('tracking_data', () => {
  test('tracking_data is URL-safe, has at most 50 characters and encodes its link', async () => {
    const click = newClickId(Date.now())
    const code = await encodeTrackingCode(KEYS, origin, click)

    expect(code).toMatch(/^tr1[\w-]{44}$/)
    expect(code.length).toBeLessThanOrEqual(50)
    expect(encodeURIComponent(code)).toBe(code)
    expect(await decodeTrackingCode(KEYS, code)).toMatchObject({
      link_id: 'abcdefgh',
      click_id: click,
    })
  })

  test('each click and each link has a unique id', async () => {
    const ids = Array.from({ length: 1000 }, () => newClickId(1_800_000_000_000))
    expect(new Set(ids).size).toBe(1000)
    expect(newLinkId()).toMatch(/^[\w-]{8}$/)
    expect(newClickId(1_800_000_000_000).slice(0, 6)).not.toBe(
      newClickId(1_900_000_000_000).slice(0, 6),
    )
  })

  test('tracking_data in an unknown format is unrecognised', async () => {
    const verify = verifierFor(KEYS, origin.account)
    for (const text of [
      'atr1ck',
      'contr1bution-page',
      'click-42',
      'bw_b50f3d19b9cc34010039de1',
      'x'.repeat(47),
      'TR',
      '🎰',
    ]) {
      expect([text, (await verify(text)).verdict]).toEqual([text, 'unrecognised'])
    }
  })

  test('tracking_data is foreign for another account and conflict for another affiliate', async () => {
    const code = await encodeTrackingCode(KEYS, origin, newClickId(Date.now()))
    expect(await verifierFor(KEYS, 'other')(code)).toEqual({ verdict: 'foreign', link: null })
    const verify = verifierFor(KEYS, origin.account)
    expect(await verify(code, 'A-2')).toEqual({ verdict: 'conflict', link: 'abcdefgh' })
    expect(await verify(code, 'A-1')).toEqual({ verdict: 'attributed', link: 'abcdefgh' })
  })

  test('the first key signs tracking_data, and retired keys still verify', async () => {
    const { keys } = JSON.parse(KEYS)
    const retired = JSON.stringify({ keys: [keys[1]] })
    const first = JSON.stringify({ keys: [keys[0]] })
    const old = await encodeTrackingCode(retired, origin, newClickId(0))

    expect((await verifierFor(KEYS, origin.account)(old)).verdict).toBe('attributed')
    expect((await verifierFor(first, origin.account)(old)).verdict).toBe('altered')
    const current = await encodeTrackingCode(KEYS, origin, newClickId(0))
    expect((await verifierFor(first, origin.account)(current)).verdict).toBe('attributed')
  })
})

describe('GET /go/{link}', () => {
  test('a link redirects with 302 to its landing page without caching', async () => {
    const { link } = await brandWithLink()
    const response = await follow(link.link_id)

    expect(response.status).toBe(302)
    expect(response.headers.get('Location')).toMatch(
      /^https:\/\/casino\.example\/\?lang=en&tracking_data=tr1[\w-]{44}$/,
    )
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.get('Referrer-Policy')).toBe('no-referrer')
    expect(link.url).toBe(`${ORIGIN}/go/${link.link_id}`)
    expect(codeIn(response)).not.toBe(codeIn(await follow(link.link_id)))
  })

  test.each([
    ['https://a.example/', 'https://a.example/?tracking_data=X'],
    ['https://a.example/p?x=1&y=%20b+c', 'https://a.example/p?x=1&y=%20b+c&tracking_data=X'],
    ['https://a.example/p#top', 'https://a.example/p?tracking_data=X#top'],
    ['https://a.example/#/app?x=1#y', 'https://a.example/?tracking_data=X#/app?x=1#y'],
    ['https://a.example/?tracking_data=old&x=1', 'https://a.example/?x=1&tracking_data=X'],
    ['https://a.example/?x=1&tracking%5Fdata=old', 'https://a.example/?x=1&tracking_data=X'],
    ['https://a.example/?tracking_data', 'https://a.example/?tracking_data=X'],
    ['https://a.example/?&&x', 'https://a.example/?x&tracking_data=X'],
    ['https://a.example/?q=a?b', 'https://a.example/?q=a?b&tracking_data=X'],
    ['https://a.example/?tracking_data2=1', 'https://a.example/?tracking_data2=1&tracking_data=X'],
  ])('the landing page %s becomes the address %s', (landing, expected) => {
    expect(withTracking(landing, 'X')).toBe(expected)
  })

  test.each(['nobody00', 'short', 'x'.repeat(100), '%00', 'a.b', "'or'1'='1"])(
    'the unknown link %s gets a readable error page',
    async (id) => {
      const response = await follow(id)
      expect(response.status).toBe(404)
      expect(response.headers.get('Content-Type')).toBe('text/html; charset=UTF-8')
      expect(response.headers.get('X-Request-Id')).toMatch(/^[\da-f-]{36}$/)
      const page = await response.text()
      expect(page).toContain('<h1>This link does not work</h1>')
      expect(page).not.toContain(id)
    },
  )

  test('a link is cached for up to 60 seconds, and its errors not at all', async () => {
    const { account, link } = await brandWithLink()
    const at = `accounts/${account}/links/${link.link_id}`
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    await askAdmin(at, 'PATCH', { disabled: true })
    expect((await follow(link.link_id)).status).toBe(404)
    await askAdmin(at, 'PATCH', { disabled: false })
    expect((await follow(link.link_id)).status).toBe(302)
    await askAdmin(at, 'PATCH', { disabled: true })
    vi.setSystemTime(Date.now() + 59_999)
    expect((await follow(link.link_id)).status).toBe(302)
    vi.setSystemTime(Date.now() + 1)
    expect((await follow(link.link_id)).status).toBe(404)
  })

  test.each([
    ['without HTTPS', 403, 'This link needs HTTPS', 'Open the link again with https://'],
    ['of an unknown link', 404, 'This link does not work', 'It may be mistyped'],
    ['by another method', 405, 'This request method is not supported', 'Open the link in a'],
    ['without a database', 503, 'This link is temporarily unavailable', 'Please try again in'],
    ['that meets a bug', 500, 'Something went wrong', 'This was our mistake.'],
  ])('a request %s gets a page with the status and title', async (_, status, title, text) => {
    const message = status === 503 ? 'D1 DB is overloaded. Requests queued for too long.' : 'bug'
    const broken = overriding(env.DB, {
      batch: () => Promise.reject(new Error(message)),
    })
    const { link } = await brandWithLink()
    const DB = status === 503 || status === 500 ? broken : env.DB
    const address = `${status === 403 ? 'http' : 'https'}://api.example`
    const path = `/go/${status === 404 ? 'nobody00' : link.link_id}`
    const method = status === 405 ? 'POST' : 'GET'
    const request = new Request(address + path, { method })
    const response = await fetchWith({ ...env, DB } as Env, request)

    expect(response.status).toBe(status)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'",
    )
    const page = await response.text()
    expect(page).toContain(`<title>${title}</title>`)
    expect(page).toContain(`<h1>${title}</h1>\n<p>${text}`)
  })

  test('without a database only cached links redirect, and others get 503', async () => {
    const { link } = await brandWithLink()
    const known = await linkOf('acme-casino')
    await follow(known.link_id)
    const unavailable = overriding(env.DB, {
      batch: () => Promise.reject(new Error('D1 DB is overloaded. Requests queued for too long.')),
    })
    const at = async (id: string) => {
      const context = createExecutionContext()
      const request = new Request(`${ORIGIN}/go/${id}`)
      const response = await fetchWith({ ...env, DB: unavailable } as Env, request, context)
      await waitOnExecutionContext(context)
      return response
    }
    const response = await at(link.link_id)
    expect(response.status).toBe(503)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await response.text()).toContain('<h1>')
    expect((await at(known.link_id)).status).toBe(302)
  })
})

describe('clicks', () => {
  const clicksOf = async (
    method: string,
    link_id: string,
    {
      send,
      query = '',
      headers = {},
    }: { send?: () => Promise<void>; query?: string; headers?: Record<string, string> } = {},
  ) => {
    const sent: Click[] = []
    const CLICKS = overriding(env.CLICKS, {
      send: send ?? (async (click: Click) => void sent.push(click)),
    })
    const context = createExecutionContext()
    const request = new Request(`${ORIGIN}/go/${link_id}${query}`, { method, headers })
    const response = await fetchWith({ ...env, CLICKS } as Env, request, context)
    await waitOnExecutionContext(context)
    return { response, sent }
  }
  const collect = async (clicks: Click[]) => {
    const messages = clicks.map((body, i) => ({
      id: String(i),
      timestamp: new Date(),
      attempts: 1,
      body,
    }))
    const batch = createMessageBatch<Click>('tributary-clicks', messages)
    const context = createExecutionContext()
    await worker.queue(batch, env, context)
    return getQueueResult(batch, context)
  }

  test('clicks go through the queue to the database in bulk', async () => {
    const { account, link } = await brandWithLink()
    const { response, sent } = await clicksOf('GET', link.link_id)
    expect(sent).toHaveLength(1)
    const code = await decodeTrackingCode(KEYS, codeIn(response))
    expect(sent[0]).toEqual({
      account,
      binding: 'DB',
      link_id: link.link_id,
      click_id: code!.click_id,
      clicked_at: expect.any(Number),
      subs: {},
    })

    const result = await collect([...sent, { ...sent[0]!, click_id: 'another-one1' }])
    expect(result.outcome).toBe('ok')
    await collect(sent)
    const today = new Date().toISOString().slice(0, 10)
    const query = `from=${today}&to=${today}&metrics=clicks&group_by=day,link`
    const { data } = await json(askAdmin(`accounts/${account}/reports?${query}`))
    const groups = { day: today, link: link.link_id }
    expect(data).toContainEqual(expect.objectContaining({ groups, metrics: { clicks: 2 } }))
  })

  test('a click keeps sub1 to sub5, by which reports group what its customers did', async () => {
    const account = 'acme-forex'
    const firm = await partner('forex', { account })
    await askAdmin(`accounts/${account}/affiliates`, 'PUT', [{ affiliate_id: 'A-1' }])
    const link = await linkOf(account)
    await askAdmin(`accounts/${account}/links/${link.link_id}`, 'PATCH', { pass_query: true })
    const followed = ['?sub1=fb.ads-1~_&sub5=Z&gclid=1', '?sub1=other&sub1=second', '?sub1=']
    const clicks = await Promise.all(
      followed.map((query) => clicksOf('GET', link.link_id, { query })),
    )
    expect(clicks.map(({ sent }) => sent[0]?.subs)).toEqual([
      { sub1: 'fb.ads-1~_', sub5: 'Z' },
      { sub1: 'other' },
      {},
    ])
    const [first, second, third] = clicks.map(({ response }) => codeIn(response))
    expect(clicks[0]!.response.headers.get('Location')).toBe(
      `https://casino.example/?lang=en&gclid=1&tracking_data=${first}`,
    )
    await collect(clicks.flatMap(({ sent }) => sent))
    const now = new Date().toISOString()
    const codes = { c1: first, c2: second, c3: third, c4: 'unknown' }
    await firm.post(
      'customers',
      Object.entries(codes).map(([customer_id, tracking_data]) => ({
        ...{ customer_id, affiliate_id: 'A-1', tracking_data, signup_date: now },
      })),
    )
    await firm.post(
      'transactions',
      ['c1', 'c1', 'c2', 'c4'].map((customer_id, i) => ({
        ...{
          transaction_id: `t${i}`,
          customer_id,
          transaction_type: 'deposit',
          amount_currency: 9,
        },
        ...{ currency: 'USD', transaction_date: now, status: 'approved' },
      })),
    )
    const day = now.slice(0, 10)
    const at = `accounts/${account}/reports?from=${day}&to=${day}&metrics=clicks,signups,deposit_amount`
    const rows = async (group: string) =>
      (await json(askAdmin(`${at}&group_by=${group}`))).data.map(
        ({ groups, metrics }: { groups: Record<string, string>; metrics: object }) => [
          ...Object.values(groups),
          ...Object.values(metrics),
        ],
      )
    expect(await rows('sub1')).toEqual([
      ['fb.ads-1~_', 1, 1, '18'],
      ['other', 1, 1, '9'],
      [null, 1, 2, '9'],
    ])
    expect(await rows('sub5')).toEqual([
      ['Z', 1, 1, '18'],
      [null, 2, 3, '18'],
    ])
    expect(await rows('sub1,affiliate_id')).toHaveLength(3)
  })

  test('§18.2 a click keeps what an affiliate wrote whole, or shows that it is cut', async () => {
    const { link } = await brandWithLink()
    const gclid = `EAIaIQobChMI-_${'x'.repeat(200)}`
    for (const [sub1, kept] of [
      [gclid, gclid],
      ['a+b@c:d/e==&f ü %', 'a+b@c:d/e==&f ü %'],
      ['a\n\u202eb', 'a……b'],
      ['y'.repeat(501), `${'y'.repeat(500)}…`],
    ] as const) {
      const query = `?${new URLSearchParams({ sub1, sub2: 'z'.repeat(300) })}`
      const { sent } = await clicksOf('GET', link.link_id, { query })
      const rest = Math.max(0, 500 - sub1.length)
      const sub2 = rest < 300 ? `${'z'.repeat(rest)}…` : 'z'.repeat(300)
      expect(sent[0]?.subs).toEqual({ sub1: kept, sub2 })
    }
  })

  test('an account stores a bounded number of clicks a day', async () => {
    // Its own account: the queue may still deliver clicks of earlier tests.
    const { account, link } = await brandWithLink({ account: 'clicked' })
    const { sent } = await clicksOf('GET', link.link_id)
    const make = (name: string, count: number, ofAccount = account) =>
      Array.from({ length: count }, (_, i): Click => {
        const click_id = `${name}-${i}`.padEnd(12, 'x')
        return { ...sent[0]!, account: ofAccount, click_id }
      })
    const stored = async (ofAccount: string) =>
      (await env.DB.prepare('select count(*) as n from clicks where account = ?')
        .bind(ofAccount)
        .first<number>('n'))!
    await collect(make('a', 60))
    await env.DB.prepare("update arrivals set received = ? where resource = 'clicks'")
      .bind(MAX_CLICKS_PER_DAY - 1)
      .run()
    await collect([...make('b', 90), ...make('b', 10, 'other')])
    await collect([...make('c', 90), ...make('c', 10, 'other')])

    expect([await stored(account), await stored('other')]).toEqual([150, 20])
    const day = new Date(sent[0]!.clicked_at).toISOString().slice(0, 10)
    expect(printedAs('warn').map((line) => JSON.parse(line))).toEqual([
      { click_limit: account, binding: 'DB', day },
    ])
    const tomorrow = make('d', 5).map((click) => {
      return { ...click, clicked_at: click.clicked_at + 86_400_000 }
    })
    await collect(tomorrow)
    expect(await stored(account)).toBe(155)
    expect((await clicksOf('GET', link.link_id)).response.status).toBe(302)
  })

  test('§9 only a person clicks: bots that name themselves, previews and prefetches get the redirect alone', async () => {
    const { link } = await brandWithLink()
    const countOf = async (method: string, headers: Record<string, string>) => {
      const { response, sent } = await clicksOf(method, link.link_id, { headers })
      return [response.status, sent.length]
    }
    const apple = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15'
    const android =
      'Mozilla/5.0 (Linux; Android 14; CUBOT X70) AppleWebKit/537.36 (KHTML, like Gecko)'
    const people = [
      { 'User-Agent': `${apple} (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1` },
      { 'User-Agent': `${android} Chrome/126.0.0.0 Mobile Safari/537.36` },
      { 'User-Agent': `${android} Chrome/126.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/470.0]` },
      { 'User-Agent': 'curl/8.5.0', 'Sec-Purpose': '' },
      {},
    ]
    const others = [
      { 'User-Agent': 'WhatsApp/2.23.20.0' },
      { 'User-Agent': 'Viber/1.0' },
      { 'User-Agent': 'facebookcatalog/1.0' },
      { 'User-Agent': 'Mediapartners-Google' },
      { 'User-Agent': 'facebookexternalhit/1.1;line-poker/1.0' },
      { 'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
      { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
      { 'User-Agent': 'TelegramBot (like TwitterBot)' },
      { 'User-Agent': 'Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5' },
      { 'User-Agent': 'Mozilla/5.0 (compatible; Yahoo! Slurp)' },
      { 'User-Agent': 'Bluesky Cardyb/1.1; +mailto:support@bsky.app' },
      { ...people[0], 'Sec-Purpose': 'prefetch;prerender' },
      { ...people[0], Purpose: 'prefetch' },
      { ...people[0], 'X-Purpose': 'preview' },
    ]
    for (const one of people) expect([one, await countOf('GET', one)]).toEqual([one, [302, 1]])
    for (const one of others) expect([one, await countOf('GET', one)]).toEqual([one, [302, 0]])
    expect(await countOf('HEAD', {})).toEqual([302, 0])
  })

  test('a click that the queue refuses is logged and delays nobody', async () => {
    const { link } = await brandWithLink()
    const { response } = await clicksOf('GET', link.link_id, {
      async send() {
        throw new Error('gone')
      },
    })
    expect(response.status).toBe(302)
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'Error', lost: 'click', link_id: link.link_id },
    ])
  })

  test('clicks for an unavailable database are retried without delaying other clicks', async () => {
    const clicks = ['DB', 'DB_9', 'DB'].map((binding, i): Click => {
      const click_id = `click-${i}`
      return {
        account: `of-${binding}`,
        binding,
        link_id: 'abcdefgh',
        click_id,
        clicked_at: Date.now(),
        subs: {},
      }
    })
    const result = await collect(clicks)
    expect([result.outcome, result.explicitAcks, result.retryMessages]).toMatchObject([
      'ok',
      ['0', '2'],
      [{ msgId: '1' }],
    ])
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'Error', delayed: 'clicks', count: 1 },
    ])
    const { n } = (await env.DB.prepare('select count(*) as n from clicks').first<{ n: number }>())!
    expect(n).toBe(2)
  })

  test("clicks are stored in the database of their account's records", async () => {
    const { link } = await brandWithLink({ binding: 'DB_2' })
    const { sent } = await clicksOf('GET', link.link_id)
    await collect(sent)
    const count = async (db: D1Database) =>
      (await db
        .prepare('select count(*) as n from clicks where link_id = ?')
        .bind(link.link_id)
        .first<{ n: number }>())!.n
    expect([await count(env.DB), await count(env.DB_2)]).toEqual([0, 1])
  })
})

describe('links', () => {
  test('a link with pass_query passes the query of visitors on', async () => {
    const { account } = await brandWithLink()
    const create = (more: object) =>
      json(
        askAdmin(`accounts/${account}/links`, 'POST', {
          affiliate_id: 'A-1',
          landing_page: 'https://casino.example/?lang=en#top',
          ...more,
        }),
      )
    const to = async (link_id: string, query: string) => {
      const { headers } = await follow(`${link_id}${query}`)
      return headers.get('Location')!.replace(/tr1[\w-]{44}/, 'CODE')
    }
    const link = await create({ pass_query: true })
    const plain = await create({})
    expect([link.pass_query, plain.pass_query]).toEqual([true, false])
    const query = '?gclid=a%20b&lang=de&tracking_data=x&sub_id=s1'
    const own = 'https://casino.example/?lang=en&'
    expect(await to(link.link_id, query)).toBe(`${own}gclid=a%20b&sub_id=s1&tracking_data=CODE#top`)
    expect(await to(plain.link_id, query)).toBe(`${own}tracking_data=CODE#top`)
    expect(await to(link.link_id, '/?gclid=1')).toBe(`${own}gclid=1&tracking_data=CODE#top`)
    expect(await to(plain.link_id, '/')).toBe(`${own}tracking_data=CODE#top`)
    const at = `accounts/${account}/links/${link.link_id}`
    expect(await json(askAdmin(at, 'PATCH', { pass_query: false }))).toMatchObject({
      pass_query: false,
    })
  })

  test.each([
    ['Tracking_Data=x', ''],
    ['tracking%5Fdata=x', ''],
    ['tracking.data=x', ''],
    ['tracking_data[]=x', ''],
    ['LANG=x&lang[]=y', ''],
    ['a=1;tracking_data=x', 'a=1%3Btracking_data=x&'],
    ['a=%0d%0aSet-Cookie:x', 'a=%0d%0aSet-Cookie:x&'],
    [`a=${'x'.repeat(1996)}&b=2`, `a=${'x'.repeat(1996)}&`],
    ['', ''],
  ])('of the query %j a landing page gets %j', (query, passed) => {
    expect(withTracking('https://a.example/?lang=en', 'CODE', `?${query}`)).toBe(
      `https://a.example/?lang=en&${passed}tracking_data=CODE`,
    )
  })

  test.each([
    ['javascript:alert(1)'],
    ['https://acme.example/\r\nSet-Cookie:a=b'],
    ['https://acme.example/a\tb'],
    ['data:text/html,x'],
    ['ftp://a.example/'],
    ['//a.example/'],
    ['/page'],
    ['https://user:secret@a.example/'],
    [`https://a.example/${'x'.repeat(2000)}`],
    [`https://a.example/${'é'.repeat(1000)}`],
    ['https://'],
    [''],
    [7],
    [null],
  ])('a link to the landing page %j is refused', async (landing_page) => {
    const { account, link } = await brandWithLink()
    const body = { affiliate_id: 'A-1', landing_page }
    const created = await askAdmin(`accounts/${account}/links`, 'POST', body)
    expect([created.status, (await json(created)).errors[0].pointer]).toEqual([
      422,
      '/landing_page',
    ])
    const at = `accounts/${account}/links/${link.link_id}`
    expect((await askAdmin(at, 'PATCH', { landing_page })).status).toBe(422)
  })

  test('a link belongs to a configured affiliate of its own account', async () => {
    const { account, link } = await brandWithLink()
    const other = await brandWithLink({ account: 'other' })
    const body = { affiliate_id: 'nobody', landing_page: 'https://a.example/' }
    expect(await json(askAdmin(`accounts/${account}/links`, 'POST', body))).toMatchObject({
      errors: [{ pointer: '/affiliate_id', code: 'unknown_affiliate' }],
    })
    expect((await askAdmin(`accounts/other/links/${link.link_id}`)).status).toBe(404)
    const at = `accounts/${account}/links/${link.link_id}`
    expect((await askAdmin(at, 'PATCH', { affiliate_id: 'A-2' })).status).toBe(422)
    expect(await json(askAdmin(`accounts/${account}/links`))).toMatchObject({
      data: [{ link_id: link.link_id }],
      meta: { total: 1 },
    })
    expect(other.link.link_id).not.toBe(link.link_id)
    expect(await json(askAdmin(at, 'PATCH', { name: 'Autumn' }))).toMatchObject({ name: 'Autumn' })
    expect(await json(askAdmin(at, 'PATCH', { disabled: false }))).toMatchObject({ name: 'Autumn' })
    expect(await json(askAdmin(at, 'PATCH', { name: null }))).toMatchObject({ name: null })
    expect(await json(askAdmin(at, 'PATCH', { disabled: true }))).toEqual({
      ...link,
      name: null,
      disabled: true,
      disabled_by: 'team',
    })
    expect(await json(askAdmin(at))).toMatchObject({ disabled: true })
  })
})

describe('attribution', () => {
  const warnings = async (response: Response | Promise<Response>) =>
    (await json(response)).results.flatMap(({ warnings = [] }: { warnings?: { code: string }[] }) =>
      warnings.map(({ code }) => code),
    )
  const listed = async (account: string) => {
    const { data } = await json(askAdmin(`accounts/${account}/customers`))
    return Object.fromEntries(
      data.map((customer: { customer_id: string; attribution: object }) => [
        customer.customer_id,
        customer.attribution,
      ]),
    )
  }

  test('in the brand API every verdict except attributed is a warning', async () => {
    const acme = await brandWithLink()
    const other = await brandWithLink({ account: 'other' })
    const good = codeIn(await follow(acme.link.link_id))
    const foreign = codeIn(await follow(other.link.link_id))
    const sent = {
      attributed: good,
      altered: `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
      foreign,
      unrecognised: 'click-42',
      organic: undefined,
    }
    const customers = Object.entries(sent).map(([customerId, tracking_data]) => ({
      ...eve,
      customerId,
      tracking_data,
    }))
    expect(await warnings(acme.post('customers', customers))).toEqual([
      'altered',
      'foreign',
      'unrecognised',
      'unattributed',
    ])
    const noLink = { link_id: null, affiliate_id: null, affiliate_configured: false }
    expect(await listed(acme.account)).toEqual({
      attributed: {
        verdict: 'attributed',
        link_id: acme.link.link_id,
        affiliate_id: 'A-1',
        affiliate_configured: true,
      },
      altered: { verdict: 'altered', ...noLink },
      foreign: { verdict: 'foreign', ...noLink },
      unrecognised: { verdict: 'unrecognised', ...noLink },
      organic: { verdict: 'organic', ...noLink },
    })
    // All customers are stored as they were sent, whatever the verdict.
    for (const customer of customers) {
      expect(await json(acme.get(`customers/${customer.customerId}`))).toEqual(
        JSON.parse(JSON.stringify(customer)),
      )
    }
  })

  test('a record without tracking_data gets the verdict of the stored customer', async () => {
    const acme = await brandWithLink()
    const tracking_data = codeIn(await follow(acme.link.link_id))
    await acme.post('customers', { ...eve, tracking_data })

    expect(await warnings(acme.post('customers', [{ ...eve, vip: 1 }]))).toEqual([])
    expect(await warnings(acme.post('customers', [{ ...eve, tracking_data: 7 }]))).toEqual([
      'altered',
    ])
    expect((await listed(acme.account))['p-1']).toMatchObject({ verdict: 'attributed' })
    expect(await warnings(acme.post('customers', [{ ...eve, tracking_data: 'x' }]))).toEqual([
      'unrecognised',
    ])
    expect((await listed(acme.account))['p-1']).toMatchObject({
      verdict: 'unrecognised',
      link_id: null,
    })
    const brief = { Prefer: 'return=minimal' }
    const bulk = [
      { ...eve, country: 'SE' },
      { customerId: 'q', regtime: '2026-10-01 08:00', tracking_data },
    ]
    for (const outcome of ['updated', 'unchanged']) {
      expect((await json(acme.post('customers', bulk, brief))).results).toMatchObject([
        { index: 0, outcome, warnings: [{ code: 'unrecognised' }] },
      ])
    }
    expect(await warnings(acme.post('customers', [{ ...eve, tracking_data }]))).toEqual([])
    expect((await listed(acme.account))['p-1']).toMatchObject({ verdict: 'attributed' })
  })

  test('records of one customer in a bulk get the verdict of the merged record', async () => {
    const acme = await brandWithLink()
    const tracking_data = codeIn(await follow(acme.link.link_id))
    const bulk = [
      eve,
      { ...eve, tracking_data: 'x' },
      { customerId: 'p-1', vip: 1 },
      { ...eve, tracking_data },
      eve,
    ]
    expect(await warnings(acme.post('customers', bulk))).toEqual([
      'repeated_key',
      'repeated_key',
      'repeated_key',
      'repeated_key',
    ])
    expect((await listed(acme.account))['p-1']).toMatchObject({ verdict: 'attributed' })
  })

  test('invalid tracking_data in a bulk never changes an existing verdict', async () => {
    const acme = await brandWithLink()
    const tracking_data = codeIn(await follow(acme.link.link_id))
    await acme.post('customers', { ...eve, tracking_data })
    const bulk = [
      { ...eve, tracking_data: '' },
      { ...eve, crm: 1 },
    ]
    expect(await warnings(acme.post('customers', bulk))).toEqual(['altered', 'repeated_key'])
    expect((await listed(acme.account))['p-1']).toMatchObject({ verdict: 'attributed' })
  })

  test('in the partner API only altered, foreign and conflict are warnings', async () => {
    const acme = await partner('forex', { affiliates: ['aff-7', 'aff-8'] })
    const other = await brandWithLink()
    const link = await linkOf(acme.account, 'https://broker.example/', 'aff-7')
    const good = codeIn(await follow(link.link_id))
    const sent = {
      attributed: { tracking_data: good },
      conflict: { tracking_data: good, affiliate_id: 'aff-8' },
      altered: { tracking_data: good.slice(0, -1) },
      foreign: { tracking_data: codeIn(await follow(other.link.link_id)) },
      unrecognised: {},
    }
    const customers = Object.entries(sent).map(([customer_id, fields]) => ({
      ...ada,
      customer_id,
      ...fields,
    }))
    expect(await warnings(acme.post('customers', customers))).toEqual([
      'conflict',
      'altered',
      'foreign',
    ])
    const found = await listed(acme.account)
    expect(found.conflict).toEqual({
      verdict: 'conflict',
      link_id: link.link_id,
      affiliate_id: 'aff-8',
      affiliate_configured: true,
    })
    expect(found.attributed).toMatchObject({ verdict: 'attributed', affiliate_id: 'aff-7' })
    expect(found.unrecognised).toMatchObject({ verdict: 'unrecognised', affiliate_id: 'aff-7' })
    expect(await json(acme.get('customers/conflict'))).toEqual(customers[1])
    expect(await json(acme.post('customers', customers))).toMatchObject({
      summary: { unchanged: 5 },
    })
  })

  test("a partner's customers get 503 while the tracking keys are unreadable", async () => {
    const acme = await partner()
    const link = await linkOf(acme.account, 'https://broker.example/', 'aff-7')
    const tracking_data = codeIn(await follow(link.link_id))
    const request = new Request(`${ORIGIN}/api/v1/forex/customers`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${acme.access_token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify([{ ...ada, tracking_data }]),
    })
    const response = await fetchWith({ ...env, TRACKING_KEYS: '{"keys":[]}' } as Env, request)

    expect([response.status, (await json(response)).code]).toEqual([503, 'unavailable'])
    expect((await json(acme.get('customers'))).data).toEqual([])
    expect((await json(acme.get('deliveries'))).data).toEqual([])
  })

  test('a later configured affiliate gets its earlier customers without a re-send', async () => {
    const acme = await partner('forex', { affiliates: ['aff-8'] })
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
    const unconfigured = () => json(askAdmin(`accounts/${acme.account}/affiliates/unconfigured`))
    expect(await unconfigured()).toEqual({ data: [{ affiliate_id: 'aff-7', customers: 2 }] })
    expect((await listed(acme.account))['c-1']).toMatchObject({ affiliate_configured: false })

    await askAdmin(`accounts/${acme.account}/affiliates`, 'PUT', [{ affiliate_id: 'aff-7' }])
    expect(await unconfigured()).toEqual({ data: [] })
    expect((await listed(acme.account))['c-1']).toMatchObject({ affiliate_configured: true })
  })
})
