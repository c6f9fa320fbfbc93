import * as v from 'valibot'
import { described } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member, said } from '../platform/validation/fields.ts'

const view = {
  customer_ids: member(
    f.oneOf('pseudonym', 'plain', 'none'),
    said(
      'How affiliates see the ids of customers: `pseudonym`, a name that stays the same for the affiliate and tells nothing; `plain`, the id; `none`, not at all. Defaults to `pseudonym`.',
    ),
  ),
  amounts: member(
    v.boolean('type boolean'),
    said(
      'Whether affiliates see what customers have paid and traded. Without, they see what they earn only. Defaults to true.',
    ),
  ),
  countries: member(
    v.boolean('type boolean'),
    said('Whether affiliates see the countries of customers. Defaults to true.'),
  ),
  sub_affiliates: member(
    f.oneOf('totals', 'none'),
    said('What affiliates see of the affiliates below them: `totals` (the default) or `none`.'),
  ),
  drafts: member(
    v.boolean('type boolean'),
    said('Whether affiliates see statements that are not approved yet. Defaults to true.'),
  ),
  held: member(
    f.oneOf('category', 'none'),
    said(
      'Whether affiliates see that a payout is under review: `category` or `none`. They never see why. Defaults to `category`.',
    ),
  ),
}

/** What affiliates see. */
export const shownView = described(() => v.object(view))

type Optional<E extends v.ObjectEntries> = {
  readonly [N in keyof E]: v.ExactOptionalSchema<E[N], undefined>
}

/** What affiliates may see. A member that is left out keeps its value. */
export const affiliateViewFields = Object.fromEntries(
  Object.entries(view).map(([name, schema]) => [name, v.exactOptional(schema)]),
) as unknown as Optional<typeof view>
