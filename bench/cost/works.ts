/** One kind of request, and the least number of rows that its records write. */
export interface Work {
  /** The resource, and the effect of the records. */
  resource: string
  phase: 'insert' | 'update' | 'another day' | 'replay' | 'held' | 'release' | 'follow'
  /** Rows that each record writes at least: itself and each new index entry. */
  floor: number
  /** The account: one that holds records of unknown customers, or one that rejects them. */
  to: 'partner' | 'holding partner' | 'brand' | 'visitors'
  path: string
  /** The path in the naive design, which cannot hold records. */
  naive?: string
  record: (i: number) => object
  /** The outcome of each record. */
  outcome: 'created' | 'updated' | 'unchanged' | 'held'
}

const DAYS = ['2026-10-02', '2026-10-03'] as const
/** Customers sign up before their other records. */
const SIGNUP_DAYS = ['2026-09-30', '2026-10-01'] as const
type RecordMaker = (i: number, version: { changed?: boolean; day?: string }) => object

const customer =
  (prefix: string): RecordMaker =>
  (i, { changed, day = SIGNUP_DAYS[0] }) => ({
    customer_id: `${prefix}-${i}`,
    signup_date: `${day}T08:30:00.000Z`,
    last_modified_date: '2026-10-04T08:30:00.000Z',
    affiliate_id: 'IB-07',
    tracking_data: 'click-42',
    country_code: 'DE',
    email: changed ? `new-${i}@example.com` : `c-${i}@example.com`,
  })

const transaction =
  (prefix: string): RecordMaker =>
  (i, { changed, day = DAYS[0] }) => ({
    transaction_id: `T-${i}`,
    customer_id: `${prefix}-${i}`,
    transaction_type: i % 3 ? 'deposit' : 'withdrawal',
    amount_currency: 100 + (i % 900) / 4,
    currency: 'EUR',
    transaction_date: `${day}T09:30:00.000Z`,
    status: changed ? 'approved' : 'pending',
  })

const traded: RecordMaker = (i, { changed }) => ({
  customer_id: `C-${i}`,
  date: DAYS[0],
  instrument: 'EURUSD',
  currency: 'USD',
  lots_traded: changed ? 2.5 : 1.5,
  pnl: (i % 100) / 4,
})

const player =
  (prefix: string): RecordMaker =>
  (i, { changed, day = SIGNUP_DAYS[0] }) => ({
    customerId: `${prefix}-${i}`,
    regtime: `${day} 08:30`,
    country: 'DE',
    newsletter: changed ? 'no' : 'yes',
  })

const event =
  (prefix: string, ids: string): RecordMaker =>
  (i, { changed, day = DAYS[0] }) => ({
    eventname: 'Deposit',
    customerid: `${prefix}-${i}`,
    eventid: `${ids}-${i}`,
    createtime: `${day} 09:30`,
    Value: changed ? '120.00' : '100.00',
    Currency: 'EUR',
  })

type Destination = Pick<Work, 'resource' | 'to' | 'path' | 'naive'>

/**
 * Returns the four kinds of work of one resource. `floor` is that of the insert; `movedTo` is the day to which
 * records move, null if their day is part of the key.
 */
function recordLifecycle(
  where: Destination,
  floor: number,
  made: RecordMaker,
  movedTo: string | null = DAYS[1],
): Work[] {
  const of = (
    phase: Work['phase'],
    outcome: Work['outcome'],
    rows: number,
    version: Parameters<RecordMaker>[1],
  ): Work => ({
    ...where,
    phase,
    outcome,
    floor: rows,
    record: (i) => made(i, version),
  })
  const last = { changed: true, ...(movedTo !== null && { day: movedTo }) }
  return [
    of('insert', 'created', floor, {}),
    of('update', 'updated', 1, { changed: true }),
    // The record is written at its new place, and an index points there.
    ...(movedTo !== null ? [of('another day', 'updated', 2, last)] : []),
    of('replay', 'unchanged', 0, last),
  ]
}

const partner = (resource: string): Destination => ({
  resource: `partner ${resource}`,
  to: 'partner',
  path: `/api/v1/forex/${resource}`,
  naive: `/records/${resource}`,
})
const brand = (resource: string, naive: string): Destination => ({
  resource: `brand ${resource}`,
  to: 'brand',
  path: `/tracking/events/${resource}`,
  naive: `/records/${naive}`,
})

/**
 * Returns the work of held records, each with entries in the indexes of keys and of held records, and
 * of the customers that release them: the customer, its entry in the index by day, the record, and
 * `owners` rows that find the customer by the affiliate.
 */
function heldRecordWorks(
  to: Destination,
  customers: Destination,
  early: RecordMaker,
  known: RecordMaker,
  owners: 0 | 1,
): Work[] {
  const { naive: _, ...where } = to
  const { naive: __, ...whose } = customers
  return [
    {
      ...where,
      phase: 'held',
      floor: 3,
      outcome: 'held',
      record: (i) => early(i, {}),
    },
    {
      ...whose,
      resource: `${where.resource}, its customer`,
      phase: 'release',
      floor: 3 + owners,
      outcome: 'created',
      record: (i) => known(i, {}),
    },
  ]
}

const asHoldingPartner = (where: Destination): Destination => ({ ...where, to: 'holding partner' })

/** All kinds of work, in the order of their dependencies. */
export const WORKS: readonly Work[] = [
  // The customers of partners have an affiliate, by which they are found.
  ...recordLifecycle(partner('customers'), 3, customer('C'), SIGNUP_DAYS[1]),
  ...recordLifecycle(partner('transactions'), 2, transaction('C')),
  ...recordLifecycle(partner('trading-activity'), 1, traded, null),
  ...heldRecordWorks(
    asHoldingPartner(partner('transactions')),
    asHoldingPartner(partner('customers')),
    transaction('H'),
    customer('H'),
    1,
  ),
  ...recordLifecycle(brand('customers', 'players'), 2, player('P'), SIGNUP_DAYS[1]),
  ...recordLifecycle(brand('activities', 'activities'), 2, event('P', 'E')),
  ...heldRecordWorks(
    brand('activities', 'activities'),
    brand('customers', 'players'),
    event('H', 'H'),
    player('H'),
    0,
  ),
  {
    resource: 'clicks',
    phase: 'follow',
    floor: 1,
    to: 'visitors',
    path: '/go/LINK',
    naive: '/go/LINK',
    record: () => ({}),
    outcome: 'created',
  },
]
