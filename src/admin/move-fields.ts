import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { describeField, documentation } from '../validation/fields.ts'

/** The fields of the request that moves an account. */
export const newMove = {
  to: describeField(
    f.text,
    documentation('The binding of the database that the account moves to.', 'DB_2'),
  ),
  confirm: v.optional(
    describeField(
      v.boolean('type boolean'),
      documentation(
        'Whether the old copy is deleted 10 minutes after the switch. Defaults to false: 7 days after it.',
      ),
    ),
  ),
}
