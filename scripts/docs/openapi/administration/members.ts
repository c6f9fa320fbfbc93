import { MAX_OPEN_INVITATIONS, newInvitation } from '../../../../src/admin/invitation-fields.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import { listOf, type Operation } from '../operation.ts'
import { orNull, TEXT, TIME } from '../shapes.ts'
import { AFFILIATE_FORMS } from './accounts.ts'
import { ACCOUNT_PATH, AT, COUNT, NO_CONTENT, operation, returned } from './operation.ts'

const INVITATION = {
  id: documented('Identifies the invitation.', TEXT),
  status: documented('`open`, `used`, or `ended`: it has expired or was ended.', {
    type: 'string',
    enum: ['open', 'used', 'ended'],
  }),
  member: documented('The member who lost their passkeys, or null: another person.', orNull(TEXT)),
  created_at: documented('When it was made.', TIME),
  created_by: documented('Who made it.', TEXT),
  ends_at: documented('When it stops to work: 72 hours later, or when it was ended.', TIME),
  used_at: documented('When somebody registered a passkey with it, or null.', orNull(TIME)),
}

const MEMBER = object({
  id: documented('Identifies the member.', TEXT),
  name: documented('What the member calls themself.', TEXT),
  passkeys: documented('The number of their passkeys.', COUNT),
  created_at: documented('When they registered.', TIME),
  last_seen_at: documented(
    'When they signed in last, or when they first looked at the portal on a later day.',
    TIME,
  ),
  keys: documented('The valid keys that they made.', {
    type: 'array',
    items: object({ id: TEXT, name: TEXT }),
  }),
})

/** Lists the operations on the members of affiliates. */
export const affiliateMembers = (): Operation[] =>
  AFFILIATE_FORMS.flatMap(({ at, end, words, parameters }) => [
    operation({
      method: 'post',
      path: `${ACCOUNT_PATH}/${at}/invitations`,
      id: `inviteAffiliate${end}`,
      parameters,
      summary: `Invite a person${words}`,
      description: `Makes a link for one person, who registers a passkey with it and is signed in to the portal. It works once within 72 hours and is shown only here; the service sends no e-mail. An affiliate has at most ${MAX_OPEN_INVITATIONS} open invitations; nobody is invited while it is suspended.`,
      body: { schema: closedObject(newInvitation, AT), required: false },
      answers: {
        201: {
          description: 'The invitation.',
          schema: object({
            ...INVITATION,
            invitation_url: documented('The link to hand over.', TEXT),
          }),
        },
      },
      errors: ['not_found', 'conflict'],
    }),
    operation({
      method: 'get',
      path: `${ACCOUNT_PATH}/${at}/invitations`,
      id: `listInvitations${end}`,
      parameters,
      summary: `List invitations${words}`,
      description:
        'Lists the invitations of an affiliate, the latest first. Their links are not stored.',
      answers: returned('The invitations.', listOf(object(INVITATION))),
      errors: ['not_found'],
    }),
    operation({
      method: 'delete',
      path: `${ACCOUNT_PATH}/${at}/invitations/{invitation_id}`,
      id: `endInvitation${end}`,
      parameters,
      summary: `End an invitation${words}`,
      description: 'Ends an invitation. Its link stops working at once.',
      answers: NO_CONTENT,
      errors: ['not_found'],
    }),
    operation({
      method: 'get',
      path: `${ACCOUNT_PATH}/${at}/members`,
      id: `listMembers${end}`,
      parameters,
      summary: `List members${words}`,
      description: 'Lists the persons who sign in for an affiliate.',
      answers: returned('The members.', listOf(MEMBER)),
      errors: ['not_found'],
    }),
    operation({
      method: 'delete',
      path: `${ACCOUNT_PATH}/${at}/members/{member_id}`,
      id: `removeMember${end}`,
      parameters: [...parameters, 'keep_keys'],
      summary: `Remove a member${words}`,
      description:
        'Removes a member with their passkeys. They are signed out at once. The valid keys that they made end, unless `keep_keys` is `true`; the answer names them.',
      answers: returned(
        'The keys that the member made.',
        object({
          keys: {
            type: 'array',
            items: object({ id: TEXT, name: TEXT, ended: { type: 'boolean' } }),
          },
        }),
      ),
      errors: ['not_found'],
    }),
  ])
