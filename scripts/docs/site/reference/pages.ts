import type { AudienceDocument } from '../../openapi/audiences.ts'
import { referredTo } from '../../openapi/components.ts'
import type { Operation, Spec } from '../spec.ts'

/** A page of the reference: the operations of some tags of OpenAPI, in this order. */
export interface ReferencePage {
  name: string
  title: string
  tags: readonly string[]
}

/** Describes a page with the operations of the tag with its name, or of other tags. */
const page = (name: string, title: string, tags: readonly string[] = [name]): ReferencePage => ({
  name,
  title,
  tags,
})

/** Those who read some pages of the reference, and their document of OpenAPI. */
interface Audience {
  readonly title: string
  readonly document: AudienceDocument
  readonly description: string
  readonly pages: readonly ReferencePage[]
}

/**
 * The pages by their audiences, in the order in which they are listed. An operation that several audiences
 * need, such as issuing a token, is on a page of each.
 */
export const AUDIENCES: readonly Audience[] = [
  {
    title: 'Prop trading',
    document: 'firm',
    description:
      'For proprietary trading firms: send customers, transactions and trading activity, and read commissions.',
    pages: [
      page('prop-trading-records', 'Prop trading records', ['tokens', 'prop-trading']),
      page('prop-trading-commissions', 'Prop trading commissions'),
    ],
  },
  {
    title: 'Forex',
    document: 'firm',
    description:
      'For forex brokers: send customers, transactions and trading activity, and read commissions.',
    pages: [
      page('forex-records', 'Forex records', ['tokens', 'forex']),
      page('forex-commissions', 'Forex commissions'),
    ],
  },
  {
    title: 'iGaming brands',
    document: 'brand',
    description: 'For iGaming brands: send customers and activities, and read commissions.',
    pages: [
      page('brands-records', 'Brand records', ['igaming']),
      page('brands-commissions', 'Brand commissions', ['igaming-commissions']),
    ],
  },
  {
    title: 'Affiliates',
    document: 'affiliate',
    description: 'For affiliates: read what they earn, and why.',
    pages: [
      page('affiliate-api', 'What affiliates read'),
      page('affiliate-tools', 'Links, postbacks and questions'),
    ],
  },
  {
    title: 'Administration',
    document: 'admin',
    description:
      'For the integrations team: set up accounts, affiliates, plans and webhooks, approve statements, and monitor deliveries.',
    pages: [
      page('accounts', 'Accounts and credentials'),
      page('members', 'The team'),
      page('definitions', 'Statuses, labels and events'),
      page('affiliates', 'Affiliates, links and attribution'),
      page('webhooks', 'Webhooks'),
      page('plans', 'Commission plans'),
      page('fraud', 'Fraud rules'),
      page('cases', 'Fraud cases'),
      page('statements', 'Statements and payouts'),
      page('payouts', 'Batches and bank details'),
      page('explanations', 'Explanations of amounts'),
      page('customers', 'Customers'),
      page('monitoring', 'Monitoring and reports'),
    ],
  },
]

/** The pages of all audiences. */
export const PAGES = AUDIENCES.flatMap(({ pages }) => pages)

/** Returns the address of a page of the reference. */
export const addressOf = ({ name }: ReferencePage) => `/docs/reference/${name}`

/** Returns what the tags of a page contain, in words. */
export const descriptionOf = ({ tags }: ReferencePage, spec: Spec) =>
  spec.tags.flatMap(({ name, description }) => (tags.includes(name) ? description : [])).join(' ')

/** An operation with its address and method. */
export interface Endpoint {
  path: string
  method: string
  operation: Operation
}

/** Lists the operations of a page, in the order of its tags. */
export function endpointsOf({ tags }: ReferencePage, { paths }: Spec): Endpoint[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return tags.flatMap((tag) => all.filter(({ operation }) => operation.tags[0] === tag))
}

const usedBy = (page: ReferencePage, spec: Spec) =>
  referredTo(spec.components, endpointsOf(page, spec))

/** Lists the schemas that the operations of a page use. */
export const schemasOf = (page: ReferencePage, spec: Spec) =>
  Object.entries(usedBy(page, spec).schemas)

/** Lists the response headers that the operations of a page use. */
export const headersOf = (page: ReferencePage, spec: Spec) =>
  Object.entries(usedBy(page, spec).headers)
