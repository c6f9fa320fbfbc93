import * as v from 'valibot'
import { list, operation, type ReadCall } from '../platform/http/operation.ts'
import { described } from '../platform/validation/described.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { fraudEvidence, pageEvidence } from './case-evidence.ts'
import { CASE_NEEDS, findCase, listCases, type WholeCase } from './db/cases.ts'
import { noCase } from './decide.ts'
import { readHolds } from './holds.ts'
import {
  fraudCase,
  presentStoredCase,
  presentWholeCase,
  SEVERITIES,
  STATUSES,
  wholeFraudCase,
} from './present-case.ts'

const case_id = member(v.string(), said('The id of the case.', 'case_0123456789abcdefghjkmnpqrs'))

const ofCases = { topic: 'cases', callers: ['team', 'account'] } as const

export const listFraudCases = list({
  ...ofCases,
  id: 'listFraudCases',
  shows: 'affiliate',
  path: '/cases',
  params: {
    status: optional(v.picklist(STATUSES), said('Returns only cases with this status.', 'open')),
    rule: optional(v.string(), said('Returns only cases of this rule.', 'cpa')),
    severity: optional(
      v.picklist(SEVERITIES),
      said('Returns only cases of this severity.', 'high'),
    ),
    affiliate_id: optional(v.string(), said('Returns only cases of this affiliate.', 'IB-07')),
    customer_id: optional(v.string(), said('Returns only cases about this customer.', 'C-1001')),
    needs: optional(
      v.picklist(CASE_NEEDS),
      said(
        'Returns only cases that need something: `decision`, open ones of high severity or that hold payouts, which nobody has decided; `second_person`, those that a person has decided and another one must decide the same. What needs attention counts the same cases.',
        'decision',
      ),
    ),
  },
  words: described(() => ({
    description:
      'Returns what the fraud rules of the account found: one case for each rule and subject, to which later records are added. Those of the latest day come first.',
    answer: fraudCase,
    command: {
      name: 'fraud cases',
      columns: [
        'case_id',
        'opened_for',
        'affiliate_id',
        'subject',
        'severity',
        'status',
        'amount_held',
        'sentence',
      ],
    },
  })),
  async list({ grant: { account }, session }, sent, page) {
    const found = await listCases(session, account, sent, page)
    const affiliates = [...new Set(found.data.map((one) => one.affiliate_id))]
    const holds = await readHolds(session, account, affiliates)
    const data = found.data.map((one) => presentStoredCase(one, holds.get(one.affiliate_id)))
    return { ...found, data }
  },
})

/** Returns a case of the account that is read. */
async function readCase({ grant, session }: ReadCall, id: string): Promise<WholeCase> {
  const whole = await findCase(session, grant.account, id)
  if (!whole) throw noCase(id)
  return whole
}

export const getFraudCase = operation({
  topic: 'cases',
  id: 'getFraudCase',
  shows: 'affiliate',
  method: 'GET',
  path: '/cases/{case_id}',
  params: { case_id },
  words: described(() => ({
    description: 'Returns a case with its figures, their thresholds and the decisions.',
    answer: wholeFraudCase,
    command: { name: 'fraud case' },
  })),
  async run(call, sent) {
    const whole = await readCase(call, sent.case_id)
    const { affiliate_id } = whole.found
    const holds = await readHolds(call.session, call.grant.account, [affiliate_id])
    return presentWholeCase(whole, holds.get(affiliate_id))
  },
})

export const listFraudEvidence = list({
  ...ofCases,
  id: 'listFraudEvidence',
  shows: 'affiliate',
  path: '/cases/{case_id}/evidence',
  params: { case_id },
  words: described(() => ({
    description:
      'Returns the records on which a case rests, in the order in which they were found. Each figure can be recomputed from them.',
    answer: fraudEvidence,
    command: {
      name: 'fraud evidence',
      columns: ['day', 'resource', 'id', 'customer_id', 'values', 'delivery_id'],
    },
  })),
  async list(call, sent, page) {
    await readCase(call, sent.case_id)
    return pageEvidence(call.session, call.grant.account, sent.case_id, page)
  },
})

/** The operations by which the team and an account read what the fraud rules found. */
export const CASE_OPERATIONS = [listFraudCases, getFraudCase, listFraudEvidence]
