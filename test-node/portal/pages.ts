import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { LANGUAGES } from '../../src/platform/languages.ts'
import { skip } from '../browser/chromium.ts'
import { findingsOf, windowsOf } from '../browser/findings.ts'
import { PHONE } from '../browser/viewports.ts'
import { openSignedIn, type Shared } from '../console/frame.ts'
import { NEVER, READ_TEXTS, type Shown, WATCH_LABELS } from '../console/odd.ts'
import { ACCOUNT, AFFILIATE, askTeam, joinPortal } from './member.ts'

// All pages of the portal, on a phone and on a desktop, in light and dark, in the language with the longest words,
// and each in one of the other languages.

const LONGEST = 'de'

/**
 * The affiliate of the other tests. An affiliate has one limit of requests a minute, and all pages in all languages
 * use most of it.
 */
const OTHER = 'IB-1'

/** Languages keep a number and its unit on one line by such spaces. */
const { 'an invisible character': _, ...NEVER_SHOWN } = NEVER

/** Returns the addresses of all pages: those of the navigation, and those that they lead to. */
async function addressesOf(page: Page, portal: string): Promise<string[]> {
  const linksIn = (selector: string) =>
    page
      .locator(selector)
      .evaluateAll((links) => links.map((link) => (link as unknown as { href: string }).href))
  await page.goto(portal)
  const places = await linksIn('nav a')
  await page.goto(`${portal}/statements`)
  const [statement = ''] = await linksIn('tbody a')
  const sent = await addPostback(page, portal)
  await page.goto(statement)
  const lines = await linksIn('main a.amount')
  const asks = (await linksIn('main a.ask')).slice(0, 1)
  await page.goto(`${portal}/links`)
  const [link = ''] = await linksIn('tbody a')
  assert.match(link, /\?link=/)
  assert.ok(places.length >= 7 && lines.length > 0)
  return [
    ...[...places, `${portal}/customers?status=waiting`],
    ...[`${portal}/unearned?period=2026-03`, `${portal}/unearned?period=2026-03&reason=`],
    ...[sent, statement, ...lines.slice(0, 1), ...asks, link],
  ]
}

/** Adds a postback and sends a test, whose answer is shown. Returns the address of the page with what was sent. */
async function addPostback(page: Page, portal: string): Promise<string> {
  await page.goto(`${portal}/postbacks`)
  const url = 'http://127.0.0.1:9/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}'
  await page.locator('#new-url').fill(url)
  await page.locator('#add button[type=submit]').click()
  await page.locator('article .buttons button').first().click()
  assert.match(await page.locator('article [role=status]').innerText(), /No connection/)
  return page.evaluate<string>(`document.querySelector('article > p > a').href`)
}

/** Returns the cookies of a member of the team who is signed in. */
async function consoleCookies(shared: Shared) {
  await openSignedIn(shared, '/console')
  return (await shared.page.context().cookies()).filter(({ name }) => name.includes('console'))
}

/** Defines the tests of the pages of the portal. */
export function portalPageTests(shared: () => Shared): void {
  test('no page of the portal has a finding, scrolls sideways on a phone, or shows what only programs read', {
    skip,
    timeout: 600_000,
  }, async () => {
    const { browser } = shared()
    const context = await browser.newContext({ viewport: PHONE })
    const page = await context.newPage()
    await page.addInitScript(WATCH_LABELS)
    const portal = await joinPortal(shared(), context, page)
    const addresses = await addressesOf(page, portal)
    const found: string[] = []
    for (const language of LANGUAGES) {
      await askTeam(shared(), '/affiliates', 'PUT', [{ affiliate_id: AFFILIATE, language }])
      for (const [i, address] of addresses.entries()) {
        if (language !== LONGEST && LANGUAGES[i % LANGUAGES.length] !== language) continue
        const note = (what: string) => found.push(`${address} ${language}: ${what}`)
        await page.setViewportSize(PHONE)
        const response = await page.goto(address)
        if (response?.status() !== 200) note(`is ${response?.status()}`)
        const { texts, cut, width } = await page.evaluate<Shown>(READ_TEXTS)
        for (const [name, pattern] of Object.entries(NEVER_SHOWN)) {
          const text = texts.find((one) => pattern.test(one))
          if (text) note(`${name}: ${JSON.stringify(text.slice(0, 120))}`)
        }
        for (const text of cut) note(`is cut: ${text}`)
        if (width > PHONE.width) note(`is ${width} pixels wide`)
        const frame = await page.evaluate<[string, number, number]>(
          `[document.documentElement.lang, document.querySelectorAll('h1').length,
            document.querySelectorAll('nav [aria-current]').length]`,
        )
        assert.deepEqual([address, ...frame], [address, language, 1, 1])
        // The elements of a page are the same in each language.
        if (language !== LONGEST) continue
        await page.setViewportSize(windowsOf(i)[0])
        for (const finding of await findingsOf(page)) note(finding)
      }
    }
    await context.close()
    assert.deepEqual(found, [])
  })

  test('the portal is used on a phone by the keyboard and a link made without a script, and its address is copied with one', {
    skip,
  }, async () => {
    const { browser } = shared()
    const withScript = await browser.newContext({
      ...{ viewport: PHONE, permissions: ['clipboard-read', 'clipboard-write'] },
    })
    const first = await withScript.newPage()
    const portal = await joinPortal(shared(), withScript, first, OTHER)
    await askTeam(shared(), '/affiliates', 'PUT', [{ affiliate_id: OTHER, language: 'en' }])
    await askTeam(shared(), '', 'PATCH', { landing_pages: ['https://broker.example/start'] })
    const storageState = await withScript.storageState()
    const context = await browser.newContext({
      ...{ viewport: PHONE, javaScriptEnabled: false, storageState },
    })
    const page = await context.newPage()
    await page.goto(portal)
    // Skip link, name of the account, sign-out, menu.
    for (let i = 0; i < 4; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Statements' }).click()
    await page.locator('tbody a').first().click()
    const rule = page.locator('.rule-lines:has(a.amount)').first()
    await rule.locator('summary').first().click()
    await rule.locator('a.amount').first().click()
    assert.match(await page.locator('#why').innerText(), /The line pays/)

    await page.goto(`${portal}/links`)
    await page.getByLabel('Page that it leads to').fill('https://broker.example/start/spring')
    await page.getByLabel('Name').fill('Spring newsletter')
    await page.getByRole('button', { name: 'Make a link' }).click()
    assert.match(await page.getByRole('status').innerText(), /The link is made/)
    const url = await page.locator('[data-copy]').first().innerText()
    await first.goto(page.url())
    await first.getByRole('button', { name: 'Copy' }).first().click()
    await first.getByRole('button', { name: 'Copied' }).waitFor()
    // The function runs in the page.
    assert.equal(await first.evaluate('navigator.clipboard.readText()'), url)
    await page.getByRole('button', { name: 'Turn the link off' }).click()
    assert.match(await page.getByRole('status').innerText(), /turned off/)
    await context.close()
    await withScript.close()
  })

  test('a reload repeats no form that has made something, and shows its secret no more', {
    skip,
    timeout: 600_000,
  }, async () => {
    const { browser, base } = shared()
    const context = await browser.newContext({ viewport: PHONE })
    const page = await context.newPage()
    const portal = await joinPortal(shared(), context, page, OTHER)
    await askTeam(shared(), '/affiliates', 'PUT', [{ affiliate_id: OTHER, language: 'en' }])
    await context.addCookies(await consoleCookies(shared()))
    const account = `${base}/console/accounts/${ACCOUNT}`
    const affiliate = `${account}/affiliates/${OTHER}`
    const fill = (name: string, text: string) => () => page.getByLabel(name).first().fill(text)
    const forms: readonly [at: string, list: string, name: string, fill: () => Promise<void>][] = [
      [`${portal}/passkeys`, 'keys', 'Make a key', fill('What the key is for', 'Tracker')],
      [affiliate, 'invitations', 'Invite', async () => {}],
    ]
    for (const [at, list, name, typed] of forms) {
      const count = async () =>
        (await askTeam<{ data: object[] }>(shared(), `/affiliates/${OTHER}/${list}`)).data.length
      await page.goto(at)
      const before = await count()
      await typed()
      await page.getByRole('button', { name, exact: true }).click()
      await page.locator('[role=status]').first().waitFor()
      const secrets = await page.locator('.notice [data-copy]').allInnerTexts()
      assert.ok(secrets.length > 0, name)
      await page.reload()
      await page.reload()
      const shown = await page.locator('body').innerText()
      assert.deepEqual([name, secrets.filter((secret) => shown.includes(secret))], [name, []])
      await page.goto(at)
      assert.deepEqual([name, await count()], [name, before + 1])
    }
    await context.close()
  })
}
