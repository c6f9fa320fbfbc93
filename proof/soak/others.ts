import { answered, asking } from '../ask.ts'
import { AFFILIATE } from '../parties.ts'
import type { Service } from '../service.ts'
import type { Act, Draw } from './draw.ts'
import type { Heard } from './heard.ts'

/** Accounts of a soak, by what they are. */
export interface Accounts {
  firms: readonly string[]
  brand: string
}

/** Visitors, and the clicks that were answered. */
export async function visiting(service: Service, { hear }: Heard, { firms }: Accounts) {
  const links: string[] = []
  for (const account of firms) {
    const body = { affiliate_id: AFFILIATE, landing_page: 'https://firm.example/start?lang=en' }
    const made = service.admin('POST', `accounts/${account}/links`, { body })
    links.push((await answered(201, made)).link_id)
  }
  const visit = asking(service.url, {}, '/go/')
  let clicks = 0
  const acts = (draw: Draw): Act[] => [
    [
      6,
      async () => {
        const { status } = await hear('GET /go/{link}', [302], visit('GET', draw.one(links)))
        if (status === 302) clicks += 1
      },
    ],
    [1, () => hear('HEAD /go/{link}', [302], visit('HEAD', draw.one(links)))],
    [1, () => hear('GET /go/{unknown}', [404], visit('GET', 'aaaaaaaa'))],
  ]
  return { acts, clicks: () => clicks }
}

const DOCUMENTS = [
  '',
  'docs',
  'openapi.json',
  'healthz',
  '.well-known/jwks.json',
  '.well-known/oauth-authorization-server',
  'problems/validation_failed',
]

/** Who reads what anyone may read. */
export function documents({ url }: Service, { hear }: Heard, draw: Draw): Act[] {
  const ask = asking(url)
  return [
    [
      3,
      () => {
        const path = draw.one(DOCUMENTS)
        return hear(`GET /${path}`, [200], ask('GET', path))
      },
    ],
    [0.5, () => hear('GET /nothing', [404], ask('GET', 'nothing'))],
  ]
}

/** What the integrations team does meanwhile; nothing of it changes what is counted. */
export function administration(
  { admin }: Service,
  { hear }: Heard,
  draw: Draw,
  { firms, brand }: Accounts,
): Act[] {
  const all = [...firms, brand]
  const get = (path: string) => hear(`GET ${shown(path)}`, [200], admin('GET', path))
  const account = () => draw.one(all)
  const put = (path: string, body: unknown, statuses = [200]) =>
    hear(`PUT ${shown(path)}`, statuses, admin('PUT', path, { body }))
  const stats = { granularity: 'day', kpis: ['Rounds'] }
  const at = `accounts/${brand}/events/Rounds`
  const acts = [
    () => get('accounts?per_page=10'),
    () => get(`accounts/${account()}`),
    () => get(`accounts/${account()}/affiliates`),
    () => get(`accounts/${account()}/affiliates/unconfigured`),
    () => get(`accounts/${account()}/links`),
    () => get(`accounts/${account()}/deliveries?per_page=50`),
    () => get(`accounts/${account()}/held`),
    () => get(`accounts/${account()}/feed`),
    () => get(`accounts/${account()}/erasures`),
    () => get(`accounts/${draw.one(firms)}/clients`),
    () => get(`accounts/${brand}/brand-tokens`),
    () => get(`accounts/${brand}/events`),
    () => get('feeds'),
    () => get('audit-log?per_page=50'),
    () => put(`accounts/${draw.one(firms)}/affiliates`, [{ affiliate_id: `IB-${draw.below(50)}` }]),
    () =>
      put(`accounts/${draw.one(firms)}/status-map`, { paid: draw.one(['approved', 'pending']) }),
    () => put(`accounts/${draw.one(firms)}/labels/kyc_status_id`, { 2: `level ${draw.below(9)}` }),
    () => put(at, stats, [200, 201]),
    () =>
      hear(`DELETE /admin/v1/accounts/{account}/events/Rounds`, [204, 404], admin('DELETE', at)),
    () =>
      hear(
        'PATCH /admin/v1/accounts/{account}',
        [200],
        admin('PATCH', `accounts/${account()}`, { body: { name: `Name ${draw.below(9)}` } }),
      ),
    () => hear('GET /admin/v1/accounts/{unknown}', [404], admin('GET', 'accounts/nobody')),
    () => hear('POST /admin/v1/accounts, refused', [422], admin('POST', 'accounts', { body: {} })),
  ]
  return [[4, () => draw.one(acts)()]]
}

/** An address as the summary shows it: whose it is says nothing there. */
const shown = (path: string) =>
  `/admin/v1/${path.replace(/(?<=^accounts\/)[^/?]+/, '{account}').split('?')[0]}`
