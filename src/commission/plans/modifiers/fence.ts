import type * as v from 'valibot'
import { compareText } from '../../../platform/compare-text.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  isPositive,
  least,
  multiply,
  negate,
  PLACES,
  plainText,
  quotient,
  subtract,
  sum,
  ZERO,
} from '../../../platform/money/decimal.ts'
import { described } from '../../../platform/validation/described.ts'
import { exactOptional, member, said } from '../../../platform/validation/fields.ts'
import type { Issue } from '../../../platform/validation/issue.ts'
import { objectOf } from '../../../platform/validation/shapes.ts'
import { notPositive } from '../decimals.ts'
import * as m from './modifier.ts'

const members = {
  fence: exactOptional(
    objectOf({
      customer: member(
        notPositive,
        said('Customers whose base is at or below this are fenced.', '-7000'),
      ),
      affiliate: member(
        notPositive,
        said('The fence applies if the affiliate’s base is at or below this.', '-2000'),
      ),
    }),
    said(
      'High-roller fence: large losses are kept out of the base, and offset only against later revenue of the same customers.',
    ),
  ),
}

const step = described(() =>
  m.stepOf('fence', 'Losses of single customers that are kept out of the base.', {
    customer: m.figure('The threshold of a customer.'),
    affiliate: m.figure('The threshold of the affiliate.'),
    before: m.figure('The base before.'),
    paid_back: m.figure('What customers pay back.'),
    fenced: m.figure('What is kept out.'),
    base: m.figure('`before` − `paid_back` + `fenced`.'),
  }),
)

type Fence = NonNullable<Members['fence']>

type Members = m.MembersOf<typeof members> & { readonly per?: string; readonly negative?: string }

type Step = v.InferOutput<typeof step>

/** A fenced base: what customers paid back, and what they still have to pay back. */
export interface Fenced {
  readonly before: Decimal
  readonly paidBack: Decimal
  readonly fenced: Decimal
  readonly base: Decimal
  /** What each customer still has to pay back. */
  readonly toPayBack: Map<string, Decimal>
}

/**
 * Keeps the large losses of single customers out of an affiliate's base (§12 "Fence"), before the rate.
 *
 * @param base The affiliate's base, `fixed` terms included.
 * @param customers The base of each customer.
 * @param toPayBack What each customer has to pay back from earlier periods.
 */
export function fenceBase(
  { customer, affiliate }: Fence,
  base: Decimal,
  customers: ReadonlyMap<string, Decimal>,
  toPayBack: ReadonlyMap<string, Decimal>,
  trace: m.ModifiedLine<unknown>['trace'],
): Fenced {
  const after = payBack(customers, toPayBack)
  const left = subtract(base, after.paidBack)
  const share =
    compare(left, decimal(affiliate)) <= 0 ? fenceLosses(decimal(customer), left, customers) : []
  for (const [one, part] of share) {
    after.toPayBack.set(one, add(after.toPayBack.get(one) ?? ZERO, part))
  }
  const fenced = sum(share.map(([, part]) => part))
  const result = { ...after, before: base, fenced, base: add(left, fenced) }
  trace.push(() => ({
    step: 'fence',
    customer,
    affiliate,
    before: plainText(base),
    paid_back: plainText(after.paidBack),
    fenced: plainText(fenced),
    base: plainText(result.base),
  }))
  return result
}

/** Uses a customer's positive base to pay back what that customer has to pay back. */
function payBack(
  customers: ReadonlyMap<string, Decimal>,
  toPayBack: ReadonlyMap<string, Decimal>,
): Pick<Fenced, 'toPayBack' | 'paidBack'> {
  const left = new Map(toPayBack)
  let paidBack = ZERO
  for (const [customer, owed] of toPayBack) {
    const base = customers.get(customer)
    if (base === undefined || !isPositive(base) || !isPositive(owed)) continue
    const paid = least(base, owed)
    left.set(customer, subtract(owed, paid))
    paidBack = add(paidBack, paid)
  }
  return { toPayBack: left, paidBack }
}

/**
 * Shares the fenced loss among the customers at or below the threshold: the smaller of the loss of the whole base and
 * the sum of their own losses. Shares are in proportion to these, rounded to 12 places; the last customer id takes the
 * remainder (§16.21).
 */
function fenceLosses(
  threshold: Decimal,
  base: Decimal,
  customers: ReadonlyMap<string, Decimal>,
): [string, Decimal][] {
  const losses = [...customers]
    .filter(([, own]) => compare(own, threshold) <= 0 && compare(own, ZERO) < 0)
    .sort(([a], [b]) => compareText(a, b))
    .map(([customer, own]) => [customer, negate(own)] as const)
  const lost = sum(losses.map(([, loss]) => loss))
  const fenced = least(negate(base), lost)
  if (!isPositive(fenced)) return []
  let left = fenced
  return losses.map(([customer, loss], index) => {
    const last = index === losses.length - 1
    const part = last ? left : quotient(multiply(fenced, loss), lost, PLACES)
    left = subtract(left, part)
    return [customer, part]
  })
}

/** The fence of a share: large losses of single customers are set apart. */
export const fence = {
  name: 'fence' as const,
  members,
  step,
  check(rule: Members, pointer: string): Issue[] {
    if (rule.fence === undefined) return []
    const { per = 'affiliate', negative = 'offset' } = rule
    const at = `${pointer}/fence`
    return [
      ...(per === 'affiliate' ? [] : [m.notApplicable(at, 'it needs `"per": "affiliate"`')]),
      ...(negative === 'offset'
        ? [m.notApplicable(at, 'it needs `"negative": "zero"` or `"carry"`')]
        : []),
    ]
  },
  plan: ({ fence: own }: Members, { words, currency }: m.PlanSpeech): string[] =>
    own === undefined
      ? []
      : [
          words.text('fence', {
            affiliate: words.money(own.affiliate, currency),
            customer: words.money(own.customer, currency),
          }),
        ],
  explain: (
    { before, fenced, paid_back, base }: Step,
    { words, money }: m.StepSpeech,
  ): string[] => [
    words.text('why.fence', {
      before: money(before),
      fenced: money(fenced),
      paid: money(paid_back),
      base: money(base),
    }),
  ],
  fields: {
    fence: { label: 'Large losses are set apart' },
    'fence.customer': { label: 'Customer at or below', placeholder: 'such as -7000' },
    'fence.affiliate': { label: 'Affiliate at or below', placeholder: 'such as -2000' },
  },
}
