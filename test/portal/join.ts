import { env } from 'cloudflare:workers'
import { portalApp } from '../../src/portal/app.tsx'
import { openBrowser } from '../console/browser.ts'
import { unescaped } from '../console/form-fields.ts'
import { askAdmin, json } from '../partner.ts'
import { type Deviation, newPasskey } from './authenticator.ts'

// Members of affiliates in the portal, with a device in software.

/** A browser that shows the portal. */
export type Browser = ReturnType<typeof openBrowser>

/** Returns a browser that shows the portal, without cookies. */
export const openPortal = (): Browser => openBrowser(env as Env, portalApp as never)

/** Returns the value of a hidden field of a page; empty if it has none. */
export const hidden = (page: string, name: string): string =>
  unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '')

/** Returns the options that a page has for the device. */
export const optionsIn = (page: string) =>
  JSON.parse(unescaped(/data-options="([^"]*)"/.exec(page)?.[1] ?? 'null'))

/** Invites a person, and returns the secret of the link. */
export async function inviteTo(account: string, affiliate: string, body?: object): Promise<string> {
  const path = `accounts/${account}/affiliates/${affiliate}/invitations`
  return (await json(askAdmin(path, 'POST', body))).invitation_url.split('#')[1]
}

/** Registers a passkey by an invitation to the portal at an address. Returns the response. */
export async function joinAt(
  at: string,
  browser: Browser,
  secret: string,
  { device, by = {} }: { device: Awaited<ReturnType<typeof newPasskey>>; by?: Deviation },
): Promise<Response> {
  const page = await (await browser.post(`${at}/invitation`, { secret })).text()
  const credential = await device.create(optionsIn(page), by)
  const state = hidden(page, 'state')
  return browser.post(`${at}/invitation/register`, { secret, state, credential, name: 'Eve' })
}

/** Returns a browser in which a new member of an affiliate, `Eve`, is signed in. */
export async function signedInFor(account: string, affiliate: string): Promise<Browser> {
  const browser = openPortal()
  const secret = await inviteTo(account, affiliate)
  await joinAt(`/portal/${account}`, browser, secret, { device: await newPasskey() })
  return browser
}
