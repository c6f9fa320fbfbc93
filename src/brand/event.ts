import { KNOWN_MEMBERS, PRODUCTS } from '../db/directory/event-definitions.ts'
import { id } from '../validation/fields.ts'
import { pointerStep } from '../validation/pointer.ts'
import type { RecordCheck } from '../validation/record-validator.ts'
import { validateField } from '../validation/strict-object.ts'
import { currencyWarnings, type Warning, warning } from '../validation/warnings.ts'
import { type CompiledDefinition, productField } from './definition.ts'
import { activity as fields } from './fields.ts'
import { readKpis } from './kpis.ts'
import { findNameErrors, membersOf, type RecordReading, readField, toSpelling } from './members.ts'
import { type BrandTime, readTime, TIME_FORMS } from './time.ts'

const SPELLING = toSpelling(KNOWN_MEMBERS)

/** What no event goes without; an event definition may add `eventid`. */
export const REQUIRED = ['customerid', 'eventname'] as const

/** How an account's events are to be read. */
export interface EventRules {
  zone: string
  definitions: ReadonlyMap<string, CompiledDefinition>
}

/** The definition of a record's event, if there is one. */
const definitionOf = ({ definitions }: EventRules, members: Map<string, unknown>) =>
  definitions.get(members.get('eventname') as string)

/** One event, or one day of one customer, in the columns that keep it. */
export function validateEvent(record: object, reader: EventRules): RecordCheck {
  const members = membersOf(record)
  const definition = definitionOf(reader, members)
  const required: string[] = [...REQUIRED]
  if (definition?.eventid === 'required') required.push('eventid')
  const isNamed = (name: string) =>
    (definition?.kpis.has(name) ?? false) || name === productField(definition)
  const findings: RecordReading = {
    issues: findNameErrors(members, SPELLING, required, isNamed),
    output: {},
  }
  const { output, issues } = findings
  readField(findings, members, 'eventname', 'eventname', fields.eventname)
  readField(findings, members, 'customerid', 'customer_id', fields.customerid)
  readField(findings, members, 'eventid', 'eventid', fields.eventid)
  readField(findings, members, 'Currency', 'currency', fields.Currency)
  output.currency ??= definition?.currency ?? undefined

  const time = readEventTime(members, reader.zone)
  const warnings = [
    ...readCreatetime(findings, members, time),
    ...currencyWarnings(output.currency, '/Currency'),
    ...readProduct(findings, members, definition),
    ...readKpis(findings, members, definition),
  ]
  if (issues.length === 0) {
    output.record = JSON.stringify(Object.fromEntries(members))
    output.identity = identityOf(members, definition, time)
  }
  return { issues, output, warnings }
}

const readEventTime = (members: Map<string, unknown>, zone: string): BrandTime | null => {
  const sent = members.get('createtime')
  return typeof sent === 'string' ? readTime(sent, zone, '/createtime') : null
}

function readCreatetime(
  { issues, output }: RecordReading,
  members: Map<string, unknown>,
  time: BrandTime | null,
): Warning[] {
  const sent = members.get('createtime')
  if (sent === undefined) return [warning('no_createtime', '/createtime')]
  const { issue } = validateField('createtime', sent, fields.createtime)
  if (time && !issue) Object.assign(output, { createtime: time.instant, day: time.day })
  else {
    const isText = issue?.code !== 'type'
    issues.push(
      isText
        ? { pointer: '/createtime', code: 'date_time', expected: TIME_FORMS, value: sent }
        : issue,
    )
  }
  return time?.warnings ?? []
}

/** The product line: what the definition's map makes of it, or one of the four as it stands. */
function readProduct(
  findings: RecordReading,
  members: Map<string, unknown>,
  definition: CompiledDefinition | undefined,
): Warning[] {
  const field = productField(definition)
  readField(findings, members, field, 'product', fields.product)
  const { product } = findings.output as { product?: string }
  const stray = definition?.lines ? undefined : members.get('Product')
  const warnings = stray === undefined ? [] : [warning('stray_product', '/Product', stray)]
  if (product === undefined) return warnings

  const line = definition?.lines?.get(product) ?? PRODUCTS.find((name) => name === product)
  if (line) findings.output.product = line
  else warnings.push(warning('unmapped_product', pointerStep(field), product))
  return warnings
}

/**
 * What tells an event from others: its `eventid`, or the day of an aggregate; null: nothing does.
 * The product is taken as it was sent: two that mean the same product line may both be sent, and the
 * one must not take the place of the other.
 */
export function identityOf(
  members: Map<string, unknown>,
  definition: CompiledDefinition | undefined,
  time: BrandTime | null,
): string | null {
  const eventid = members.get('eventid')
  if (eventid !== undefined && definition?.eventid !== 'ignored') {
    // One that is no text is refused; it may be an object that cannot be made one.
    return `e ${typeof eventid === 'string' ? eventid : ''}`
  }
  const isDaily = time && (definition ? definition.granularity === 'day' : time.isDay)
  if (!isDaily) return null
  const whose = [members.get('eventname'), members.get('customerid'), time.day]
  const currency = members.get('Currency') ?? definition?.currency ?? null
  const of = [currency, members.get(productField(definition)) ?? null]
  return `d ${JSON.stringify([...whose, ...of])}`
}

/** The members that make up such an identity, as they were sent, less those that are no good. */
export function keyOf(record: object, reader: EventRules): Record<string, string> | undefined {
  const members = membersOf(record)
  const definition = definitionOf(reader, members)
  const time = readEventTime(members, reader.zone)
  const identity = identityOf(members, definition, time)
  if (identity === null) return undefined
  const names = identity.startsWith('e ')
    ? ['eventid']
    : ['eventname', 'customerid', 'createtime', 'Currency', productField(definition)]
  const good = names.flatMap((name) => {
    const value = members.get(name)
    return validateField('', value, id).issue ? [] : [[name, value as string] as const]
  })
  return good.length > 0 ? Object.fromEntries(good) : undefined
}
