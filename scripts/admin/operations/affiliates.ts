import { LANGUAGES } from '../../../src/languages.ts'
import { object } from '../format.ts'
import { importAffiliates } from '../import-affiliates.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'

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
]
