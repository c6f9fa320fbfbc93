import { counted } from '../../commission/words/english.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast } from '../figures.ts'
import { defineKind } from '../kind.ts'

/** The most other affiliates whose bank details a finding names. */
const MOST_NAMED = 20

/** An affiliate who is paid to the account of another one. */
export const sharedPayee = defineKind({
  kind: 'shared_payee',
  name: 'Affiliates who share an account',
  severity: 'medium',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({}),
  words: () => ({
    when: 'the account to which the affiliate is paid, approved or not yet, is that of another affiliate',
  }),
  reach: () => ({ payees: true }),
  find({ affiliate_id, payees }, day) {
    const current = payees.filter(({ first, until }) => first <= day && (until ?? day + 1) > day)
    const own = current.find((one) => one.affiliate_id === affiliate_id)
    const others = current.filter((one) => one.account === own?.account && one !== own)
    if (!own || others.length === 0) return []
    const figures = [atLeast('affiliates_with_the_account', others.length + 1, 2, 'affiliates')]
    const sentence = `The affiliate is paid to the account of ${counted(others.length, 'other affiliate')}.`
    const evidence = [own, ...others.slice(0, MOST_NAMED)].map((one) => ({
      customer_id: null,
      resource: 'payees' as const,
      id: `${one.affiliate_id} ${one.version}`,
      day: one.first,
      delivery_id: null,
    }))
    return [{ subject: { affiliate_id }, figures, sentence, evidence }]
  },
  titles: { affiliates_with_the_account: 'Affiliates with the same account' },
  sees: 'The account, PayPal address or wallet of each affiliate, as a digest.',
  cannotSee: 'Several accounts of one person. An agency may be paid for several affiliates.',
})
