import { type Page, useVisit, type Visit } from '../../pages/base/page.ts'
import type { ShownSecret } from '../../pages/base/session.ts'
import { Badge, Data, Day, NOTHING, timeWords } from '../../pages/parts/data.tsx'
import { ChangeForm, NeedsRole } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { listTeam, makeMember } from '../../people/operations/members.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { ROOT_ACTOR } from '../../platform/directory/members.ts'
import {
  type AccountNames,
  changedFields,
  MemberFields,
  readAccountNames,
  type TeamMember,
} from './member-fields.tsx'

/** Returns the address of the page of a member. */
export const memberPath = (id: string) => `/console/team/${encodeURIComponent(id)}`

/** Returns the link of an invitation, which is shown only once; or says that it waits. */
export const linkOf =
  (title: string) =>
  (answer: unknown): ShownSecret | string => {
    const { invitation_url: url } = answer as { invitation_url: string | null }
    if (url === null) return 'Your request is stored. It is done when another approver agrees.'
    const note = 'Send them this link. It works once, within 72 hours, and is not shown again.'
    return { title, note, values: [['Link', url]] }
  }

/** Returns the name of whoever an actor is. */
export const nameIn = (team: readonly TeamMember[], actor: string): string =>
  actor === ROOT_ACTOR ? 'The root key' : (team.find(({ email }) => email === actor)?.name ?? actor)

/** Renders whether a member signs in, or what is missing for that. */
export const State = ({ one }: { one: TeamMember }, { now } = useVisit()) => {
  const { waiting, passkeys, invited_until: until } = one
  const isOpen = until !== null && Date.parse(until) > now
  if (waiting?.kind === 'invitation') return <Badge tone="warn">waits for an approver</Badge>
  return (
    <>
      {passkeys > 0 && <Badge tone="good">has joined</Badge>}
      {passkeys === 0 && isOpen && (
        <>
          <Badge tone="quiet">invited</Badge> <small>until {timeWords(until)} UTC</small>
        </>
      )}
      {passkeys === 0 && !isOpen && <Badge tone="bad">has no link</Badge>}{' '}
      {waiting && <Badge tone="warn">a change waits</Badge>}
    </>
  )
}

/** Returns the accounts of a member in words. */
export const accountsWords = ({ accounts }: Pick<TeamMember, 'accounts'>, names: AccountNames) =>
  accounts === 'all' ? 'All' : accounts.map((id) => names.get(id) ?? id).join(', ')

/** Returns the affiliates of a member in words. */
export const affiliatesWords = ({ affiliates }: Pick<TeamMember, 'affiliates'>) =>
  affiliates === 'all' ? 'All' : 'Their own'

/** Says who can do what the member who looks cannot: the approvers who have joined. */
export const Approvers = (
  { what, team }: { what: string; team: readonly TeamMember[] },
  { member } = useVisit(),
) => {
  const able = team.filter(
    ({ id, role, passkeys }) => role === 'approver' && passkeys > 0 && id !== member.id,
  )
  return (
    <>
      <NeedsRole needs="approver" what={what} />
      {able.length > 0 && (
        <p class="note">
          Ask <Data text={able.map(({ name }) => name).join(', ')} />.
        </p>
      )}
    </>
  )
}

const TeamTable = ({ team, names }: { team: readonly TeamMember[]; names: AccountNames }) => (
  <Table
    caption="Members"
    rows={team}
    columns={{
      Name: (one) => (
        <>
          <a href={memberPath(one.id)}>
            <Data text={one.name} />
          </a>
          <br />
          <small>
            <Data text={one.email} />
          </small>
        </>
      ),
      Role: ({ role }) => role,
      Accounts: (one) => <Data text={accountsWords(one, names)} />,
      Affiliates: affiliatesWords,
      State: (one) => <State one={one} />,
      'Invited by': ({ created_by }) => <Data text={nameIn(team, created_by)} />,
      'Last signed in': ({ last_seen_at }) =>
        last_seen_at ? <Day day={last_seen_at.slice(0, 10)} /> : NOTHING,
    }}
    empty={<p class="note">Nobody is a member yet. Invite yourself first, as an approver.</p>}
  />
)

/** The members of the team, and the form that invites one. */
export const teamPage: Page = {
  path: '/team',
  shows: 'account',
  changes: {
    invite: {
      done: linkOf('The invitation is made.'),
      async perform(values, visit: Visit) {
        const fields = await changedFields(values, visit)
        const email = values('email').trim()
        return visit.api.call(makeMember, { email, ...fields } as never)
      },
    },
  },
  async render(visit) {
    const [{ data: team }, names] = await Promise.all([
      visit.api.call(listTeam, {}),
      readAccountNames(visit),
    ])
    const body = (
      <>
        <TeamTable team={team} names={names} />
        <h2>Invite somebody</h2>
        {isAtLeast(visit.member.role, 'approver') ? (
          <ChangeForm change="invite" submit="Invite" needs="approver">
            <p class="note">
              They open a link, and sign in from then on with the screen lock of their phone or
              computer. There is no password. A new approver of an account that asks for two persons
              waits until another approver agrees.
            </p>
            <MemberFields change="invite" accounts={names} />
          </ChangeForm>
        ) : (
          <Approvers what="invite somebody" team={team} />
        )}
      </>
    )
    return { title: 'Team', body }
  },
}
