import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { exactOptional, member, said } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'
import { byMember, listOf, objectOf } from '../../platform/validation/shapes.ts'
import { ACTIVITY_FIELDS } from '../db/fact-tables.ts'
import { conditions } from './conditions.ts'
import { decimal } from './decimals.ts'
import { PLAN_LIMITS } from './limits.ts'

const { terms, values } = PLAN_LIMITS

/** The name of a rule or of a term. It appears in lines and explanations. */
export const name = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z\d_-]{1,64}$/, ruleMessage('pattern', '1 to 64 letters, digits, `_` or `-`')),
)

const transactionTypes = member(
  listOf(f.text, values),
  said('The types of transactions, as sent in `transaction_type`.', ['deposit']),
)
const subtypes = member(
  listOf(f.text, values),
  said('Only transactions of these subtypes, as sent in `transaction_subtype`.', ['card']),
)
const event = member(f.text, said('The name of the event, as sent in `eventname`.', 'Deposit'))
const kpi = member(f.text, said('The KPI field, or `Value`, which is the default.', 'NGR'))

/** The members of transactions of a kind. */
export const transactionMembers = {
  transactions: transactionTypes,
  subtypes: v.exactOptional(subtypes),
}
/** The members of events of a kind. */
export const eventMembers = { event, kpi: v.exactOptional(kpi) }

const AMOUNTS = ['pnl', 'volume_usd', 'spread_cost', 'commission'] as const

/** A field of trading activity. */
export const activityField = member(
  f.oneOf(...ACTIVITY_FIELDS),
  said('The field of the trading activity. A row without it is not counted.', 'lots_traded'),
)

/** A field of trading activity that is an amount. A base sums amounts and no lots. */
const activityAmount: v.GenericSchema<string, (typeof ACTIVITY_FIELDS)[number]> = member(
  f.oneOf(...AMOUNTS),
  said('The amount of the trading activity. A row without it is not counted.', 'spread_cost'),
)

const options = {
  name: exactOptional(name, said('A name by which a later term can use this one.', 'fees')),
  times: exactOptional(decimal, said('The factor, `1` by default. A negative one deducts.', '-1')),
  when: exactOptional(conditions, said('Only records that meet these conditions.')),
}

const factForms = {
  transactions: objectOf({ ...transactionMembers, ...options }),
  activity: objectOf({ activity: activityAmount, ...options }),
  event: objectOf({ ...eventMembers, ...options }),
}

/** A term that sums facts. */
export const factTerm = byMember(factForms)

/** A term of a base. */
export const term = byMember({
  ...factForms,
  of: objectOf({
    of: member(
      listOf(name, terms),
      said('The names of earlier terms of this base. The term is their sum × `times`.', ['fees']),
    ),
    times: member(decimal, said('The factor of that sum. A negative one deducts.', '-0.2')),
    name: options.name,
  }),
  fixed: objectOf({
    fixed: member(decimal, said('An amount of each period, in the plan’s currency.', '-50.00')),
    name: options.name,
  }),
})

/** The terms of a base, printed in their order. */
export const base = listOf(term, terms)

/** The facts that a count counts. */
const countedForms = {
  transactions: objectOf(transactionMembers),
  event: objectOf(eventMembers),
}
const counted = byMember(countedForms)

/** The facts that a count of `qualify` counts. */
export const countedForQualify = byMember({
  ...countedForms,
  activity: objectOf({ activity: activityField }),
})

/** What a unit rule counts. */
export const unit = byMember({
  activity: objectOf({
    activity: member(
      f.oneOf('lots_traded', 'volume_usd'),
      said('The field of the trading activity that is summed.', 'lots_traded'),
    ),
  }),
  event: objectOf({
    event,
    kpi: member(kpi, said('The KPI field that is summed, or `Value`.')),
  }),
  count: objectOf({ count: member(counted, said('The facts that are counted.')) }),
})
