import { type Grant, maySee } from '../../auth/grant.ts'
import {
  type CorrectedPlace,
  findItem,
  readCorrections,
  type StoredItem,
} from '../../db/commission/books/stored-items.ts'
import type { Connection } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { ReadCall } from '../../http/operation.ts'
import type { Reader } from '../../http/read-session.ts'
import { dayText, type Period, parsePeriod } from '../engine/calendar.ts'
import { add, compare, decimal, fixedText, fromFact, plainText } from '../engine/decimal.ts'
import type { EvaluatedCustomer } from '../engine/evaluate.ts'
import { explainLine, explanationText, instantText, type Part } from '../engine/explain.ts'
import { type Customer, compareFacts, compareText, type Fact } from '../engine/facts.ts'
import type { Line } from '../engine/line.ts'
import type { LineJson } from '../engine/line-json.ts'
import type { PlansInForce } from '../engine/plans-in-force.ts'
import { counted, figure, listed } from '../engine/reasons.ts'
import { dayWords, instantWords, periodWords } from '../engine/time-words.ts'
import { readStoredPlans } from '../plans/stored-plans.ts'
import { type AccountBooks, readBooks } from '../statements/books.ts'
import type { Cause, Causes } from '../statements/cause.ts'
import { CAUSE_LIMITS } from '../statements/cause-list.ts'
import { findCauses } from '../statements/causes.ts'
import {
  type Computation,
  computeAffiliates,
  openComputation,
  settleAffiliates,
  viewOf,
} from '../statements/compute.ts'
import { type Adjustment, toDraft } from '../statements/draft.ts'
import { lineIds, statementId, statementOfLine } from '../statements/ids.ts'
import { FRESH_LIMITS } from '../statements/limits.ts'
import { openPeriod, readStored } from '../statements/on-request.ts'
import { findRange } from '../statements/range.ts'
import { readCustomer } from '../statements/read-customers.ts'
import type { AdjustmentExplanation, LineRecord } from './answers.ts'
import { escapeStrings } from './escape-strings.ts'
import {
  collectParts,
  type FoundLine,
  type LineParts,
  readParts,
  reducer,
  sumsFacts,
} from './read-parts.ts'
import { acceptKept, onceQueries, recordQueries } from './record-queries.ts'
import type { ClosedLine, Explanation } from './steps.ts'
import { evaluatedCustomers } from './unearned.ts'

/** Returns the sum of amounts of money, with the minor digits of the first. */
function sumOfMoney(first: string, ...others: readonly string[]): string {
  const digits = first.split('.')[1]?.length ?? 0
  return fixedText(
    others.map(decimal).reduce((total, one) => add(total, one), decimal(first)),
    digits,
  )
}

/** Writes what changed, without what changed it. */
export function changeText(cause: Cause): string {
  switch (cause.kind) {
    case 'record':
      return `the ${CHANGED[cause.resource]} ${cause.id} of ${dayWords(cause.day)}`
    case 'affiliation':
      return cause.day === null
        ? `the affiliates of the customer ${cause.customer_id}`
        : `the affiliate of the customer ${cause.customer_id} from ${dayWords(cause.day)} on`
    case 'corrected_early':
      return `the affiliate of the customer ${cause.customer_id} from the signup on, since the first one lasted less than a day`
    case 'customer_field': {
      const { customer_id, field, day } = cause
      const name = field.replace(/_(?:id|code)$/, '').replaceAll('_', ' ')
      return `the ${name} of the customer ${customer_id} from ${dayWords(day)} on`
    }
    case 'refusal':
      return `the refusal of the customer ${cause.customer_id}`
    case 'rate':
      return `the rate of ${cause.currency} of ${dayWords(cause.day)}, which has since been ${cause.change}`
    case 'tree':
      return `the parent (or setup) of affiliate ${cause.affiliate_id}`
    default:
      return `the settings of the account: ${cause.action.replaceAll(/[._]/g, ' ')} at ${instantWords(cause.at)}`
  }
}

const CHANGED = {
  customers: 'customer',
  transactions: 'transaction',
  'trading-activity': 'trading activity',
  activities: 'event',
} as const

/** Writes what changed, and the delivery or the entry of the audit log that changed it. */
function causeText(cause: Cause): string {
  if ('delivery_id' in cause && cause.delivery_id !== null) {
    return `${changeText(cause)}, by the delivery ${cause.delivery_id}`
  }
  return 'audit_id' in cause
    ? `${changeText(cause)}, by the entry ${cause.audit_id} of the audit log`
    : changeText(cause)
}

/** Writes what changed, one cause a line. */
function causeSentences({ causes, causes_total }: Causes): string[] {
  if (causes.length === 0) return ['No cause was found: some changes are logged for 30 days only.']
  const more = causes_total - causes.length
  const atLeast = causes_total === CAUSE_LIMITS.counted ? 'at least ' : ''
  return [
    'These changes were stored after the last approval:',
    ...causes.map((cause) => `- ${causeText(cause)}`),
    ...(more > 0 ? [`- and ${atLeast}${counted(more, 'other change')}`] : []),
  ]
}

/** Writes the explanation of an adjustment in sentences, without what changed and the line as it is now. */
export const adjustmentSentences = (explanation: AdjustmentExplanation): string[] =>
  explanation.of.line === null ? restoringSentences(explanation) : lineSentences(explanation)

/** Writes the explanation of an adjustment in sentences. */
export function adjustmentText(explanation: AdjustmentExplanation): string {
  const { affiliate_id, plan, period, of, amount, currency } = explanation
  const title = `Adjustment of ${figure(amount)} ${currency} in ${periodWords(period)} for the affiliate ${affiliate_id} under the plan ${plan}`
  const lines = [title, '', ...adjustmentSentences(explanation), '', ...causeSentences(explanation)]
  if (of.line !== null) lines.push('', ...nowSentences(explanation))
  return `${lines.join('\n')}\n`
}

const earlierText = ({ approved, currency }: AdjustmentExplanation): string =>
  listed(
    approved.earlier.map(
      (one) => `${figure(one.amount)} ${currency} in ${periodWords(one.period)}`,
    ),
  )

function restoringSentences(explanation: AdjustmentExplanation): string[] {
  const { of, approved, amount, currency } = explanation
  const money = (text: string): string => `${figure(text)} ${currency}`
  return [
    of.dropped_in === of.period
      ? `The plan wrote off ${money(approved.amount ?? '0')} in ${periodWords(of.period)}. A later positive correction of that period first covers this write-off.`
      : `The clawback for ${periodWords(of.period)} was partly written off in ${periodWords(of.dropped_in ?? '')}. The clawback is now reversed. The part that was written off is not paid.`,
    ...(approved.earlier.length > 0
      ? [`Covered by earlier statements: ${earlierText(explanation)}.`]
      : []),
    `${amount.startsWith('-') ? 'Kept back to cover the write-off' : 'Released again'}: ${money(amount.replace('-', ''))}.`,
  ]
}

function lineSentences(explanation: AdjustmentExplanation): string[] {
  const { of, approved, now, amount, currency } = explanation
  const money = (text: string): string => `${figure(text)} ${currency}`
  const corrected = sumOfMoney(approved.total, amount)
  const approvedText =
    approved.amount === null
      ? 'No statement with this line was approved'
      : `The approved statement says ${money(approved.amount)}`
  return [
    `The adjustment corrects a line of ${periodWords(of.period)}, which is closed. ${approvedText}.`,
    ...(approved.earlier.length > 0
      ? [
          `Earlier adjustments of this line: ${earlierText(explanation)}. Together that is ${money(approved.total)}.`,
        ]
      : []),
    `The line now comes to ${money(corrected)}. The difference is ${money(amount)}.`,
    ...(now === null || compare(decimal(now.line.amount), decimal(corrected)) === 0
      ? []
      : [`Records have changed again since: the line is ${money(now.line.amount)} as of now.`]),
  ]
}

const nowSentences = ({ now }: AdjustmentExplanation): string[] =>
  now === null
    ? ['The records of this line have changed since, so there are no steps to show.']
    : ['The line as it is computed now:', '', explanationText(now).trimEnd()]

/** An adjustment, and the statement that has it. */
interface FoundAdjustment {
  readonly adjustment: Adjustment
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly status: 'draft' | 'approved' | 'paid'
}

/** Whether an id is that of an adjustment. */
const isAdjustmentId = (id: string): boolean => id.startsWith('adj_')

/**
 * Finds an adjustment in a stored statement, or computes the statement of an affiliate and period.
 *
 * @throws ApiError `not_found`
 */
async function findAdjustment(
  env: Env,
  { grant, session }: AccountReader,
  id: string,
  hint: LineHint,
): Promise<FoundAdjustment> {
  const statement = statementOfLine(id)
  if (statement === null) throw notStored('adjustment')
  const stored = await findItem(session, grant.account, statement, id)
  if (stored && !maySee(grant, stored.affiliate_id, stored.status)) throw notStored('adjustment')
  if (stored?.item) {
    const { item, affiliate_id, plan, period, currency, status } = stored
    return { adjustment: JSON.parse(item), affiliate_id, plan, period, currency, status }
  }
  const place = stored ?? (await matchHint(session, grant, statement, hint))
  const period = parsePeriod(place?.period ?? '')
  if (!place || !period) throw notStored('adjustment')
  const computation = await openPeriod(env, grant, session, period)
  const computed = await computeAffiliates(computation, [place.affiliate_id], FRESH_LIMITS.facts)
  const requested = computed.slice(-1)
  const causesOf = await findCauses(computation, requested)
  const result = requested[0]?.results.find((one) => one.plan.plan === place.plan)
  const draft = result && !result.closed ? await toDraft(result, period, causesOf) : null
  const adjustment = draft?.adjustments.find((one) => one.id === id)
  if (!draft || !adjustment) {
    const row = stored && { statement, computed_at: stored.computed_at, hasItem: false }
    throw goneSince('adjustment', row)
  }
  const { affiliate_id, plan, currency } = draft.head
  return { adjustment, affiliate_id, plan, currency, period: period.id, status: 'draft' }
}

/** Explains an adjustment: what was approved, what the line comes to now, and what has changed. */
async function explainAdjustment(
  reader: LineReader,
  found: FoundAdjustment,
): Promise<AdjustmentExplanation> {
  const { adjustment, affiliate_id, plan, period, currency } = found
  const { id, of, amount, causes, causes_total } = adjustment
  return {
    id,
    affiliate_id,
    plan,
    period,
    currency,
    of,
    approved: await approvedOf(reader, found),
    now: await explainNow(reader, found),
    amount,
    causes,
    causes_total,
  }
}

async function approvedOf(
  { grant, session }: AccountReader,
  { adjustment, affiliate_id, plan, period }: FoundAdjustment,
): Promise<AdjustmentExplanation['approved']> {
  const { of, amount: own } = adjustment
  const statement = await statementId(affiliate_id, plan, of.period)
  const place = { affiliate_id, plan, ...of }
  const [stored, corrections] = await Promise.all([
    findItem(session, grant.account, statement, of.line ?? ''),
    correctionsFor({ grant, session }, place),
  ])
  const amount = amountOf(stored, of.line)
  const earlier = corrections.filter((one) => one.period < period)
  const zero = own.replace(/[1-9]/g, '0').replace('-', '')
  const total = sumOfMoney(amount ?? zero, ...earlier.map((one) => one.amount))
  return { statement, amount, earlier, total }
}

function amountOf(stored: StoredItem | null, line: string | null): string | null {
  if (line === null) return stored?.dropped ?? null
  return stored?.item ? JSON.parse(stored.item).amount : null
}

/** Returns the corrections of a line that the caller may see, in order of their periods. */
const correctionsFor = async ({ grant, session }: AccountReader, place: CorrectedPlace) =>
  (await readCorrections(session, grant.account, place)).filter(({ status }) =>
    maySee(grant, place.affiliate_id, status),
  )

/** Returns what was approved of a line of a closed period. */
export async function closedLine(
  reader: AccountReader,
  { id, statement, affiliate_id, plan, period, stored }: LinePlace,
): Promise<ClosedLine> {
  const place = { affiliate_id, plan, period: period.id, line: id }
  const adjustments = await correctionsFor(reader, place)
  const isApproved = stored !== null && stored.status !== 'draft'
  return { statement, amount: isApproved ? stored.amount : null, adjustments }
}

/** Explains the corrected line as it is computed now; null if the statement no longer has it. */
async function explainNow(
  reader: LineReader,
  { adjustment, affiliate_id }: FoundAdjustment,
): Promise<Explanation | null> {
  const { line, period } = adjustment.of
  if (line === null) return null
  const { computed } = await reader.computeLine(line, { affiliate_id, period })
  return computed && explainComputed(computed)
}

/** The account that a request may read, and the database session in which it is read. */
export type AccountReader = Pick<Reader, 'grant' | 'session'>

/** The statement that has a line. */
interface LinePlace {
  readonly id: string
  readonly statement: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: Period
  /** When the stored statement was computed; null if it is not stored. */
  readonly computed_at: string | null
  /** The line as stored; null if no statement with it is stored. */
  readonly stored: StoredLine | null
}

/** A line as a stored statement has it. */
interface StoredLine {
  readonly status: 'draft' | 'approved' | 'paid'
  readonly amount: string
  readonly computed_at: string
  /** The line, without its id. */
  readonly line: LineJson
}

/** The affiliate and period of a line's statement, for a statement that is not stored. */
interface LineHint {
  readonly affiliate_id?: string | undefined
  readonly period?: string | undefined
}

/** Returns the error of a line or an adjustment whose statement is not stored. */
const notStored = (noun: 'line' | 'adjustment'): ApiError =>
  new ApiError('not_found', {
    detail: `No stored statement has this ${noun}. A later run may have replaced it: read the statement again. If its statement is not stored, add \`affiliate_id\` and \`period\`.`,
  })

/** A stored statement, and whether it has the requested line or adjustment. */
interface StoredStatement {
  readonly statement: string
  readonly computed_at: string
  readonly hasItem: boolean
}

/** Returns the error of a line or an adjustment that its statement, computed now, does not have. */
function goneSince(noun: 'line' | 'adjustment', stored: StoredStatement | null): ApiError {
  if (stored === null) {
    const detail = `Computed now, the statement no longer has this ${noun}. Compute it again, and use its new ids.`
    return new ApiError('not_found', { detail })
  }
  const { statement, computed_at, hasItem } = stored
  const detail = hasItem
    ? `Computed now, the statement ${statement} of ${computed_at} no longer has this ${noun}. Read it again after the next run.`
    : `The statement ${statement} was computed again at ${computed_at} and no longer has this ${noun}. Read the statement again.`
  return new ApiError('not_found', { detail })
}

/**
 * Finds the statement of a line: a stored one, or that of the hint's affiliate and period.
 *
 * @throws ApiError `not_found`
 */
async function findLinePlace(
  db: Connection,
  grant: Grant,
  id: string,
  hint: LineHint,
): Promise<LinePlace> {
  const statement = statementOfLine(id)
  if (statement === null) throw notStored('line')
  const stored = await findItem(db, grant.account, statement, id)
  if (stored && !maySee(grant, stored.affiliate_id, stored.status)) throw notStored('line')
  const found = stored ?? (await matchHint(db, grant, statement, hint))
  const period = parsePeriod(found?.period ?? '')
  if (!found || !period) throw notStored('line')
  return {
    id,
    statement,
    affiliate_id: found.affiliate_id,
    plan: found.plan,
    period,
    computed_at: stored?.computed_at ?? null,
    stored: stored && storedLine(stored),
  }
}

/** Returns the error of a line that its statement, computed now, does not have. */
const lineGone = ({ statement, computed_at, stored }: LinePlace): ApiError =>
  goneSince(
    'line',
    computed_at === null ? null : { statement, computed_at, hasItem: stored !== null },
  )

/** Returns the line of a stored statement; null if the statement has no line with the id. */
export function storedLine({ item, status, computed_at }: StoredItem): StoredLine | null {
  if (item === null) return null
  const { id: _id, ...line } = JSON.parse(item) as LineJson & { id: string }
  return { amount: line.amount, computed_at, status, line }
}

/**
 * Returns the affiliate, plan and period of a statement id: those of the hint, with the plan for which
 * they make this id. Returns null if the hint is incomplete or no plan of the account makes it.
 */
async function matchHint(
  db: Connection,
  grant: Grant,
  statement: string,
  { affiliate_id, period }: LineHint,
) {
  if (affiliate_id === undefined || period === undefined) return null
  // A statement that is not stored is a draft.
  if (!maySee(grant, affiliate_id, 'draft')) return null
  const { account } = grant
  const { versions } = await readStoredPlans(db as D1Database, account)
  for (const plan of new Set(versions.map((one) => one.plan))) {
    if ((await statementId(affiliate_id, plan, period)) === statement) {
      return { affiliate_id, plan, period }
    }
  }
  return null
}

/** A line of a computed statement. */
export interface ComputedLine {
  /** The computation, with the rates that apply to the line's period. */
  readonly computation: Computation
  readonly found: FoundLine
  /** Returns what each customer adds to the line. Repeated calls read it only once. */
  readonly parts: () => Promise<LineParts>
}

/** The statement that has a line, and the line as the caller may see it computed now. */
interface LocatedLine {
  readonly place: LinePlace
  readonly source: Computation['source']
  /** Null if the statement, computed now, has no such line, or if that would tell a draft. */
  readonly computed: ComputedLine | null
}

/** Reads the lines of an account. */
interface LineReader extends AccountReader {
  /**
   * Finds a line by its id, or by the hint if no stored statement has it, and computes its statement.
   *
   * @throws ApiError `not_found` if neither names a statement.
   */
  readonly computeLine: (id: string, hint: LineHint) => Promise<LocatedLine>
}

/** Returns a reader that computes each line once per request. */
export const lineReader = (call: AccountReader & Pick<ReadCall, 'env' | 'once'>): LineReader => ({
  ...call,
  computeLine(id, { affiliate_id, period }) {
    const key = JSON.stringify(['line', call.grant.account, id, affiliate_id, period])
    return call.once(key, () => locateLine(call.env, call, id, { affiliate_id, period }))
  },
})

async function locateLine(
  env: Env,
  { grant, session }: AccountReader,
  id: string,
  hint: LineHint,
): Promise<LocatedLine> {
  // Before anything else is read: a request with an unknown id must stay cheap.
  const place = await findLinePlace(session, grant, id, hint)
  const { source, beginnings } = await readStored(env, grant, session)
  const { period, affiliate_id } = place
  const [computation, books] = await Promise.all([
    openComputation(source, period, null, beginnings),
    readBooks(source, findRange(source, period, beginnings), [affiliate_id]),
  ])
  const computed = await computeStatementOfLine(computation, books, place)
  const isHidden = computed !== null && (await tellsDraft({ grant, session }, place, computed))
  return { place, source, computed: isHidden ? null : computed }
}

/** Returns whether what a line comes to now tells an affiliate who sees no drafts that a draft corrects it. */
async function tellsDraft(reader: AccountReader, place: LinePlace, { found }: ComputedLine) {
  if (maySee(reader.grant, place.affiliate_id, 'draft')) return false
  const { amount, adjustments } = await closedLine(reader, place)
  const approved = adjustments.reduce(
    (sum, one) => add(sum, decimal(one.amount)),
    decimal(amount ?? '0'),
  )
  return compare(approved, found.line.amount) !== 0
}

/** Computes the statement of a line and finds the line in it; returns null if it has no such line. */
async function computeStatementOfLine(
  computation: Computation,
  books: AccountBooks,
  place: LinePlace,
): Promise<ComputedLine | null> {
  const { id, statement, affiliate_id, plan, period } = place
  const view = await viewOf(computation, books, affiliate_id, plan)
  const stored = storedLineKey(view.context.inForce, place)
  const collecting = stored && collectParts({ ...view.context, period }, affiliate_id, stored)
  const settlement = await settleAffiliates(
    view,
    [affiliate_id],
    FRESH_LIMITS.facts,
    books.booksOf,
    collecting?.collect,
  )
  const result = settlement
    .settle(period)
    .find((one) => one.affiliate === affiliate_id && one.plan.plan === plan)
  const lines = result?.lines ?? []
  const keys = lines.map(({ rule, version, scope }) => ({
    rule: rule.id,
    version: version.version,
    scope,
  }))
  const line = lines[(await lineIds(statement, keys)).indexOf(id)]
  if (!result || !line) return null
  const found = { result, line, context: { ...view.context, period, settlement } }
  let parts =
    collecting && sumsFacts(line) ? Promise.resolve<LineParts>(collecting.collected) : null
  return { computation: view, found, parts: () => (parts ??= readParts(view, found)) }
}

/** Returns the rule, version and scope of a stored line; null if the line or its rule is not stored. */
function storedLineKey({ plans }: PlansInForce, { plan, stored }: LinePlace) {
  const own = stored?.line
  const version = plans.get(plan)?.versions.find((one) => one.version === own?.version)
  const rule = version?.rules.find((one) => one.id === own?.rule)
  return own && version && rule ? { rule, version, scope: own.scope } : null
}

const NO_CORRECTED_LINE = 'This adjustment covers a write-off; it has no records of its own.'

/**
 * Computes the line with an id; for the id of an adjustment, the line that it corrects.
 *
 * @throws ApiError `not_found`
 */
export async function computeById(
  env: Env,
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<ComputedLine> {
  if (!isAdjustmentId(id)) return computeExisting(reader, id, hint)
  const { adjustment, affiliate_id } = await findAdjustment(env, reader, id, hint)
  const { line, period } = adjustment.of
  if (line === null) throw new ApiError('not_found', { detail: NO_CORRECTED_LINE })
  return computeExisting(reader, line, { affiliate_id, period })
}

async function computeExisting(
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<ComputedLine> {
  const { place, computed } = await reader.computeLine(id, hint)
  if (!computed) throw lineGone(place)
  return computed
}

/** Explains a computed line. */
async function explainComputed({ computation, found, parts }: ComputedLine): Promise<Explanation> {
  const [{ facts }, customer] = await Promise.all([parts(), onceCustomer(computation, found.line)])
  return explainLine(found.context, found, facts, customer)
}

/** Reads the customer of a `once` line. */
async function onceCustomer(computation: Computation, { once }: Line): Promise<Customer | null> {
  if (once === null) return null
  const queries = onceQueries(computation).map(acceptKept)
  return readCustomer(computation.source, queries, once.customerId)
}

/** Returns the records of a customer that a line counts, in order of time. */
export async function recordsOf(
  { computation, found: { line, context, result } }: ComputedLine,
  customer_id: string,
): Promise<LineRecord[]> {
  // A `once` line shows records of any day as they are.
  const queries = recordQueries(computation, context.period).map((query) =>
    line.once === null ? query : { ...query, acceptsKept: false },
  )
  const records: LineRecord[] = []
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    if (line.once !== null) {
      const used = line.once.customerId === customer_id ? usedRecords(line, evaluated) : []
      return used.map((fact) => presentRecord(fact, null, line))
    }
    if (!sumsFacts(line)) return []
    const reduce = reducer(context, result.affiliate, line)
    for (const fact of evaluated.customer.facts) {
      const part = reduce({ ...evaluated, customer: { ...evaluated.customer, facts: [fact] } })
      if (part) records.push(presentRecord(fact, part, line))
    }
  }
  return records
}

/** Returns the records by which a customer qualified for a `once` line, in order of time. */
function usedRecords({ once }: Line, { customer }: EvaluatedCustomer): Fact[] {
  const key = ({ resource, id }: Fact): string => JSON.stringify([resource, id])
  const used = new Set([...(once?.used ?? [])].map(key))
  return customer.facts.filter((fact) => used.has(key(fact))).sort(compareFacts)
}

const presentRecord = (fact: Fact, part: Part | null, { base, units }: Line): LineRecord => ({
  resource: fact.resource,
  id: fact.id,
  day: dayText(fact.day),
  at: instantText(fact),
  type: fact.kind === '' ? null : fact.kind,
  currency: fact.currency,
  amounts: Object.fromEntries(
    [...fact.amounts]
      .sort(([a], [b]) => compareText(a, b))
      .map(([field, amount]) => [field, plainText(fromFact(amount))]),
  ),
  base: part && base !== null ? plainText(part.base) : null,
  units: part && units !== null ? plainText(part.units) : null,
  delivery_id: fact.delivery_id ?? null,
})

/**
 * Explains a line or an adjustment by its id.
 *
 * @throws ApiError `not_found`
 */
export async function explainById(
  env: Env,
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<AdjustmentExplanation | (Explanation & { id: string })> {
  return isAdjustmentId(id)
    ? explainAdjustment(reader, await findAdjustment(env, reader, id, hint))
    : explainLineById(reader, id, hint)
}

/** Writes an explanation in sentences. */
export const textOf = (explanation: AdjustmentExplanation | Explanation): string =>
  'of' in explanation
    ? adjustmentText(escapeStrings(explanation))
    : explanationText(escapeStrings(explanation))

/** Explains a line, with what was approved of it or what the stored statement has if that differs. */
async function explainLineById(
  reader: LineReader,
  id: string,
  hint: LineHint,
): Promise<Explanation & { id: string }> {
  const { place, source, computed } = await reader.computeLine(id, hint)
  const { stored } = place
  if (!computed) {
    if (stored === null || stored.status === 'draft') throw lineGone(place)
    return explainGone(reader, source, place, stored.line)
  }
  const explanation = await explainComputed(computed)
  if (computed.found.result.closed) {
    const closed = await closedLine(reader, place)
    return { id, ...explanation, closed }
  }
  const isChanged = stored !== null && stored.amount !== explanation.line.amount
  const { amount = '', computed_at = '' } = stored ?? {}
  return { id, ...explanation, ...(isChanged && { stored: { amount, computed_at } }) }
}

/** Returns what was approved of a line, without steps: its statement, computed now, has no such line. */
async function explainGone(
  reader: LineReader,
  { inForce }: Computation['source'],
  place: LinePlace,
  line: LineJson,
): Promise<Explanation & { id: string }> {
  const { id, affiliate_id, plan, period } = place
  const currency = inForce.plans.get(plan)?.first.currency ?? ''
  const closed = await closedLine(reader, place)
  return { id, affiliate_id, plan, period: period.id, currency, line, steps: [], closed }
}
