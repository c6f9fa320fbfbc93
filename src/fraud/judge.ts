import { findCustomersOf } from '../commission/db/customers-of.ts'
import { assignedPlans } from '../commission/engine/plans-in-force.ts'
import { customersOf, TooManyFacts } from '../commission/run/customers.ts'
import { figure } from '../commission/words/english.ts'
import { compareText } from '../platform/compare-text.ts'
import { isInScope } from './check-rule.ts'
import { readCandidates } from './db/candidates.ts'
import { moreThan } from './figures.ts'
import { compareEvidence, type DayFinding, findInTurns, findingOn } from './findings.ts'
import { type Evidence, evidenceOf, type Finding, statementsOf, type View } from './kind.ts'
import { EVALUATION_LIMITS } from './limits.ts'
import { customersById, type ReadViews, readViews } from './read-views.ts'
import type { RuleDays } from './rule-days.ts'
import type { ViewSource, WantedDays } from './views.ts'

// A rule on some days. It begins with the customers of whom something of these days can begin a finding. Single
// records are read of them alone or, of a kind that compares the customers of an affiliate, of all customers of those
// affiliates that a first look at the candidates has made suspect.

/** What was found in a part of the customers. */
export interface Judged {
  /** By affiliate. */
  readonly findings: ReadonlyMap<string, readonly DayFinding[]>
  /** How many records were read. */
  readonly facts: number
}

/** Customers, or affiliates with all their customers. */
interface Whom {
  readonly of: 'customers' | 'affiliates'
  readonly ids: readonly string[]
}

/**
 * Yields what a rule finds of affiliates, in parts of as many customers as are read at once. A suspect affiliate with too
 * many records is judged on fewer days, at last on one: so it does not matter how many days are judged together.
 *
 * @param affiliates All that are configured.
 */
export async function* judge(
  from: ViewSource,
  rule: RuleDays,
  affiliates: readonly string[],
): AsyncGenerator<Judged> {
  const { kind, parameters, terms, first, last } = rule
  const wanted = new Set(
    affiliates.filter(
      (one) => isInScope(terms.scope, one) && (!kind.ofPlans || hasRules(from, one, kind.ofPlans)),
    ),
  )
  const glance = kind.glance?.(parameters)
  const read = (whom: Whom, reach = kind.reach(parameters)) =>
    viewsOf(from, whom, wanted, { reach, first, last })
  const begin = await beginWith(from, rule, wanted)
  if (!glance) {
    for await (const part of read(begin)) yield await findIn(rule, part, () => true)
    return
  }
  const looked = glance.parameters ?? parameters
  const isSuspect = (view: View, day: number) =>
    glance.isSuspect?.(view, day) ??
    kind.find(view, day, looked).some((one) => !glance.isFinal || !isAboutCustomer(one))
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const isLeast = affiliates.length === 1 && days.length === 1
  const suspects = new Set<string>()
  const seen = new Set<string>()
  const latest: Evidence[] = []
  for await (const part of read(begin, glance.reach ?? kind.reach(looked))) {
    for (const [affiliate, view] of part.views) {
      // Of an affiliate in several parts none shows all candidates.
      if (seen.has(affiliate) || days.some((day) => isSuspect(view, day))) suspects.add(affiliate)
      seen.add(affiliate)
      if (isLeast) latest.push(...latestRecords(view))
    }
    yield glance.isFinal
      ? await findIn(rule, part, isAboutCustomer)
      : { findings: new Map(), facts: part.facts }
  }
  const isWanted = (one: Finding) => !(glance.isFinal && isAboutCustomer(one))
  for await (const part of read({ of: 'affiliates', ids: [...suspects].sort(compareText) })) {
    yield await findIn(rule, part, isWanted)
    const { tooLarge } = part
    if (tooLarge === undefined) continue
    if (isLeast) {
      const found = findingOn(tooManyRecords(tooLarge, latest), first)
      yield { findings: new Map([[tooLarge, [found]]]), facts: 0 }
    } else {
      for (const fewer of halvesOf(rule)) yield* judge(from, fewer, [tooLarge])
    }
  }
}

/** Returns a rule on both halves of its days, or on its only day. */
function halvesOf(rule: RuleDays): RuleDays[] {
  const { first, last } = rule
  const middle = (first + last) >> 1
  return first === last
    ? [rule]
    : [
        { ...rule, last: middle },
        { ...rule, first: middle + 1 },
      ]
}

/** The most records that a finding of too many names. */
const NAMED = 100

/** Returns the finding that an affiliate has more records than can be compared; it names the latest of its candidates. */
function tooManyRecords(affiliate_id: string, records: readonly Evidence[]): Finding {
  const { facts } = EVALUATION_LIMITS
  return {
    subject: { affiliate_id },
    figures: [moreThan('records_to_compare', facts + 1, facts, 'records')],
    sentence: `The affiliate has more than ${figure(String(facts))} records to compare, too many for this rule.`,
    evidence: records.toSorted(compareEvidence).slice(-NAMED),
  }
}

/** Returns the latest record of each customer, and the statements of the latest period. */
const latestRecords = ({ customers, periods }: View): Evidence[] => [
  ...customers.flatMap((customer) => {
    const latest = customer.facts.at(-1) ?? customer.qualified.at(-1)?.facts.at(-1)
    return latest ? [evidenceOf(customer, latest)] : []
  }),
  ...periods.slice(-1).flatMap(statementsOf),
]

/** Returns whether a plan that an affiliate has on any day has rules of a kind. */
const hasRules = ({ source: { inForce } }: ViewSource, affiliate: string, kind: string): boolean =>
  assignedPlans(inForce, affiliate).some(({ versions }) =>
    versions.some(({ rules }) => rules.some((rule) => rule.kind === kind)),
  )

const isAboutCustomer = ({ subject }: Finding): boolean => 'customer_id' in subject

async function findIn(
  rule: RuleDays,
  { views, facts }: ReadViews,
  isWanted: (finding: Finding) => boolean,
): Promise<Judged> {
  const findings = new Map<string, DayFinding[]>()
  for (const [affiliate, view] of views) {
    const found = await findInTurns(rule, view, rule.first, rule.last)
    findings.set(affiliate, found.filter(isWanted))
  }
  return { findings, facts }
}

/** Returns the customers with whom a rule begins; of a kind that begins with none, the affiliates. */
async function beginWith(
  { source, beginnings }: ViewSource,
  { kind, parameters, first, last }: RuleDays,
  affiliates: ReadonlySet<string>,
): Promise<Whom> {
  const { db, row } = source
  const begin = kind.candidates?.(parameters, source)
  if (!begin) return { of: 'affiliates', ids: [...affiliates] }
  const { sql, values, after = 0, days = 1 } = begin
  const bound = {
    ...values,
    account: row.id,
    from: first - after - days + 1,
    to: last - after,
    days: JSON.stringify(beginnings.days.activity.toReversed()),
    affiliates: JSON.stringify([...affiliates]),
  }
  const ids = await readCandidates(db, sql, bound)
  if (affiliates.size !== 1) return { of: 'customers', ids }
  const own = new Set<string>()
  const { customers } = EVALUATION_LIMITS
  for await (const part of findCustomersOf(source, row.id, [...affiliates], customers)) {
    for (const id of part.ids) own.add(id)
  }
  return { of: 'customers', ids: ids.filter((id) => own.has(id)) }
}

/**
 * Yields the views that affiliates have of customers, of as many at once as have about the records that are allowed.
 * Halves what has more. A single customer is read however many they have, an affiliate that has more is named.
 */
async function* viewsOf(
  from: ViewSource,
  { of, ids }: Whom,
  wanted: ReadonlySet<string>,
  days: WantedDays,
): AsyncGenerator<ReadViews & { readonly tooLarge?: string }> {
  const { facts: limit, customers, affiliates } = EVALUATION_LIMITS
  // The candidates of one affiliate are read at once if they can be: together they tell whether it is suspect.
  let most = wanted.size === 1 ? ids.length : of === 'customers' ? customers : affiliates
  for (let start = 0; start < ids.length; ) {
    const part = ids.slice(start, start + most)
    const isOne = part.length === 1
    const maxFacts = isOne && of === 'customers' ? Number.POSITIVE_INFINITY : limit
    try {
      const views =
        of === 'customers'
          ? await readViews(from, days, maxFacts, wanted, (queries) =>
              customersById(from, part, queries),
            )
          : await readViews(from, days, maxFacts, new Set(part), (queries) =>
              customersOf(from.source, part, queries),
            )
      yield views
      most = Math.max(1, Math.floor((part.length * 3 * limit) / (4 * Math.max(1, views.facts))))
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      most = Math.ceil(part.length / 2)
      if (!isOne) continue
      yield { views: new Map(), facts: limit, tooLarge: part[0] ?? '' }
    }
    start += part.length
  }
}
