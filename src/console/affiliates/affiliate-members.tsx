import {
  endInvitation,
  inviteAffiliate,
  listInvitations,
  listMembers,
  removeMember,
} from '../../affiliates/operations/affiliate-members.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import type { Change, Visit } from '../../pages/base/page.ts'
import type { ShownSecret } from '../../pages/base/session.ts'
import { calling } from '../../pages/calling.ts'
import { Data, Day, timeWords, visible } from '../../pages/parts/data.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

// Who signs in to the portal for an affiliate, and who is invited.

type Member = AnswerOf<typeof listMembers>['data'][number]
type Invitation = AnswerOf<typeof listInvitations>['data'][number]

/** The members of an affiliate, and the invitations that are open. */
export interface Access {
  readonly members: readonly Member[]
  readonly open: readonly Invitation[]
}

/** Reads who signs in for an affiliate; null if it is not configured. */
export async function readAccess(
  { api, account }: Visit,
  affiliate: string,
): Promise<Access | null> {
  const own = { account, affiliate_id: affiliate }
  const [members, invitations] = await Promise.all([
    api.call(listMembers, own).catch(nullIfNotFound),
    api.call(listInvitations, own).catch(nullIfNotFound),
  ])
  if (!members || !invitations) return null
  return {
    members: members.data,
    open: invitations.data.filter(({ status }) => status === 'open'),
  }
}

/** Returns the link of an invitation, which is shown only once. */
const invitationLink = (answer: unknown): ShownSecret => ({
  title: 'The invitation is made.',
  note: 'Send this link to the person. It works once, within 72 hours, and is not shown again.',
  values: [['Link', (answer as { invitation_url: string }).invitation_url]],
})

/** The changes of who signs in for the affiliate of a page. */
export const memberChanges: Readonly<Record<string, Change>> = {
  invite: calling(inviteAffiliate, invitationLink),
  uninvite: calling(endInvitation, 'The invitation is ended. Its link no longer works.'),
  remove_member: calling(
    removeMember,
    'The member is removed, and signed out. The keys that they made are ended.',
  ),
}

/** Renders who signs in for an affiliate, and the forms that invite and remove persons. */
export const AccessPart = (props: { access: Access; isSuspended: boolean }) => {
  const { access, isSuspended } = props
  return (
    <>
      <Table
        caption="Members"
        rows={access.members}
        columns={{
          Name: ({ name }) => <Data text={name} />,
          Passkeys: { number: ({ passkeys }) => String(passkeys) },
          'Member since': 'created_at',
          'Last seen': ({ last_seen_at }) => <Day day={last_seen_at.slice(0, 10)} />,
        }}
        empty={<p class="note">Nobody signs in to the portal for this affiliate yet.</p>}
      />
      {access.open.length > 0 && (
        <FoldedForm
          change="uninvite"
          title="End an invitation"
          submit="End the invitation"
          fields={[
            {
              name: 'invitation_id',
              label: 'Invitation',
              options: access.open.map(({ id, created_at, created_by }) => [
                id,
                `Made ${timeWords(created_at)} UTC by ${visible(created_by)}`,
              ]),
            },
          ]}
        >
          <p>Its link stops working at once.</p>
        </FoldedForm>
      )}
      {isSuspended ? (
        <p class="note">Nobody can be invited while the affiliate is suspended.</p>
      ) : (
        <ChangeForm change="invite" submit="Invite">
          <p class="note">
            The person opens a link, and signs in from then on with the screen lock of their phone
            or computer. There is no password. You send the link: the service sends no e-mail.
            Invite a person again who has lost their device, and remove them as the earlier member.
          </p>
        </ChangeForm>
      )}
      {access.members.length > 0 && (
        <FoldedForm
          change="remove_member"
          title="Remove a member"
          submit="Remove the member"
          isDanger
          fields={[
            {
              name: 'member_id',
              label: 'Who',
              options: access.members.map(({ id, name }) => [id, name]),
            },
          ]}
        >
          <p>
            They are signed out at once, and the keys that they made end. To return, they need a new
            invitation.
          </p>
        </FoldedForm>
      )}
    </>
  )
}
