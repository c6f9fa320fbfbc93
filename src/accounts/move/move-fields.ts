import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'

/** The fields of the request that moves an account. */
export const newMove = {
  to: member(f.text, said('The binding of the database that the account moves to.', 'DB_2')),
  confirm: v.optional(
    member(
      v.boolean('type boolean'),
      said(
        'Whether the old copy is deleted 10 minutes after the switch. Defaults to false: 7 days after it.',
      ),
    ),
  ),
}
