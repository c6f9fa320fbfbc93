import * as v from 'valibot'
import { counted } from '../../commission/words/english.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { signedUp } from '../db/candidates.ts'
import { atLeast } from '../figures.ts'
import { aboutAffiliate, aboutCustomer, defineKind, type Finding, signupsOf } from '../kind.ts'
import { parameter } from '../parameters.ts'

/** Two customers, or a customer and the affiliate's own contact, who are the same person. */
export const sharedIdentity = defineKind({
  kind: 'shared_identity',
  name: 'Customers who share an e-mail',
  severity: 'high',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    names: parameter(v.boolean(), false, {
      label: 'Compare names, too',
      is: 'flag',
      hint: 'First and last name and country. Many people share a name.',
    }),
  }),
  words: ({ names }) => ({
    when: `a customer has the e-mail ${names ? 'or the name and country ' : ''}of an earlier customer, or the e-mail of the affiliate`,
  }),
  reach: ({ names }) => ({ customers: 1, identities: true, names }),
  candidates: () => ({ sql: signedUp() }),
  find(view, day) {
    return signupsOf(view, day, day).flatMap(({ customer, fact }): Finding[] => {
      const { email, name } = customer.earlier
      const same = [
        { what: 'e-mail', figure: 'customers_with_the_email', ...email },
        { what: 'name and country', figure: 'customers_with_the_name', ...name },
      ].filter(({ count }) => count > 0)
      const [first] = same
      const found: Finding[] = []
      if (first) {
        const figures = same.map(({ figure, count }) => atLeast(figure, count + 1, 2, 'customers'))
        const sentence = `The customer has the ${first.what} of ${counted(first.count, 'earlier customer')}.`
        const { evidence, ...finding } = aboutCustomer(customer, figures, sentence, [fact])
        found.push({ ...finding, evidence: [...evidence, ...same.flatMap((one) => one.first)] })
      }
      if (customer.isContact) {
        const figures = [atLeast('customers_with_the_contact_email', 1, 1, 'customers')]
        const sentence = 'A customer has the e-mail of the affiliate.'
        found.push(aboutAffiliate(view, figures, sentence, [{ customer, fact }]))
      }
      return found
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
