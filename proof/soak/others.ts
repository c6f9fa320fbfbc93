import { asking } from '../ask.ts'
import { AFFILIATE } from '../parties.ts'
import type { Service } from '../service.ts'
import type { Act, Draw } from './draw.ts'
import type { Heard } from './heard.ts'

/** Accounts of a soak, by what they are. */
export interface Accounts {
  firms: readonly string[]
  brand: string
}

/** A link, and whose it is. */
export interface Link {
  account: string
  id: string
}

/** Visitors, their links, and the clicks that were answered. */
export async function visiting(service: Service, { hear }: Heard, { firms }: Accounts) {
  const links: Link[] = []
  for (const account of firms) {
    const body = { affiliate_id: AFFILIATE, landing_page: 'https://firm.example/start?lang=en' }
    const made = service.admin('POST', `accounts/${account}/links`, { body })
    const { body: link } = await hear('POST /admin/v1/accounts/{account}/links', [201], made)
    links.push({ account, id: link.link_id })
  }
  const visit = asking(service.url, {}, '/go/')
  let clicks = 0
  const acts = (draw: Draw): Act[] => [
    [
      6,
      async () => {
        const { status } = await hear('GET /go/{link}', [302], visit('GET', draw.one(links).id))
        if (status === 302) clicks += 1
      },
    ],
    [1, () => hear('HEAD /go/{link}', [302], visit('HEAD', draw.one(links).id))],
    [1, () => hear('GET /go/{unknown}', [404], visit('GET', 'aaaaaaaa'))],
  ]
  return { acts, links, clicks: () => clicks }
}

const DOCUMENTS = [
  '',
  'docs',
  'docs/sending',
  'docs/sending.md',
  'llms.txt',
  'openapi.json',
  'healthz',
  '.well-known/jwks.json',
  '.well-known/oauth-authorization-server',
  'problems/validation_failed',
  'schemas/v1/bulk.json',
  'schemas/v1/forex/transaction.json',
  'assets/page.css',
]

/** Who reads what anyone may read. */
export function documents({ url }: Service, { hear }: Heard): Act[] {
  const ask = asking(url)
  return [
    ...DOCUMENTS.map((path): Act => [0.5, () => hear(`GET /${path}`, [200], ask('GET', path))]),
    [0.5, () => hear('GET /nothing', [404], ask('GET', 'nothing'))],
  ]
}
