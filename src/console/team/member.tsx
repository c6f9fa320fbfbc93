import { type Page, useVisit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Data, Day, NOTHING, timeWords } from '../../pages/parts/data.tsx'
import { choiceWords } from '../../pages/parts/field-words.ts'
import { Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import {
  approveMember,
  endMember,
  listTeam,
  makeMemberLink,
  patchMember,
} from '../../people/operations/members.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import {
  type AccountNames,
  changedFields,
  MemberFields,
  readAccountNames,
  type TeamMember,
} from './member-fields.tsx'
import { Approvers, accountsWords, affiliatesWords, linkOf, nameIn, State } from './team.tsx'

type Team = readonly TeamMember[]

const ASKED = {
  invitation: 'asked to invite them',
  change: 'asked to give them more',
  lost: 'asked for a new link in place of what they have lost',
}

/** Renders what waits until another approver agrees. */
const Waits = (
  { one, team, names }: { one: TeamMember; team: Team; names: AccountNames },
  { member } = useVisit(),
) => {
  const { waiting } = one
  if (!waiting) return null
  const { role, accounts, affiliates, name } = waiting.change
  const isMine = waiting.by === member.email
  return (
    <div class="notice warn">
      <p>
        <strong>Waits for a second approver.</strong> <Data text={nameIn(team, waiting.by)} />{' '}
        {ASKED[waiting.kind]} on {timeWords(waiting.at)} UTC.
      </p>
      <Pairs
        pairs={[
          ['New name', name ? <Data text={name} /> : null],
          ['New role', role ?? null],
          ['New accounts', accounts ? <Data text={accountsWords({ accounts }, names)} /> : null],
          ['New affiliates', affiliates ? affiliatesWords({ affiliates }) : null],
        ]}
      />
      {isMine || one.id === member.id ? (
        <p>Another approver agrees, not {isMine ? 'who has asked' : 'whom it is about'}.</p>
      ) : (
        <ChangeForm change="agree" submit="Agree" needs="approver">
          <input type="hidden" name="request" value={waiting.id} />
        </ChangeForm>
      )}
    </div>
  )
}

/** Renders the forms that change, renew and remove a member. */
const Forms = ({ one, names }: { one: TeamMember; names: AccountNames }) => (
  <>
    {one.waiting?.kind !== 'invitation' && (
      <FoldedForm change="change" title="Change" submit="Save" needs="approver">
        <MemberFields change="change" accounts={names} present={one} />
      </FoldedForm>
    )}
    <FoldedForm change="lost" title="Make a new link" submit="Make a new link" needs="approver">
      <p>
        For somebody who has lost their device, or whose link has ended. Their passkeys and keys end
        at once, and they are signed out.
      </p>
    </FoldedForm>
    <FoldedForm change="remove" title="Remove" submit="Remove" needs="approver" isDanger>
      <p>
        They are signed out at once, and their passkeys, keys and links end. What they did stays
        under their name. Batches that they prepared can be taken over.
      </p>
    </FoldedForm>
  </>
)

/** A member of the team: what they may do, and what an approver changes of it. */
export const memberPage: Page = {
  path: '/team/:member',
  shows: 'account',
  changes: {
    change: {
      done: (answer) =>
        (answer as TeamMember).waiting
          ? 'Your request is stored. It is done when another approver agrees.'
          : 'The member is changed.',
      async perform(values, visit) {
        const fields = await changedFields(values, visit)
        return visit.api.call(patchMember, { member: visit.params.member ?? '', ...fields })
      },
    },
    agree: {
      ...calling(approveMember, (answer) =>
        (answer as { invitation_url: string | null }).invitation_url
          ? linkOf('You have agreed, and the link is made.')(answer)
          : 'You have agreed, and it is done.',
      ),
    },
    lost: calling(makeMemberLink, linkOf('The new link is made.')),
    remove: { ...calling(endMember, 'The member is removed.'), next: () => '/console/team' },
  },
  async render(visit) {
    const { member } = visit
    const [{ data: team }, names] = await Promise.all([
      visit.api.call(listTeam, {}),
      readAccountNames(visit),
    ])
    const one = team.find(({ id }) => id === visit.params.member)
    if (!one) throw notFound('member', visit.params.member ?? '')
    const body = (
      <>
        <Waits {...{ one, team, names }} />
        <Pairs
          pairs={[
            ['State', <State one={one} />],
            ['E-mail address', <Data text={one.email} />],
            ['Role', one.role],
            ['Accounts', <Data text={accountsWords(one, names)} />],
            ['Affiliates', affiliatesWords(one)],
            ['Language', choiceWords(one.language)],
            ['Invited by', <Data text={nameIn(team, one.created_by)} />],
            ['Invited on', <Day day={one.created_at.slice(0, 10)} />],
            [
              'Last signed in',
              one.last_seen_at ? <Day day={one.last_seen_at.slice(0, 10)} /> : NOTHING,
            ],
          ]}
        />
        {one.id === member.id ? (
          <p class="note">
            Nobody changes themselves. What is yours alone is on <a href="/console/me">your page</a>
            .
          </p>
        ) : isAtLeast(member.role, 'approver') ? (
          <Forms {...{ one, names }} />
        ) : (
          <Approvers what="change a member" team={team} />
        )}
        <p>
          <a href="/console/team">All members</a>
        </p>
      </>
    )
    return { title: one.name, body }
  },
}
