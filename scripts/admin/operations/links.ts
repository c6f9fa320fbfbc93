import { list, object } from '../format.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'
import { changesFrom, listOperation } from './parts.ts'

const NAME = { value: 'name', description: 'The display name.' }

const PASS_QUERY = {
  value: 'true|false',
  choices: ['true', 'false'],
  description: 'Whether the landing page gets the query of visitors, such as gclid.',
}

const LINK: Options = {
  affiliate: {
    value: 'affiliate_id',
    description: 'The affiliate of the link.',
    member: 'affiliate_id',
    required: true,
  },
  'landing-page': { value: 'url', description: 'The address that it opens.', required: true },
  name: NAME,
  'pass-query': PASS_QUERY,
}

const LINK_CHANGE: Options = {
  'landing-page': { value: 'url', description: 'The address that it opens.' },
  name: NAME,
  'pass-query': PASS_QUERY,
}

/** Returns members of a body with the flag in it as a boolean. */
const withFlag = ({ pass_query, ...members }: Record<string, string>) => ({
  ...members,
  ...(pass_query !== undefined && { pass_query: pass_query === 'true' }),
})

const changes = changesFrom(LINK_CHANGE)

type Change = Pick<Operation, 'verb' | 'summary' | 'example' | 'body' | 'options'>

const change = (operation: Change): Operation => ({
  ...operation,
  noun: 'links',
  method: 'PATCH',
  path: 'accounts/{account}/links/{link_id}',
  format: object,
})

/** Links of affiliates to landing pages. */
export const LINKS: readonly Operation[] = [
  listOperation({
    noun: 'links',
    verb: 'list',
    summary: 'Lists the links of an account.',
    example: 'acme --affiliate IB-07',
    path: 'accounts/{account}/links',
    options: {
      affiliate: {
        value: 'affiliate_id',
        description: 'Only those of this affiliate.',
        member: 'affiliate_id',
      },
    },
    format: list(),
  }),
  {
    noun: 'links',
    verb: 'create',
    summary: 'Creates a link of an affiliate to a landing page.',
    example: 'acme --affiliate IB-07 --landing-page https://acme.example/start',
    method: 'POST',
    path: 'accounts/{account}/links',
    options: LINK,
    body: (input) => withFlag(membersOf(LINK, input)),
    format: object,
    recovery: 'Run `links list` before you repeat the command: the link may exist already.',
  },
  change({
    verb: 'change',
    summary: 'Changes landing page, name or the passing of queries within 60 seconds.',
    example: 'acme LINK_ID --name Autumn',
    options: LINK_CHANGE,
    body: (input) => withFlag(changes(input)),
  }),
  change({
    verb: 'disable',
    summary: 'Disables a link within 60 seconds.',
    example: 'acme LINK_ID',
    body: () => ({ disabled: true }),
  }),
  change({
    verb: 'enable',
    summary: 'Enables a link within 60 seconds.',
    example: 'acme LINK_ID',
    body: () => ({ disabled: false }),
  }),
]
