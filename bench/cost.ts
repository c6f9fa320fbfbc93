import { expectOk, newRequestSender, type RequestSender, until } from '../chaos/ask.ts'
import { AFFILIATE, asFirm, newFirm, newToken } from '../chaos/parties.ts'
import { migrate, newHome, newSecrets, type Service, serve, takeRows } from '../chaos/service.ts'
import type { Scale } from './compete.ts'
import {
  ASSUMPTIONS,
  CLICK_ROWS_WRITTEN,
  DELIVERY_ROWS_WRITTEN,
  modelTable,
  needsOf,
  ROWS_WRITTEN,
} from './model.ts'
import { beside, type Chapter, format } from './print.ts'
import { newBulks, PER_BULK, RECORDS } from './records.ts'

type Resource = keyof typeof RECORDS

/** What happens to records, and how many rows each writes at least. */
const PHASES = [
  {
    phase: 'new',
    outcome: 'created',
    isChanged: false,
    floorOf: (resource: Resource) => ROWS_WRITTEN[resource],
  },
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
    const measured = [
      ...(await measure(service, asFirm(service, firm, token), records)),
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
      figures: beside(
        ['rows read of a new transaction', format(readOf(measured, 'transactions: new'), 1), '3'],
        [
          'cost of a billion records a year',
          `$${format(needsOf({ accounts: 10_000, records: 1e9 }).dollars * 12)}`,
          '$1,500',
        ],
      ),
    }
  } finally {
    await service.end()
    end()
  }
}

const readOf = (measured: readonly Measured[], kind: string): number => {
  const found = measured.find(({ what }) => what === kind)
  return found ? found.read / found.records : Number.NaN
}

const isAboveModel = ({ records, requests, floor, written }: Measured): boolean =>
  written > floor * records * (1 + TOLERANCE) + DELIVERY_ROWS_WRITTEN * requests

async function measure(service: Service, ask: RequestSender, records: number): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const resource of Object.keys(RECORDS) as Resource[]) {
    for (const { phase, outcome, isChanged, floorOf } of PHASES) {
      await takeRows(service)
      let requests = 0
      for (const body of newBulks(resource, records, { customers: records, isChanged })) {
        const { summary } = await expectOk(ask('POST', resource, { body }))
        if (summary[outcome] !== body.length) throw new Error(JSON.stringify(summary))
        requests += 1
      }
      const what = `${resource}: ${phase}`
      const rows = await takeRows(service)
      measured.push({ what, records, requests, floor: floorOf(resource), ...rows })
    }
  }
  return measured
}

/** Follows a link, and waits until the queue has stored all clicks. */
async function measureClicks(service: Service, records: number): Promise<Measured> {
  const body = { affiliate_id: AFFILIATE, landing_page: 'https://landing.example/start' }
  const { link_id } = await expectOk(service.admin('POST', 'accounts/partner/links', { body }))
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
