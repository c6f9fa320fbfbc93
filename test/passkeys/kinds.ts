import { env } from 'cloudflare:workers'
import { consoleApp } from '../../src/console/app.ts'
import { portalApp } from '../../src/portal/app.tsx'
import { KEY_WORLD, openBrowser } from '../console/browser.ts'
import { askAdmin, issuedPartner, json } from '../partner.ts'
import { inviteTo } from '../portal/join.ts'

/** A kind of people who sign in with passkeys. */
export interface Kind {
  readonly kind: string
  /** The path of their first page, and of that with their passkeys. */
  readonly home: string
  readonly own: string
  /** The tables of their passkeys and invitations. */
  readonly passkeys: string
  readonly invitations: string
  readonly cookie: string
  /** Makes the world in which they are invited. */
  begin(): Promise<void>
  /** Invites one, and returns the secret of the link. */
  invite(): Promise<string>
  /** Returns a browser without cookies. */
  open(world?: Env): ReturnType<typeof openBrowser>
}

let invited = 0

/** The members of affiliates, and those of the team. */
export const KINDS: readonly Kind[] = [
  {
    kind: 'affiliate',
    home: '/portal/acme',
    own: '/portal/acme/passkeys',
    passkeys: 'affiliate_passkeys',
    invitations: 'affiliate_invitations',
    cookie: '__Host-tributary_portal',
    begin: async () => {
      await issuedPartner('forex', { account: 'acme', affiliates: ['IB-07'] })
    },
    invite: () => inviteTo('acme', 'IB-07'),
    open: (world = env as Env) => openBrowser(world, portalApp as never),
  },
  {
    kind: 'team',
    home: '/console',
    own: '/console/me',
    passkeys: 'member_passkeys',
    invitations: 'member_invitations',
    cookie: '__Host-tributary_console',
    begin: async () => {},
    async invite() {
      const scope = { role: 'manager', accounts: 'all', affiliates: 'all', language: 'en' }
      const email = `eve-${invited++}@team.example`
      const made = askAdmin('members', 'POST', { name: 'Eve', email, ...scope })
      return (await json(made)).invitation_url.split('#')[1]
    },
    open: (world = KEY_WORLD) => openBrowser(world, consoleApp),
  },
]
