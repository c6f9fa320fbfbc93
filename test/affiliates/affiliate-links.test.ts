import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { isAllowedPage } from '../../src/attribution/operations/link-fields.ts'
import { signedIn } from '../console/browser.ts'
import { unescaped } from '../console/form-fields.ts'
import { ask, askAdmin, askWith, json } from '../partner.ts'
import { affiliateWorld, type Who } from './affiliate-world.ts'

// Links that affiliates make and change.

const PAGE = 'https://acme.example/start'

const ALLOWED = [PAGE, 'https://de.acme.example/']

test('a link may lead to a page of the account, and below it', () => {
  const pages = [
    PAGE,
    `${PAGE}/`,
    `${PAGE}/spring?lang=en#top`,
    `${PAGE}?lang=en`,
    'https://de.acme.example/any/page',
    'https://de.acme.example:443/',
    'https://ACME.example/start',
  ]
  expect(pages.filter((page) => !isAllowedPage(page, ALLOWED))).toEqual([])
})

test('a link may not lead to a page that only looks like one', () => {
  const pages = [
    'https://acme.example/',
    'https://acme.example/starter',
    'https://acme.example/start/../admin',
    'https://acme.example/start/%2e%2e/admin',
    'https://acme.example/start/..%2fadmin',
    'https://acme.example/start/..%5Cadmin',
    'https://acme.example/start/%252e%252e/admin',
    'https://acme.example/Start',
    'http://acme.example/start',
    'https://acme.example:8443/start',
    'https://acme.example.evil.example/start',
    'https://evil.example/https://acme.example/start',
    'https://de.acme.example.evil.example/',
    'https://x.de.acme.example/',
  ]
  expect(pages.filter((page) => isAllowedPage(page, ALLOWED))).toEqual([])
})

type World = Awaited<ReturnType<typeof affiliateWorld>>
let world: World

const openWorld = async () => {
  world = await affiliateWorld()
  await askAdmin(world.path, 'PATCH', { landing_pages: ALLOWED })
}

const writeKey = (who: Who, firm = world) => firm.makeKey(who, { scope: 'read links' })

const send = (key: string, method: string, path: string, body?: unknown) =>
  askWith(key, `/affiliate/v1/${path}`, method, body)

const make = (key: string, body: object = { landing_page: PAGE }) =>
  send(key, 'POST', 'links', body)

const linkOf = async (who: Who, firm = world) =>
  (await json(askAdmin(`${firm.path}/links?affiliate_id=${who}`))).data[0].link_id as string

/** Returns the pointers and messages of a refusal. */
async function refusal(response: Promise<Response>): Promise<string> {
  const { status, code, errors } = await json(response)
  expect([status, code]).toEqual([422, 'validation_failed'])
  return errors.map((one: Record<string, string>) => `${one.pointer} ${one.message}`).join()
}

test('the name of a link has no invisible character', async () => {
  await openWorld()
  const key = await writeKey('own')
  for (const name of [
    ...['a\u200bb', '\u200b', 'moc.\u202eelpmaxe', 'a\u2066b', 'a\u2028b', 'a\u00adb'],
    ...['  ', '\u2800', '\u3164'],
  ]) {
    const refused = await refusal(make(key, { landing_page: PAGE, name }))
    expect([name, refused]).toEqual([name, expect.stringMatching(/^\/name .*printable/)])
  }
  const name = '\u200b'
  const own = `links/${await linkOf('own')}`
  expect(await refusal(send(key, 'PATCH', own, { name }))).toMatch(/^\/name /)
  const sent = { affiliate_id: 'own', landing_page: PAGE, name }
  expect(await refusal(askAdmin(`${world.path}/links`, 'POST', sent))).toMatch(/^\/name /)
})

test('an affiliate makes a link, which brings visitors and stands in the audit log', async () => {
  await openWorld()
  const key = await writeKey('own')
  const response = await make(key, {
    landing_page: `${PAGE}?a=1`,
    name: 'Spring',
    pass_query: true,
  })
  const link = await json(response)
  expect([response.status, link]).toMatchObject([
    201,
    {
      ...{ affiliate_id: 'own', name: 'Spring', landing_page: `${PAGE}?a=1`, pass_query: true },
      ...{ disabled: false, disabled_by: null },
    },
  ])
  const visit = await ask(`${new URL(link.url).pathname}?sub1=tg&gclid=7`, { redirect: 'manual' })
  expect(visit.headers.get('Location')).toMatch(
    /^https:\/\/acme\.example\/start\?a=1&gclid=7&tracking_data=/,
  )
  const { data: keys } = await json(askAdmin(`${world.path}/affiliates/own/keys`))
  const { data } = await json(askAdmin('audit-log?account=acme-forex'))
  expect(data[0]).toMatchObject({
    ...{ action: 'link.create', actor: `affiliate-key ${keys.at(-1).id} own` },
    details: { link_id: link.link_id },
  })
})

test('a page that the account does not allow is refused, and the message names those that are', async () => {
  await openWorld()
  const key = await writeKey('own')
  const page = { landing_page: 'https://evil.example/' }
  expect(await refusal(make(key, page))).toBe(
    `/landing_page Your links may lead to these pages, and to pages below them: ${PAGE} https://de.acme.example/`,
  )
  const own = `links/${await linkOf('own')}`
  expect(await refusal(send(key, 'PATCH', own, page))).toContain('/landing_page')
  expect(await refusal(make(key, { landing_page: 'start' }))).toContain('/landing_page')
  expect(await refusal(make(key, {}))).toContain('/landing_page')
  expect(await refusal(make(key, { landing_page: PAGE, affiliate_id: 'other' }))).toContain(
    '/affiliate_id',
  )
  await askAdmin(world.path, 'PATCH', { landing_pages: [] })
  expect(await refusal(make(key))).toContain('has not named pages')
  const me = await json(send(key, 'GET', 'me'))
  expect(me).toMatchObject({ landing_pages: [], scope: 'read links' })
})

test('an affiliate changes a link, disables it and activates it again', async () => {
  await openWorld()
  const key = await writeKey('own')
  const at = `links/${(await json(make(key))).link_id}`
  const change = (body: object) => send(key, 'PATCH', at, body)
  expect(await json(change({ name: 'Autumn', landing_page: `${PAGE}/autumn` }))).toMatchObject({
    ...{ name: 'Autumn', landing_page: `${PAGE}/autumn` },
  })
  const off = { disabled: true, disabled_by: 'affiliate' }
  expect(await json(change({ disabled: true }))).toMatchObject(off)
  expect(await json(change({ name: null }))).toMatchObject({ ...off, name: null })
  const on = { disabled: false, disabled_by: null }
  expect(await json(change({ disabled: false }))).toMatchObject(on)
})

test('a link that the team disabled is activated by the team only', async () => {
  await openWorld()
  const key = await writeKey('own')
  const { link_id } = await json(make(key))
  const team = (disabled: boolean) =>
    json(askAdmin(`${world.path}/links/${link_id}`, 'PATCH', { disabled }))
  const own = (disabled: boolean) => send(key, 'PATCH', `links/${link_id}`, { disabled })
  expect(await team(true)).toMatchObject({ disabled: true, disabled_by: 'team' })
  for (const disabled of [false, true]) {
    expect(await refusal(own(disabled))).toContain('The firm has disabled this link')
  }
  expect(await team(true)).toMatchObject({ disabled_by: 'team' })
  await team(false)
  expect((await own(true)).status).toBe(200)
  expect(await team(true)).toMatchObject({ disabled_by: 'team' })
})

describe('an affiliate has at most', () => {
  const fill = (count: number, disabled: 0 | 1) =>
    env.DB.prepare(
      `insert into links (link_id, account, affiliate_id, landing_page, disabled, created_at)
       select printf('x%d%06d', ?2, value), 'acme-forex', 'own', 'https://x.example/', ?2, '2026'
       from generate_series(1, ?1)`
        .replace(
          'generate_series(1, ?1)',
          `json_each('[' || rtrim(replace(hex(zeroblob(?1)), '00', '1,'), ',') || ']')`,
        )
        .replace('value)', 'key)'),
    )
      .bind(count, disabled)
      .run()

  test('100 active links: the 101st is refused, until one is disabled', async () => {
    await openWorld()
    const key = await writeKey('own')
    await fill(98, 0)
    const last = await json(make(key))
    const most = /at most 100 active ones, and 1000 in all\. Disable one of them first/
    expect(await refusal(make(key))).toMatch(most)
    const switchTo = (disabled: boolean) =>
      send(key, 'PATCH', `links/${last.link_id}`, { disabled })
    expect((await switchTo(true)).status).toBe(200)
    expect((await make(key)).status).toBe(201)
    expect(await refusal(switchTo(false))).toMatch(most)
    // Others have their own count, and the team may make more.
    expect((await make(await writeKey('other'))).status).toBe(201)
    const body = { affiliate_id: 'own', landing_page: PAGE }
    expect((await askAdmin(`${world.path}/links`, 'POST', body)).status).toBe(201)
  })

  test('1000 links in all', async () => {
    await openWorld()
    const key = await writeKey('own')
    await fill(998, 1)
    expect((await make(key)).status).toBe(201)
    expect(await refusal(make(key))).toContain('1000 in all')
  })

  test('100 active links, if two are made at the same time', async () => {
    await openWorld()
    const key = await writeKey('own')
    await fill(98, 0)
    const both = await Promise.all([make(key), make(key)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 422])
  })
})

test('pages are set by the team, stored as browsers write them, and refused if they are no pages', async () => {
  await openWorld()
  const set = (landing_pages: unknown) => askAdmin(world.path, 'PATCH', { landing_pages })
  expect((await json(set(['https://ACME.example:443']))).landing_pages).toEqual([
    'https://acme.example/',
  ])
  const refused = async (pages: unknown) =>
    (await json(set(pages))).errors.map((one: Record<string, string>) => one.message).join()
  expect(await refused(['https://acme.example/?a=1'])).toContain('without `?` and `#`')
  expect(await refused(['javascript:alert(1)'])).toContain('is not valid')
  expect(await refused(['https://a.example/', 'https://A.example'])).toContain('already listed')
  expect(await refused(Array.from({ length: 51 }, (_, i) => `https://a${i}.example/`))).toContain(
    'There can be at most 50 pages',
  )
  expect(await refused('https://a.example/')).toContain('Expected an array')
  expect((await json(set([]))).landing_pages).toEqual([])
})

test('the audit log of the console names who made a link', async () => {
  await openWorld()
  const browser = await signedIn()
  const read = async (path: string) => unescaped(await (await browser.get(path)).text())
  const { link_id } = await json(make(await writeKey('own')))
  await send(await writeKey('own'), 'PATCH', `links/${link_id}`, { disabled: true })
  const log = (await read('/console/accounts/acme-forex/audit-log')).replaceAll(/<[^>]+>/g, '')
  expect(log).toMatch(/A key of \W?own\W? created a link/)
  const links = await read('/console/accounts/acme-forex/links')
  expect(links).toContain('disabled by the affiliate')
})
