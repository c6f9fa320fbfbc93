import { newRequestSender } from '../ask.ts'
import { AFFILIATE } from '../parties.ts'
import type { Service } from '../service.ts'
import type { Draw, WeightedAction } from './draw.ts'
import type { ResponseLog } from './response-log.ts'

/** The accounts of a soak, by kind. */
export interface Accounts {
  firms: readonly string[]
  brand: string
}

/** A link and its account. */
export interface Link {
  account: string
  id: string
}

/** Creates links. Returns the actions of visitors who follow them, and counts the answered clicks. */
export async function newVisitors(
  service: Service,
  { expectStatus }: ResponseLog,
  { firms }: Accounts,
) {
  const links: Link[] = []
  for (const account of firms) {
    const body = { affiliate_id: AFFILIATE, landing_page: 'https://firm.example/start?lang=en' }
    const made = service.admin('POST', `accounts/${account}/links`, { body })
    const { body: link } = await expectStatus(
      'POST /admin/v1/accounts/{account}/links',
      [201],
      made,
    )
    links.push({ account, id: link.link_id })
  }
  const visit = newRequestSender(service.url, {}, '/go/')
  let clicks = 0
  const actions = (draw: Draw): WeightedAction[] => [
    [
      6,
      async () => {
        const { status } = await expectStatus(
          'GET /go/{link}',
          [302],
          visit('GET', draw.one(links).id),
        )
        if (status === 302) clicks += 1
      },
    ],
    [1, () => expectStatus('HEAD /go/{link}', [302], visit('HEAD', draw.one(links).id))],
    [1, () => expectStatus('GET /go/{unknown}', [404], visit('GET', 'aaaaaaaa'))],
  ]
  return { actions, links, clicks: () => clicks }
}

const DOCUMENTS = [
  '',
  'docs',
  'docs/sending',
  'docs/reference/forex',
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

/** Returns actions that read the public documents. */
export function documentActions({ url }: Service, { expectStatus }: ResponseLog): WeightedAction[] {
  const ask = newRequestSender(url)
  return [
    ...DOCUMENTS.map(
      (path): WeightedAction => [0.5, () => expectStatus(`GET /${path}`, [200], ask('GET', path))],
    ),
    [0.5, () => expectStatus('GET /nothing', [404], ask('GET', 'nothing'))],
  ]
}
