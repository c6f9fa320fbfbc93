import { env } from 'cloudflare:workers'
import { portalApp } from '../../src/portal/app.tsx'
import { openBrowser } from '../console/browser.ts'
import { unescaped } from '../console/form-fields.ts'
import { askAdmin, json } from '../partner.ts'
import { type Deviation, newPasskey } from './authenticator.ts'

// Members of affiliates in the portal, with a device in software.

/** A browser that shows the portal. */
export type Browser = ReturnType<typeof openBrowser>

/** A device in software. */
export type Device = Awaited<ReturnType<typeof newPasskey>>

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
  { device, by = {} }: { device: Device; by?: Deviation },
): Promise<Response> {
  const page = await (await browser.post(`${at}/invitation`, { secret })).text()
  const credential = await device.create(optionsIn(page), by)
  const state = hidden(page, 'state')
  return browser.post(`${at}/invitation/register`, { secret, state, credential, name: 'Eve' })
}

/** A member who is signed in, with their device. */
export interface Joined {
  readonly browser: Browser
  readonly device: Device
}

/** Returns a new member of an affiliate, `Eve`, who is signed in. */
export async function joinedFor(account: string, affiliate: string): Promise<Joined> {
  const [browser, device] = [openPortal(), await newPasskey()]
  await joinAt(`/portal/${account}`, browser, await inviteTo(account, affiliate), { device })
  return { browser, device }
}

/** Returns a browser in which a new member of an affiliate, `Eve`, is signed in. */
export const signedInFor = async (account: string, affiliate: string): Promise<Browser> =>
  (await joinedFor(account, affiliate)).browser

/** Returns a form of a page as a device confirms it. */
export const confirmed = async (
  page: string,
  device: Device,
  fields: Record<string, string>,
  by: Deviation = {},
): Promise<Record<string, string>> => ({
  csrf: hidden(page, 'csrf'),
  state: hidden(page, 'state'),
  credential: await device.get(optionsIn(page), by),
  ...fields,
})
