import type { Account, Data, Remark, Rules } from './oracle.ts'
import { text } from './text.ts'
import { canonical, isDecimal } from './totals.ts'

// Brand customers are augmented, brand activities are replaced. Unknown members are kept.

const KEPT_OF_ERASED = ['customerId', 'regtime']
/** Stands for `tracking_data` that an erasure removed: it is not shown, but it was there. */
const ERASED = '(erased)'
const EVENT = ['eventname', 'customerid', 'eventid', 'createtime', 'Currency', 'product']

const missing = (sent: Data, ...names: string[]) =>
  names.filter((name) => sent[name] === undefined).map((name): Remark => [name, 'required'])

/** Removes the members that are null, which count as left out. */
const withoutNulls = (sent: Data): Data =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null))

const PRODUCTS = ['casino', 'sports', 'poker', 'bingo']

const isDay = (time: unknown) => /^\d{4}-\d\d-\d\d$/.test(String(time))

/** Returns the local time of the account, which is equal exactly for equal times. */
function clock(time: unknown, timeZone: string): string {
  const text = String(time).replace(/^(.{10})T(\d\d:\d\d)$/, '$1 $2')
  if (isDay(text)) return text
  if (!/(Z|[+-]\d\d:\d\d)$/.test(text)) return text.padEnd(19, ':00')
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
      .formatToParts(new Date(text))
      .map(({ type, value }) => [type, value]),
  )
  const { year, month, day, hour, minute, second } = parts
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`
}

/** The rules of both resources of brands. */
export function brandRules({ time_zone, events }: Account): Record<string, Rules> {
  const at = (time: unknown) => (time === undefined ? undefined : clock(time, time_zone))

  const usable = ({ tracking_data }: Data) =>
    typeof tracking_data === 'string' && tracking_data.length >= 1 && tracking_data.length <= 50

  const lost = (sent: Data) => withoutNulls(sent).tracking_data !== undefined && !usable(sent)

  const customers: Rules = {
    repeats: true,
    key: ({ customerId }) =>
      customerId === undefined || customerId === null ? undefined : { customerId },
    identity: ({ customerId }) => customerId as string,
    customer: () => undefined,
    faults: (sent) => missing(withoutNulls(sent), 'customerId'),
    // Members that a re-send leaves out are kept. Unusable tracking_data counts as left out.
    merge: (before, sent) => {
      const { tracking_data, ...rest } = withoutNulls(sent)
      return { ...before, ...rest, ...(usable(sent) && { tracking_data }) }
    },
    mask: (sent) => ({
      ...Object.fromEntries(Object.entries(sent).filter(([name]) => KEPT_OF_ERASED.includes(name))),
      ...(sent.tracking_data !== undefined && {
        tracking_data: usable(sent) ? ERASED : sent.tracking_data,
      }),
    }),
    shown: ({ tracking_data, ...rest }) =>
      tracking_data === undefined || tracking_data === ERASED ? rest : { ...rest, tracking_data },
    same: (a, b) =>
      text({ ...a, regtime: at(a.regtime) }) === text({ ...b, regtime: at(b.regtime) }),
    stale: () => false,
    // Unusable tracking_data is `altered`, unless the customer is attributed already.
    attribution: (before, sent) => {
      if (usable(sent)) return 'unrecognised'
      if (before?.record.tracking_data !== undefined) return before.attribution!
      return lost(sent) ? 'altered' : (before?.attribution ?? 'unattributed')
    },
    warnings: (sent, attribution, _, stored) => [
      lost(sent) ? 'altered' : attribution!,
      ...(stored.regtime === undefined ? ['no_regtime'] : []),
    ],
    day: ({ regtime }) => at(regtime)?.slice(0, 10),
    group: () => ({ by: {}, amounts: {} }),
  }

  const definition = ({ eventname }: Data) => events[eventname as string]
  const field = (sent: Data) =>
    Object.keys(sent).find((name) => name.toLowerCase() === 'product') ?? 'product'

  /** The product as it tells daily totals apart: of the four words, letter case does not count. */
  function product(sent: Data): unknown {
    const word = sent[field(sent)]
    const folded = String(word).toLowerCase()
    return PRODUCTS.includes(folded) ? folded : word
  }

  const details = (sent: Data) =>
    text(
      Object.fromEntries(
        Object.entries(sent).filter(
          ([name]) => ![...EVENT, field(sent), ...kpis(sent)].includes(name),
        ),
      ),
    )

  const currency = (sent: Data) => sent.Currency ?? definition(sent)?.currency

  /** With a definition the members that it names; without one Value, or else every decimal. */
  function kpis(sent: Data): string[] {
    const { kpis: named } = definition(sent) ?? {}
    if (named) return Object.keys(sent).filter((name) => name === 'Value' || named.includes(name))
    if ('Value' in sent) return ['Value']
    return Object.keys(sent).filter(
      (name) => !EVENT.includes(name) && name !== field(sent) && isDecimal(sent[name]),
    )
  }

  /** The first of the three identities of an event that applies. */
  function identified(sent: Data): 'eventid' | 'day' | undefined {
    const { granularity, eventid } = definition(sent) ?? {}
    if (sent.eventid !== undefined && eventid !== 'ignored') return 'eventid'
    if (sent.createtime === undefined) return
    const daily = granularity ? granularity === 'day' : isDay(sent.createtime)
    return daily ? 'day' : undefined
  }

  const activities: Rules = {
    repeats: true,
    key: (nullable) => {
      const sent = withoutNulls(nullable)
      const by = identified(sent)
      if (by === undefined) return
      const names =
        by === 'eventid'
          ? ['eventid']
          : ['eventname', 'customerid', 'createtime', 'Currency', field(sent)]
      return Object.fromEntries(names.filter((n) => n in sent).map((n) => [n, sent[n]]))
    },
    identity: (nullable, place) => {
      const sent = withoutNulls(nullable)
      const by = identified(sent)
      if (by === 'eventid') return `eventid ${sent.eventid}`
      if (by === undefined) return place
      const { eventname, customerid, createtime } = sent
      const day = at(createtime)!.slice(0, 10)
      return JSON.stringify([eventname, customerid, day, currency(sent), product(sent)])
    },
    customer: ({ customerid }) => customerid as string | undefined,
    faults: (nullable) => {
      const sent = withoutNulls(nullable)
      const required = definition(sent)?.eventid === 'required' ? ['eventid'] : []
      const amounts = kpis(sent)
      return [
        ...missing(sent, 'eventname', 'customerid', ...required),
        ...amounts.filter((n) => !isDecimal(sent[n])).map((n): Remark => [n, 'number']),
        ...(amounts.length === 0 ? [[undefined, 'no_kpi'] as Remark] : []),
      ]
    },
    merge: (_, sent) => withoutNulls(sent),
    mask: (nullable) => {
      const sent = withoutNulls(nullable)
      const known = EVENT.filter((name) => name !== 'product')
      const kept = new Set([...known, field(sent), ...kpis(sent)])
      return Object.fromEntries(Object.entries(sent).filter(([name]) => kept.has(name)))
    },
    // Amounts are compared as decimals, times as instants, other members as sent.
    same: (a, b) => {
      const [first, second] = [a, b].map((record) => ({
        ...record,
        createtime: at(record.createtime),
        ...Object.fromEntries(kpis(record).map((name) => [name, canonical(record[name])])),
      }))
      return text(first) === text(second)
    },
    stale: () => false,
    warnings: (nullable, _, keyed) => {
      const sent = withoutNulls(nullable)
      const word = product(sent)
      const map = definition(sent)?.product?.map ?? {}
      const unmapped =
        word !== undefined && !(String(word) in map) && !PRODUCTS.includes(String(word))
      const unread = definition(sent) || 'Value' in sent ? [] : Object.values(sent)
      return [
        ...(identified(sent) || keyed ? [] : ['not_deduplicated']),
        ...(sent.createtime === undefined ? ['no_createtime'] : []),
        ...(currency(sent) === undefined ? ['no_currency'] : []),
        ...(unmapped ? ['unmapped_product'] : []),
        ...unread.filter((value) => /^\d+,\d+/.test(String(value))).map(() => 'not_a_number'),
      ]
    },
    changes: (before, after) => {
      if (before.eventname !== after.eventname || before.customerid !== after.customerid)
        return 'changed_event'
      const isReplaced =
        details(before) !== details(after) || at(before.createtime) !== at(after.createtime)
      return identified(after) === 'day' && isReplaced ? 'replaced_details' : undefined
    },
    day: ({ createtime }) => at(createtime)?.slice(0, 10),
    group: (record) => {
      const word = product(record)
      const map = definition(record)?.product?.map
      return {
        by: {
          eventname: record.eventname,
          product: map?.[String(word)] ?? word ?? null,
          Currency: currency(record) ?? null,
        },
        amounts: Object.fromEntries(kpis(record).map((name) => [name, record[name]])),
      }
    },
  }

  return { customers, activities }
}
