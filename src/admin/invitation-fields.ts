import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { member, said } from '../validation/fields.ts'

/** The open invitations of an affiliate. */
export const MAX_OPEN_INVITATIONS = 20

/** The fields of a new invitation. */
export const newInvitation = {
  member: v.optional(
    member(
      f.id,
      said(
        'The member who lost their passkeys: those end as soon as the invitation is used. If left out, the invitation is for another person.',
        'b54adc00-67f9-4bd2-a1c3-6f1e5b1a2c3d',
      ),
    ),
  ),
}
