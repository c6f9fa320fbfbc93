import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { member, said } from '../validation/fields.ts'

/** The fields of the request that archives a month. */
export const archivedMonth = {
  month: member(
    v.pipe(
      f.text,
      v.regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'pattern a month of the calendar such as 2024-03'),
    ),
    said('The month of the calendar.', '2024-03'),
  ),
}
