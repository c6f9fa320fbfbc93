import * as v from 'valibot'
import { compareText } from '../../commission/engine/facts.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { signedUp } from '../../db/fraud/candidates.ts'
import { member, said } from '../../validation/fields.ts'
import { countFigure } from '../figures.ts'
import {
  defineKind,
  type Evidence,
  evidenceOf,
  type Finding,
  type Seen,
  signupsOf,
  type Twin,
} from '../kind.ts'

/** Two customers, or a customer and the affiliate's own contact, who are the same person. */
export const sharedIdentity = defineKind({
  kind: 'shared_identity',
  name: 'Customers who share an e-mail',
  severity: 'high',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    names: v.optional(
      member(
        v.boolean(),
        said('Whether the same first and last name and country count, too.', true),
      ),
      false,
    ),
  }),
  labels: {
    names: {
      label: 'Compare names, too',
      is: 'flag',
      hint: 'First and last name and country. Many people share a name.',
    },
  },
  words: ({ names }) => ({
    when: `a customer has the e-mail ${names ? 'or the name and country ' : ''}of an earlier customer, or the e-mail of the affiliate`,
  }),
  reach: ({ names }) => ({ customers: 1, identities: true, names }),
  candidates: () => ({ sql: signedUp() }),
  find(view, day, { names }) {
    return signupsOf(view, day, day).flatMap(({ customer, fact }): Finding[] => {
      const own = evidenceOf([{ customer, fact }])
      const same = [
        { what: 'e-mail', twins: earlierThan(customer, customer.sameEmail) },
        { what: 'name and country', twins: names ? earlierThan(customer, customer.sameName) : [] },
      ].filter(({ twins }) => twins.length > 0)
      const [first] = same
      return [
        ...(first
          ? [
              {
                subject: { customer_id: customer.customer_id },
                figures: same.map(({ what, twins }) =>
                  countFigure(
                    what === 'e-mail' ? 'customers_with_the_email' : 'customers_with_the_name',
                    twins.length + 1,
                    2,
                    'customers',
                  ),
                ),
                sentence: `The customer has the ${first.what} of ${counted(first.twins.length, 'earlier customer')}.`,
                evidence: [...own, ...same.flatMap(({ twins }) => firstOf(twins))],
              },
            ]
          : []),
        ...(customer.isContact
          ? [
              {
                subject: { affiliate_id: view.affiliate_id },
                figures: [countFigure('customers_with_the_contact_email', 1, 1, 'customers')],
                sentence: 'A customer has the e-mail of the affiliate.',
                evidence: own,
              },
            ]
          : []),
      ]
    })
  },
  titles: {
    customers_with_the_email: 'Customers with the same e-mail',
    customers_with_the_name: 'Customers with the same name and country',
    customers_with_the_contact_email: 'Customers with the e-mail of the affiliate',
  },
  sees: 'The e-mail of each customer and affiliate, without letter case, tags and the dots of Gmail. Names only if the rule says so.',
  cannotSee: 'Several addresses of one person. Many people share a name.',
})

/** The most earlier customers of an identity that a finding names: each of many would name all before. */
const MOST_NAMED = 20

/** Returns the earliest of other customers as evidence. */
const firstOf = (twins: readonly Twin[]): Evidence[] =>
  twins
    .toSorted((a, b) => a.signupDay - b.signupDay || compareText(a.customer_id, b.customer_id))
    .slice(0, MOST_NAMED)
    .map(({ customer_id, signupDay, delivery_id }) => ({
      ...{ customer_id, resource: 'customers', id: customer_id, day: signupDay, delivery_id },
    }))

/** Returns the customers who signed up before a customer; of one day, those with the smaller id. */
const earlierThan = ({ customer_id, signupDay }: Seen, twins: readonly Twin[]): Twin[] =>
  twins.filter(
    (one) =>
      one.signupDay < signupDay ||
      (one.signupDay === signupDay && compareText(one.customer_id, customer_id) < 0),
  )
