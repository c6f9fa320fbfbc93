import { readFileSync } from 'node:fs'
import { JURISDICTIONS, REGIONS } from '../../../src/admin/fields.ts'
import { messageOf, usageError } from '../../exit-error.ts'
import { list, object, sentence } from '../format.ts'
import { type Input, membersOf, type Operation, type Options } from '../operation.ts'
import { changesFrom, listOperation } from './parts.ts'

const NAME = { value: 'name', description: 'The display name.' }

const REGION = {
  value: 'region',
  choices: REGIONS,
  description: 'Where new tokens are checked. (default: near whoever issues them)',
}

const SETTINGS: Options = {
  address: {
    value: 'text',
    description:
      'The address of the firm on printed statements, of at most 8 lines. (default: none)',
  },
  locale: {
    value: 'locale',
    description:
      'The language and region in whose way printed statements write days and numbers, such as de-DE. (default: en-GB)',
  },
  'time-zone': {
    value: 'zone',
    description: 'An IANA time zone, such as Europe/Malta. (default: UTC)',
  },
  'book-zone': {
    value: 'zone',
    description:
      'For partners: the IANA time zone of the days of transactions. Fixed by the first record. (default: UTC)',
  },
  'amount-signs': {
    value: 'signs',
    choices: ['magnitude', 'signed'],
    description:
      'Whether withdrawals, payouts and refunds come positive or negative. Fixed once a period is closed. (default: magnitude)',
  },
  'unknown-customer': {
    value: 'policy',
    choices: ['reject', 'hold'],
    description: 'For records of customers that were not sent. (default: reject, for igaming hold)',
  },
  'unknown-affiliate': {
    value: 'policy',
    choices: ['warn', 'reject'],
    description: 'For customers of affiliates that are not configured. (default: warn)',
  },
  'storage-quota': {
    value: 'bytes',
    description: 'The bytes that its records and its log may take. (default: 4294967296)',
    pattern: /^\d{1,11}$/,
  },
  approvals: {
    value: 'persons',
    choices: ['1', '2'],
    description:
      'How many different persons must approve a statement. Everyone with the admin key counts as one person; use Cloudflare Access for two. (default: 1)',
  },
  'landing-pages': {
    value: 'urls',
    description:
      'The pages to which links that affiliates make may lead, and all below, separated by spaces. (default: none)',
  },
  exports: {
    value: 'choice',
    choices: ['off', 'without_personal_data', 'with_personal_data'],
    description:
      'Whether Parquet files are written each morning. An approver decides that they have personal data; off deletes them. (default: off)',
  },
  'archive-after': {
    value: 'months',
    description:
      'After how many months records leave the database for the archive, from 13 to 120, or never. (default: 13)',
    pattern: /^(\d{1,3}|never)$/,
  },
  'unattributed-threshold': {
    value: 'share',
    description:
      "The share of a day's new customers without an affiliate above which webhooks are sent customer.unattributed. (default: 0.2)",
    pattern: /^(0(\.\d{1,4})?|1(\.0)?)$/,
  },
}

/** What affiliates see: one option for each member of the setting. */
const VIEW: Options = {
  customers: {
    value: 'ids',
    member: 'customer_ids',
    choices: ['pseudonym', 'plain', 'none'],
    description: 'How affiliates see the ids of customers. (default: pseudonym)',
  },
  amounts: {
    value: 'yes|no',
    choices: ['yes', 'no'],
    description: 'Whether affiliates see what customers paid and traded. (default: yes)',
  },
  countries: {
    value: 'yes|no',
    choices: ['yes', 'no'],
    description: 'Whether affiliates see the countries of customers. (default: yes)',
  },
  'sub-affiliates': {
    value: 'what',
    choices: ['totals', 'customers', 'none'],
    description: 'What affiliates see of those below them. (default: totals)',
  },
  drafts: {
    value: 'yes|no',
    choices: ['yes', 'no'],
    description: 'Whether affiliates see statements before the approval. (default: yes)',
  },
  held: {
    value: 'what',
    choices: ['category', 'none'],
    description: 'Whether affiliates see that a payout is under review. (default: category)',
  },
}

const CREATE: Options = {
  name: { ...NAME, required: true },
  vertical: {
    value: 'vertical',
    choices: ['prop-trading', 'forex', 'igaming'],
    description: 'Cannot be changed later.',
    required: true,
  },
  mode: {
    value: 'mode',
    choices: ['live', 'test'],
    description: 'Cannot be changed later. Only test accounts can be reset. (default: live)',
  },
  ...SETTINGS,
  region: REGION,
  jurisdiction: {
    value: 'jurisdiction',
    choices: JURISDICTIONS,
    description: 'Where the journal of erasures is kept. Cannot be changed later.',
  },
  database: {
    value: 'binding',
    member: 'binding',
    description: 'The D1 binding of its database. (default: the emptiest of its jurisdiction)',
  },
}

/** Returns the members of a body: some are numbers, one is a list, and all others are text. */
function withNumbers(texts: Record<string, string>) {
  const {
    storage_quota,
    approvals,
    unattributed_threshold,
    landing_pages,
    archive_after,
    ...members
  } = texts
  return {
    ...members,
    ...(landing_pages !== undefined && {
      landing_pages: landing_pages.split(/\s+/).filter(Boolean),
    }),
    ...(unattributed_threshold !== undefined && {
      unattributed_threshold: Number(unattributed_threshold),
    }),
    ...(archive_after !== undefined && {
      archive_after: archive_after === 'never' ? null : Number(archive_after),
    }),
    ...(approvals !== undefined && { approvals: Number(approvals) }),
    ...(storage_quota !== undefined && { storage_quota: Number(storage_quota) }),
  }
}

const LOOKS: Options = {
  'accent-color': {
    value: 'color',
    description:
      'The color of links and buttons in the portal, such as #0a6472; none for that of the service.',
  },
  logo: {
    value: 'file',
    description: 'An SVG or PNG image of at most 50 KB for the portal; none removes the logo.',
  },
}

/** Returns the bytes of a file as a data URL, which the service checks. */
function dataUrlOf(file: string): string {
  try {
    return `data:;base64,${readFileSync(file).toString('base64')}`
  } catch (error) {
    throw usageError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

const CHANGE: Options = { name: NAME, ...SETTINGS, region: REGION, ...LOOKS }

/** Returns the members of a change. `none` removes a color or a logo. */
function changeOf(input: Input): object {
  const { logo, accent_color, ...members } = changesFrom(CHANGE)(input)
  return {
    ...withNumbers(members),
    ...(accent_color !== undefined && {
      accent_color: accent_color === 'none' ? null : accent_color,
    }),
    ...(logo !== undefined && { logo: logo === 'none' ? null : dataUrlOf(logo) }),
  }
}

const FLAGS: Readonly<Record<string, boolean>> = { yes: true, no: false }

const changedView = changesFrom(VIEW)

/** Returns the change of what affiliates see. */
const viewOf = (input: Input) => ({
  affiliate_view: Object.fromEntries(
    Object.entries(changedView(input)).map(([name, text]) => [name, FLAGS[text] ?? text]),
  ),
})

const COLUMNS = [
  'account',
  'name',
  'vertical',
  'mode',
  'time_zone',
  'binding',
  'region',
  'policies.unknown_customer',
  'policies.unknown_affiliate',
  'storage_quota',
  'approvals',
  'disabled',
  'created_at',
]

type Change = Pick<Operation, 'verb' | 'summary' | 'example' | 'body' | 'options'>

const change = (operation: Change): Operation => ({
  ...operation,
  noun: 'accounts',
  method: 'PATCH',
  path: 'accounts/{account}',
  format: object,
})

/** Accounts. Each belongs to one partner firm or one brand. */
export const ACCOUNTS: readonly Operation[] = [
  listOperation({
    noun: 'accounts',
    verb: 'list',
    summary: 'Lists all accounts.',
    example: '--limit 20',
    path: 'accounts',
    format: list(COLUMNS),
  }),
  {
    noun: 'accounts',
    verb: 'get',
    summary: 'Shows an account.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}',
    format: object,
  },
  {
    noun: 'accounts',
    verb: 'create',
    summary: 'Creates an account. Its id is permanent and has a-z, 0-9 and -.',
    example: 'acme --name Acme --vertical forex --mode test',
    method: 'POST',
    path: 'accounts',
    argument: 'account',
    options: CREATE,
    body: (input) => ({
      account: input.operands.account,
      ...withNumbers(membersOf(CREATE, input)),
    }),
    format: object,
    recovery: 'Repeat the command. If the account was created, the response is that it exists.',
  },
  change({
    verb: 'change',
    summary: 'Changes settings, for records that arrive later.',
    example: 'acme --unknown-customer hold',
    options: CHANGE,
    body: changeOf,
  }),
  change({
    verb: 'view',
    summary: 'Changes what affiliates see of their customers.',
    example: 'acme --customers plain --amounts no',
    options: VIEW,
    body: viewOf,
  }),
  change({
    verb: 'disable',
    summary: 'Disables an account; its tokens stop working.',
    example: 'acme',
    body: () => ({ disabled: true }),
  }),
  change({
    verb: 'enable',
    summary: 'Enables an account; its tokens work again.',
    example: 'acme',
    body: () => ({ disabled: false }),
  }),
  {
    noun: 'accounts',
    verb: 'reset',
    summary: 'Deletes all records of a test account.',
    example: 'acme',
    method: 'POST',
    path: 'accounts/{account}/reset',
    format: (body, parsed) =>
      sentence(
        body
          ? 'Account {account} is being reset. It accepts no deliveries until that is done; run the command again to see whether it is.'
          : 'Deleted all records of account {account}.',
      )(body, parsed),
    confirmation: ({ operands: { account = '' } }) => ({
      warning: `This deletes all records of account ${account} permanently.`,
      name: account,
    }),
  },
]
