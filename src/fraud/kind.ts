import * as v from 'valibot'
import type { Customer, Fact, FactResource } from '../commission/engine/facts.ts'
import type { MoneyEvents } from '../commission/engine/net-revenue.ts'
import type { StoredAccount } from '../commission/run/stored-account.ts'
import type { Fixed } from '../platform/http/operation-words.ts'
import type { Period } from '../platform/money/calendar.ts'
import type { Decimal } from '../platform/money/decimal.ts'
import { described } from '../platform/validation/described.ts'
import { exactOptional, member } from '../platform/validation/fields.ts'
import type { ParameterLabel } from './parameters.ts'

// A kind of fraud rule (contract §17) is a value: the schema of its parameters, what it reads, and a function
// from the records of an affiliate to findings. What evaluates rules knows no kind.

/** The verticals of accounts. */
export type Vertical = 'prop-trading' | 'forex' | 'igaming'

/** What candidates depend on beside the parameters. */
export type CandidateSource = Pick<StoredAccount, 'inForce' | 'settings'>

/** Whom a case is about. The two customers of a pair are in the order of their ids. */
export const subject = described(() =>
  member(
    v.union([
      v.object({ affiliate_id: v.string() }),
      v.object({ customer_id: v.string() }),
      v.object({ customer_ids: v.tuple([v.string(), v.string()]) }),
    ]),
    'Whom the case is about.',
  ),
)

/** Whom a case is about. */
export type Subject = Fixed<v.InferOutput<typeof subject>>

const figure = described(() =>
  v.object({
    name: member(v.string(), 'The name of the figure.'),
    value: member(v.string(), 'Its value, a decimal.'),
    comparison: member(
      v.picklist(['at_least', 'at_most', 'more_than', 'less_than']),
      'What the value is, compared with the threshold: `at_least` (≥), `at_most` (≤), `more_than` (>) or `less_than` (<).',
    ),
    threshold: member(v.string(), 'What it was compared with, a decimal.'),
    threshold_is: exactOptional(v.string(), 'What the threshold is, where the rule computes it.'),
    unit: member(v.string(), 'Its unit; of an amount its currency.'),
  }),
)

/** The figures of a finding. */
export const figures = described(() =>
  member(v.array(figure), 'What was compared on the last day with a new record.'),
)

/** A figure that was compared with its threshold. */
export type Figure = Fixed<v.InferOutput<typeof figure>>

/** How a figure of a finding compares with its threshold. */
export type Comparison = Figure['comparison']

/** A record that a finding rests on, a statement, or bank details. A finding has at least one. */
export interface Evidence {
  /** Null for a statement and for bank details. */
  readonly customer_id: string | null
  readonly resource: FactResource | 'statements' | 'payees'
  /** Of bank details the affiliate and the version, with a space between them. */
  readonly id: string
  /** In days since 1970. */
  readonly day: number
  readonly delivery_id: string | null
}

/** Returns the affiliate of bank details, by their id as evidence. */
export const payeeOf = (id: string): string => id.replace(/ \d+$/, '')

/** What a rule found of a subject on the day. */
export interface Finding {
  readonly subject: Subject
  readonly figures: readonly Figure[]
  /** Says the finding in one sentence, without the name of the subject: `24 of 30 signups came …`. */
  readonly sentence: string
  readonly evidence: readonly Evidence[]
}

/** The customers who signed up before a customer with the same e-mail or name; of one day, those with the smaller id. */
export interface Earlier {
  readonly count: number
  /** The signups of the first of them. */
  readonly first: readonly Evidence[]
}

/** An amount that a `once` rule asks for, and what the customer had reached when they qualified. */
export interface Minimum {
  /** The types of transactions or the names of events that are summed. */
  readonly kinds: readonly string[]
  /** Both in the currency of the plan. */
  readonly least: Decimal
  readonly reached: Decimal
}

/** How a customer qualified for a `once` rule of a plan, whether or not they are refused. */
export interface Qualified {
  readonly plan: string
  readonly rule: string
  /** In days since 1970. */
  readonly day: number
  readonly minimums: readonly Minimum[]
  /** The records by which they qualified. */
  readonly facts: readonly Fact[]
}

/**
 * What unit rules pay for a customer's records of a day, in the currency of the view: units × rate. Tiers
 * count at their first step, since what is reached is known only when the period ends.
 */
export interface UnitEarning {
  readonly day: number
  readonly amount: Decimal
}

/** What an affiliate earned in a period that is over, in the currency of the view. */
export interface PeriodEarning extends Pick<Period, 'id' | 'first' | 'last'> {
  /** The ids of its statements, one for each plan; of a period without earnings none. */
  readonly statements: readonly string[]
  readonly earned: Decimal
  /** The net revenue (§15) of the customers; null until it is read. */
  revenue: Decimal | null
}

/** Bank details of an affiliate whose account others have, or had. */
export interface PayeeVersion {
  readonly affiliate_id: string
  readonly version: number
  /** A digest of the account. */
  readonly account: string
  /** The first day at whose end it was current, and that of the next version; null if it still is. */
  readonly first: number
  readonly until: number | null
}

/** A customer of the affiliate, with the records of the days on which the affiliate had them. */
export interface Seen extends Customer {
  /** When the visitor followed the link by which the customer came, in milliseconds; null if unknown. */
  readonly clickedAt: number | null
  /** The earlier customers of the account with the same e-mail, and those with the same names and country. */
  readonly earlier: { readonly email: Earlier; readonly name: Earlier }
  /** Whether the e-mail is that of the affiliate's own contact. */
  readonly isContact: boolean
  /** In order of day. */
  readonly qualified: readonly Qualified[]
  readonly unitEarnings: readonly UnitEarning[]
}

/** What rules see of an affiliate. */
export interface View {
  readonly affiliate_id: string
  /** In order of id. */
  readonly customers: readonly Seen[]
  /** The currency of amounts in figures. */
  readonly currency: string
  /** Converts an amount of a record into that currency (§11); null without a rate: sums leave it out. */
  readonly convert: (fact: Fact, field: string) => Decimal | null
  /** The periods that are over, from the first with a statement to the last, the latest last. */
  readonly periods: readonly PeriodEarning[]
  /** The bank details of all affiliates whose account others have, or had, in order of affiliate. */
  readonly payees: readonly PayeeVersion[]
}

/** What a rule reads: the days of each source, the day included; absent: none. */
export interface Reach {
  readonly customers?: number
  readonly transactions?: number
  readonly 'trading-activity'?: number
  readonly activities?: number
  /** The periods that are over. */
  readonly periods?: number
  /** Reads also the net revenue of these periods; these are the names of a brand's events. */
  readonly revenue?: MoneyEvents
  /** Whether it reads who shares an account. */
  readonly payees?: boolean
  /** Whether it reads who shares an e-mail with those who signed up on a day, and whether also who shares a name. */
  readonly identities?: boolean
  readonly names?: boolean
  /** Whether it reads `clickedAt`, `qualified` or `unitEarnings`. */
  readonly clicks?: boolean
  readonly qualified?: boolean
  readonly unitEarnings?: boolean
}

/** The customers with whom a rule begins: those of whom something of a day can begin a finding. */
export interface Candidates {
  /**
   * SQL of customers of `:account` from `:from` to `:to`, with a column `customer_id`. `:days` is a JSON array of the
   * days with trading activity, the latest first; `:affiliates` of those whose findings are wanted.
   */
  readonly sql: string
  readonly values?: Readonly<Record<string, string | number>>
  /** How many days later the day is judged; 0 if absent. */
  readonly after?: number
  /** How many days count, that day the last; 1 if absent. */
  readonly days?: number
}

/** A first look at the candidates of an affiliate, before all its customers are read. */
export interface Glance<P> {
  /** The parameters by which the candidates are looked at; those of the rule if absent. */
  readonly parameters?: P
  /** What is read of them; if absent, what these parameters read. */
  readonly reach?: Reach
  /** Whether what is found of single customers is final, so that only what is about the affiliate is still missing. */
  readonly isFinal?: boolean
  /** Whether there may be such a finding on a day; absent: if one is found by these parameters. */
  isSuspect?(view: View, day: number): boolean
}

/** Looks for one customer of whom something is found on the day: enough to look at the affiliate. */
export const anyCustomer = <P extends object>(parameters: P): Glance<P> => ({
  parameters: { ...parameters, min_customers: 1, share_percent: '0.000001' },
})

/** When a rule opens a case, in plain English. */
export interface KindWords {
  /** A clause that completes “Opens a case when …”. */
  readonly when: string
  /** What else applies, each as a sentence. */
  readonly more?: readonly string[]
}

/** A kind of rule. */
export interface Kind<P = unknown> {
  /** Its name on the wire. */
  readonly kind: string
  /** The usual name of its rules, and how serious their cases usually are. */
  readonly name: string
  readonly severity: 'low' | 'medium' | 'high'
  /** The verticals whose accounts can have such rules. */
  readonly verticals: readonly Vertical[]
  /** Those of them whose new accounts start without such a rule, since it would often be wrong. */
  readonly unusualIn?: readonly Vertical[]
  /** The schema of the parameters, with their defaults and labels. */
  readonly parameters: v.GenericSchema<unknown, P> & {
    readonly entries: Readonly<Record<string, { readonly label: ParameterLabel }>>
  }
  /** Says when a rule with these parameters opens a case. */
  words(parameters: P): KindWords
  reach(parameters: P): Reach
  /**
   * Returns with whom the rule begins on a day, which must be all customers that a finding of the day is about.
   * Absent: with each affiliate, without customers.
   *
   * @param source The plans and settings of the account.
   */
  candidates?(parameters: P, source: CandidateSource): Candidates
  /** The rules of plans without which an affiliate has no findings. */
  readonly ofPlans?: 'once' | 'unit'
  /** Of kinds that compare the customers of an affiliate: how it is found out whether all are read. */
  glance?(parameters: P): Glance<P>
  /**
   * Returns what a rule finds on a day. The result follows from the records of the days in reach alone.
   *
   * @param day In days since 1970. All its records are known.
   */
  find(view: View, day: number, parameters: P): readonly Finding[]
  /** The titles of its figures whose name does not say it well. */
  readonly titles?: Readonly<Record<string, string>>
  /** What the kind sees and what it cannot see, each as one sentence. */
  readonly sees: string
  readonly cannotSee: string
}

/** Returns a kind whose functions have the type of its parameters. */
export const defineKind = <P>(kind: Kind<P>): Kind<P> => kind

/** A record and the customer that it belongs to. */
export interface OwnFact {
  readonly customer: Seen
  readonly fact: Fact
}

/** Returns the records of one customer of a resource from a day to another, both included. */
export const ownFacts = (
  { facts }: Seen,
  resource: FactResource,
  from: number,
  to: number,
): Fact[] =>
  facts.filter((fact) => fact.resource === resource && fact.day >= from && fact.day <= to)

/** Returns the records of a resource from a day to another, both included, in order of customer and time. */
export function factsOf(
  { customers }: View,
  resource: FactResource,
  from: number,
  to: number,
): OwnFact[] {
  return customers.flatMap((customer) =>
    ownFacts(customer, resource, from, to).map((fact) => ({ customer, fact })),
  )
}

/** Returns the signups from a day to another, both included. A signup of an implausible time is none. */
export const signupsOf = (view: View, from: number, to: number): OwnFact[] =>
  factsOf(view, 'customers', from, to).filter(({ fact }) => fact.state === 'approved')

/** Returns a record of a customer as evidence. */
export const evidenceOf = (customer: Seen, { resource, id, day, delivery_id }: Fact): Evidence => ({
  customer_id: customer.customer_id,
  resource,
  id,
  day,
  delivery_id: delivery_id ?? null,
})

/** Returns the statements of a period as evidence. */
export const statementsOf = ({ statements, last }: PeriodEarning): Evidence[] =>
  statements.map((id) => ({
    customer_id: null,
    resource: 'statements',
    id,
    day: last,
    delivery_id: null,
  }))

/** Returns a finding about an affiliate, with the records that it rests on. */
export const aboutAffiliate = (
  { affiliate_id }: View,
  figures: readonly Figure[],
  sentence: string,
  records: readonly OwnFact[],
): Finding => ({
  subject: { affiliate_id },
  figures,
  sentence,
  evidence: records.map(({ customer, fact }) => evidenceOf(customer, fact)),
})

/** Returns a finding about a customer, with the records that it rests on. */
export const aboutCustomer = (
  customer: Seen,
  figures: readonly Figure[],
  sentence: string,
  facts: readonly Fact[],
): Finding => ({
  subject: { customer_id: customer.customer_id },
  figures,
  sentence,
  evidence: facts.map((fact) => evidenceOf(customer, fact)),
})
