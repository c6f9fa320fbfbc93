import { env } from 'cloudflare:workers'
import { ATTRIBUTION, MARK_DAYS } from '../../src/ingest/db/changed.ts'
import { FIELDS } from '../../src/ingest/db/record-table.ts'
import { bindStatement } from '../../src/platform/db/statement.ts'
import { dayInZone } from '../../src/platform/zone.ts'
import type { World, WorldCustomer } from './world.ts'

const DAY_MS = 86_400_000
const BEGINNING = -719_528
const dayNumber = (day: string) => Date.parse(day) / DAY_MS
const dayOf = ({ book_zone = 'UTC' }: World, at: number) => dayNumber(dayInZone(book_zone, at))
const startOf = (from: string | null) => (from === null ? BEGINNING : dayNumber(from))

/**
 * Returns a world as an account stores it: the first value of each field holds from the beginning, no
 * cost is negative, and all of its days have come.
 */
export function storable({ now: _, ...world }: World): World {
  const customers = world.customers.map((customer): WorldCustomer => {
    const fields = customer.fields.map(({ from, values }) => ({ from, values: { ...values } }))
    for (const name of FIELDS) {
      const known = fields.findIndex(({ values }) => values[name] !== undefined)
      for (const { values } of fields.slice(0, Math.max(0, known))) {
        Object.assign(values, { [name]: fields[known]?.values[name] })
      }
    }
    return { ...customer, fields }
  })
  const size = (amount: number | undefined) => amount && Math.abs(amount)
  const activity = world.activity.map((one) => ({
    ...one,
    lots_traded: Math.abs(one.lots_traded),
    ...Object.fromEntries(
      (['volume_usd', 'spread_cost', 'commission'] as const).flatMap((name) =>
        one[name] === undefined ? [] : [[name, size(one[name])]],
      ),
    ),
  }))
  return { ...world, customers, activity }
}

type RowValues = readonly (readonly unknown[])[]

/** Inserts rows with one statement. */
const insert = (table: string, columns: string, rows: RowValues) => {
  const names = columns.split(', ')
  const values = names.map((_, i) => `value ->> ${i}`).join(', ')
  return env.DB.prepare(
    `insert into ${table} (${columns}) select ${values} from json_each(?)`,
  ).bind(JSON.stringify(rows))
}

const STORED = 'held, delivery, idx, revision'
const stored = (isKnown: boolean) => [isKnown ? 0 : 1, 'dlv_1', 0, 1]

/** Stores a world as the account with this id. */
export async function storeWorld(world: World, account: string): Promise<void> {
  const known = new Set(world.customers.map(({ customer_id }) => customer_id))
  await env.DB.batch([
    insert(
      'accounts',
      'id, name, vertical, mode, book_zone, amount_signs, unknown_customer, created_at',
      [
        [
          account,
          account,
          world.vertical,
          'test',
          world.book_zone ?? 'UTC',
          world.amount_signs ?? 'magnitude',
          'hold',
          '2026-01-01T00:00:00.000Z',
        ],
      ],
    ),
    ...settings(world, account),
    ...customers(world, account),
    insert(
      'transactions',
      `account, transaction_id, customer_id, transaction_type, transaction_subtype, amount_currency, currency, amount_usd, transaction_date, status, day, ${STORED}`,
      world.transactions.map((one) => [
        account,
        one.transaction_id,
        one.customer_id,
        one.transaction_type,
        one.transaction_subtype ?? null,
        one.amount_currency,
        one.currency,
        one.amount_usd ?? null,
        one.at,
        one.status,
        dayOf(world, one.at),
        ...stored(known.has(one.customer_id)),
      ]),
    ),
    insert(
      'activity',
      `account, date, customer_id, instrument, currency, lots_traded, pnl, volume_usd, spread_cost, commission, ${STORED}`,
      world.activity.map((one) => [
        account,
        dayNumber(one.date),
        one.customer_id,
        one.instrument,
        one.currency,
        one.lots_traded,
        one.pnl ?? null,
        one.volume_usd ?? null,
        one.spread_cost ?? null,
        one.commission ?? null,
        ...stored(known.has(one.customer_id)),
      ]),
    ),
    insert(
      'events',
      `account, id, eventname, customer_id, createtime, amount, currency, product, kpis, record, day, first_day, ${STORED}`,
      world.events.map((one) => [
        account,
        one.id,
        one.eventname,
        one.customer_id,
        one.at ?? null,
        one.Value ?? null,
        one.Currency ?? null,
        one.product ?? null,
        one.kpis ? JSON.stringify(one.kpis) : null,
        JSON.stringify({
          ...(one.at !== undefined && { createtime: new Date(one.at).toISOString() }),
          ...(one.status !== undefined && { 'my status': one.status }),
        }),
        dayNumber(one.day),
        dayNumber(one.day),
        ...stored(known.has(one.customer_id)),
      ]),
    ),
  ])
}

const settings = (world: World, account: string) => [
  insert(
    'event_definitions',
    'account, eventname, granularity, eventid, kpis, outflow, status_member',
    [...new Set(world.events.map(({ eventname }) => eventname))].map((eventname) => [
      account,
      eventname,
      'event',
      'used',
      '[]',
      world.outflows?.includes(eventname) ? 1 : 0,
      world.events.some(({ status }) => status !== undefined) ? 'my status' : null,
    ]),
  ),
  insert(
    'vocabulary',
    'account, word, means',
    Object.entries(world.status_map).map(([word, means]) => [account, word, means]),
  ),
  insert(
    'affiliates',
    'account, affiliate_id, parent',
    world.affiliates.map(({ affiliate_id, parents }) => [
      account,
      affiliate_id,
      parents.at(-1)?.parent ?? null,
    ]),
  ),
  insert(
    'affiliate_parents',
    'account, affiliate_id, day, parent',
    world.affiliates.flatMap(({ affiliate_id, parents }) =>
      parents.map(({ from, parent }) => [account, affiliate_id, startOf(from), parent]),
    ),
  ),
  insert(
    'plan_versions',
    'account, plan, version, effective_from, terms, created_at',
    world.plans.flatMap(({ plan, versions }) =>
      versions.map(({ version, terms }) => [
        account,
        plan,
        version,
        (terms as { effective_from: string }).effective_from,
        JSON.stringify(terms),
        '2026-01-01T00:00:00.000Z',
      ]),
    ),
  ),
  insert(
    'assignments',
    'account, affiliate_id, from_day, plan, customers',
    world.assignments.map((one) => [account, one.affiliate_id, one.from, one.plan, one.customers]),
  ),
]

function customers(world: World, account: string) {
  const { customers: all, vertical } = world
  const isBrand = vertical === 'igaming'
  const last = (one: WorldCustomer) => one.fields.at(-1)?.values ?? {}
  const own = isBrand ? FIELDS.filter((name) => name !== 'link') : FIELDS
  return [
    insert(
      'customers',
      `account, customer_id, signup_date, affiliate_id, ${FIELDS.join(', ')}, day, first_day, delivery, idx, revision`,
      all.map((one) => [
        account,
        one.customer_id,
        one.signup,
        one.affiliates.at(-1)?.affiliate_id ?? null,
        ...FIELDS.map((name) => last(one)[name] ?? null),
        dayOf(world, one.signup),
        isBrand ? dayOf(world, one.signup) : null,
        'dlv_1',
        0,
        1,
      ]),
    ),
    insert(
      'customer_affiliations',
      'account, customer_id, day, affiliate_id, link',
      all.flatMap((one) => affiliations(one, isBrand).map((row) => [account, ...row])),
    ),
    insert(
      'customer_fields',
      `account, customer_id, day, ${own.join(', ')}, delivery`,
      all.flatMap(({ customer_id, fields }) =>
        fields
          .slice(1)
          .map(({ from }, i) => [
            account,
            customer_id,
            startOf(from),
            ...own.map((name) => fields[i]?.values[name] ?? null),
            'dlv_1',
          ]),
      ),
    ),
    insert(
      'customer_refusals',
      'account, customer_id, day, reason, refused_at',
      all.flatMap(({ customer_id, refused }) =>
        refused ? [[account, customer_id, startOf(refused.from), 'fraud', '2026-01-01']] : [],
      ),
    ),
  ]
}

/** Returns the rows of a customer's affiliates. The link of a brand's customer stands in them, too. */
function affiliations({ customer_id, affiliates, fields }: WorldCustomer, isBrand: boolean) {
  const starts = [...affiliates, ...(isBrand ? fields : [])].map(({ from }) => startOf(from))
  const on = <P extends { from: string | null }>(parts: readonly P[], day: number) =>
    parts.findLast(({ from }) => startOf(from) <= day)
  return [...new Set(starts)].map((day) => [
    customer_id,
    day,
    on(affiliates, day)?.affiliate_id ?? null,
    isBrand ? (on(fields, day)?.values.link ?? null) : null,
  ])
}

/** Stores the rates of a world in place of others; all accounts share them. */
export const storeRates = ({ rates }: World) =>
  env.DB.batch([
    env.DB.prepare('delete from fx_rates'),
    insert(
      'fx_rates',
      'day, known_from, rates',
      [...Map.groupBy(rates, ({ day }) => day)].map(([day, own]) => [
        ...[dayNumber(day), 0],
        JSON.stringify(Object.fromEntries(own.map(({ currency, rate }) => [currency, rate]))),
      ]),
    ),
  ])

const STORED_TABLES = [
  'event_definitions',
  'vocabulary',
  'affiliates',
  'affiliate_parents',
  'plan_versions',
  'assignments',
  'customers',
  'customer_affiliations',
  'customer_fields',
  'customer_refusals',
  'transactions',
  'activity',
  'events',
]

/** Stores a world in place of what an account has stored before, with marks of its first day: customers may have moved, too. Its books stay. */
export async function replaceWorld(world: World, account: string): Promise<void> {
  const remove = (table: string, column: string) =>
    env.DB.prepare(`delete from ${table} where ${column} = ?`).bind(account)
  await env.DB.batch([
    ...STORED_TABLES.map((table) => remove(table, 'account')),
    remove('accounts', 'id'),
    ...['transactions', ATTRIBUTION].map((resource) =>
      bindStatement(env.DB, MARK_DAYS, { account, resource, days: '[0]' }),
    ),
  ])
  await storeWorld(world, account)
  await storeRates(world)
}
