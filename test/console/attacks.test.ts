import { expect, test } from 'vitest'
import { consoleApp } from '../../src/console/app.ts'
import { brand } from '../brand.ts'
import { ada, askAdmin, deposit, issuedPartner as partner } from '../partner.ts'
import { openBrowser, signedIn } from './browser.ts'

// What callers without a session can spend, and what ids and names that senders choose can do.

test('the sign-in reads at most 128 KiB of what anybody sends', async () => {
  const browser = openBrowser()
  const key = (length: number) =>
    browser.post('/console/sign-in', { key: 'k'.repeat(length), next: '/console' })
  expect((await key(8192)).status).toBe(401)
  const refused = await key(131_072)
  expect([refused.status, await refused.text()]).toEqual([
    413,
    expect.stringContaining('at most 128 KiB'),
  ])
})

test('a message in a cookie that the service has not sealed for the session is not shown', async () => {
  await brand({ account: 'acme' })
  const message = (text: string) => /role="status">([^<]*)/.exec(text)?.[1] ?? null
  const at = '/console/accounts/acme/account'
  const shown = async (value: string) => {
    const browser = await signedIn()
    browser.cookies.set('tributary_done', value)
    return message(await (await browser.get(at)).text())
  }
  expect(await shown(encodeURIComponent('Call +44 20 0000 0000.'))).toBe(null)

  const other = await signedIn()
  await other.post(at, { change: 'enable', csrf: await other.csrf(at) })
  const sealed = other.cookies.get('tributary_done') ?? ''
  expect(await shown(sealed)).toBe(null)
  expect(message(await (await other.get(at)).text())).toBe('The account is enabled.')
})

test('no id or name that is shown becomes markup', async () => {
  const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\u0007`
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  await askAdmin('accounts/acme', 'PATCH', { name: hostile })
  await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: hostile, name: hostile }])
  await askAdmin('accounts/acme/links', 'POST', { affiliate_id: hostile, name: hostile })
  const webhook = { url: 'https://hooks.example/"><script>', description: hostile }
  await askAdmin('accounts/acme/webhooks', 'POST', webhook)
  await acme.post('customers', { ...ada, customer_id: hostile, affiliate_id: hostile })
  await acme.post('customers', { ...ada, customer_id: hostile, affiliate_id: `${hostile}2` })
  const held = { ...deposit, transaction_id: hostile, customer_id: `${hostile}3`, status: hostile }
  await acme.post('transactions', held)
  const browser = await signedIn()
  const params: Record<string, string> = { account: 'acme', affiliate_id: hostile }
  const pages = consoleApp.routes.filter(({ method }) => method === 'GET')
  let shown = 0
  for (const { path } of pages) {
    const at = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? hostile))
    const text = await (await browser.get(at)).text()
    expect([
      path,
      text.match(/<script(?! type="module" src="\/)|<img src=x|\sonerror=[^&]*>/),
    ]).toEqual([path, null])
    const texts = text.replace(/<textarea[\s\S]*?<\/textarea>|<[^>]*>/g, '')
    expect([path, texts.match(/.{0,40}\u202e.{0,40}/)]).toEqual([path, null])
    shown += Number(text.includes('&lt;script&gt;alert(1)'))
  }
  expect(shown).toBeGreaterThan(3)
})
