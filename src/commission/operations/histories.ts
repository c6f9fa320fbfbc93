import * as v from 'valibot'
import * as rows from '../../ingest/db/histories.ts'
import { readClosedFor } from '../../ingest/db/late-changes.ts'
import { deleteRefusal, putRefusal } from '../../ingest/db/refusals.ts'
import { today } from '../../platform/db/account-day.ts'
import { firstDifference, toDay } from '../../platform/db/history.ts'
import { changesOf, withAudit } from '../../platform/directory/audit.ts'
import { type Call, operation } from '../../platform/http/operation.ts'
import { notFound, validationFailed } from '../../platform/http/read-fields.ts'
import { day, time, warning } from '../../platform/validation/answer-fields.ts'
import { described } from '../../platform/validation/described.ts'
import {
  id as anyId,
  exactOptional,
  member,
  nullable,
  said,
} from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { quote } from '../../platform/validation/quote.ts'
import { correction, refusal } from './history-fields.ts'

/** Returns the history of a customer, or throws `not_found`. */
async function findHistory({ env, db, account }: Call, customer_id: string) {
  const histories = v.is(anyId, customer_id)
    ? await rows.readHistories({ db, directory: env.DB }, account.id, [customer_id])
    : null
  const history = histories?.get(customer_id)
  if (!history) throw notFound('customer', customer_id)
  return history
}

/** Returns the affiliates of a customer by day, as the administration API shows them. */
const presentAffiliations = (
  customer_id: string,
  { affiliations, refusal: refused }: rows.CustomerHistory,
) => ({
  customer_id,
  affiliations: affiliations.map(({ from, affiliate_id, link, delivery_id, cause }) => ({
    from,
    affiliate_id,
    link_id: link,
    delivery_id,
    ...(cause && { cause }),
  })),
  refusal: refused,
})

const customer_id = member(v.string(), said('The id of the customer.', 'C-1001'))
const from = described(() => nullable(day, 'The first day. Null: from the beginning.'))

const refused = described(() =>
  v.object({
    from,
    reason: member(v.string(), 'Why.'),
    refused_at: member(time, 'When it was decided.'),
  }),
)

const affiliations = described(() => ({
  customer_id,
  affiliations: member(
    v.array(
      v.object({
        from,
        affiliate_id: nullable(v.string(), 'The affiliate. Null: the customer is organic.'),
        link_id: nullable(
          v.string(),
          'The link from which the affiliate of a brand follows. Null for partners and after a correction.',
        ),
        delivery_id: nullable(
          v.string(),
          'The last delivery that changed it that day. Null from the beginning, unless the affiliate was corrected early, and after a correction by the team.',
        ),
        cause: exactOptional(
          v.literal('corrected_early'),
          '`corrected_early`: the first affiliate of a customer of a firm lasted less than a day, so this one replaced it from the signup on. Absent otherwise.',
        ),
      }),
    ),
    'In order of days. The first holds from the beginning.',
  ),
  refusal: nullable(
    refused,
    'From when on the customer earns nothing. Null: the customer is not refused.',
  ),
}))

/** What a change that is stored does beside what was asked for. */
const warnings = described(() => ({
  warnings: member(
    v.array(warning('CorrectionWarning', ['changes_closed'])),
    '`changes_closed`: the change governs records of closed periods, whose statements are corrected by adjustments.',
  ),
}))

/** Returns the warning of a change of a customer from a day on, null from the beginning, if it governs closed periods. */
async function closedWarnings({ db, account }: Call, customer_id: string, from: string | null) {
  const { closed, signup } = await readClosedFor(db, account.id, customer_id)
  if (closed === null || Math.max(signup, toDay(from)) > closed) return []
  const message =
    'The change governs closed periods of 1 customer. Their statements are corrected by the next run.'
  return [{ code: 'changes_closed', pointer: '', message }]
}

/** An operation on a part of what is known of a customer. */
const ofPart = <const P extends string>(part: P) =>
  ({
    topic: 'customers',
    path: `/customers/{customer_id}/${part}`,
    params: { customer_id },
  }) as const

export const getAffiliations = operation({
  ...ofPart('affiliations'),
  id: 'getAffiliations',
  shows: 'affiliate',
  method: 'GET',
  words: described(() => ({
    description:
      'Returns the affiliates of a customer. The first counts from the signup on. A change counts from the day on which it was received: in the time zone of a brand, in UTC for partners. Only another `attributed` verdict changes the affiliate of a customer of a brand.',
    answer: v.object(affiliations),
    command: { name: 'customers affiliations' },
  })),
  run: async (call, { customer_id: id }) => presentAffiliations(id, await findHistory(call, id)),
})

export const putAffiliations = operation({
  ...ofPart('affiliations'),
  id: 'putAffiliations',
  shows: 'account',
  method: 'PUT',
  role: 'manager',
  body: correction,
  words: described(() => ({
    description:
      'Replaces the affiliates of a customer by day. The reason and what was replaced are in the audit log. The last affiliate holds until the account sends another one than it last sent. No day may be after today.',
    answer: v.object({ ...affiliations, ...warnings }),
    command: { name: 'customers correct' },
  })),
  async run(call, { customer_id: id, reason, affiliations }) {
    const { db, account, actor } = call
    const issues = dayIssues(affiliations, today(account))
    if (issues.length > 0) throw validationFailed(issues)
    const { affiliations: before } = await findHistory(call, id)
    const former = before.map(({ from, affiliate_id }) => ({ from, affiliate_id }))
    const changes = changesOf({ affiliations: former }, { affiliations })
    const details = { customer_id: id, reason, changes }
    const entry = { actor, action: 'affiliations.put', account: account.id, details }
    await withAudit(db, entry, rows.replaceAffiliations(db, account.id, id, affiliations))
    const after = await findHistory(call, id)
    const changed = firstDifference(before, after.affiliations, (one) => one?.affiliate_id)
    const warnings = changed === undefined ? [] : await closedWarnings(call, id, changed)
    return { ...presentAffiliations(id, after), warnings }
  },
})

export const refuseCustomer = operation({
  ...ofPart('refusal'),
  id: 'refuseCustomer',
  shows: 'affiliate',
  method: 'PUT',
  role: 'manager',
  body: refusal,
  words: described(() => ({
    description:
      'Excludes a customer from commission, from the beginning or from a day on: for fraud, self-referral or a duplicate. Replaces an earlier refusal.',
    answer: v.object({ customer_id, refusal: v.nullable(refused), ...warnings }),
    command: { name: 'customers refuse' },
  })),
  async run(call, { customer_id: id, reason, from = null }) {
    const { db, account, actor } = call
    const { refusal: before } = await findHistory(call, id)
    const refused = { from, reason, refused_at: new Date().toISOString() }
    const changes = changesOf(before ?? {}, before ? { from, reason } : { reason })
    const details = { customer_id: id, from, changes }
    const entry = { actor, action: 'refusal.put', account: account.id, details }
    await withAudit(db, entry, putRefusal(db, account.id, id, refused))
    const isSame = before !== null && before.from === from
    // Days sort as text; null is the beginning.
    const changed = before && (before.from ?? '') < (from ?? '') ? before.from : from
    const warnings = isSame ? [] : await closedWarnings(call, id, changed)
    return { customer_id: id, refusal: (await findHistory(call, id)).refusal, warnings }
  },
})

export const endRefusal = operation({
  ...ofPart('refusal'),
  id: 'endRefusal',
  shows: 'affiliate',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description: 'Ends the exclusion: the records of the customer earn again, on all days.',
    answer: null,
    command: {
      name: 'customers end-refusal',
      done: 'Ended the refusal of customer {customer_id} of account {account}.',
    },
  })),
  async run(call, { customer_id: id }) {
    const { db, account, actor } = call
    const { refusal: refused } = await findHistory(call, id)
    if (!refused) throw notFound('refusal of customer', id)
    const details = { customer_id: id, ...refused }
    const entry = { actor, action: 'refusal.delete', account: account.id, details }
    await withAudit(db, entry, deleteRefusal(db, account.id, id))
    return null
  },
})

/** The operations on what is known of a customer by day, affiliates and fields, and on refusals. */
export const HISTORY_OPERATIONS = [getAffiliations, putAffiliations, refuseCustomer, endRefusal]

/** Returns the first issue of the days of affiliations: those after the first begin in order, none after `today`. */
const dayIssues = (sent: readonly { from: string | null }[], today: string): Issue[] =>
  sent
    .flatMap(({ from: value }, i): Issue[] => {
      const previous = sent[i - 1]?.from ?? '0000-01-01'
      const isValid =
        i === 0 ? value === null : value !== null && value > previous && value <= today
      if (isValid) return []
      const expected =
        i === 0
          ? 'null in the first entry'
          : `a day after ${quote(previous)} and up to today, ${quote(today)}`
      return [{ pointer: `/affiliations/${i}/from`, code: 'pattern', expected, value }]
    })
    .slice(0, 1)
