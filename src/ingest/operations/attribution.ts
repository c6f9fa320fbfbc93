import * as v from 'valibot'
import { affiliatesByLink } from '../../attribution/db/links.ts'
import { unconfiguredAmong } from '../../platform/directory/affiliates.ts'
import { list } from '../../platform/http/operation.ts'
import { day } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import * as rows from '../db/attribution.ts'

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

export const listAttributed = list({
  id: 'listAttributed',
  shows: 'affiliate',
  topic: 'affiliates',
  path: '/customers',
  params: {
    customer_id: optional(v.string(), said('Returns only this customer.', 'C-1001')),
  },
  words: described(() => ({
    description:
      'Lists customers with the verdict on their origin and the affiliate that is paid: all of them in the order of their ids, or one.',
    answer: component('Attributed', () => ({
      customer_id: member(v.string(), 'The id of the customer.'),
      day: member(day, 'The day of the registration.'),
      attribution: v.object({
        verdict: v.picklist([
          'attributed',
          'organic',
          'altered',
          'foreign',
          'unrecognised',
          'conflict',
        ]),
        link_id: nullable(v.string(), 'The link that the customer followed.'),
        affiliate_id: nullable(v.string(), 'The affiliate that is paid. Null if none is.'),
        affiliate_configured: member(v.boolean(), 'Whether that affiliate is configured.'),
      }),
    })),
    command: {
      name: 'customers list',
      columns: [
        'customer_id',
        'day',
        'attribution.verdict',
        'attribution.link_id',
        'attribution.affiliate_id',
        'attribution.affiliate_configured',
      ],
    },
  })),
  // The paid affiliate is looked up now, so an affiliate that is configured later also has its earlier customers.
  async list({ env, account: { id }, db }, { customer_id }, page) {
    const customers = await rows.listAttributions(db, id, page, customer_id)
    const links = customers.data.map(({ link }) => link).filter(isText)
    const linkAffiliates =
      links.length > 0 ? await affiliatesByLink(env.DB, id, links) : new Map<string, string>()
    // Partners name the paid affiliate; for brands it is the affiliate of the link.
    const paid = customers.data.map(
      ({ affiliate_id, link }) => affiliate_id ?? linkAffiliates.get(link ?? '') ?? null,
    )
    const unconfigured = await unconfiguredAmong(db, id, paid.filter(isText))
    const data = customers.data.map(({ customer_id, day, verdict, link }, i) => {
      const affiliate_id = paid[i] ?? null
      const affiliate_configured = affiliate_id !== null && !unconfigured.has(affiliate_id)
      const attribution = { verdict, link_id: link, affiliate_id, affiliate_configured }
      return { customer_id, day, attribution }
    })
    return { ...customers, data }
  },
})
