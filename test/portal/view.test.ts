import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { consoleApp } from '../../src/console/app.ts'
import { isForPortal, portalApp } from '../../src/portal/app.tsx'
import { affiliateWorld } from '../affiliates/affiliate-world.ts'
import { KEY_WORLD, openBrowser } from '../console/browser.ts'
import { ask, askAdmin, json } from '../partner.ts'
import { hidden } from './join.ts'

// A member of the team sees the portal as an affiliate sees it, and changes nothing.

const AT = '/portal/acme-forex'
const CONSOLE = '/console/accounts/acme-forex/affiliates/own'

/** A browser that shows the console and the portal. */
const openBoth = (world = KEY_WORLD) =>
  openBrowser(world, {
    fetch: (request: Request, bindings: Env, context: ExecutionContext) =>
      (isForPortal(request.url) ? portalApp : consoleApp).fetch(request, bindings, context),
  } as typeof consoleApp)

let world: Awaited<ReturnType<typeof affiliateWorld>>
let browser: ReturnType<typeof openBoth>

beforeEach(async () => {
  world = await affiliateWorld()
  browser = openBoth()
  await browser.signIn()
})

/** Begins to look at the portal as an affiliate. */
const look = async (affiliate_id = 'own') =>
  browser.post(`${AT}/view`, { csrf: await browser.csrf(CONSOLE), affiliate_id })

const read = async (path = '') => (await browser.get(`${AT}${path}`)).text()
const cookies = () => [...browser.cookies].map((pair) => pair.join('=')).join('; ')

test('it shows what the affiliate sees, with a banner, and is in the audit log', async () => {
  expect(await (await browser.get(CONSOLE)).text()).toContain('See the portal as this affiliate')
  const begun = await look()
  expect([begun.status, begun.headers.get('Location')]).toEqual([303, AT])
  for (const path of ['', '/statements', '/customers', '/questions']) {
    expect([path, await read(path)]).toEqual([path, expect.stringContaining('You see what')])
  }
  const page = await read(`/statements/${world.statementOf('own').id}`)
  expect(page).toContain('Leave')
  const other = await browser.get(`${AT}/statements/${world.statementOf('other').id}`)
  expect(other.status).toBe(404)
  const { data } = await json(askAdmin('audit-log?account=acme-forex&kind=affiliate-view'))
  expect(data).toMatchObject([
    { actor: 'admin-key', action: 'affiliate-view.begin', details: { affiliate_id: 'own' } },
  ])
  expect(await json(askAdmin(`${world.path}/affiliates/own/members`))).toEqual({ data: [] })
})

test('every change of the portal and of the API is refused with a clear sentence', async () => {
  await look()
  const csrf = hidden(await read('/questions'), 'csrf')
  const changes = portalApp.routes.filter(
    ({ method, path }) =>
      method === 'POST' && !/\/(sign-in|sign-out|view|invitation|register)$/.test(path),
  )
  expect(changes.length).toBeGreaterThanOrEqual(2)
  const { id: statement } = world.statementOf('own')
  for (const { path } of changes) {
    const at = path.replace(':account', 'acme-forex').replaceAll(/:\w+/g, 'x')
    const response = await browser.post(at, { csrf, statement, text: 'Why?', change: 'add' })
    expect([at, response.status, await response.text()]).toEqual([
      at,
      403,
      expect.stringContaining('role="alert">You see what the affiliate sees. You cannot'),
    ])
  }
  for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
    const response = await ask('/affiliate/v1/questions', {
      ...{ method, body: JSON.stringify({ statement, text: 'Why?' }) },
      headers: { Cookie: cookies(), 'x-csrf-token': csrf, 'Content-Type': 'application/json' },
    })
    expect([method, response.status, (await json(response)).code]).toEqual([
      method,
      403,
      'insufficient_scope',
    ])
  }
  expect(await read()).not.toContain('/passkeys')
  expect((await browser.get(`${AT}/passkeys`)).status).toBe(403)
  expect(await json(askAdmin(`${world.path}/questions`))).toMatchObject({ data: [] })
})

test('it ends when the member leaves, or signs out of the console, also for a copy of the cookie', async () => {
  await look()
  const left = await browser.post(`${AT}/sign-out`, { csrf: hidden(await read(), 'csrf') })
  expect(left.headers.get('Location')).toBe(CONSOLE)
  expect((await browser.get(AT)).status).toBe(303)

  await look()
  const copy = new Map(browser.cookies)
  const me = async () => (await ask('/affiliate/v1/me', { headers: { Cookie: cookies() } })).status
  expect(await me()).toBe(200)
  await browser.post('/console/sign-out', { csrf: await browser.csrf() })
  for (const [name, value] of copy) browser.cookies.set(name, value)
  expect((await browser.get(AT)).status).toBe(303)
  expect(await me()).toBe(401)
})

test('it ends with the key of the member', async () => {
  const key = 'k'.repeat(40)
  const ADMIN_KEYS = JSON.stringify({ ada: { key, role: 'viewer' } })
  const ofAda = { ...KEY_WORLD, ADMIN_KEYS } as Env
  browser = openBoth(ofAda)
  await browser.signIn(key)
  expect((await look()).status).toBe(303)
  expect((await browser.get(AT)).status).toBe(200)
  expect((await browser.get(AT, {}, KEY_WORLD)).status).toBe(303)
})

test('nobody looks without a session of the console and its token, or at an affiliate that is not there', async () => {
  const csrf = await browser.csrf(CONSOLE)
  expect((await look('nobody')).status).toBe(404)
  const missing = await browser.post(`${AT}/view`, { csrf: 'x', affiliate_id: 'own' })
  expect(missing.status).toBe(400)
  const foreign = await browser.post(
    `${AT}/view`,
    { csrf, affiliate_id: 'own' },
    { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  )
  expect(foreign.status).toBe(400)
  const stranger = openBoth(env as Env)
  const refused = await stranger.post(`${AT}/view`, { csrf, affiliate_id: 'own' })
  expect([refused.status, [...stranger.cookies]]).toEqual([303, []])
  expect(await json(askAdmin('audit-log?account=acme-forex&kind=affiliate-view'))).toMatchObject({
    data: [],
  })
})

test('a view of a suspended affiliate says so, and ends with the suspension', async () => {
  await look()
  await askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', status: 'suspended' }])
  expect((await browser.get(AT)).status).toBe(403)
  const page = await (await browser.get(CONSOLE)).text()
  expect(page).not.toContain('See the portal as this affiliate')
  expect(page).toContain('Nobody can be invited while the affiliate is suspended')
  await askAdmin(`${world.path}/affiliates`, 'PUT', [{ affiliate_id: 'own', status: 'active' }])
  expect((await browser.get(AT)).status).toBe(303)
})

test('a draft that pays nothing has no day', async () => {
  const { id } = world.statementOf('own')
  await look()
  expect(await read('/statements')).toContain('once it is approved')
  await env.DB.prepare(
    `update statements set payable = '0.00', statement = json_set(statement, '$.payable', '0.00') where id = ?`,
  )
    .bind(id)
    .run()
  expect(await read('/statements')).not.toContain('once it is approved')
})
