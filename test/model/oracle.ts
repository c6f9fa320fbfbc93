import { brandRules } from './brand.ts'
import { partnerRules } from './partner.ts'
import { type Total, totalsOf } from './totals.ts'

// The contract as a program that keeps everything in a Map: an executable specification of an account.
// It imports nothing from `src`, so the two can disagree.

/** A record as it is sent. */
export type Data = Record<string, unknown>

/** The settings of an account. */
export interface Account {
  vertical: 'forex' | 'prop-trading' | 'igaming'
  unknown_customer: 'reject' | 'hold'
  unknown_affiliate: 'warn' | 'reject'
  affiliates: string[]
  time_zone: string
  events: Record<string, Definition>
}

/** An event definition of a brand. */
export interface Definition {
  granularity: 'event' | 'day'
  eventid: 'required' | 'used' | 'ignored'
  kpis: string[]
  product?: { field: string; map: Record<string, string> }
  currency?: string
}

/** A request that writes. */
export interface Delivery {
  resource: string
  records: Data[]
  /** Sent as one object, not in an array. */
  single: boolean
  lenient: boolean
  dry_run: boolean
  idempotency_key?: string | undefined
}

/** A member of a record (none: the record itself) and the code reported for it. */
export type Remark = [member: string | undefined, code: string]

/** How the records of a resource are identified, compared and validated. */
export interface Rules {
  /** Whether a bulk may repeat a key. */
  repeats: boolean
  /** The members of its identity as sent; none for an event that has no identity. */
  key(sent: Data): Data | undefined
  /** The key that all versions of a record share; none if one of its members is missing. */
  identity(sent: Data, place: string): string | undefined
  /** The customer that it refers to; until they exist, the record is held. */
  customer(record: Data): string | undefined
  /** The errors of the record by itself. */
  faults(sent: Data): Remark[]
  /** The record that is stored. */
  merge(before: Data | undefined, sent: Data): Data
  /** Removes personal data after an erasure. */
  mask?(sent: Data): Data
  /** Returns a stored record as a list shows it. */
  shown?(record: Data): Data
  same(a: Data, b: Data): boolean
  /** The attribution of a customer, as its sender sees it. */
  attribution?(before: Kept | undefined, sent: Data): string
  stale(before: Data, sent: Data): boolean
  warnings(sent: Data, attribution: string | undefined, keyed: boolean, stored: Data): string[]
  /** The warning about a version that is about something else than the one before it. */
  changes?(before: Data, after: Data): string | undefined
  /** The day it counts for, if it has one. */
  day(record: Data): string | undefined
  group(record: Data): { by: Data; amounts: Data }
}

/** A stored record. */
export interface Kept {
  record: Data
  /** The day on which it was first received. */
  since: string
  attribution?: string | undefined
}

const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** The result of one record. */
export interface Result {
  index: number
  key?: Data
  outcome: (typeof OUTCOMES)[number]
  warnings: string[]
  errors: Remark[]
}

/** The response to a delivery. */
export interface Answer {
  status: number
  code?: string
  summary?: Record<string, number>
  results?: Result[]
  /** The errors by index, if the delivery is refused. */
  errors?: [index: number, ...Remark][]
}

const summed = (results: Pick<Result, 'outcome'>[]) => ({
  received: results.length,
  ...Object.fromEntries(
    OUTCOMES.map((o) => [o, results.filter(({ outcome }) => outcome === o).length]),
  ),
  not_stored: 0,
})

/** Whether a mask removed members; one that is null counts as left out. */
const lacksMembers = (masked: Data, sent: Data) =>
  Object.keys(sent).some((name) => sent[name] !== null && !(name in masked))

/** An account with all its records. */
export function oracle(account: Account) {
  const rules: Record<string, Rules> =
    account.vertical === 'igaming' ? brandRules(account) : partnerRules(account)
  const stored = new Map(Object.keys(rules).map((name) => [name, new Map<string, Kept>()]))
  const erased = new Set<string>()
  const bound = new Map<string, string>()
  let requests = 0

  /** Whether its customer exists. A held record is released when this becomes true. */
  const known = (resource: string, record: Data) => {
    const customer = rules[resource]!.customer(record)
    return customer === undefined || stored.get('customers')!.has(customer)
  }

  /** Returns the errors that a record has by itself, and beside the others of its delivery. */
  function ownFaults({ resource, records }: Delivery, index: number): Remark[] {
    const rule = rules[resource]!
    const sent = records[index]!
    const found = rule.faults(sent)
    const id = rule.identity(sent, '')
    if (!rule.repeats && id && records.slice(0, index).some((r) => rule.identity(r, '') === id))
      found.push([undefined, 'duplicate_key'])
    return found
  }

  /** Returns the errors of what a record refers to. */
  function referenceFaults({ resource }: Delivery, sent: Data): Remark[] {
    const found: Remark[] = []
    const member = account.vertical === 'igaming' ? 'customerid' : 'customer_id'
    if (account.unknown_customer === 'reject' && !known(resource, sent))
      found.push([member, 'unknown_customer'])
    const { affiliate_id } = sent
    if (account.unknown_affiliate === 'reject' && typeof affiliate_id === 'string')
      if (!account.affiliates.includes(affiliate_id))
        found.push(['affiliate_id', 'unknown_affiliate'])
    return found
  }

  function deliver(delivery: Delivery, today: string): Answer {
    const { resource, records, single, lenient, dry_run, idempotency_key } = delivery
    const rule = rules[resource]!
    const own = records.map((_, index) => ownFaults(delivery, index))
    // The indexes of the valid records with the same key: they are merged. Others are merged with none.
    const place = idempotency_key ? `key ${idempotency_key}` : `request ${requests + 1}`
    const ids = records.map((sent, index) =>
      own[index]!.length > 0 ? undefined : rule.identity(sent, `${place} ${index}`)!,
    )
    const versionsOf = (index: number): number[] =>
      ids[index] === undefined ? [index] : ids.flatMap((id, i) => (id === ids[index] ? [i] : []))
    const lastOf = (index: number) => records[versionsOf(index).at(-1)!]!
    const wrong = own.map((found, index) => [...found, ...referenceFaults(delivery, lastOf(index))])
    const errors = wrong.flatMap((list, index) =>
      list.map((remark): [number, ...Remark] => [index, ...remark]),
    )
    const none = (rejected: number) => ({
      ...summed([]),
      received: records.length,
      rejected,
      not_stored: records.length - rejected,
    })
    // An Idempotency-Key belongs to its records: other records are refused, the same are a repeat.
    const binding = idempotency_key && `${resource} ${idempotency_key}`
    const content = JSON.stringify(records)
    if (binding && bound.has(binding) && bound.get(binding) !== content)
      return {
        status: 422,
        code: 'idempotency_key_reused',
        errors: [],
        summary: none(records.length),
      }

    const bad = wrong.filter(({ length }) => length > 0).length
    if (bad === records.length || (bad > 0 && !lenient))
      return { status: 422, code: 'validation_failed', errors, summary: none(bad) }

    requests += 1
    const before = stored.get(resource)!
    const draft = new Map(before)
    let writes = false
    const results = records.map((sent, index): Result => {
      const key = rule.key(sent)
      const named = { index, ...(key && { key }) }
      if (wrong[index]!.length > 0)
        return { ...named, outcome: 'rejected', warnings: [], errors: wrong[index]! }

      const id = ids[index]!
      const isErased = erased.has(
        resource === 'customers' ? id : (rule.customer(lastOf(index)) ?? ''),
      )
      const input = (one: Data) => (isErased && rule.mask ? rule.mask(one) : one)
      const forgotten =
        isErased && (resource === 'customers' || lacksMembers(input(lastOf(index)), lastOf(index)))
      const earlier = before.get(id)
      const next = versionsOf(index).reduce<Kept | undefined>(
        (from, i) => ({
          record: rule.merge(from?.record, input(records[i]!)),
          since: from?.since ?? today,
          attribution: rule.attribution?.(from, input(records[i]!)),
        }),
        earlier,
      )!
      const stale = earlier !== undefined && rule.stale(earlier.record, input(sent))
      const same =
        earlier !== undefined &&
        rule.same(earlier.record, next.record) &&
        earlier.attribution === next.attribution
      if (!stale && !same) {
        writes = true
        draft.set(id, next)
      }
      const outcome = !known(resource, next.record)
        ? 'held'
        : stale
          ? 'stale'
          : same
            ? 'unchanged'
            : earlier
              ? 'updated'
              : 'created'
      // A stale record is not stored and has no warnings.
      const warnings = stale
        ? []
        : rule.warnings(sent, next.attribution, !!idempotency_key, next.record)
      if (versionsOf(index)[0] !== index) warnings.push('repeated_key')
      if (forgotten && !stale) warnings.push('erased')
      const change = earlier && !stale && rule.changes?.(earlier.record, next.record)
      if (change) warnings.push(change)
      return { ...named, outcome, warnings, errors: [] }
    })
    if (!dry_run) {
      stored.set(resource, draft)
      if (binding && writes) bound.set(binding, content)
    }
    const created = single && results[0]!.outcome === 'created'
    const warnings = results.reduce((sum, result) => sum + result.warnings.length, 0)
    const summary = { ...summed(results), warnings }
    return { status: created ? 201 : bad > 0 ? 207 : 200, summary, results }
  }

  /** Erases personal data and masks what comes later. False if the customer does not exist. */
  function erase(customer: string): boolean {
    const customers = stored.get('customers')!
    const kept = customers.get(customer)
    const { mask } = rules.activities ?? {}
    const activities = mask ? stored.get('activities')! : new Map<string, Kept>()
    const own = [...activities].filter(([, { record }]) => record.customerid === customer)
    // A customer who is not known yet can have activities that wait for them.
    if (!kept && own.length === 0) return false
    erased.add(customer)
    if (kept) customers.set(customer, { ...kept, record: rules.customers!.mask!(kept.record) })
    for (const [id, event] of own) activities.set(id, { ...event, record: mask!(event.record) })
    return true
  }

  const shown = (resource: string, record: Data) => rules[resource]!.shown?.(record) ?? record
  const dayOf = (resource: string, { record, since }: Kept) => rules[resource]!.day(record) ?? since
  const all = (resource: string) => [...stored.get(resource)!.values()]
  const visible = (resource: string) =>
    all(resource).filter(({ record }) => known(resource, record))

  return {
    resources: Object.keys(rules),
    deliver,
    erase,
    /** Returns the records of a list, without those that are held. */
    list: (resource: string, filter: { customer?: string; from?: string; to?: string } = {}) =>
      visible(resource)
        .filter(({ record }) => !filter.customer || ofCustomer(record) === filter.customer)
        .filter((kept) => !filter.from || dayOf(resource, kept) >= filter.from)
        .filter((kept) => !filter.to || dayOf(resource, kept) <= filter.to)
        .map(({ record }) => shown(resource, record)),
    find: (resource: string, id: string) => {
      const kept = stored.get(resource)!.get(id)
      return kept && known(resource, kept.record) ? shown(resource, kept.record) : undefined
    },
    /** Returns the held records. */
    held: () =>
      Object.keys(rules).flatMap((resource) =>
        all(resource)
          .filter(({ record }) => !known(resource, record))
          .map(({ record }) => ({ resource, record })),
      ),
    totals: (from: string, to: string): Total[] =>
      Object.keys(rules).flatMap((resource) =>
        totalsOf(
          resource,
          visible(resource)
            .map((kept) => ({
              day: dayOf(resource, kept),
              ...rules[resource]!.group(kept.record),
            }))
            .filter(({ day }) => day >= from && day <= to),
        ),
      ),
  }
}

const ofCustomer = (record: Data) => record.customer_id ?? record.customerid ?? record.customerId
