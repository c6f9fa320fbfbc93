import * as v from 'valibot'
import { type AmountSigns, expectedEventSign } from '../../platform/amount-signs.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import { id } from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { signWarnings, whitespaceWarnings } from '../../platform/validation/plausibility.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import { quote } from '../../platform/validation/quote.ts'
import type { RecordCheck } from '../../platform/validation/record-validator.ts'
import { validateField } from '../../platform/validation/strict-object.ts'
import { currencyWarnings, type Warning, warning } from '../../platform/validation/warnings.ts'
import { HAS_MASK, KNOWN_MEMBERS, MASK_PATCH } from '../db/record-table.ts'
import { hasSeparators, isDecimal, readDecimal } from './decimal.ts'
import {
  type CompiledDefinition,
  productIdentityOf,
  productLineOf,
  productMembersOf,
} from './definition.ts'
import { activity as fields } from './fields.ts'
import {
  checkExtraNumber,
  checkExtras,
  findNameErrors,
  membersOf,
  type RecordReading,
  readField,
  similarNameWarnings,
  toSpelling,
} from './members.ts'
import { type BrandTime, readTime, TIME_FORMS } from './time.ts'

const KNOWN_SPELLING = toSpelling(KNOWN_MEMBERS)
const SPELLING = toSpelling([...KNOWN_MEMBERS, 'product'])

/** The members that every event must have. An event definition can also require `eventid`. */
export const REQUIRED = ['customerid', 'eventname'] as const

/** The account settings that determine how its events are read. */
export interface EventRules {
  /** The IANA time zone of the account. */
  zone: string
  definitions: ReadonlyMap<string, CompiledDefinition>
  /** How the account writes the amounts of outflows. */
  signs: AmountSigns
  /** Returns whether the word of a `status_member` has no meaning. */
  isUnmappedStatus: (status: unknown) => boolean
  /** Returns the defined name that a name without a definition probably means, or null. */
  suggestName: (name: string) => string | null
}

/** Returns the definition of a record's event, or undefined if the event has none. */
function findDefinition({ definitions }: EventRules, members: Map<string, unknown>) {
  const eventname = members.get('eventname')
  return typeof eventname === 'string' ? definitions.get(eventname) : undefined
}

/** Validates a single event or a daily aggregate. The output is keyed by column. */
export function validateEvent(record: object, rules: EventRules): RecordCheck {
  const members = membersOf(record)
  const definition = findDefinition(rules, members)
  const required: string[] = [...REQUIRED]
  if (definition?.eventid === 'required') required.push('eventid')
  const isDefined = (name: string) =>
    (definition?.kpis.has(name) ?? false) || name === definition?.productField
  const reading: RecordReading = {
    issues: findNameErrors(members, KNOWN_SPELLING, required, isDefined),
    output: {},
  }
  const { output, issues } = reading
  readField(reading, members, 'eventname', 'eventname', fields.eventname)
  readField(reading, members, 'customerid', 'customer_id', fields.customerid)
  readField(reading, members, 'eventid', 'eventid', fields.eventid)
  readField(reading, members, 'Currency', 'currency', fields.Currency)
  output.currency ??= definition?.currency ?? undefined
  const products = productMembersOf(members, definition)

  const time = readEventTime(members, rules.zone)
  const warnings = [
    ...readCreatetime(reading, members, time),
    ...whitespaceWarnings('customerid', output.customer_id),
    ...whitespaceWarnings('eventid', output.eventid),
    ...currencyWarnings(output.currency, '/Currency'),
    ...(output.currency === undefined ? [warning('no_currency', '/Currency')] : []),
    ...readProduct(reading, members, products, definition),
    ...readKpis(reading, members, products, definition),
    ...(definition
      ? definedWarnings(reading, members, definition, rules)
      : nameWarnings(output.eventname, rules)),
  ]
  const identity = identityOf(members, definition, time)
  if (issues.length === 0) {
    output.record = JSON.stringify(Object.fromEntries(members))
    output.identity = identity
  }
  return { issues, output, warnings, key: keyOf(members, products, identity) }
}

/** Returns the warnings about what a definition says of an event. */
function definedWarnings(
  { output }: RecordReading,
  members: Map<string, unknown>,
  { outflow, statusMember }: CompiledDefinition,
  { signs, isUnmappedStatus }: EventRules,
): Warning[] {
  const sign = expectedEventSign(outflow, signs)
  const warnings = signWarnings('Value', output.amount, sign, String(output.eventname))
  const status = statusMember === null ? undefined : members.get(statusMember)
  if (statusMember !== null && status !== undefined && isUnmappedStatus(status)) {
    warnings.push(warning('unmapped_status', pointerStep(statusMember), status))
  }
  return warnings
}

/** Returns a warning if the name of an event without a definition is close to a defined one. */
function nameWarnings(eventname: unknown, { suggestName }: EventRules): Warning[] {
  const meant = typeof eventname === 'string' ? suggestName(eventname) : null
  return meant === null ? [] : [warning('unknown_event', '/eventname', eventname, meant)]
}

const readEventTime = (members: Map<string, unknown>, zone: string): BrandTime | null => {
  const createtime = members.get('createtime')
  return typeof createtime === 'string' ? readTime(createtime, zone, '/createtime') : null
}

function readCreatetime(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  time: BrandTime | null,
): Warning[] {
  const value = members.get('createtime')
  if (value === undefined) return [warning('no_createtime', '/createtime')]
  const { issue } = validateField('createtime', value, fields.createtime)
  if (time && !issue) {
    Object.assign(output, { createtime: time.instant, day: time.day })
  } else if (issue?.code === 'type') issues.push(issue)
  else {
    issues.push({ pointer: '/createtime', code: 'date_time', expected: TIME_FORMS, value })
  }
  return time?.warnings ?? []
}

/** Reads the product line from the first of its members: a record must not have two. */
function readProduct(
  reading: RecordReading,
  members: Map<string, unknown>,
  [name, ...others]: readonly string[],
  definition: CompiledDefinition | undefined,
): Warning[] {
  if (name === undefined) return []
  const message = `${quote(name)} already has the product line.`
  const instruction = 'Send the product line in one member.'
  for (const other of others) {
    reading.issues.push({ pointer: pointerStep(other), code: 'field_case', message, instruction })
  }
  readField(reading, members, name, 'product', fields.product)
  const { product } = reading.output
  if (typeof product !== 'string') return []
  const line = productLineOf(product, definition)
  if (line === undefined) return [warning('unmapped_product', pointerStep(name), product)]
  reading.output.product = line
  return []
}

/**
 * Returns the identity of an event, by its `eventid` or by the day of an aggregate, or null if it has
 * neither.
 */
export function identityOf(
  members: Map<string, unknown>,
  definition: CompiledDefinition | undefined,
  time: BrandTime | null,
): string | null {
  const eventid = members.get('eventid')
  if (eventid !== undefined && definition?.eventid !== 'ignored') {
    // Any other type is refused; it may be an object that cannot be converted to text.
    return `e ${typeof eventid === 'string' ? eventid : ''}`
  }
  const isDaily = time && (definition ? definition.granularity === 'day' : time.isDay)
  if (!isDaily) return null
  const [product] = productMembersOf(members, definition)
  return `d ${JSON.stringify([
    members.get('eventname'),
    members.get('customerid'),
    time.day,
    members.get('Currency') ?? definition?.currency ?? null,
    productIdentityOf(members.get(product ?? '')) ?? null,
  ])}`
}

/** Returns the identity of an event if its definition changes it; otherwise undefined. */
export function configuredIdentityOf(record: object, rules: EventRules): string | null | undefined {
  const members = membersOf(record)
  const definition = findDefinition(rules, members)
  if (!definition) return undefined
  const time = readEventTime(members, rules.zone)
  const identity = identityOf(members, definition, time)
  return identity === identityOf(members, undefined, time) ? undefined : identity
}

/**
 * Returns the members of an event's identity as sent, without those that are invalid, or undefined if
 * none is left.
 */
function keyOf(
  members: Map<string, unknown>,
  products: readonly string[],
  identity: string | null,
): RecordCheck['key'] {
  if (identity === null) return undefined
  const names = identity.startsWith('e ')
    ? ['eventid']
    : ['eventname', 'customerid', 'createtime', 'Currency', ...products]
  const valid = names.flatMap((name) => {
    const value = members.get(name)
    return v.is(id, value) ? [[name, value] as const] : []
  })
  return valid.length > 0 ? Object.fromEntries(valid) : undefined
}

/** The maximum number of KPIs of one record beside `Value`: control totals sum each of them. */
const MAX_KPIS = 32

/** Returns an issue if a record has more than 32 KPIs. */
function checkKpiNumber(kpis: ReadonlyMap<string, number>): Issue[] {
  if (kpis.size <= MAX_KPIS) return []
  return [
    {
      pointer: '',
      code: 'length',
      expected: `at most ${MAX_KPIS} KPIs in one record`,
      received: String(kpis.size),
      instruction: 'Send the other KPIs as another event, with an `eventname` of its own.',
    },
  ]
}

/**
 * Reads the amounts of an event. With a definition, exactly the members that it names are KPIs.
 * Without one, every decimal is a KPI unless `Value` is present. The remaining members are details,
 * stored as sent.
 */
function readKpis(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  products: readonly string[],
  definition: CompiledDefinition | undefined,
): Warning[] {
  const kpis = new Map<string, number>()
  const details: [string, unknown][] = []
  const warnings: Warning[] = []
  const hasValue = members.has('Value')
  const isKpi = (name: string, value: unknown) =>
    definition ? definition.kpis.has(name) : !hasValue && isDecimal(value)
  let amounts = 0
  for (const [name, value] of members) {
    if (products.includes(name)) continue
    if (name === 'Value' || isKpi(name, value)) {
      if (KNOWN_MEMBERS.includes(name) && name !== 'Value') continue
      amounts += 1
      const { issue, number } = readDecimal(name, value)
      if (issue) issues.push(issue)
      else if (name === 'Value') output.amount = number
      else kpis.set(name, number)
    } else if (!KNOWN_MEMBERS.includes(name)) {
      details.push([name, value])
      if (!definition && !hasValue && hasSeparators(value)) {
        warnings.push(warning('not_a_number', pointerStep(name), value))
      }
    }
  }
  const hasMisspelt = [...members.keys()].some((name) => /^value$/i.test(name))
  if (amounts === 0 && !hasMisspelt) issues.push({ pointer: '', code: 'no_kpi' })
  const stored = [...details, ...[...kpis.keys()].map((name) => [name, members.get(name)] as const)]
  const unnamed = (definition ? details : stored).map(([name]) => name)
  warnings.push(...similarNameWarnings(unnamed, definition?.spelling ?? SPELLING))
  const tooMany = [...checkExtraNumber(stored), ...checkKpiNumber(kpis)]
  issues.push(...(tooMany.length > 0 ? tooMany : checkExtras(stored)))
  if (kpis.size > 0) output.kpis = canonicalJson(Object.fromEntries(kpis))
  output[HAS_MASK] = Number(details.length > 0)
  if (details.length > 0) {
    output.details = canonicalJson(Object.fromEntries(details))
    // The status of an event decides what is paid, so it is kept when personal data is erased.
    const personal = details.filter(([name]) => name !== definition?.statusMember)
    output[MASK_PATCH] = JSON.stringify(Object.fromEntries(personal.map(([name]) => [name, null])))
  }
  return warnings
}
