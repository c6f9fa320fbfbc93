import * as v from 'valibot'
import { newManualEntry } from '../../commission/shapes/book-fields.ts'
import * as rows from '../../ledger/db/manual-entries.ts'
import { list, operation, reply } from '../../platform/http/operation.ts'
import { money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { sendCaused } from '../../webhooks/operations/send-caused.ts'
import { BOOK_LIMITS } from '../limits.ts'
import * as entries from '../manual-entry.ts'

const entry = component('ManualEntry', () => ({
  id: member(v.string(), 'The id of the entry.'),
  affiliate_id: member(v.string(), 'The affiliate.'),
  plan: member(v.string(), 'The plan.'),
  currency: member(v.string(), 'An ISO 4217 code.'),
  amount: member(money, 'The amount.'),
  reason: member(v.string(), 'Why.'),
  reference: member(v.string(), 'Its reference.'),
  actor: member(v.string(), 'The member of the integrations team.'),
  at: member(time, 'When.'),
  statement: nullable(v.string(), 'The approved statement that has it. Null until then.'),
}))

const ofEntries = { topic: 'statements', path: '/manual-entries' } as const

export const addManualEntry = operation({
  ...ofEntries,
  id: 'addManualEntry',
  shows: 'affiliate',
  method: 'POST',
  role: 'manager',
  body: newManualEntry,
  status: 201,
  words: described(() => ({
    description: `Stores an amount for an affiliate and plan. The statement of the earliest period that is not closed lists it. You cannot change an entry. To undo it, add the opposite amount with another reference. At most ${BOOK_LIMITS.openEntries} entries of an affiliate wait for approval.`,
    answer: entry,
    others: { 200: entry },
    errors: ['reference_used', 'conflict'],
    command: { name: 'manual add' },
  })),
  async run(call, fields) {
    const { isNew, entry } = await entries.addManualEntry(
      call.db,
      call.account.id,
      fields,
      call.actor,
    )
    sendCaused(call, call.account)
    return isNew ? entry : reply(200, entry)
  },
})

export const listManualEntries = list({
  ...ofEntries,
  id: 'listManualEntries',
  shows: 'affiliate',
  params: {
    affiliate_id: optional(
      v.string(),
      said('Returns only the entries of this affiliate.', 'IB-07'),
    ),
  },
  words: described(() => ({
    description: 'Lists the entries of the integrations team, the oldest first.',
    answer: entry,
    command: { name: 'manual list' },
  })),
  list: ({ db, account }, { affiliate_id = null }, page) =>
    rows.listManualEntries(db, account.id, affiliate_id, page),
})

/** The operations on amounts that the integrations team enters. An entry never changes. */
export const MANUAL_ENTRY_OPERATIONS = [addManualEntry, listManualEntries]
