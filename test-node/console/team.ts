import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skip } from '../browser/chromium.ts'
import { findingsOf } from '../browser/findings.ts'
import { PHONE } from '../browser/viewports.ts'
import { addAuthenticator } from '../portal/member.ts'
import { openSignedIn, type Shared } from './frame.ts'

/** Defines the test of a member of the team, from the invitation on. */
export function teamTests(shared: () => Shared): void {
  test('somebody is invited by a form, registers a passkey, and signs in with it', {
    skip,
  }, async () => {
    const { base, browser, page } = shared()
    await openSignedIn(shared(), '/console/team')
    await page.locator('#invite-name').fill('Eve Example')
    await page.getByLabel('E-mail address').fill('eve@team.example')
    await page.locator('#change-invite').getByLabel('All accounts').check()
    await page.getByRole('button', { name: 'Invite' }).click()
    const link = await page.locator('.notice [data-copy]').first().innerText()
    const context = await browser.newContext({ viewport: PHONE })
    try {
      const [first, phone] = [await context.newPage(), await context.newPage()]
      await first.goto(link)
      await first.getByText('invites you to the team as Eve Example').waitFor()
      assert.deepEqual(await findingsOf(first), [])
      await addAuthenticator(context, phone)
      await phone.goto(link)
      await phone.getByRole('button', { name: 'Create a passkey' }).click()
      await phone.waitForURL(`${base}/console`)
      await phone.goto(`${base}/console/me`)
      assert.equal(await phone.locator('h1').innerText(), 'Eve Example')
      assert.deepEqual(await findingsOf(phone), [])
      await phone.reload()
      await phone.getByLabel('What the key is for').fill('Script')
      await phone.getByRole('button', { name: 'Make a key' }).click()
      await phone.getByText('The key is made.').waitFor()
      await phone.locator('summary').filter({ hasText: 'Menu' }).click()
      await phone.getByRole('button', { name: 'Sign out' }).click()
      await phone.getByRole('button', { name: 'Sign in with a passkey' }).click()
      await phone.waitForURL(`${base}/console`)

      await page.goto(`${base}/console/team`)
      await page.locator('summary', { hasText: 'Remove a member' }).click()
      const form = page.locator('#change-remove')
      await form.getByLabel('Who').selectOption({ label: 'Eve Example, eve@team.example' })
      await form.getByRole('button', { name: 'Remove' }).click()
      await page.getByText('The member is removed.').waitFor()
      await phone.reload()
      assert.match(phone.url(), /\/console\/sign-in/)
    } finally {
      await context.close()
    }
  })
}
