import * as v from 'valibot'
import { ownFilter } from '../../platform/auth/grant.ts'
import { list, operation, type ReadCall } from '../../platform/http/operation.ts'
import { pageOfAll } from '../../platform/http/pagination.ts'
import { invalidValue } from '../../platform/http/query.ts'
import { namedCustomer, namedLine } from '../../platform/http/show.ts'
import { dayNumber, type Period, periodUntil } from '../../platform/money/calendar.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { described } from '../../platform/validation/described.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { knownPeriod, PERIOD_FORMS, REQUEST_LIMITS } from '../limits.ts'
import { parseScope } from '../run/line-groups.ts'
import { NARROW, withinLimit } from '../run/on-request.ts'
import {
  explanation,
  linePart,
  lineRecord,
  qualification,
  recordEarnings,
  unearned,
  unearnedRecord,
} from '../shapes/explanations.ts'
import { REASONS } from '../shapes/reasons.ts'
import { ENGLISH, wordsOf } from '../words/words.ts'
import { readEarnings } from './earnings.ts'
import { explainById, findLine } from './explain.ts'
import { listParts, openLine, recordsOf } from './parts.ts'
import { periodIn } from './period.ts'
import { type Explained, textOf } from './sentences.ts'
import { groupUnearned, listQualifications, listUnearned, NO_RATE } from './unearned.ts'

/** Computes what depends on the records of an account, once its turn comes. */
const computeFor = <T>({ grant }: ReadCall, compute: () => Promise<T>): Promise<T> =>
  withinLimit(grant, NARROW, compute)

/** Returns the id of the line that the caller names. What an affiliate sees no line under is the id of none. */
const lineOf = async (call: ReadCall, id: string): Promise<string> =>
  (await namedLine(call, id)) ?? id.slice(0, 'lin_'.length)

/** Returns a filter with the id of the customer whom the caller names, and of the affiliate who calls. */
async function ownedBy<T extends { readonly customer_id?: string }>(call: ReadCall, filter: T) {
  const { customer_id: name } = filter
  // The name of nobody is the id of nobody.
  const named = name !== undefined && { customer_id: (await namedCustomer(call, name)) ?? '' }
  return { ...filter, ...named, ...ownFilter(call.grant) }
}

/** Returns the period that a text names. */
export function readPeriod(text: string): Period {
  const period = knownPeriod(text)
  if (!period) throw invalidValue('period', text, PERIOD_FORMS)
  return period
}

const LIMIT = `It reads at most ${REQUEST_LIMITS.facts.toLocaleString('en')} records.`

const ofWhy = {
  topic: 'explanations',
  callers: ['team', 'account', 'affiliate'],
  except: { affiliate: ['affiliate_id'] },
} as const

const line_id = member(
  v.string(),
  said('The id of a line.', 'lin_3f1c52a9d0e84b7796c1d20b5e6f7a8b9c0d1e2f'),
)

const period = member(v.string(), said('The period: a month, or a week of ISO 8601.', '2026-10'))

const ofPeriod = {
  period,
  affiliate_id: optional(v.string(), said('Returns only this affiliate.', 'IB-07')),
  customer_id: optional(
    v.string(),
    said(
      'Returns only the records of this customer. Affiliates name the customer as `GET /affiliate/v1/customers` does, if the account shows ids or pseudonyms.',
      'C-1001',
    ),
  ),
}

const reason = optional(
  v.picklist([...REASONS, NO_RATE]),
  said('Returns only what has this reason; `no_rate` is `fx_pending` or `fx_missing`.', 'no_plan'),
)

export const getExplanation = operation({
  ...ofWhy,
  id: 'getExplanation',
  shows: 'affiliate',
  method: 'GET',
  path: '/lines/{line_id}/explain',
  params: { line_id },
  words: described(() => ({
    description: `Returns every step that led to the amount of a line, as they were when it was computed: a line of an approved statement is explained as it was approved. The id of an adjustment returns what was approved of the corrected line, what the line comes to with it, and what has changed. With \`Accept: text/plain\` it returns sentences.`,
    answer: explanation,
    files: { 'text/plain': {} },
    errors: ['validation_failed'],
    command: { name: 'lines explain' },
  })),
  run: async (call, { line_id: name }) => explainById(call, await lineOf(call, name)),
  files: {
    'text/plain': async (c, { affiliate }, _, read) => {
      const words = affiliate?.language ? wordsOf(affiliate.language) : ENGLISH
      return c.text(textOf((await read()) as Explained, words, affiliate === undefined))
    },
  },
})

export const listLineParts = list({
  topic: 'explanations',
  callers: ['team', 'affiliate'],
  id: 'listLineParts',
  shows: 'account',
  path: '/lines/{line_id}/parts',
  params: { line_id },
  words: described(() => ({
    description: `Returns what each customer adds to a line by the records as they are now, the largest first. The sum is the base of the line before \`fixed\` terms and a fence, or its units, unless records have changed since. An override over lines has none: the step \`sources\` of the explanation has the lines of the affiliate below. An affiliate sees no customers of affiliates below. ${LIMIT}`,
    answer: linePart,
    errors: ['validation_failed'],
    command: { name: 'lines parts' },
  })),
  async list(call, { line_id: name }, page) {
    const found = await findLine(call, await lineOf(call, name))
    const parts = await computeFor(call, async () => listParts(await openLine(call, found)))
    const isOfOthers = parseScope(found.item.scope ?? '').of === 'affiliate'
    const seen = call.affiliate && isOfOthers ? [] : parts
    return pageOfAll(seen, page)
  },
})

export const listLineRecords = list({
  topic: 'explanations',
  id: 'listLineRecords',
  shows: 'account',
  path: '/lines/{line_id}/parts/{customer_id}/facts',
  params: {
    line_id,
    customer_id: member(
      v.string(),
      said('The id of the customer, as the account sent it.', 'C-1001'),
    ),
  },
  words: described(() => ({
    description: `Returns the records of a customer that a line counts in order of time, each with the delivery that last changed it. ${LIMIT}`,
    answer: lineRecord,
    errors: ['validation_failed'],
  })),
  async list(call, { line_id: id, customer_id }, page) {
    const found = await findLine(call, id)
    const all = await computeFor(call, async () =>
      recordsOf(await openLine(call, found), customer_id),
    )
    return pageOfAll(all, page)
  },
})

/** The columns of groups and of records as CSV. */
const GROUP_COLUMNS = [
  'reason',
  'plan',
  'version',
  'rule',
  'condition',
  'resource',
  'transaction_type',
  'eventname',
  'currency',
  'count',
  'sums',
]
const RECORD_COLUMNS = [
  'resource',
  'id',
  'customer_id',
  'day',
  'transaction_type',
  'eventname',
  'reason',
  'plan',
  'version',
  'rule',
  'condition',
  'currency',
  'amounts',
]

export const getUnearned = operation({
  ...ofWhy,
  id: 'getUnearned',
  shows: 'account',
  method: 'GET',
  path: '/unearned',
  params: { ...ofPeriod, reason },
  files: asCsv('unearned', GROUP_COLUMNS),
  words: described(() => ({
    description: `Returns how many records of a period no line counts and what they sum to, by reason, rule and condition. Records that wait for their customer are \`held\`. ${LIMIT}`,
    answer: unearned,
    files: csvWords(GROUP_COLUMNS),
    errors: ['validation_failed'],
    command: { name: 'unearned show' },
  })),
  run(call, { period: text, ...filter }) {
    const read = readPeriod(text)
    return computeFor(call, async () =>
      groupUnearned(await periodIn(call, read), read, await ownedBy(call, filter)),
    )
  },
})

export const listUnearnedRecords = list({
  ...ofWhy,
  callers: ['team', 'affiliate'],
  id: 'listUnearnedRecords',
  shows: 'account',
  path: '/unearned/facts',
  params: { ...ofPeriod, reason },
  files: asCsv('unearned-facts', RECORD_COLUMNS),
  words: described(() => ({
    description: `Returns the records of a period that no line counts, by resource and id. With \`reason\` also those that one rule counts and another, for this reason, does not. ${LIMIT}`,
    answer: unearnedRecord,
    files: csvWords(RECORD_COLUMNS),
    errors: ['validation_failed'],
    command: {
      name: 'unearned list',
      columns: [
        'resource',
        'id',
        'transaction_type',
        'eventname',
        'customer_id',
        'day',
        'reason',
        'plan',
        'rule',
        'condition',
      ],
    },
  })),
  async list(call, { period: text, ...filter }, page) {
    const read = readPeriod(text)
    const all = await computeFor(call, async () =>
      listUnearned(await periodIn(call, read), read, await ownedBy(call, filter)),
    )
    return pageOfAll(all, page)
  },
})

/** What can have become of a customer under a rule that pays once. */
export const STATUSES = ['qualified', 'waiting', 'failed', 'refused'] as const

export const listAccountQualifications = list({
  ...ofWhy,
  callers: ['team', 'account'],
  id: 'listQualifications',
  shows: 'account',
  path: '/qualifications',
  params: {
    ...ofPeriod,
    status: optional(v.picklist(STATUSES), said('Returns only this status.', 'waiting')),
    plan: optional(v.string(), said('Returns only rules of this plan.', 'standard-ib')),
    rule: optional(v.string(), said('Returns only this rule.', 'cpa')),
  },
  words: described(() => ({
    description: `Returns customers under \`once\` rules as of the end of a period: who qualified, what is missing, which window closed, which condition is not met. ${LIMIT}`,
    answer: qualification,
    errors: ['validation_failed'],
    command: {
      name: 'qualifications list',
      columns: ['customer_id', 'affiliate_id', 'plan', 'rule', 'status', 'qualified_on'],
    },
  })),
  async list(call, { period: text, ...filter }, page) {
    const read = readPeriod(text)
    const today = dayNumber(todayOf(call.grant))
    const all = await computeFor(call, async () =>
      listQualifications(await periodIn(call, read), periodUntil(read, today), filter),
    )
    return pageOfAll(all, page)
  },
})

export const getEarnings = operation({
  topic: 'explanations',
  id: 'getEarnings',
  shows: 'account',
  method: 'GET',
  path: '/earnings',
  params: {
    resource: member(
      v.picklist(['customers', 'transactions', 'trading-activity', 'activities']),
      said('The resource of the record. Of `customers` the signup.', 'transactions'),
    ),
    id: member(v.string(), said('Its id, as sent or as `unearned/facts` lists it.', 'T-5001')),
  },
  words: described(() => ({
    description:
      'Returns the lines that count a record and for how much, as of now, or why no line does.',
    answer: recordEarnings,
    errors: ['validation_failed'],
    command: { name: 'records earnings' },
  })),
  run: (call, key) => computeFor(call, () => readEarnings(call.env, call, key)),
})

/** The operations that explain lines, and tell what records earn or why they earn nothing. */
export const WHY_OPERATIONS = [
  getExplanation,
  listLineParts,
  listLineRecords,
  getUnearned,
  listUnearnedRecords,
  listAccountQualifications,
  getEarnings,
]
