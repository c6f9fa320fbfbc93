import type { Service } from '../service.ts'
import { type Draw, SPAN, type WeightedAction } from './draw.ts'
import type { Accounts, Link } from './others.ts'
import { TOTALS_STATUSES } from './reads.ts'
import type { ResponseLog } from './response-log.ts'

/** The lists of an account that the integrations team can read. */
const LISTS = [
  '',
  '/affiliates',
  '/affiliates/unconfigured',
  '/links',
  '/deliveries?per_page=50',
  '/held',
  '/feed',
  '/erasures',
  '/status-map',
  '/labels/kyc_status_id',
  '/labels/sales_status_id',
  '/customers?per_page=50',
  ...['/attribution', '/clicks', '/totals'].map(
    (name) => `${name}?from=${SPAN.from}&to=${SPAN.to}`,
  ),
]

/** Returns actions of the integrations team. None of them changes the totals. */
export function teamActions(
  { admin }: Service,
  { expectStatus }: ResponseLog,
  draw: Draw,
  { firms, brand }: Accounts,
  links: readonly Link[],
): WeightedAction[] {
  const all = [...firms, brand]
  const get = (path: string) => {
    const statuses = path.includes('/totals') ? TOTALS_STATUSES : [200]
    return expectStatus(`GET ${routeOf(path)}`, statuses, admin('GET', path))
  }
  const change = (method: string, path: string, body?: unknown, statuses = [200]) =>
    expectStatus(`${method} ${routeOf(path)}`, statuses, admin(method, path, { body }))
  const anyAccount = () => `accounts/${draw.one(all)}`
  const anyFirm = () => `accounts/${draw.one(firms)}`
  const linkOf = ({ account, id }: Link) => `accounts/${account}/links/${id}`
  const stats = { granularity: 'day', kpis: ['Rounds'] }
  const at = `accounts/${brand}/events/Rounds`
  const delivery = async () => {
    const account = anyAccount()
    const { body } = await get(`${account}/deliveries?per_page=20`)
    const found = draw.one<{ delivery_id: string } | undefined>(body.data)
    if (found) await get(`${account}/deliveries/${found.delivery_id}`)
  }
  const actions = [
    ...LISTS.map((path) => () => get(anyAccount() + path)),
    ...['accounts?per_page=10', 'feeds', 'audit-log?per_page=50'].map((path) => () => get(path)),
    () => get(`${anyFirm()}/clients`),
    () => get(`accounts/${brand}/brand-tokens`),
    () => get(`accounts/${brand}/events`),
    () => get(linkOf(draw.one(links))),
    delivery,
    () => change('PUT', `${anyFirm()}/affiliates`, [{ affiliate_id: `IB-${draw.below(50)}` }]),
    () => change('PUT', `${anyFirm()}/status-map`, { paid: draw.one(['approved', 'pending']) }),
    () => change('PUT', `${anyFirm()}/labels/kyc_status_id`, { 2: `level ${draw.below(9)}` }),
    () => change('PUT', `${anyFirm()}/labels/sales_status_id`, { hot: `lead ${draw.below(9)}` }),
    () => change('PUT', at, stats, [200, 201]),
    () => change('DELETE', at, undefined, [204, 404]),
    () => change('PATCH', anyAccount(), { name: `Name ${draw.below(9)}` }),
    () => change('PATCH', linkOf(draw.one(links)), { name: `Name ${draw.below(9)}` }),
    () => change('POST', `erasures/replay?account=${draw.one(firms)}`),
    () => expectStatus('GET /admin/v1/accounts/{unknown}', [404], admin('GET', 'accounts/nobody')),
    () =>
      expectStatus(
        'POST /admin/v1/accounts, refused',
        [422],
        admin('POST', 'accounts', { body: {} }),
      ),
  ]
  return actions.map((run) => [5 / actions.length, run])
}

/** Returns a path as the summary prints it, without the names of accounts. */
const routeOf = (path: string) =>
  `/admin/v1/${path
    .split('?')[0]!
    .replace(/(?<=^accounts\/)[^/]+/, '{account}')
    .replace(/(?<=\/(?:links|deliveries)\/).+/, '{id}')}`
