import { list, object, sentence } from '../format.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'

const AFFILIATE_PATH = 'accounts/{account}/affiliates/{affiliate_id}'

const INVITATION: Options = {
  member: { value: 'id', description: 'The member who lost their passkeys; those end.' },
}

/** Persons who sign in to the portal for an affiliate, and who is invited. */
export const AFFILIATE_MEMBERS: readonly Operation[] = [
  {
    noun: 'members',
    verb: 'invite',
    summary: 'Makes a link that invites a person.',
    example: 'acme IB-07',
    method: 'POST',
    path: `${AFFILIATE_PATH}/invitations`,
    options: INVITATION,
    body: (input) => membersOf(INVITATION, input),
    format: object,
    secret: 'invitation_url',
    recovery:
      'The link may have been made: run `members invitations`, and end the unknown invitation.',
  },
  {
    noun: 'members',
    verb: 'invitations',
    summary: 'Lists invitations.',
    example: 'acme IB-07',
    method: 'GET',
    path: `${AFFILIATE_PATH}/invitations`,
    format: list(),
  },
  {
    noun: 'members',
    verb: 'uninvite',
    summary: 'Ends an invitation at once.',
    example: 'acme IB-07 INVITATION_ID',
    method: 'DELETE',
    path: `${AFFILIATE_PATH}/invitations/{invitation_id}`,
    format: sentence('Ended invitation {invitation_id} of affiliate {affiliate_id}.'),
  },
  {
    noun: 'members',
    verb: 'list',
    summary: 'Lists who signs in.',
    example: 'acme IB-07',
    method: 'GET',
    path: `${AFFILIATE_PATH}/members`,
    format: list(),
  },
  {
    noun: 'members',
    verb: 'remove',
    summary: 'Removes a member at once.',
    example: 'acme IB-07 MEMBER_ID',
    method: 'DELETE',
    path: `${AFFILIATE_PATH}/members/{member_id}`,
    options: {
      'keep-keys': {
        description: 'whether the keys that the member made go on; they end if it is absent',
        value: 'BOOLEAN',
        choices: ['true', 'false'],
      },
    },
    format: sentence('Removed member {member_id} of affiliate {affiliate_id}.'),
  },
]
