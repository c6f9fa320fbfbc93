import type { Operation, Spec } from '../spec.ts'

// The reference has one page for each audience. An operation that several audiences need, such as
// issuing a token, appears on each of their pages.

/** A page of the reference. */
export interface Audience {
  name: string
  title: string
  /** The tags of OpenAPI whose operations the page shows, in this order. */
  tags: readonly string[]
  description: string
}

/** The pages of the reference, in the order in which they are listed. */
export const AUDIENCES: readonly Audience[] = [
  {
    name: 'prop-trading',
    title: 'Prop trading',
    tags: ['tokens', 'prop-trading', 'links'],
    description:
      'For proprietary trading firms: send customers, transactions and trading activity, and read them back.',
  },
  {
    name: 'forex',
    title: 'Forex',
    tags: ['tokens', 'forex', 'links'],
    description:
      'For forex brokers: send customers, transactions and trading activity, and read them back.',
  },
  {
    name: 'brands',
    title: 'iGaming brands',
    tags: ['igaming', 'links'],
    description: 'For iGaming brands: send customers and activities, and read them back.',
  },
  {
    name: 'administration',
    title: 'Administration',
    tags: ['administration'],
    description:
      'For the integrations team: set up accounts, credentials, affiliates and links, and monitor deliveries.',
  },
  {
    name: 'documents',
    title: 'Public documents',
    tags: ['documents'],
    description: 'For everyone: pages, schemas, the OpenAPI document and the health check.',
  },
]

/** Returns the address of a page of the reference. */
export const addressOf = ({ name }: Audience) => `/docs/reference/${name}`

/** An operation with its address and method. */
export interface Endpoint {
  path: string
  method: string
  operation: Operation
}

/** Lists the operations of a page, in the order of its tags. */
export function endpointsOf({ tags }: Audience, { paths }: Spec): Endpoint[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return tags.flatMap((tag) => all.filter(({ operation }) => operation.tags[0] === tag))
}

/** Lists every component that the operations of a page refer to, directly or through others. */
function referencesOf(audience: Audience, spec: Spec): Set<string> {
  const components: Record<string, Record<string, unknown>> = spec.components
  const found = new Set<string>()
  const search = (value: unknown) => {
    for (const [, reference = ''] of JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)) {
      if (found.has(reference)) continue
      found.add(reference)
      const [kind = '', name = ''] = reference.split('/').slice(-2)
      search(components[kind]?.[name] ?? null)
    }
  }
  search(endpointsOf(audience, spec))
  return found
}

const usedBy = <T>(audience: Audience, spec: Spec, kind: string, all: Record<string, T>) => {
  const used = referencesOf(audience, spec)
  return Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`))
}

/** Lists the schemas that the operations of a page use. */
export const schemasOf = (audience: Audience, spec: Spec) =>
  usedBy(audience, spec, 'schemas', spec.components.schemas)

/** Lists the response headers that the operations of a page use. */
export const headersOf = (audience: Audience, spec: Spec) =>
  usedBy(audience, spec, 'headers', spec.components.headers)

const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^\/(oauth|\.well-known)/, 'Access tokens'],
  [/^\/go\//, 'Links'],
  [/personal-data|\/erasures/, 'Erasure'],
  [/\/(deliveries|totals|held|feeds?)\b/, 'Deliveries and totals'],
  [/^\/admin.*\/(clients|brand-tokens)\b/, 'Clients and Brand Tokens'],
  [/^\/admin.*\/(attribution|customers|clicks)\b/, 'Attribution'],
  [/\/(status-map|labels)\b/, 'Vocabulary'],
  [/\/affiliates\b/, 'Affiliates'],
  [/\/events\/\{eventname\}|^\/admin.*\/events$/, 'Event definitions'],
  [/\/links\b/, 'Links'],
  [/\/audit-log$/, 'Audit log'],
  [/\/customers\b/, 'Customers'],
  [/\/transactions\b/, 'Transactions'],
  [/\/trading-activity$/, 'Trading activity'],
  [/\/activities$/, 'Activities'],
  [/\/account$/, 'Account'],
  [/^\/admin\/v1\/accounts/, 'Accounts'],
]

/** A heading of a page with the operations below it. */
export interface Group {
  title: string
  anchor: string
  endpoints: Endpoint[]
}

/** Groups the operations of a page by what they work on. */
export function groupsOf(audience: Audience, spec: Spec): Group[] {
  const titleOf = ({ path }: Endpoint) =>
    GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Documents'
  return [...Map.groupBy(endpointsOf(audience, spec), titleOf)].map(([title, endpoints]) => ({
    title,
    anchor: title.toLowerCase().replaceAll(' ', '-'),
    endpoints,
  }))
}
