import type { Operation, Spec } from '../spec.ts'

// Each audience of the reference has a page that leads to those of its topics. An operation that several
// audiences need, such as issuing a token, is on a page of each.

/** A page of the reference. */
export interface ReferencePage {
  name: string
  title: string
  /** The tags of OpenAPI whose operations the page shows, in this order. */
  tags: readonly string[]
  description: string
}

/** A page for an audience. If it has topics, the page only leads to theirs. */
export interface Audience extends ReferencePage {
  topics?: readonly ReferencePage[]
}

/** Describes a topic of administration, which has a tag of OpenAPI for itself. */
const topic = (name: string, title: string, description: string): ReferencePage => ({
  name,
  title,
  tags: [name],
  description,
})

const ADMINISTRATION = [
  topic(
    'accounts',
    'Accounts and credentials',
    'Create accounts, change their settings, rotate and revoke their credentials, and read the audit log.',
  ),
  topic(
    'definitions',
    'Statuses, labels and events',
    'Define what the statuses of transactions mean, the labels of customers and the events of a brand.',
  ),
  topic(
    'affiliates',
    'Affiliates, links and attribution',
    'Configure affiliates and their parents, create links, and see which customers they brought.',
  ),
  topic(
    'webhooks',
    'Webhooks',
    'Register the URLs that receive events, and see what was sent to them.',
  ),
  topic(
    'plans',
    'Commission plans',
    'Write, simulate and assign commission plans, and import exchange rates.',
  ),
  topic(
    'fraud',
    'Fraud rules',
    'Set the rules that find patterns of fraud, read their versions, and test them on past days.',
  ),
  topic(
    'cases',
    'Fraud cases',
    'Read what the rules found and the records behind it, decide cases, and see which holds ended.',
  ),
  topic(
    'statements',
    'Statements and payouts',
    'Compute, approve and pay statements, enter amounts by hand, and read ledgers and balances.',
  ),
  topic(
    'explanations',
    'Explanations of amounts',
    'Trace an amount to its records, and see what each record earns or why it earns nothing.',
  ),
  topic(
    'customers',
    'Customers',
    'Erase personal data, refuse customers, correct their affiliates, and see what was known on each day.',
  ),
  topic(
    'monitoring',
    'Monitoring and reports',
    'See what arrived, what was refused and what needs attention, and compute reports.',
  ),
]

/** Describes an audience by the pages on which its operations are. */
const audience = (
  name: string,
  title: string,
  description: string,
  topics: readonly ReferencePage[],
): Audience => ({ name, title, tags: topics.flatMap(({ tags }) => tags), description, topics })

/** Describes the two pages of an account that sends records. */
const accountTopics = (
  name: string,
  title: string,
  records: string,
  tags: readonly string[],
  commissions: string,
): ReferencePage[] => [
  {
    name: `${name}-records`,
    title: `${title} records`,
    tags,
    description: `Send ${records}, read them back, and compare totals.`,
  },
  {
    name: `${name}-commissions`,
    title: `${title} commissions`,
    tags: [commissions],
    description: 'Read statements, explanations of amounts, reports and exchange rates.',
  },
]

/** The audiences of the reference, in the order in which they are listed. */
export const AUDIENCES: readonly Audience[] = [
  audience(
    'prop-trading',
    'Prop trading',
    'For proprietary trading firms: send customers, transactions and trading activity, and read commissions.',
    accountTopics(
      'prop-trading',
      'Prop trading',
      'customers, transactions and trading activity',
      ['tokens', 'prop-trading', 'links'],
      'prop-trading-commissions',
    ),
  ),
  audience(
    'forex',
    'Forex',
    'For forex brokers: send customers, transactions and trading activity, and read commissions.',
    accountTopics(
      'forex',
      'Forex',
      'customers, transactions and trading activity',
      ['tokens', 'forex', 'links'],
      'forex-commissions',
    ),
  ),
  audience(
    'brands',
    'iGaming brands',
    'For iGaming brands: send customers and activities, and read commissions.',
    accountTopics(
      'brands',
      'Brand',
      'customers and activities',
      ['igaming', 'links'],
      'igaming-commissions',
    ),
  ),
  audience('affiliate', 'Affiliates', 'For affiliates: read what they earn, and why.', [
    topic('affiliate-api', 'What affiliates read', 'Read statements, customers and explanations.'),
    topic(
      'affiliate-tools',
      'Links, postbacks and questions',
      'Make links and postbacks, ask the firm questions, and read what became of them.',
    ),
  ]),
  audience(
    'administration',
    'Administration',
    'For the integrations team: set up accounts, affiliates, plans and webhooks, approve statements, and monitor deliveries.',
    ADMINISTRATION,
  ),
  {
    name: 'documents',
    title: 'Public documents',
    tags: ['documents'],
    description: 'For everyone: pages, schemas, the OpenAPI document and the health check.',
  },
]

/** The pages that show operations, in the order in which they are listed. */
export const PAGES: readonly ReferencePage[] = AUDIENCES.flatMap(
  (audience) => audience.topics ?? [audience],
)

/** The pages of audiences and of their topics, each once. */
export const ALL_PAGES: readonly ReferencePage[] = [...new Set([...AUDIENCES, ...PAGES])]

/** Returns the address of a page of the reference. */
export const addressOf = ({ name }: ReferencePage) => `/docs/reference/${name}`

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

/** Lists every component that the operations of a page refer to, directly or through others. */
function referencesOf(page: ReferencePage, spec: Spec): Set<string> {
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
  search(endpointsOf(page, spec))
  return found
}

const usedBy = <T>(page: ReferencePage, spec: Spec, kind: string, all: Record<string, T>) => {
  const used = referencesOf(page, spec)
  return Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`))
}

/** Lists the schemas that the operations of a page use. */
export const schemasOf = (page: ReferencePage, spec: Spec) =>
  usedBy(page, spec, 'schemas', spec.components.schemas)

/** Lists the response headers that the operations of a page use. */
export const headersOf = (page: ReferencePage, spec: Spec) =>
  usedBy(page, spec, 'headers', spec.components.headers)

/** The headings of operations by their paths. The first that matches counts. */
const GROUPS: readonly (readonly [RegExp, string])[] = [
  [/^\/affiliate\/v1\/links\b/, 'Links'],
  [/^\/affiliate\/v1\/postbacks\b/, 'Postbacks'],
  [/\/questions\b/, 'Questions'],
  [/^\/affiliate\/v1\//, 'What affiliates read'],
  [/^\/(oauth|\.well-known)/, 'Access tokens'],
  [/^\/go\//, 'Links'],
  [/personal-data|\/erasures/, 'Erasure'],
  [/\/refusal$/, 'Refusal'],
  [/\/customers\/.*(affiliations|fields)$/, 'History of a customer'],
  [/\/(lines|unearned|qualifications)\b|\/earnings$/, 'Explanations'],
  [/\/reports$/, 'Reports'],
  [/\/(ledger|balance)$|\/manual-entries$/, 'Ledgers and balances'],
  [/\/payouts$/, 'Payouts'],
  [/\/(periods|runs)\//, 'Runs and approval of periods'],
  [/\/(statements|periods)\b/, 'Statements'],
  [/\/fx-rates$/, 'Exchange rates'],
  [/\/fraud-rules\b/, 'Fraud rules'],
  [/\/(cases|ended-holds)\b/, 'Fraud cases'],
  [/\/plans\b/, 'Plans'],
  [/\/assignments$/, 'Assignments'],
  [/\/webhooks\b/, 'Webhooks'],
  [/\/(attention|changes)$/, 'Attention and changes'],
  [/\/(deliveries|totals|held|feeds?|arrivals|delivery-errors)\b/, 'Deliveries and totals'],
  [/\/(records|search)\b/, 'Records'],
  [/^\/admin.*\/(clients|brand-tokens)\b/, 'Clients and Brand Tokens'],
  [/^\/admin.*\/(attribution|customers|clicks)\b/, 'Attribution'],
  [/\/(status-map|labels)\b/, 'Statuses and labels'],
  [/\/affiliates\b/, 'Affiliates'],
  [/\/events\/\{eventname\}|^\/admin.*\/events$/, 'Event definitions'],
  [/\/links\b/, 'Links'],
  [/\/databases$/, 'Databases'],
  [/\/moves\b/, 'Moves to another database'],
  [/\/archives\b/, 'Archived months'],
  [/\/exports\b/, 'Exports'],
  [/\/audit-log$/, 'Audit log'],
  [/\/customers\b/, 'Customers'],
  [/\/transactions\b/, 'Transactions'],
  [/\/trading-activity$/, 'Trading activity'],
  [/\/activities$/, 'Activities'],
  [/\/account$/, 'Account'],
  [/^\/admin\/v1\/accounts(\/\{account\}(\/reset)?)?$/, 'Accounts'],
]

/** A heading of a page with the operations below it. */
export interface Group {
  title: string
  anchor: string
  endpoints: Endpoint[]
}

/** Groups the operations of a page by what they work on. */
export function groupsOf(page: ReferencePage, spec: Spec): Group[] {
  const titleOf = ({ path }: Endpoint) =>
    GROUPS.find(([pattern]) => pattern.test(path))?.[1] ?? 'Documents'
  return [...Map.groupBy(endpointsOf(page, spec), titleOf)].map(([title, endpoints]) => ({
    title,
    anchor: title.toLowerCase().replaceAll(' ', '-'),
    endpoints,
  }))
}
