import * as v from 'valibot'
import { described } from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member, said } from '../platform/validation/fields.ts'

/** What affiliates may see. A member that is left out keeps its value. */
export const affiliateViewFields = {
  customer_ids: v.exactOptional(
    member(
      f.oneOf('pseudonym', 'plain', 'none'),
      said(
        'How affiliates see the ids of customers: `pseudonym`, a name that stays the same for the affiliate and tells nothing; `plain`, the id; `none`, not at all. Defaults to `pseudonym`.',
      ),
    ),
  ),
  amounts: v.exactOptional(
    member(
      v.boolean('type boolean'),
      said(
        'Whether affiliates see what customers have paid and traded. Without, they see what they earn only. Defaults to true.',
      ),
    ),
  ),
  countries: v.exactOptional(
    member(
      v.boolean('type boolean'),
      said('Whether affiliates see the countries of customers. Defaults to true.'),
    ),
  ),
  sub_affiliates: v.exactOptional(
    member(
      f.oneOf('totals', 'none'),
      said('What affiliates see of the affiliates below them: `totals` (the default) or `none`.'),
    ),
  ),
  drafts: v.exactOptional(
    member(
      v.boolean('type boolean'),
      said('Whether affiliates see statements that are not approved yet. Defaults to true.'),
    ),
  ),
  held: v.exactOptional(
    member(
      f.oneOf('category', 'none'),
      said(
        'Whether affiliates see that a payout is under review: `category` or `none`. They never see why. Defaults to `category`.',
      ),
    ),
  ),
}

const view = affiliateViewFields

/** What affiliates see. */
export const shownView = described(() =>
  v.object({
    customer_ids: view.customer_ids.wrapped,
    amounts: view.amounts.wrapped,
    countries: view.countries.wrapped,
    sub_affiliates: view.sub_affiliates.wrapped,
    drafts: view.drafts.wrapped,
    held: view.held.wrapped,
  }),
)
