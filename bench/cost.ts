import { expectOk, newRequestSender, type RequestSender, until } from '../chaos/ask.ts'
import { AFFILIATE, asBrand, asFirm, newBrand, newFirm, newToken } from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, type Service, serve, takeRows } from '../chaos/service.ts'
import type { Scale } from './compete.ts'
import {
  ASSUMPTIONS,
  CLICK_ROWS_WRITTEN,
  DELIVERY_ROWS_WRITTEN,
  modelTable,
  ROWS_WRITTEN,
} from './model.ts'
import { type Chapter, format } from './print.ts'
import { PER_BULK } from './records.ts'

/** One resource, and the least rows that a new record of it writes: itself and each entry of an index. */
interface Work {
  readonly name: string
  readonly resource: string
  readonly floor: number
  readonly make: (i: number, isChanged: boolean) => object
}

const FIRM: readonly Work[] = [
  {
    ...{ name: 'customers', resource: 'customers', floor: ROWS_WRITTEN.customers },
    make: (i, isChanged) => ({
      customer_id: `C-${i}`,
      signup_date: '2026-09-30T08:30:00.000Z',
      last_modified_date: '2026-10-04T08:30:00.000Z',
      ...{ affiliate_id: AFFILIATE, tracking_data: 'click-42', country_code: 'DE' },
      email: isChanged ? `new-${i}@example.com` : `c-${i}@example.com`,
    }),
  },
  {
    ...{ name: 'transactions', resource: 'transactions', floor: ROWS_WRITTEN.transactions },
    make: (i, isChanged) => ({
      ...{ transaction_id: `T-${i}`, customer_id: `C-${i}` },
      transaction_type: i % 3 ? 'deposit' : 'withdrawal',
      ...{ amount_currency: 100 + (i % 900) / 4, currency: 'EUR' },
      transaction_date: '2026-10-02T09:30:00.000Z',
      status: isChanged ? 'approved' : 'pending',
    }),
  },
  {
    name: 'trading-activity',
    resource: 'trading-activity',
    floor: ROWS_WRITTEN['trading-activity'],
    make: (i, isChanged) => ({
      ...{ customer_id: `C-${i}`, date: '2026-10-02', instrument: 'EURUSD', currency: 'USD' },
      lots_traded: isChanged ? 2.5 : 1.5,
      pnl: (i % 100) / 4,
    }),
  },
]

const BRAND: readonly Work[] = [
  {
    ...{ name: 'customers of a brand', resource: 'customers', floor: 2 },
    make: (i, isChanged) => ({
      ...{ customerId: `P-${i}`, regtime: '2026-09-30 08:30', country: 'DE' },
      newsletter: isChanged ? 'no' : 'yes',
    }),
  },
  {
    ...{ name: 'activities of a brand', resource: 'activities', floor: 2 },
    make: (i, isChanged) => ({
      ...{ eventname: 'Deposit', customerid: `P-${i}`, eventid: `E-${i}` },
      ...{ createtime: '2026-10-02 09:30', Currency: 'EUR' },
      Value: isChanged ? '120.00' : '100.00',
    }),
  },
]

/** What happens to records, and how many rows each writes at least. */
const PHASES = [
  { phase: 'new', outcome: 'created', isChanged: false, floorOf: ({ floor }: Work) => floor },
  { phase: 'changed', outcome: 'updated', isChanged: true, floorOf: () => 1 },
  { phase: 'repeated', outcome: 'unchanged', isChanged: true, floorOf: () => 0 },
] as const

/** Clicks are followed one at a time, and stored in batches of the queue. */
const MOST_CLICKS = 200
const CLICKS_PER_BATCH = 100

/** How far the rows written may be above those of the model, as a share of them. */
const TOLERANCE = 0.1

/** The rows of one kind of work. */
interface Measured {
  readonly what: string
  readonly records: number
  readonly requests: number
  readonly floor: number
  readonly written: number
  readonly read: number
}

/**
 * Counts the rows of each kind of record, compares them with those of the model, and prints what the model makes
 * of them. Sets the exit code 1 if the service writes more.
 */
export async function cost(folder: string, { records }: Scale): Promise<Chapter> {
  const { script, end } = await newHome()
  const service = await serve({ script, state: folder, secrets: await newSecrets() })
  try {
    await migrate(service)
    const firm = await newFirm(service, 'partner', 'forex', 'reject')
    const token = await newToken(service, firm)
    const brand = await newBrand(service, 'brand')
    const measured = [
      ...(await measure(service, asFirm(service, firm, token), FIRM, records)),
      ...(await measure(service, asBrand(service, brand), BRAND, records)),
      await measureClicks(service, Math.min(records, MOST_CLICKS)),
    ]
    const above = measured.filter(isAboveModel).map(({ what }) => what)
    if (above.length > 0) process.exitCode = 1
    return {
      title: 'Cost',
      notes: `Rows that the platform bills, counted at ${format(records)} records of each kind in bulks of ${format(PER_BULK)}. The floor is the record and each new entry of an index. ${above.length === 0 ? 'All are within those of the model.' : `Above the model: ${above.join(', ')}.`}\n\n${ASSUMPTIONS}`,
      tables: [
        [
          ['a record', 'floor', 'rows written', 'rows read', 'besides, a request'],
          ...measured.map(({ what, records, requests, floor, written, read }) => [
            ...[what, format(floor, 2), format(written / records, 2), format(read / records, 1)],
            format((written - floor * records) / requests, 1),
          ]),
        ],
        modelTable(),
      ],
    }
  } finally {
    await service.end()
    end()
  }
}

const isAboveModel = ({ records, requests, floor, written }: Measured): boolean =>
  written > floor * records * (1 + TOLERANCE) + DELIVERY_ROWS_WRITTEN * requests

async function measure(
  service: Service,
  ask: RequestSender,
  works: readonly Work[],
  records: number,
): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const work of works) {
    for (const { phase, outcome, isChanged, floorOf } of PHASES) {
      await takeRows(service)
      let requests = 0
      for (let i = 0; i < records; i += PER_BULK, requests++) {
        const length = Math.min(PER_BULK, records - i)
        const body = Array.from({ length }, (_, j) => work.make(i + j, isChanged))
        const { summary } = await expectOk(ask('POST', work.resource, { body }))
        if (summary[outcome] !== length) throw new Error(JSON.stringify(summary))
      }
      const what = `${work.name}: ${phase}`
      const rows = await takeRows(service)
      measured.push({ what, records, requests, floor: floorOf(work), ...rows })
    }
  }
  return measured
}

/** Follows a link, and waits until the queue has stored all clicks. */
async function measureClicks(service: Service, records: number): Promise<Measured> {
  const affiliates = [{ affiliate_id: AFFILIATE }]
  await expectOk(service.admin('PUT', 'accounts/brand/affiliates', { body: affiliates }))
  const body = { affiliate_id: AFFILIATE, landing_page: 'https://landing.example/start' }
  const { link_id } = await expectOk(service.admin('POST', 'accounts/brand/links', { body }))
  await takeRows(service)
  const follow = newRequestSender(service, {}, '/go/')
  for (let i = 0; i < records; i++) await follow('GET', link_id)
  const count = service.database.prepare('select count(*) as n from clicks')
  if (!(await until(async () => (await count.first('n')) === records))) {
    throw new Error('The queue did not deliver all clicks.')
  }
  const rows = await takeRows(service)
  const requests = Math.ceil(records / CLICKS_PER_BATCH)
  return { what: 'clicks', records, requests, floor: CLICK_ROWS_WRITTEN, ...rows }
}
