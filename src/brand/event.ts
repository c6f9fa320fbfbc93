import { KNOWN, PRODUCTS } from '../db/directory/event-definitions.ts'
import { id } from '../validation/fields.ts'
import { step } from '../validation/pointer.ts'
import type { Checked } from '../validation/record-validator.ts'
import { judged } from '../validation/strict-object.ts'
import { currencyWarnings, type Warning, warning } from '../validation/warnings.ts'
import { type Definition, productField } from './definition.ts'
import { activity as fields } from './fields.ts'
import { readKpis } from './kpis.ts'
import { type Findings, membersOf, misspelt, spellingOf, take } from './members.ts'
import { FORMS, readTime, type Time } from './time.ts'

const SPELLING = spellingOf(KNOWN)

/** What no event goes without; an event definition may add `eventid`. */
export const REQUIRED = ['customerid', 'eventname'] as const

/** How an account's events are to be read. */
export interface Reader {
  zone: string
  definitions: ReadonlyMap<string, Definition>
}

/** The definition of a record's event, if there is one. */
const definitionOf = ({ definitions }: Reader, members: Map<string, unknown>) =>
  definitions.get(members.get('eventname') as string)

/** One event, or one day of one customer, in the columns that keep it. */
export function check(record: object, reader: Reader): Checked {
  const members = membersOf(record)
  const definition = definitionOf(reader, members)
  const required: string[] = [...REQUIRED]
  if (definition?.eventid === 'required') required.push('eventid')
  const isNamed = (name: string) =>
    (definition?.kpis.has(name) ?? false) || name === productField(definition)
  const findings: Findings = {
    found: misspelt(members, SPELLING, required, isNamed),
    output: {},
  }
  const { output, found } = findings
  take(findings, members, 'eventname', 'eventname', fields.eventname)
  take(findings, members, 'customerid', 'customer_id', fields.customerid)
  take(findings, members, 'eventid', 'eventid', fields.eventid)
  take(findings, members, 'Currency', 'currency', fields.Currency)
  output.currency ??= definition?.currency ?? undefined

  const time = timeOf(members, reader.zone)
  const warnings = [
    ...readCreatetime(findings, members, time),
    ...currencyWarnings(output.currency, '/Currency'),
    ...readProduct(findings, members, definition),
    ...readKpis(findings, members, definition),
  ]
  if (found.length === 0) {
    output.record = JSON.stringify(Object.fromEntries(members))
    output.identity = identityOf(members, definition, time)
  }
  return { found, output, warnings }
}

const timeOf = (members: Map<string, unknown>, zone: string): Time | null => {
  const sent = members.get('createtime')
  return typeof sent === 'string' ? readTime(sent, zone, '/createtime') : null
}

function readCreatetime(
  { found, output }: Findings,
  members: Map<string, unknown>,
  time: Time | null,
): Warning[] {
  const sent = members.get('createtime')
  if (sent === undefined) return [warning('no_createtime', '/createtime')]
  const { issue } = judged('createtime', sent, fields.createtime)
  if (time && !issue) Object.assign(output, { createtime: time.instant, day: time.day })
  else {
    const isText = issue?.code !== 'type'
    found.push(
      isText ? { pointer: '/createtime', code: 'date_time', expected: FORMS, value: sent } : issue,
    )
  }
  return time?.warnings ?? []
}

/** A value as a warning says it back. As JSON: an object may have a `toString` that is no function. */
const quoted = (value: unknown) =>
  JSON.stringify((typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 40))

/** The product line: what the definition's map makes of it, or one of the four as it stands. */
function readProduct(
  findings: Findings,
  members: Map<string, unknown>,
  definition: Definition | undefined,
): Warning[] {
  const field = productField(definition)
  take(findings, members, field, 'product', fields.product)
  const { product } = findings.output as { product?: string }
  const stray = definition?.lines ? undefined : members.get('Product')
  const warnings = stray === undefined ? [] : [warning('stray_product', '/Product', quoted(stray))]
  if (product === undefined) return warnings

  const line = definition?.lines?.get(product) ?? PRODUCTS.find((name) => name === product)
  if (line) findings.output.product = line
  else warnings.push(warning('unmapped_product', step(field), quoted(product)))
  return warnings
}

/**
 * What tells an event from others: its `eventid`, or the day of an aggregate; null: nothing does.
 * The product is taken as it was sent: two that mean the same product line may both be sent, and the
 * one must not take the place of the other.
 */
export function identityOf(
  members: Map<string, unknown>,
  definition: Definition | undefined,
  time: Time | null,
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
export function keyOf(record: object, reader: Reader): Record<string, string> | undefined {
  const members = membersOf(record)
  const definition = definitionOf(reader, members)
  const time = timeOf(members, reader.zone)
  const identity = identityOf(members, definition, time)
  if (identity === null) return undefined
  const names = identity.startsWith('e ')
    ? ['eventid']
    : ['eventname', 'customerid', 'createtime', 'Currency', productField(definition)]
  const good = names.flatMap((name) => {
    const value = members.get(name)
    return judged('', value, id).issue ? [] : [[name, value as string] as const]
  })
  return good.length > 0 ? Object.fromEntries(good) : undefined
}
