import { compareText } from '../../platform/compare-text.ts'
import { ApiError } from '../../platform/errors.ts'
import { dayText, type Period, parsePeriod } from '../../platform/money/calendar.ts'
import {
  add,
  compare,
  type Decimal,
  decimal,
  plainText,
  ZERO,
} from '../../platform/money/decimal.ts'
import { asOf } from '../engine/customer.ts'
import type { Fact } from '../engine/facts.ts'
import { payingEntries } from '../engine/judge.ts'
import { instantText } from '../engine/once-steps.ts'
import type { Version } from '../engine/plans-in-force.ts'
import { type Earning, earningsOf } from '../engine/records.ts'
import type { CompiledRule } from '../engine/rules.ts'
import { sumTexts } from '../engine/unearned.ts'
import type { OpenAccount } from '../run/account.ts'
import { openPeriod } from '../run/on-request.ts'
import { accountFor } from '../run/starts.ts'
import type { LinePart, LineRecord } from '../shapes/explanations.ts'
import type { LineJson } from '../shapes/line-json.ts'
import type { FoundItem, LineReader } from './explain.ts'
import { recordQueries } from './record-queries.ts'
import { type CustomerFilter, evaluatedCustomers } from './unearned.ts'

// The customers and records behind a line. They are read as they are now, so they may say more or less than the
// line, which stands as it was settled.

/** A line whose records are read. */
interface OpenedLine {
  /** With the rates that apply to the line's period. */
  readonly account: OpenAccount
  readonly period: Period
  readonly affiliate: string
  readonly rule: CompiledRule
  readonly version: Version
  readonly line: LineJson
}

const NO_LINE = 'This adjustment has no records: its line is none now.'

/**
 * Prepares the reading of a line's records; for the id of an adjustment, those of the line that it corrects.
 *
 * @throws ApiError `not_found`
 */
export async function openLine(
  reader: LineReader,
  { item, steps, affiliate_id: affiliate, plan, ...found }: FoundItem,
): Promise<OpenedLine> {
  const line = 'of' in item ? steps?.line : item
  const period = parsePeriod('of' in item ? item.of.period : found.period)
  if (!line || !period) throw new ApiError('not_found', { detail: NO_LINE })
  const opened = await openPeriod(reader.env, reader.grant, reader.session, period)
  const account = await accountFor(opened, affiliate, plan)
  // What an affiliate pays upwards is a line of the other affiliate's plan.
  const paidFor = steps?.steps.find((one) => one.step === 'funded')?.plan ?? plan
  const versions = [...account.inForce.plans.values()].flatMap((one) => one.versions)
  const version = versions.find((one) => one.plan === paidFor && one.version === line.version)
  const rule = version?.rules.find((one) => one.id === line.rule)
  if (!version || !rule) throw new ApiError('not_found', { detail: NO_LINE })
  return { account, period, affiliate, rule, version, line }
}

/** Returns whose records a line counts. */
function customersOf({ rule, line, affiliate }: OpenedLine): CustomerFilter {
  const name = line.scope.slice(line.scope.indexOf(':') + 1)
  if (rule.kind === 'override') return { affiliate_id: name }
  return line.scope.startsWith('customer:') ? { customer_id: name } : { affiliate_id: affiliate }
}

/** A record that a line counts, and for how much. */
interface Counted {
  readonly customer_id: string
  readonly fact: Fact
  readonly earning: Earning
}

/** Yields the records of customers that a line counts, a customer after the other, each in order of time. */
async function* countedOf(opened: OpenedLine, of: CustomerFilter): AsyncGenerator<Counted> {
  const { account, period, affiliate, rule, version, line } = opened
  const isOfLine = (one: Earning): boolean =>
    one.affiliate_id === affiliate &&
    one.plan === version.plan &&
    one.version === version.version &&
    one.rule === rule.id &&
    one.period === period.id &&
    one.scope === line.scope
  // Of one customer all records are read, with their deliveries.
  const days = of.customer_id === undefined ? period : { first: -Infinity, last: Infinity }
  const queries = recordQueries(account, days)
  const entriesOf = payingEntries(account)
  for await (const evaluated of evaluatedCustomers(account, of, queries)) {
    const known = asOf(evaluated, period.last)
    const { customer_id, facts } = known.customer
    for (const fact of facts) {
      // Records of later days decide whether a line pays once, but none is in it, and their rates are not loaded.
      if (fact.day > period.last) continue
      const earning = earningsOf(account, entriesOf, known, fact).find(isOfLine)
      if (earning) yield { customer_id, fact, earning }
    }
  }
}

const plus = (sum: Decimal | null, text: string | null): Decimal | null =>
  text === null ? sum : add(sum ?? ZERO, decimal(text))

/** Returns what each customer adds to a line now, the largest first. A line that counts other lines has no customers. */
export async function listParts(opened: OpenedLine): Promise<LinePart[]> {
  const parts = new Map<string, { records: number; base: Decimal | null; units: Decimal | null }>()
  for await (const { customer_id, earning } of countedOf(opened, customersOf(opened))) {
    const part = parts.get(customer_id) ?? { records: 0, base: null, units: null }
    part.records += 1
    part.base = plus(part.base, earning.base)
    part.units = plus(part.units, earning.units)
    parts.set(customer_id, part)
  }
  // Affiliates may see other names, of which the order of the ids would tell something.
  return [...parts]
    .toSorted(
      ([a, one], [b, other]) =>
        compare(other.base ?? other.units ?? ZERO, one.base ?? one.units ?? ZERO) ||
        compareText(a, b),
    )
    .map(([customer_id, { records, base, units }]) => ({
      customer_id,
      records,
      base: base && plainText(base),
      units: units && plainText(units),
    }))
}

/** Returns the records of a customer that a line counts, in order of time. */
export async function recordsOf(opened: OpenedLine, customer_id: string): Promise<LineRecord[]> {
  const records: LineRecord[] = []
  for await (const { fact, earning } of countedOf(opened, { customer_id })) {
    records.push(presentRecord(fact, earning))
  }
  return records
}

const presentRecord = (fact: Fact, { base, units }: Earning): LineRecord => ({
  resource: fact.resource,
  id: fact.id,
  day: dayText(fact.day),
  at: instantText(fact),
  type: fact.kind === '' ? null : fact.kind,
  currency: fact.currency,
  amounts: sumTexts(new Map(fact.amounts)),
  base,
  units,
  delivery_id: fact.delivery_id ?? null,
})
