import * as v from 'valibot'
import { governed } from '../../commission/plans/assignments.ts'
import { LANGUAGES } from '../../platform/languages.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { objectOf } from '../../platform/validation/shapes.ts'

/** Returns a text that a request may change, remove, or leave as it is. */
const kept = <S extends typeof f.text | typeof f.email>(
  schema: S,
  words: string,
  example: string,
) =>
  v.optional(
    nullable(schema, said(`${words} Null removes it; if left out, it stays as it is.`, example)),
  )

/** The fields of an affiliate. */
export const affiliate = {
  affiliate_id: member(
    f.affiliateId,
    said('Identifies the affiliate within the account.', 'IB-07'),
  ),
  parent: v.optional(
    nullable(
      f.affiliateId,
      said(
        'The affiliate who referred this affiliate. Null removes the parent, and so does an empty cell in a CSV file; if left out, it stays as it is.',
        'IB-01',
      ),
    ),
  ),
  from: optional(
    f.day,
    said(
      'The first day on which the parent counts. Later parents are removed. Defaults to today, in the time zone of a brand and in UTC for partners; without another parent nothing changes then.',
      '2026-12-01',
    ),
  ),
  display_name: kept(f.text, 'What the team calls the affiliate.', 'Forex Friends'),

  contact_email: kept(
    f.email,
    'The e-mail address of the affiliate. Personal data, which is not in the audit log.',
    'ada@friends.example',
  ),

  language: v.optional(
    nullable(
      f.oneOf(...LANGUAGES),
      said(
        'The language in which the affiliate reads the portal. Null: English. If left out, it stays as it is.',
        'de',
      ),
    ),
  ),
  note: kept(
    f.text,
    'What the team noted. The affiliate never sees it, and the audit log does not have it.',
    'Prefers to be called in the morning.',
  ),

  assignment: optional(
    objectOf(governed),
    said('The plan that governs its customers. If left out, its assignments stay as they are.'),
  ),
  manager: v.optional(
    nullable(
      f.text,
      said(
        'The id of the member of the team who looks after the affiliate. Null: nobody does; if left out, it stays as it is. Only members for all affiliates set it, as `parent` and `status`; who has affiliates of their own gets those that they add.',
        'mem_01M7W0R4W8E3V15G8XPED3Z94X',
      ),
    ),
  ),
  status: optional(
    f.oneOf('active', 'suspended'),
    said(
      'A suspended affiliate cannot sign in or call; it earns on. Its sessions end at once and for good; its keys work again once it is `active`. New affiliates are `active`; if left out, it stays as it is.',
      'suspended',
    ),
  ),
}
