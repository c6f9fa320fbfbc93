import { compareText } from '../commission/engine/facts.ts'
import { customersOf, TooManyFacts } from '../commission/statements/compute.ts'
import { isInScope } from './check-rule.ts'
import { readCandidates } from './db/candidates.ts'
import { type DayFinding, findInTurns } from './findings.ts'
import type { Finding, View } from './kind.ts'
import { EVALUATION_LIMITS } from './limits.ts'
import { customersById, type ReadViews, readViews, type ViewSource } from './read-views.ts'
import type { RuleDays } from './rule-days.ts'
import type { WantedDays } from './views.ts'

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
 * Yields what a rule finds of affiliates, in parts of as many customers as are read at once.
 *
 * @param affiliates All that are configured.
 * @param tooLarge Gets the affiliates with too many records to be judged.
 */
export async function* judge(
  from: ViewSource,
  rule: RuleDays,
  affiliates: readonly string[],
  tooLarge: Set<string>,
): AsyncGenerator<Judged> {
  const { kind, parameters, terms, first, last } = rule
  const wanted = new Set(
    affiliates.filter(
      (one) => isInScope(terms.scope, one) && (!kind.ofPlans || hasRules(from, one, kind.ofPlans)),
    ),
  )
  const glance = kind.glance?.(parameters)
  const read = (whom: Whom, reach = kind.reach(parameters)) =>
    viewsOf(from, whom, wanted, { reach, first, last }, tooLarge)
  const begin = await beginWith(from, rule, wanted)
  if (!glance) {
    for await (const part of read(begin)) yield await findIn(rule, part, () => true, tooLarge)
    return
  }
  const looked = glance.parameters ?? parameters
  const isSuspect = (view: View, day: number) =>
    glance.isSuspect?.(view, day) ??
    kind.find(view, day, looked).some((one) => !glance.isFinal || !isAboutCustomer(one))
  const suspects = new Set<string>()
  const seen = new Set<string>()
  for await (const part of read(begin, glance.reach ?? kind.reach(looked))) {
    for (const [affiliate, view] of part.views) {
      // Of an affiliate in several parts none shows all candidates.
      if (seen.has(affiliate) || isOnAnyDay(rule, (day) => isSuspect(view, day)))
        suspects.add(affiliate)
      seen.add(affiliate)
    }
    yield glance.isFinal
      ? await findIn(rule, part, isAboutCustomer, tooLarge)
      : { findings: new Map(), facts: part.facts }
  }
  const isWanted = (one: Finding) => !(glance.isFinal && isAboutCustomer(one))
  for await (const part of read({ of: 'affiliates', ids: [...suspects].sort(compareText) })) {
    yield await findIn(rule, part, isWanted, tooLarge)
  }
}

/** Returns whether a plan that an affiliate has on any day has rules of a kind. */
const hasRules = ({ source: { inForce } }: ViewSource, affiliate: string, kind: string): boolean =>
  inForce
    .assignmentsOf(affiliate)
    .some(({ plan }) =>
      inForce.plans
        .get(plan)
        ?.versions.some(({ rules }) => rules.some((rule) => rule.kind === kind)),
    )

const isAboutCustomer = ({ subject }: Finding): boolean => 'customer_id' in subject

async function findIn(
  rule: RuleDays,
  { views, facts }: ReadViews,
  isWanted: (finding: Finding) => boolean,
  tooLarge: Set<string>,
): Promise<Judged> {
  const findings = new Map<string, DayFinding[]>()
  for (const [affiliate, view] of views) {
    try {
      findings.set(
        affiliate,
        (await findInTurns(rule, view, rule.first, rule.last)).filter(isWanted),
      )
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      tooLarge.add(affiliate)
    }
  }
  return { findings, facts }
}

/** Returns whether something holds on a day, or is too much to be told. */
function isOnAnyDay({ first, last }: RuleDays, is: (day: number) => boolean): boolean {
  try {
    return Array.from({ length: last - first + 1 }, (_, i) => first + i).some(is)
  } catch (error) {
    if (error instanceof TooManyFacts) return true
    throw error
  }
}

/** Returns the customers with whom a rule begins; of a kind that begins with none, the affiliates. */
async function beginWith(
  { source: { db, account, ...source }, beginnings }: ViewSource,
  { kind, parameters, first, last }: RuleDays,
  affiliates: ReadonlySet<string>,
): Promise<Whom> {
  const begin = kind.candidates?.(parameters, source)
  if (!begin) return { of: 'affiliates', ids: [...affiliates] }
  const { sql, values, after = 0, days = 1 } = begin
  const bound = {
    ...values,
    account: account.id,
    from: first - after - days + 1,
    to: last - after,
    days: JSON.stringify(beginnings.days.activity.toReversed()),
  }
  const ids = await readCandidates(db, sql, bound)
  return { of: 'customers', ids }
}

/**
 * Yields the views that affiliates have of customers, of as many at once as have about the records that are allowed.
 * Halves what has more. A single customer is read however many they have.
 */
async function* viewsOf(
  from: ViewSource,
  { of, ids }: Whom,
  wanted: ReadonlySet<string>,
  days: WantedDays,
  tooLarge: Set<string>,
): AsyncGenerator<ReadViews> {
  const { facts: limit, customers, affiliates } = EVALUATION_LIMITS
  let most = of === 'customers' ? customers : affiliates
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
      tooLarge.add(part[0] ?? '')
    }
    start += part.length
  }
}
