import { env } from 'cloudflare:workers'
import { consoleApp } from '../../src/console/app.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { portalApp } from '../../src/portal/app.tsx'
import { KEY_WORLD, openBrowser } from '../console/browser.ts'
import { issuedPartner } from '../partner.ts'
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
      const [id, secret] = [`mem-${invited++}`, crypto.randomUUID()]
      await env.DB.batch([
        env.DB.prepare(
          `insert into members (id, email, name, role, accounts, affiliates, language, created_at, created_by)
           values (?, ?, 'Eve', 'manager', '"all"', '"all"', 'en', '2026-01-01', 'root-key')`,
        ).bind(id, `${id}@team.example`),
        env.DB.prepare(
          `insert into member_invitations values (?, ?, ?, '2026-01-01', 'root-key', ?, null)`,
        ).bind(...[await digest(secret), id, id, Date.now() + 72 * 3_600_000]),
      ])
      return secret
    },
    open: (world = KEY_WORLD) => openBrowser(world, consoleApp),
  },
]
