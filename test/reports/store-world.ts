import { FIELDS, type World } from './world.ts'

type Cell = string | number | null

/** Inserts rows into a table, at most 500 in a statement. */
async function insert(
  db: D1Database,
  table: string,
  columns: string[],
  rows: Cell[][],
): Promise<void> {
  const cells = columns.map((_, i) => `value ->> ${i}`).join()
  for (let at = 0; at < rows.length; at += 500) {
    await db
      .prepare(`insert into ${table} (${columns.join()}) select ${cells} from json_each(?)`)
      .bind(JSON.stringify(rows.slice(at, at + 500)))
      .run()
  }
}

const STORED = ['delivery', 'idx', 'revision']
const stored: Cell[] = ['d', 0, 1]

/** Stores a world as the service does. */
export async function storeWorld(db: D1Database, world: World): Promise<void> {
  const { account, vertical } = world
  const isBrand = vertical === 'igaming'
  await insert(
    db,
    'accounts',
    ['id', 'name', 'vertical', 'mode', 'unknown_customer', 'created_at'],
    [[account, 'A', vertical, 'test', 'hold', '2026-01-01T00:00:00.000Z']],
  )
  await insert(
    db,
    'vocabulary',
    ['account', 'word', 'means'],
    Object.entries(world.statusMap).map(([word, means]) => [account, word, means]),
  )
  await insert(
    db,
    'event_definitions',
    ['account', 'eventname', 'granularity', 'eventid', 'kpis', 'currency'],
    Object.entries(world.eventCurrencies).map(([name, currency]) => [
      account,
      name,
      'event',
      'used',
      '[]',
      currency,
    ]),
  )
  await insert(
    db,
    'links',
    ['account', 'link_id', 'affiliate_id', 'landing_page', 'created_at'],
    Object.entries(world.links).map(([link, affiliate]) => [
      account,
      link,
      affiliate,
      'https://a.example/',
      '2026-01-01T00:00:00.000Z',
    ]),
  )
  await insert(
    db,
    'affiliates',
    ['account', 'affiliate_id'],
    world.configured.map((id) => [account, id]),
  )
  await storeCustomers(db, world, isBrand)
  await insert(
    db,
    'transactions',
    [
      'account',
      'transaction_id',
      'customer_id',
      'transaction_type',
      'amount_currency',
      'currency',
      'transaction_date',
      'status',
      'amount_usd',
      'day',
      'held',
      ...STORED,
    ],
    world.transactions.map((one) => [
      account,
      one.id,
      one.customer,
      one.type,
      one.amount,
      one.currency,
      one.at,
      one.status,
      one.usd,
      one.day,
      Number(one.held),
      ...stored,
    ]),
  )
  const amounts = ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission']
  await insert(
    db,
    'activity',
    ['account', 'date', 'customer_id', 'instrument', 'currency', ...amounts, 'held', ...STORED],
    world.activity.map((one) => [
      account,
      one.day,
      one.customer,
      one.instrument,
      one.currency,
      ...amounts.map((name) => one.amounts[name] ?? null),
      Number(one.held),
      ...stored,
    ]),
  )
  await insert(
    db,
    'events',
    [
      'account',
      'id',
      'eventname',
      'customer_id',
      'amount',
      'currency',
      'product',
      'kpis',
      'record',
      'day',
      'first_day',
      'held',
      ...STORED,
    ],
    world.events.map((one) => [
      account,
      one.id,
      one.name,
      one.customer,
      one.value,
      one.currency,
      one.product,
      Object.keys(one.kpis).length > 0 ? JSON.stringify(one.kpis) : null,
      '{}',
      one.day,
      one.day,
      Number(one.held),
      ...stored,
    ]),
  )
  await insert(
    db,
    'clicks',
    ['account', 'day', 'link_id', 'click_id', 'clicked_at'],
    world.clicks.map(({ day, link, id }) => [account, day, link, id, day * 86_400_000]),
  )
  await insert(
    db,
    'statements',
    [
      'account',
      'period',
      'affiliate_id',
      'plan',
      'id',
      'status',
      'hash',
      'digest',
      'payable',
      'closing',
      'statement',
      'lines',
      'parts',
      'state',
      'read_at',
      'computed_at',
    ],
    world.statements.map(({ affiliate, plan, period, currency, total }) => [
      account,
      period,
      affiliate,
      plan,
      `s ${affiliate} ${period}`,
      'draft',
      '',
      'd'.repeat(64),
      '0',
      '0',
      JSON.stringify({ currency, total }),
      '[]',
      1,
      '{}',
      0,
      '2026-10-05T09:00:00.000Z',
    ]),
  )
  await db.prepare('delete from fx_rates').run()
  await insert(
    db,
    'fx_rates',
    ['day', 'known_from', 'rates'],
    [...Map.groupBy(world.rates, ({ day }) => day)].map(([day, own]) => [
      ...[day, 0],
      JSON.stringify(Object.fromEntries(own.map(({ currency, rate }) => [currency, rate]))),
    ]),
  )
}

async function storeCustomers(
  db: D1Database,
  { account, customers }: World,
  isBrand: boolean,
): Promise<void> {
  await insert(
    db,
    'customers',
    ['account', 'customer_id', 'day', 'first_day', 'affiliate_id', ...FIELDS, ...STORED],
    customers.map(({ id, day, owners, fields }) => {
      const owner = owners.at(-1)!.value
      const now: Record<string, Cell> = {
        ...fields.at(-1)!.value,
        ...(isBrand && { link: owner.link }),
      }
      return [
        account,
        id,
        day,
        isBrand ? day : null,
        isBrand ? null : owner.affiliate,
        ...FIELDS.map((name) => now[name] ?? null),
        ...stored,
      ]
    }),
  )
  await insert(
    db,
    'customer_affiliations',
    [
      'account',
      'customer_id',
      'day',
      'affiliate_id',
      'link',
      'previous_affiliate_id',
      'previous_link',
    ],
    customers.flatMap(({ id, owners }) =>
      owners.slice(1).map(({ from, value }, i) => {
        const before = owners[i]!.value
        return [account, id, from, value.affiliate, value.link, before.affiliate, before.link]
      }),
    ),
  )
  await insert(
    db,
    'customer_fields',
    ['account', 'customer_id', 'day', ...FIELDS, 'delivery'],
    customers.flatMap(({ id, fields }) =>
      // A row has the values before the change.
      fields
        .slice(1)
        .map(({ from }, i) => [
          account,
          id,
          from,
          ...FIELDS.map((name) => fields[i]!.value[name] ?? null),
          'd',
        ]),
    ),
  )
}
