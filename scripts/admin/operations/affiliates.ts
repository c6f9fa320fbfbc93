import { LANGUAGES } from '../../../src/languages.ts'
import { list, object, sentence } from '../format.ts'
import { importAffiliates } from '../import-affiliates.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const PROFILE: Options = {
  name: { value: 'name', description: 'What the team calls them.', member: 'display_name' },
  email: { value: 'address', description: 'Their e-mail address.', member: 'contact_email' },
  language: { value: 'language', choices: ['none', ...LANGUAGES], description: 'Of the portal.' },
  note: { value: 'text', description: 'For the team only.' },
  status: {
    value: 'status',
    choices: ['active', 'suspended'],
    description: 'Suspended: cannot sign in or call, and earns on.',
  },
}

/** Returns the members of a body; the word `none` stands for null. */
const withNull = (members: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, value === 'none' ? null : value]),
  )

/** Affiliates: who may be paid for the customers of an account. */
export const AFFILIATES: readonly Operation[] = [
  listOperation({
    noun: 'affiliates',
    verb: 'list',
    summary: 'Lists affiliates with their parents.',
    example: 'acme',
    path: 'accounts/{account}/affiliates',
    options: {
      beginning: {
        value: 'text',
        description: 'Only those whose id, name or e-mail address begins with it.',
      },
      ids: { value: 'json', description: 'Only these: a JSON array of 1 to 500 ids.' },
    },
    format: list(),
  }),
  {
    noun: 'affiliates',
    verb: 'import',
    summary: 'Sets the affiliates of a file: affiliate_id, parent (empty: none), and from.',
    example: 'acme affiliates.csv',
    method: 'PUT',
    path: 'accounts/{account}/affiliates',
    argument: 'file',
    run: importAffiliates,
    format: object,
  },
  {
    noun: 'affiliates',
    verb: 'set',
    summary: 'Adds an affiliate, or changes its profile; `none` removes what is stored.',
    example: 'acme IB-07 --status suspended',
    method: 'PUT',
    path: 'accounts/{account}/affiliates',
    argument: 'affiliate_id',
    options: PROFILE,
    body: (input) => [
      { affiliate_id: input.operands.affiliate_id, ...withNull(membersOf(PROFILE, input)) },
    ],
    format: object,
  },
  {
    noun: 'affiliates',
    verb: 'delete',
    summary:
      'Deletes an affiliate that nothing names: no customer, link, plan, entry or affiliate.',
    example: 'acme IB-07',
    method: 'DELETE',
    path: 'accounts/{account}/affiliates',
    // Its id may be `..`, so it is sent in the query.
    argument: 'affiliate_id',
    isArgumentInQuery: true,
    format: sentence('Deleted affiliate {affiliate_id} of account {account}.'),
  },
  listOperation({
    noun: 'affiliates',
    verb: 'parents',
    summary: 'Lists the parents of affiliates by day.',
    example: 'acme --affiliate IB-07',
    path: 'accounts/{account}/affiliates/parents',
    options: {
      affiliate: {
        value: 'id',
        description: 'Only this affiliate.',
        member: 'affiliate_id',
      },
    },
    format: list(),
  }),
  listOperation({
    noun: 'affiliates',
    verb: 'figures',
    summary: 'Lists affiliates with their plan, balance, earnings and last signup.',
    example: 'acme --only with_balance',
    path: 'accounts/{account}/affiliates/figures',
    options: {
      search: {
        value: 'text',
        description: 'Only those whose id has this text.',
        member: 'search',
      },
      only: {
        value: 'what',
        description: 'Only those `without_plan`, or only those `with_balance`.',
        member: 'only',
      },
      sort: {
        value: 'order',
        description: 'By `affiliate_id`, or `earned`: the highest first. (default: affiliate_id)',
        member: 'sort',
      },
    },
    format: list(),
  }),
  {
    noun: 'affiliates',
    verb: 'unconfigured',
    summary: 'Lists affiliate ids of customers that are not configured.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/affiliates/unconfigured',
    options: {
      customers: {
        value: 'count',
        description: 'Reads so many customers, the latest ones. (default: 1000000)',
        member: 'customers',
      },
    },
    format: list(),
  },
]
