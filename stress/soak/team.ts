import type { Service } from '../service.ts'
import { type Act, type Draw, SPAN } from './draw.ts'
import type { Accounts, Link } from './others.ts'
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

/** Actions of the integrations team, none of which changes the totals. */
export function administration(
  { admin }: Service,
  { expectStatus }: ResponseLog,
  draw: Draw,
  { firms, brand }: Accounts,
  links: readonly Link[],
): Act[] {
  const all = [...firms, brand]
  const get = (path: string) => expectStatus(`GET ${shown(path)}`, [200], admin('GET', path))
  const change = (method: string, path: string, body?: unknown, statuses = [200]) =>
    expectStatus(`${method} ${shown(path)}`, statuses, admin(method, path, { body }))
  const anyone = () => `accounts/${draw.one(all)}`
  const firm = () => `accounts/${draw.one(firms)}`
  const linkOf = ({ account, id }: Link) => `accounts/${account}/links/${id}`
  const stats = { granularity: 'day', kpis: ['Rounds'] }
  const at = `accounts/${brand}/events/Rounds`
  const delivery = async () => {
    const account = anyone()
    const { body } = await get(`${account}/deliveries?per_page=20`)
    const found = draw.one<{ delivery_id: string } | undefined>(body.data)
    if (found) await get(`${account}/deliveries/${found.delivery_id}`)
  }
  const acts = [
    ...LISTS.map((path) => () => get(anyone() + path)),
    ...['accounts?per_page=10', 'feeds', 'audit-log?per_page=50'].map((path) => () => get(path)),
    () => get(`${firm()}/clients`),
    () => get(`accounts/${brand}/brand-tokens`),
    () => get(`accounts/${brand}/events`),
    () => get(linkOf(draw.one(links))),
    delivery,
    () => change('PUT', `${firm()}/affiliates`, [{ affiliate_id: `IB-${draw.below(50)}` }]),
    () => change('PUT', `${firm()}/status-map`, { paid: draw.one(['approved', 'pending']) }),
    () => change('PUT', `${firm()}/labels/kyc_status_id`, { 2: `level ${draw.below(9)}` }),
    () => change('PUT', `${firm()}/labels/sales_status_id`, { hot: `lead ${draw.below(9)}` }),
    () => change('PUT', at, stats, [200, 201]),
    () => change('DELETE', at, undefined, [204, 404]),
    () => change('PATCH', anyone(), { name: `Name ${draw.below(9)}` }),
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
  return acts.map((run) => [5 / acts.length, run])
}

/** Returns a path as the summary prints it, without the names of accounts. */
const shown = (path: string) =>
  `/admin/v1/${path
    .split('?')[0]!
    .replace(/(?<=^accounts\/)[^/]+/, '{account}')
    .replace(/(?<=\/(?:links|deliveries)\/).+/, '{id}')}`
