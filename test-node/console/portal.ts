import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { skip } from '../browser/chromium.ts'
import { DESKTOP, PHONE } from '../browser/viewports.ts'
import { call } from './demo-case.ts'
import { openSignedIn, type Shared } from './frame.ts'

const AFFILIATE = 'MIN-1'
const AT = `affiliates/${AFFILIATE}`
const PORTAL = '/portal/demo-broker'

type Credentials = { credentials: { credentialId: string }[] }

/** A device with a screen lock, in Chromium: its passkeys are there while it is attached. */
function newDevice(cdp: CDPSession) {
  let kept: Credentials['credentials'] = []
  let authenticatorId = ''
  return {
    async attach() {
      const options = {
        ...({ protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const),
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      }
      const made = await cdp.send('WebAuthn.addVirtualAuthenticator', { options })
      authenticatorId = made.authenticatorId
      for (const credential of kept) {
        await cdp.send('WebAuthn.addCredential', { authenticatorId, credential } as never)
      }
    },
    async detach() {
      const found = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
      kept = (found as Credentials).credentials
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    },
  }
}

/** The invitation of a person. */
async function invitation(shared: Shared): Promise<string> {
  const made = await call<{ invitation_url: string }>(shared, 'POST', `${AT}/invitations`, {})
  return made.invitation_url
}

/** What a person does in the portal, on a page. */
const personOn = (page: Page, origin: string) => {
  const isAt = (path: string) => page.waitForURL((url) => url.pathname === PORTAL + path)
  const main = page.locator('main')
  const click = (name: string) => page.getByRole('button', { name, exact: true }).click()
  return {
    main,
    click,
    isAt,
    open: (path: string) => page.goto(origin + PORTAL + path),
    async register(url: string, name?: string) {
      await page.goto(url)
      if (name) await page.getByLabel('Your name').fill(name)
      await click('Create a passkey')
      await isAt('')
    },
    async signOut() {
      await click('Sign out')
      await isAt('/sign-in')
    },
    signIn: () => click('Sign in with a passkey'),
    async isRefused() {
      await click('Sign in with a passkey')
      await main.getByRole('alert').filter({ hasText: 'not registered here' }).waitFor()
    },
  }
}

/** Defines the tests of the portal. */
export function portalTests(shared: () => Shared): void {
  test('a person registers a passkey, adds a second device, and removes the first', {
    skip,
  }, async () => {
    const context = await shared().browser.newContext({ viewport: PHONE })
    try {
      const page = await context.newPage()
      const cdp = await context.newCDPSession(page)
      await cdp.send('WebAuthn.enable')
      const [phone, laptop] = [newDevice(cdp), newDevice(cdp)]
      const link = await invitation(shared())
      const eve = personOn(page, new URL(link).origin)

      await phone.attach()
      await eve.register(link, 'Eve Example')
      await eve.open('/passkeys')
      await eve.click('Add another passkey')
      await eve.click('Create a passkey')
      await eve.main.getByRole('status').filter({ hasText: 'already has a passkey' }).waitFor()
      await phone.detach()
      await laptop.attach()
      await page.getByLabel('Name of the passkey').fill('Laptop')
      await eve.click('Create a passkey')
      await eve.main.getByRole('status').filter({ hasText: 'The passkey is added.' }).waitFor()

      await eve.signOut()
      await eve.signIn()
      await eve.isAt('')
      await eve.open('/passkeys')
      const first = eve.main.locator('.passkey').filter({ hasNotText: 'Laptop' })
      await first.getByRole('button', { name: 'Remove' }).click()
      await eve.main.getByRole('status').filter({ hasText: 'The passkey is removed.' }).waitFor()

      await eve.signOut()
      await laptop.detach()
      await phone.attach()
      await eve.isRefused()
    } finally {
      await context.close()
    }
  })

  test('an affiliate asks about a statement, and a manager answers', { skip }, async () => {
    const context = await shared().browser.newContext()
    const page = await context.newPage()
    const team = { ...shared(), page }
    const { base } = team

    const { affiliate_key } = await call<{ affiliate_key: string }>(
      ...([shared(), 'POST', `${AT}/keys`, { name: 'Browser', scope: 'read links' }] as const),
    )
    const path = `statements?affiliate_id=${AFFILIATE}`
    const { data } = await call<{ data: { id: string }[] }>(shared(), 'GET', path)
    const headers = {
      Authorization: `Bearer ${affiliate_key}`,
      'Content-Type': 'application/json',
    }
    const body = JSON.stringify({ statement: data[0]?.id, text: 'Why is this less?' })
    await fetch(`${base}/affiliate/v1/questions`, { method: 'POST', headers, body })
    await openSignedIn(team, '/console/accounts/demo-broker', DESKTOP)
    await page.getByRole('link', { name: 'Answer', exact: true }).click()
    await page.getByRole('link', { name: 'Why is this less?' }).first().click()
    await page.getByLabel('Answer', { exact: true }).fill('One customer was counted twice.')
    await page.getByRole('button', { name: 'Send the answer' }).click()
    await page.getByRole('status').filter({ hasText: 'The answer is stored.' }).waitFor()

    const answered = await fetch(`${base}/affiliate/v1/questions`, { headers })
    assert.match(await answered.text(), /One customer was counted twice\./)
    await context.close()
  })
}
