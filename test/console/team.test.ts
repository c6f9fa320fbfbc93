import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { memberKey } from '../members.ts'
import { ask, askAdmin, json } from '../partner.ts'
import { newPasskey } from '../portal/authenticator.ts'
import { confirmed, hidden, joinAt } from '../portal/join.ts'
import { KEY_WORLD, openBrowser, signedIn, textOf } from './browser.ts'

// The members of the team in the console: invitations, requests for a second approver, removal, and what is their own.

type Browser = ReturnType<typeof openBrowser>

const TEAM = '/console/team'
const ME = '/console/me'

const ADA = { name: 'Ada', email: 'ada@team.example', role: 'approver' }

const pageOf = async (browser: Browser, at: string) => (await browser.get(at)).text()

/** Sends a form of a page of the team. Returns the page after it. */
async function send(browser: Browser, at: string, fields: Record<string, string>) {
  const csrf = await browser.csrf(at)
  const response = await browser.post(at, { csrf, ...fields })
  const to = response.headers.get('Location')
  return { status: response.status, page: await (to ? pageOf(browser, to) : response.text()) }
}

/** Invites somebody by the form, and returns what is shown then. */
const invite = (browser: Browser, { accounts = 'all', ...fields }: Record<string, string>) =>
  send(browser, TEAM, {
    ...{ change: 'invite', [`accounts:${accounts}`]: 'on', affiliates: 'all', language: 'en' },
    ...fields,
  })

const secretIn = (page: string) => /console\/invitation#(\w+)/.exec(page)?.[1] ?? ''

/** Registers a passkey by an invitation. */
async function join(secret: string) {
  const [browser, device] = [openBrowser(), await newPasskey()]
  const { status } = await joinAt('/console', browser, secret, { device })
  return { browser, device, status }
}

/** Invites somebody who joins. */
async function joined(by: Browser, fields: Record<string, string>) {
  const member = await join(secretIn((await invite(by, fields)).page))
  const { data } = await json(askAdmin('members'))
  const { id } = data.find(({ email }: { email: string }) => email === fields.email)
  return { ...member, id }
}

/** Returns two approvers of an account that asks for two persons. */
async function twoApprovers() {
  await askAdmin('accounts', 'POST', { account: 'acme', name: 'Acme', vertical: 'forex' })
  await env.DB.exec('update accounts set approvals = 2')
  const root = await signedIn()
  const ada = await joined(root, ADA)
  const bob = await joined(root, { ...ADA, name: 'Bob', email: 'bob@team.example' })
  return { root, ada, bob }
}

const isSignedIn = async (browser: Browser) => (await browser.get(TEAM)).status === 200

test('§21.1 whoever has the root key invites the first approver, whose link is shown once', async () => {
  const root = await signedIn()
  const { page } = await invite(root, ADA)
  expect(secretIn(page)).toMatch(/^\w{43}$/)
  expect(await pageOf(root, TEAM)).not.toContain(secretIn(page))
  expect(textOf(await pageOf(root, TEAM))).toMatch(/Ada ada@team.example approver All All invited/)
  const { browser, status } = await join(secretIn(page))
  expect(status).toBe(303)
  expect(textOf(await pageOf(browser, TEAM))).toMatch(/Ada .* has joined The root key/)
  expect((await json(askAdmin('audit-log'))).data[0]).toMatchObject({
    ...{ actor: 'ada@team.example', action: 'member.join' },
  })
  const again = await invite(root, { ...ADA, email: 'ADA@Team.Example' })
  expect([again.status, textOf(again.page)]).toEqual([409, expect.stringContaining('is a member')])
})

test('a name with markup is shown as it is, and breaks no page', async () => {
  const root = await signedIn()
  const name = '<b onclick="x">Eve</b>'
  const { page } = await invite(root, { ...ADA, name })
  expect(page).toContain('The invitation is made')
  const secret = secretIn(page)
  const opened = await (await openBrowser().post('/console/invitation', { secret })).text()
  const { browser } = await join(secret)
  for (const shown of [page, opened, await pageOf(browser, ME), await pageOf(root, TEAM)])
    expect([shown.includes('<b onclick'), shown.includes('&lt;b onclick')]).toEqual([false, true])
})

test('§21.1 an invitation ends with who it is for, and not with its author', async () => {
  const root = await signedIn()
  const ada = await joined(root, ADA)
  const eve = { name: 'Eve', email: 'eve@team.example', role: 'manager' }
  const secret = secretIn((await invite(ada.browser, eve)).page)
  await joined(root, { ...ADA, name: 'Bob', email: 'bob@team.example' })
  expect((await send(root, TEAM, { change: 'remove', member: ada.id })).page).toContain(
    'The member is removed',
  )
  expect((await join(secret)).status).toBe(303)
  const list = textOf(await pageOf(root, TEAM))
  expect(list).toMatch(/Eve eve@team.example manager .* has joined (?:Ada|ada@team.example)/)

  const late = secretIn((await invite(root, { ...eve, email: 'late@team.example' })).page)
  const { data } = await json(askAdmin('members'))
  const { id } = data.find(({ email }: { email: string }) => email === 'late@team.example')
  await send(root, TEAM, { change: 'remove', member: id })
  expect((await openBrowser().post('/console/invitation', { secret: late })).status).toBe(404)
})

test.each([
  ['they are removed', { change: 'remove' }],
  ['they have lost their device', { change: 'lost' }],
])('§21.1 sessions and keys of a member end at once when %s', async (_, fields) => {
  const root = await signedIn()
  await joined(root, ADA)
  const eve = await joined(root, { name: 'Eve', email: 'eve@team.example', role: 'manager' })
  const page = await pageOf(eve.browser, ME)
  const form = { change: 'make-key', name: 'Script', role: 'manager' }
  await eve.browser.post(ME, await confirmed(page, eve.device, form))
  const [key = ''] = /tmk_live_\w+/.exec(await pageOf(eve.browser, ME)) ?? []
  const works = async () =>
    (await ask('/admin/v1/me', { headers: { Authorization: `Bearer ${key}` } })).status
  expect([await isSignedIn(eve.browser), await works()]).toEqual([true, 200])
  const done = await send(root, TEAM, { ...fields, member: eve.id })
  expect(done.status).toBe(303)
  expect([await isSignedIn(eve.browser), await works()]).toEqual([false, 401])
  const signIn = await pageOf(openBrowser(), '/console/sign-in')
  expect(signIn).toContain('data-passkey="get"')
  if (fields.change === 'lost') expect((await join(secretIn(done.page))).status).toBe(303)
})

test('§21.1 a further approver waits until another one agrees, who is not the one who asked', async () => {
  const { root, ada, bob } = await twoApprovers()
  const asked = await invite(ada.browser, { ...ADA, name: 'Cy', email: 'cy@team.example' })
  expect([secretIn(asked.page), asked.page]).toEqual([
    '',
    expect.stringContaining('It is done when another approver agrees.'),
  ])
  const { data } = await json(askAdmin('members'))
  const cy = data.find(({ name }: { name: string }) => name === 'Cy')
  expect(await pageOf(ada.browser, TEAM)).not.toContain('value="agree"')
  const page = await pageOf(bob.browser, TEAM)
  expect(textOf(page)).toContain('Ada asked to invite Cy')
  const fields = { change: 'agree', member: cy.id, request: hidden(page, 'request') }
  expect(fields.request).toBe(cy.waiting.id)
  for (const browser of [ada.browser, root])
    expect((await send(browser, TEAM, fields)).status).toBe(409)
  const agreed = await send(bob.browser, TEAM, fields)
  expect((await join(secretIn(agreed.page))).status).toBe(303)
})

test('a role that is changed counts at the next request; nobody changes themselves', async () => {
  const { ada, bob } = await twoApprovers()
  const eve = await joined(ada.browser, {
    ...ADA,
    name: 'Eve',
    email: 'e@x.example',
    role: 'viewer',
  })
  const asked = await send(ada.browser, TEAM, {
    ...{ change: 'change', member: eve.id, name: '', role: 'manager', language: '' },
  })
  expect(asked.page).toContain('It is done when another approver agrees.')
  const page = await pageOf(bob.browser, TEAM)
  expect(textOf(page)).toMatch(/Ada asked to give more to Eve .* New role manager/)
  await send(bob.browser, TEAM, {
    ...{ change: 'agree', member: eve.id, request: hidden(page, 'request') },
  })
  expect(await pageOf(eve.browser, ME)).toContain('<small>manager</small>')
  expect(await pageOf(ada.browser, TEAM)).toContain('Nobody changes themselves.')
  expect((await send(ada.browser, TEAM, { change: 'lost', member: ada.id })).status).toBe(409)
})

test.each(['viewer', 'manager'] as const)(
  'a %s sees the team, and who of it may change it',
  async (role) => {
    const root = await signedIn()
    const ada = await joined(root, ADA)
    const browser = await signedIn(KEY_WORLD, undefined, await memberKey({ name: 'vi', role }))
    const page = await pageOf(browser, TEAM)
    expect(textOf(page)).toMatch(
      new RegExp(`Ada ada@team.example approver .* Only an approver .* Your role is ${role}.`),
    )
    expect(page).not.toMatch(/name="change"/)
    for (const change of ['change', 'lost', 'remove', 'agree'])
      expect([change, (await send(browser, TEAM, { change, member: ada.id })).status]).toEqual([
        change,
        403,
      ])
    expect((await invite(browser, { ...ADA, email: 'x@team.example' })).status).toBe(403)
  },
)

test('a member makes keys with a passkey, each of which is shown once, and ends them', async () => {
  const { browser, device } = await joined(await signedIn(), ADA)
  const form = { change: 'make-key', name: 'Script', role: 'viewer' }
  const page = await pageOf(browser, ME)
  const sent = await confirmed(page, device, form)
  expect((await browser.post(ME, { ...sent, credential: '' })).status).toBe(400)
  expect((await browser.post(ME, sent)).status).toBe(303)
  const shown = await pageOf(browser, ME)
  const [key = ''] = /tmk_live_\w+/.exec(shown) ?? []
  expect(await pageOf(browser, ME)).not.toContain(key)
  const me = () => ask('/admin/v1/me', { headers: { Authorization: `Bearer ${key}` } })
  expect(await json(me())).toMatchObject({ email: 'ada@team.example', role: 'viewer' })
  const [, key_id = ''] = /name="key_id"[^>]*><option value="([^"]+)"/.exec(shown) ?? []
  expect((await send(browser, ME, { change: 'end-key', key_id })).page).toContain('is ended')
  expect((await me()).status).toBe(401)
})

test('the root key is nobody: it has no passkeys and no keys', async () => {
  const root = await signedIn()
  expect(textOf(await pageOf(root, ME))).toContain('nobody in particular')
  for (const change of ['make-key', 'confirm-add', 'add', 'remove'])
    expect([change, (await send(root, ME, { change })).status]).toEqual([change, 409])
})
