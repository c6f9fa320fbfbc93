import { type Command, membersOf, type Options } from '../command.ts'
import { done, fields, rows } from '../show.ts'
import { changesOf, list } from './parts.ts'

const NAME = { hint: 'N', about: 'as people call it' }

const SETTINGS: Options = {
  'time-zone': { hint: 'Z', about: 'of the IANA database, such as Europe/Malta; at first UTC' },
  'unknown-customer': {
    hint: 'reject|hold',
    about: 'what refers to a customer that was not sent yet; at first reject, of a brand hold',
  },
  'unknown-affiliate': {
    hint: 'warn|reject',
    about: 'a customer of an affiliate that is not configured; at first warn',
  },
}

const CREATE: Options = {
  name: { ...NAME, required: true },
  vertical: { hint: 'prop-trading|forex|igaming', about: 'for good', required: true },
  mode: { hint: 'live|test', about: 'for good; otherwise live. Only test data can be reset' },
  ...SETTINGS,
  binding: { hint: 'B', about: 'the D1 binding of its database; otherwise DB' },
}

const CHANGE: Options = { name: NAME, ...SETTINGS }

const COLUMNS = [
  ...['account', 'name', 'vertical', 'mode', 'time_zone', 'policies.unknown_customer'],
  ...['policies.unknown_affiliate', 'disabled', 'created_at'],
]

const change = (command: Pick<Command, 'verb' | 'about' | 'body' | 'options'>): Command => ({
  ...command,
  noun: 'accounts',
  method: 'PATCH',
  path: 'accounts/ACCOUNT',
  show: fields,
})

/** Accounts: one partner firm or one brand each. */
export const ACCOUNTS: readonly Command[] = [
  list({
    noun: 'accounts',
    verb: 'list',
    about: 'all accounts',
    path: 'accounts',
    show: rows(COLUMNS),
  }),
  {
    noun: 'accounts',
    verb: 'get',
    about: 'one account',
    method: 'GET',
    path: 'accounts/ACCOUNT',
    show: fields,
  },
  {
    noun: 'accounts',
    verb: 'create',
    about: 'a new one; its id is for good: a-z, 0-9 and -',
    method: 'POST',
    path: 'accounts',
    operand: 'ACCOUNT',
    options: CREATE,
    body: (said) => ({ account: said.operands.ACCOUNT, ...membersOf(CREATE, said) }),
    show: fields,
    unsure: 'Repeat the command: if the account was made it is answered that it exists already.',
  },
  change({
    verb: 'change',
    about: 'other settings, for what arrives later',
    options: CHANGE,
    body: changesOf(CHANGE),
  }),
  change({
    verb: 'disable',
    about: 'no token of it is good any more',
    body: () => ({ disabled: true }),
  }),
  change({ verb: 'enable', about: 'its tokens are good again', body: () => ({ disabled: false }) }),
  {
    noun: 'accounts',
    verb: 'reset',
    about: 'forgets all records of a test account',
    method: 'POST',
    path: 'accounts/ACCOUNT/reset',
    show: done('All records of ACCOUNT are forgotten.'),
    lost: 'All records of ACCOUNT are lost for good.',
  },
]
