import assert from 'node:assert/strict'
import type { BrowserContext, Page } from 'playwright-core'
import type { Shared } from '../console/frame.ts'

// A member of an affiliate in the portal, with Chromium's virtual authenticator as their device.

/** The account of the portal, whose affiliates have a year of statements. */
export const ACCOUNT = 'demo-broker'

/** The affiliate of the member: with customers, statements and affiliates below. */
export const AFFILIATE = 'IB-4'

/** Sends a request of the team, and returns what the service answers. */
export async function askTeam<T>(
  { base, key }: Pick<Shared, 'base' | 'key'>,
  path: string,
  method = 'GET',
  body?: object,
): Promise<T> {
  const response = await fetch(`${base}/admin/v1/accounts/${ACCOUNT}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.ok(response.ok, `${method} ${path}: ${response.status}`)
  return (await response.json()) as T
}

/** Gives a page a device with a screen lock, which answers at once. */
export async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

/** Opens an invitation, registers a passkey, and returns the address of the portal. */
export async function joinPortal(
  shared: Pick<Shared, 'base' | 'key'>,
  context: BrowserContext,
  page: Page,
  affiliate = AFFILIATE,
) {
  const { invitation_url } = await askTeam<{ invitation_url: string }>(
    shared,
    `/affiliates/${affiliate}/invitations`,
    'POST',
    {},
  )
  await addAuthenticator(context, page)
  await page.goto(invitation_url)
  await page.locator('#name').fill('Eve Example')
  await page.locator('form[data-passkey] button[type=submit]').click()
  const portal = `${new URL(invitation_url).origin}/portal/${ACCOUNT}`
  await page.waitForURL(portal)
  return portal
}
