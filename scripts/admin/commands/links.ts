import { type Command, membersOf, type Options } from '../command.ts'
import { fields, rows } from '../show.ts'
import { changesOf, list } from './parts.ts'

const LINK: Options = {
  affiliate: { hint: 'A', about: 'whose link it is', member: 'affiliate_id', required: true },
  'landing-page': { hint: 'URL', about: 'where it leads', required: true },
  name: { hint: 'N', about: 'as people call it' },
}

const LINK_CHANGE: Options = {
  'landing-page': { hint: 'URL', about: 'where it leads from now on' },
  name: { hint: 'N', about: 'as people call it' },
}

const change = (command: Pick<Command, 'verb' | 'about' | 'body' | 'options'>): Command => ({
  ...command,
  noun: 'links',
  method: 'PATCH',
  path: 'accounts/ACCOUNT/links/LINK_ID',
  show: fields,
})

/** Links of affiliates to landing pages. */
export const LINKS: readonly Command[] = [
  list({
    noun: 'links',
    verb: 'list',
    about: 'the links of an account',
    path: 'accounts/ACCOUNT/links',
    show: rows(),
  }),
  {
    noun: 'links',
    verb: 'create',
    about: 'a new link of an affiliate to a landing page',
    method: 'POST',
    path: 'accounts/ACCOUNT/links',
    options: LINK,
    body: (said) => membersOf(LINK, said),
    show: fields,
    unsure: 'See "links list" before you repeat the command: the link may be there already.',
  },
  change({
    verb: 'change',
    about: 'another page or name, within 60 s',
    options: LINK_CHANGE,
    body: changesOf(LINK_CHANGE),
  }),
  change({
    verb: 'disable',
    about: 'it leads nowhere, within 60 s',
    body: () => ({ disabled: true }),
  }),
  change({
    verb: 'enable',
    about: 'it leads there again, within 60 s',
    body: () => ({ disabled: false }),
  }),
]
