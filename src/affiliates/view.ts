import { parseScope } from '../commission/run/line-groups.ts'
import type { AffiliateView } from '../platform/auth/affiliate-view.ts'
import { isObject } from '../platform/validation/record-validator.ts'
import { kindOf } from './members.ts'

// What an affiliate sees of an answer, as a pure function.

/** What stands for an id that the account does not show. */
export const HIDDEN = 'hidden'

/**
 * What is shown under another name: the id of a customer, or of a record that contains one; the id of a line or
 * an adjustment; the checksum of a statement.
 */
export type NamedKind = 'customer' | 'line' | 'hash'

/** What an affiliate sees, and under which names. */
export interface ViewContext {
  readonly view: AffiliateView
  /** The id of the affiliate. */
  readonly own: string
  /** Returns the name under which the affiliate sees an id. */
  readonly nameOf: (id: string, kind: NamedKind) => string
}

type Members = Readonly<Record<string, unknown>>

/** Returns what an affiliate sees of an answer. */
export const visible = (answer: object, context: ViewContext): object =>
  see(answer, '', context) as object

function see(value: unknown, parent: string, context: ViewContext): unknown {
  if (Array.isArray(value)) {
    const seen = value.map((item) => see(item, parent, context))
    // Lines are stored in the order of the ids of customers, which would tell something of ids that are not shown.
    const isTelling = parent === 'lines' && context.view.customer_ids !== 'plain'
    return isTelling ? inSeenOrder(seen) : seen
  }
  if (!isObject(value)) return value
  const seen: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const shown = seeMember(member, parent, name, value, context)
    if (shown !== undefined) seen[name] = shown
  }
  return seen
}

const textOf = (value: unknown, name: string): string =>
  isObject(value) ? String(value[name] ?? '') : ''

/** Returns the lines of each rule in the order of what is seen of them; rules keep their places. */
function inSeenOrder(lines: readonly unknown[]): unknown[] {
  const ruleOf = (line: unknown) => JSON.stringify([textOf(line, 'rule'), textOf(line, 'version')])
  const places = new Map([...new Set(lines.map(ruleOf))].map((rule, place) => [rule, place]))
  const sortText = (line: unknown) => `${textOf(line, 'scope')} ${textOf(line, 'id')}`
  return lines.toSorted(
    (a, b) =>
      (places.get(ruleOf(a)) ?? 0) - (places.get(ruleOf(b)) ?? 0) ||
      (sortText(a) < sortText(b) ? -1 : 1),
  )
}

/** Returns what is seen of a member of an object; undefined: nothing. */
function seeMember(
  member: unknown,
  parent: string,
  name: string,
  object: Members,
  context: ViewContext,
): unknown {
  const { view } = context
  switch (kindOf(parent, name)) {
    case 'open':
      if (name === 'id' && typeof member === 'string') return seeId(member, object, context)
      if (name === 'steps' && !view.amounts) return []
      return see(member, name, context)
    case 'whole':
      return member
    case 'customer':
      return typeof member === 'string' ? context.nameOf(member, 'customer') : member
    case 'line':
      return typeof member === 'string' ? seeLine(member, context) : see(member, name, context)
    case 'hash':
      return typeof member === 'string' ? context.nameOf(member, 'hash') : member
    case 'scope':
      return typeof member === 'string' ? seeScope(member, context) : member
    case 'amount':
      return view.amounts ? member : undefined
    case 'country':
      return view.countries ? member : undefined
    case 'affiliate':
      return typeof member === 'string' ? seeAffiliate(member, object.step, context) : member
    default:
      return undefined
  }
}

/** Returns the id of a record, which may contain that of its customer, or of a line or anything else. */
function seeId(id: string, { resource }: Members, context: ViewContext): string {
  if (typeof resource !== 'string') return seeLine(id, context)
  return resource === 'transactions' ? id : context.nameOf(id, 'customer')
}

/** Returns the id of a line or an adjustment as it is seen; other ids are not made from customers. */
const seeLine = (id: string, context: ViewContext): string =>
  /^(?:lin|adj)_/.test(id) ? context.nameOf(id, 'line') : id

/** Returns the id of an affiliate as it is seen. A step `funded` names the one above. */
const seeAffiliate = (id: string, step: unknown, { view, own }: ViewContext): string =>
  id === own || (view.sub_affiliates !== 'none' && step !== 'funded') ? id : HIDDEN

function seeScope(scope: string, context: ViewContext): string {
  const { of, id } = parseScope(scope)
  switch (of) {
    case 'customer':
      return `customer:${context.nameOf(id, 'customer')}`
    case 'affiliate':
      return `affiliate:${seeAffiliate(id, null, context)}`
    default:
      return scope
  }
}
