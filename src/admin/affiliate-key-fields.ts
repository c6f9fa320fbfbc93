import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { member, said } from '../validation/fields.ts'
import { overlap } from './overlap.ts'

/** The fields of a new key. */
export const newKeyFields = {
  name: member(f.label, said('What the key is for.', 'Tracker of the affiliate')),
  scope: v.optional(
    member(
      f.oneOf('read', 'read links'),
      said(
        'What the key may do: read, or also make and change links and postbacks and ask questions. Defaults to `read`.',
      ),
    ),
  ),
  replaces: v.optional(
    member(
      f.text,
      said(
        'The id of the key that this one replaces. It ends after `overlap`.',
        'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
      ),
    ),
  ),
  overlap,
}
