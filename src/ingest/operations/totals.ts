import * as v from 'valibot'
import { dayNumber } from '../../platform/db/column-types.ts'
import { SMALL_RESPONSE_BYTES } from '../../platform/http/memory.ts'
import { operation } from '../../platform/http/operation.ts'
import { readDayRange } from '../../platform/http/query.ts'
import { count, day, daysNeeded, money } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { readTotals } from '../db/totals.ts'
import { resourcesOf } from '../verticals.ts'
import { resource } from './delivery-fields.ts'

const total = described(() => {
  const group = (description: string) => v.exactOptional(nullable(v.string(), description))
  return component('Total', () => ({
    day: member(
      day,
      'The day. For partners in the `book_zone` of the account, UTC by default, and of trading activity as sent; for brands as sent, or in the time zone of the account.',
    ),
    resource,
    transaction_type: group('Partners: the type of the transactions.'),
    status: group('Partners: the status of the transactions, as sent.'),
    currency: group('Partners: the currency of the transactions or of the trading activity.'),
    eventname: group('Brands: the name of the event.'),
    product: group('Brands: the product line. Null if the activities have none.'),
    Currency: group('Brands: the currency. Null if the activities have none.'),
    count: member(count, 'The number of records.'),
    sums: member(
      v.record(v.string(), money),
      'Exact decimal text, by the name of the summed field.',
    ),
  }))
})

/** About how many bytes of totals a day has. */
const DAY_BYTES = 2048

export const getTotals = operation({
  topic: 'monitoring',
  id: 'getTotals',
  shows: 'account',
  method: 'GET',
  path: '/totals',
  callers: ['team', 'account'],
  params: daysNeeded,
  words: described(() => ({
    description:
      'Returns counts and exact sums for each day, to reconcile with your own books. Currencies are not converted. Held records are not counted. More than 1,000,000 records of a resource in one request are 422 `validation_failed`; ask for fewer days.',
    answer: listOf(total),
    errors: ['validation_failed'],
    command: { name: 'totals' },
  })),
  async run({ grant, session, memory }, sent) {
    const days = readDayRange(sent)
    const bytes = (dayNumber(days.to) - dayNumber(days.from) + 1) * DAY_BYTES
    if (bytes > SMALL_RESPONSE_BYTES) await memory.reserve(bytes)
    const resources = resourcesOf(grant.vertical)
    return { data: await readTotals(session, resources, grant.account, days) }
  },
})
