import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { keyOfRole } from '../members.ts'
import { askAdmin, json } from '../partner.ts'
import { KEY_WORLD, signedIn } from './browser.ts'
import { probe } from './probe.tsx'

// What pages of the console can do: the page of `probe` has every part.

const AT = '/console/accounts/acme/probe'

async function openPage(key = env.ADMIN_KEY) {
  const account = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' }
  await askAdmin('accounts', 'POST', account)
  const browser = await signedIn(KEY_WORLD, probe, key)
  const csrf = await browser.csrf(AT)
  const change = (fields: Record<string, string>, at = AT) => browser.post(at, { csrf, ...fields })
  return { ...browser, change }
}

const nameNow = async () => (await json(askAdmin('accounts/acme'))).name
const actions = async () =>
  (await json(askAdmin('audit-log'))).data.map(
    ({ actor, action }: { actor: string; action: string }) => `${actor} ${action}`,
  )

test('a change is made by the member, and the next page says so once', async () => {
  const { change, get } = await openPage(await keyOfRole('manager'))
  const response = await change({ change: 'rename', name: 'New & old' }, `${AT}?status=a`)

  expect(response.status).toBe(303)
  expect(response.headers.get('Location')).toBe(`${AT}?status=a`)
  expect(await nameNow()).toBe('New & old')
  expect(await actions()).toEqual([
    'the-manager@team.example account.change',
    'root-key account.create',
  ])
  expect(await (await get(AT)).text()).toContain('role="status">The account has its new name: “é”.')
  expect(await (await get(AT)).text()).not.toContain('role="status"')
})

test('a refused change shows the page again, with the errors beside their fields', async () => {
  const { change } = await openPage()
  const response = await change({ change: 'rename', name: '<i>\u0000' })
  const text = await response.text()

  expect(response.status).toBe(422)
  expect(text).toContain('value="&lt;i&gt;')
  expect(text).toMatch(/<div class="field wrong"><label for="rename-name">/)
  expect(text).toContain('role="alert" tabindex="-1" autofocus=""')
  expect(text).toMatch(/aria-describedby="rename-name-about"/)
  expect(text).toMatch(/id="rename-name-about"[^>]*><strong>[^<]+/)
  expect(await nameNow()).toBe('Acme')
})

test('a change that the role does not allow is a 403, and its form is not shown', async () => {
  const { change, get } = await openPage(await keyOfRole('manager'))
  expect(await (await get(AT)).text()).not.toContain('id="change-issue"')

  const response = await change({ change: 'issue' })
  expect(response.status).toBe(403)
  expect(await actions()).toEqual(['root-key account.create'])
})

test('a secret is shown once, on the page after a redirect, and no address or cookie can be read as it', async () => {
  const { change, cookies, get } = await openPage()
  const response = await change({ change: 'issue' })
  expect([response.status, response.headers.get('Location')]).toEqual([303, AT])
  const kept = cookies.get('tributary_done') ?? ''
  const live = await get(AT, { 'Sec-Fetch-Mode': 'cors' })
  expect(await live.text()).not.toContain('tcs_test_')

  const text = await (await get(AT, { 'Sec-Fetch-Mode': 'navigate' })).text()
  const [secret = 'none'] = /tcs_test_\w+/.exec(text) ?? []
  expect(text).toContain(`data-copied="Copied">${secret}</code>`)
  const plain = kept.split('.').map((part) => atob(part.replaceAll('-', '+').replaceAll('_', '/')))
  expect([kept, ...plain].join()).not.toContain(secret)
  expect(await (await get(AT)).text()).not.toContain(secret)

  cookies.set('tributary_done', kept)
  expect(await (await get(AT)).text(), 'a copy of the cookie, within a minute').toContain(secret)
  const other = await openPage()
  other.cookies.set('tributary_done', kept)
  expect(await (await other.get(AT)).text(), 'of another session').not.toContain(secret)
})

test.each(['', 'unknown', '__proto__', 'toString'])(
  'a form without a change of the page is a 404: %j',
  async (name) => {
    const { change } = await openPage()
    expect((await change({ change: name })).status).toBe(404)
  },
)

test('filters and pages are in the address, and empty filters are not applied', async () => {
  const { get } = await openPage()
  const text = await (await get(`${AT}?status=a&cursor=`)).text()

  expect(text).toContain('<option value="a" selected="">A</option>')
  expect(text).toContain(`href="${AT}?status=a&amp;cursor=next"`)
  expect(text).not.toContain('First page')
  expect(await (await get(`${AT}?cursor=x`)).text()).toContain(`<a href="${AT}">First page</a>`)
})
