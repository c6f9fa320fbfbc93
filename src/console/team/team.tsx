import { listAccounts } from '../../accounts/accounts.ts'
import { type Page, useVisit, type Values, type Visit } from '../../pages/base/page.ts'
import type { ShownSecret } from '../../pages/base/session.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, Data, Day, NOTHING, timeWords, visible } from '../../pages/parts/data.tsx'
import { choiceWords } from '../../pages/parts/field-words.ts'
import { Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, Field, FoldedForm, type Option, Ticks } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import {
  approveMember,
  endMember,
  listTeam,
  makeMember,
  makeMemberLink,
  patchMember,
} from '../../people/operations/members.ts'
import { isAtLeast, type Role } from '../../platform/auth/roles.ts'
import { ROLES, ROOT_ACTOR } from '../../platform/directory/members.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { LANGUAGES } from '../../platform/languages.ts'

type Team = AnswerOf<typeof listTeam>['data']
type TeamMember = Team[number]

/** The names of accounts by their ids. */
type AccountNames = ReadonlyMap<string, string>

/** Reads the names of the accounts of whoever looks. */
async function readAccountNames({ api }: Visit): Promise<AccountNames> {
  const { data } = await api.call(listAccounts, { per_page: 100 })
  return new Map(data.map(({ account, name }) => [account, name]))
}

const ROLE_HINTS: Readonly<Record<Role, string>> = {
  viewer: 'only looks',
  manager: 'also makes changes',
  approver: 'also approves, and invites',
}

/** Returns the choices of roles up to one, each with what it may do. */
export const roleOptions = (highest: Role): Option[] =>
  ROLES.filter((role) => isAtLeast(highest, role)).map((role) => [
    role,
    `${choiceWords(role)}: ${ROLE_HINTS[role]}`,
  ])

const AFFILIATES: Option[] = [
  ['all', 'All affiliates'],
  ['own', 'Only those whose manager they are'],
]

/** Renders the fields of what a member is given. What a change leaves empty stays as it is. */
const MemberFields = (
  { change, accounts, isNew }: { change: string; accounts: AccountNames; isNew?: true },
  { member, refused } = useVisit(),
) => {
  const sent = refused?.change === change ? refused : null
  const all: Option[] = member.accounts === 'all' ? [['all', 'All accounts, also later ones']] : []
  const orSame = (options: Option[]): Option[] => (isNew ? options : [['', 'As it is'], ...options])
  return (
    <>
      <Field
        {...{ change, name: 'name', required: isNew === true }}
        attributes={{ maxlength: 100 }}
      />
      {isNew && (
        <Field
          {...{ change, name: 'email', label: 'E-mail address', required: true }}
          hint="What they do is stored under this address. It never changes."
          attributes={{ inputmode: 'email', maxlength: 254 }}
        />
      )}
      <Field {...{ change, name: 'role', options: orSame(roleOptions('approver')) }} />
      <Ticks
        title="Accounts"
        ticks={[...all, ...accounts].map(([id, label]) => ({
          name: `accounts:${id}`,
          label,
          isTicked: sent !== null && sent.values(`accounts:${id}`) !== '',
        }))}
        errors={sent?.errors.filter(({ pointer }) => pointer?.startsWith('/accounts')) ?? []}
      />
      <Field
        {...{ change, name: 'affiliates', options: orSame(AFFILIATES) }}
        hint="An approver always has all."
      />
      <Field
        {...{ change, name: 'language' }}
        options={orSame(LANGUAGES.map((language) => [language, choiceWords(language)]))}
        hint="In which we write to them. The console is in English."
      />
    </>
  )
}

/** Returns what a form gives a member: what is empty is left out. */
async function givenFields(values: Values, visit: Visit) {
  const ids = ['all', ...(await readAccountNames(visit)).keys()]
  const ticked = ids.filter((id) => values(`accounts:${id}`) !== '')
  const texts = ['name', 'email', 'role', 'language'].map((name) => [name, values(name).trim()])
  const fields = {
    ...Object.fromEntries(texts),
    accounts: ticked.includes('all') ? 'all' : ticked,
    affiliates: values('affiliates') === 'own' ? { own: true } : values('affiliates'),
  }
  const given = Object.entries(fields).filter(([, value]) => String(value) !== '')
  return Object.fromEntries(given)
}

/** Says what a change has done, with the link that it made, which is shown only once; or that it waits. */
const doneWith =
  (title: string) =>
  (answer: unknown): ShownSecret | string => {
    const { invitation_url: url, waiting } = answer as AnswerOf<typeof patchMember>
    const note = 'Send them this link. It works once, within 72 hours, and is not shown again.'
    if (url !== null) return { title, note, values: [['Link', url]] }
    return waiting ? 'Your request is stored. It is done when another approver agrees.' : title
  }

/** Returns the name of whoever an actor is. */
const nameIn = (team: Team, actor: string): string =>
  actor === ROOT_ACTOR ? 'The root key' : (team.find(({ email }) => email === actor)?.name ?? actor)

/** Renders whether a member signs in, or what is missing for that. */
const State = ({ one }: { one: TeamMember }) => {
  const { waiting, passkeys, invited_until: until } = one
  if (waiting?.kind === 'invitation') return <Badge tone="warn">waits for an approver</Badge>
  if (waiting) return <Badge tone="warn">a change waits</Badge>
  if (passkeys > 0) return <Badge tone="good">has joined</Badge>
  if (until === null) return <Badge tone="bad">has no link</Badge>
  return <Badge tone="quiet">invited until {timeWords(until)} UTC</Badge>
}

const accountsWords = ({ accounts }: Pick<TeamMember, 'accounts'>, names: AccountNames) =>
  accounts === 'all' ? 'All' : accounts.map((id) => names.get(id) ?? id).join(', ')

const affiliatesWords = ({ affiliates }: Pick<TeamMember, 'affiliates'>) =>
  affiliates === 'all' ? 'All' : 'Their own'

const ASKED = {
  invitation: 'asked to invite',
  change: 'asked to give more to',
  lost: 'asked for a new link in place of what was lost by',
}

/** Renders what waits until another approver agrees. */
const Waits = (
  { one, team, names }: { one: TeamMember; team: Team; names: AccountNames },
  { member } = useVisit(),
) => {
  const { waiting } = one
  if (!waiting) return null
  const { role, accounts, affiliates, name } = waiting.change
  return (
    <div class="notice warn">
      <p>
        <strong>Waits for a second approver.</strong> <Data text={nameIn(team, waiting.by)} />{' '}
        {ASKED[waiting.kind]} <Data text={one.name} /> on {timeWords(waiting.at)} UTC.
      </p>
      <Pairs
        pairs={[
          ['New name', name ? <Data text={name} /> : null],
          ['New role', role ?? null],
          ['New accounts', accounts ? <Data text={accountsWords({ accounts }, names)} /> : null],
          ['New affiliates', affiliates ? affiliatesWords({ affiliates }) : null],
        ]}
      />
      {waiting.by === member.email || one.id === member.id ? (
        <p>Another approver agrees: not who has asked, and not whom it is about.</p>
      ) : (
        <ChangeForm change="agree" submit="Agree" needs="approver">
          <input type="hidden" name="member" value={one.id} />
          <input type="hidden" name="request" value={waiting.id} />
        </ChangeForm>
      )}
    </div>
  )
}

/** Renders the forms that invite, change, renew and remove members. */
const Forms = ({ team, names }: { team: Team; names: AccountNames }, { member } = useVisit()) => {
  const others = team.filter(({ id }) => id !== member.id)
  const options = others.map(({ id, name, email }): Option => [id, `${visible(name)}, ${email}`])
  const who = { name: 'member', label: 'Who', options }
  const needs = 'approver'
  return (
    <>
      <h2>Invite somebody</h2>
      <ChangeForm change="invite" submit="Invite" needs={needs}>
        <p class="note">
          They open a link, and sign in from then on with the screen lock of their phone or
          computer. There is no password. A new approver of an account that asks for two persons
          waits until another approver agrees.
        </p>
        <MemberFields change="invite" accounts={names} isNew />
      </ChangeForm>
      {others.length > 0 && (
        <>
          <FoldedForm change="change" title="Change a member" submit="Save" needs={needs}>
            <p class="note">What you leave empty stays as it is.</p>
            <Field change="change" {...who} />
            <MemberFields change="change" accounts={names} />
          </FoldedForm>
          <FoldedForm change="lost" submit="Make a new link" needs={needs} fields={[who]}>
            <p>
              For somebody who has lost their device, or whose link has ended. Their passkeys and
              keys end at once, and they are signed out.
            </p>
          </FoldedForm>
          <FoldedForm
            {...{ change: 'remove', title: 'Remove a member', submit: 'Remove', needs }}
            fields={[who]}
            isDanger
          >
            <p>
              They are signed out at once, and their passkeys, keys and links end. What they did
              stays under their name. Batches that they prepared can be taken over.
            </p>
          </FoldedForm>
        </>
      )}
      <p class="note">
        Nobody changes themselves. What is yours alone is on <a href="/console/me">your page</a>.
      </p>
    </>
  )
}

/** The members of the team, what waits for a second approver, and the forms of approvers. */
export const teamPage: Page = {
  path: '/team',
  shows: 'account',
  changes: {
    invite: {
      done: doneWith('The invitation is made.'),
      perform: async (values, visit) =>
        visit.api.call(makeMember, (await givenFields(values, visit)) as never),
    },
    change: {
      done: doneWith('The member is changed.'),
      async perform(values, visit) {
        const { email: _, ...fields } = await givenFields(values, visit)
        return visit.api.call(patchMember, { member: values('member'), ...fields })
      },
    },
    agree: calling(approveMember, doneWith('You have agreed, and it is done.')),
    lost: calling(makeMemberLink, doneWith('The new link is made.')),
    remove: calling(endMember, 'The member is removed.'),
  },
  async render(visit) {
    const [{ data: team }, names] = await Promise.all([
      visit.api.call(listTeam, {}),
      readAccountNames(visit),
    ])
    const body = (
      <>
        {team.map((one) => (
          <Waits {...{ one, team, names }} />
        ))}
        <Table
          caption="Members"
          rows={team}
          columns={{
            Name: ({ name, email }) => (
              <>
                <Data text={name} />
                <br />
                <small>
                  <Data text={email} />
                </small>
              </>
            ),
            Role: ({ role }) => role,
            Accounts: (one) => <Data text={accountsWords(one, names)} />,
            Affiliates: affiliatesWords,
            State: (one) => <State one={one} />,
            'Invited by': ({ created_by }) => <Data text={nameIn(team, created_by)} />,
            Language: ({ language }) => choiceWords(language),
            'Last signed in': ({ last_seen_at }) =>
              last_seen_at ? <Day day={last_seen_at.slice(0, 10)} /> : NOTHING,
          }}
          empty={<p class="note">Nobody is a member yet. Invite yourself first, as an approver.</p>}
        />
        <Forms {...{ team, names }} />
      </>
    )
    return { title: 'Team', body }
  },
}
