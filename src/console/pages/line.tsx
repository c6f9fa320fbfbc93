import type { PartRecord } from '../../commission/why/explain-line.ts'
import type { SourcePart } from '../../commission/why/line-parts.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { type List, Pager, Table } from '../parts/data.tsx'
import { Causes, type Explained, Head, Steps, sentencesOf } from '../parts/explanation.tsx'
import { column, fields, Members, To } from '../parts/fields.tsx'

/** What a customer adds to a line. */
interface CustomerPart {
  readonly customer_id: string
  readonly records: number
  readonly base: string | null
  readonly units: string | null
}

/** The query that finds a line which no stored statement has. */
const hintOf = ({ query: { affiliate_id, period } }: Visit) => ({ affiliate_id, period })

const NO_PARTS = <p class="note">No record is behind this line.</p>

/** Lists the customers of a line; the number of records leads to them. */
const Customers = ({ visit, rows }: { visit: Visit; rows: readonly CustomerPart[] }) => (
  <Table
    caption="Customers of the line. A number leads to the records."
    rows={rows}
    columns={[
      ...fields<CustomerPart>(visit, 'customer_id', 'base', 'units'),
      column(
        'Records',
        ({ customer_id, records }: CustomerPart) => (
          <To
            visit={visit}
            at={['lines', visit.params.line ?? '']}
            query={{ ...hintOf(visit), customer_id }}
            children={records}
          />
        ),
        true,
      ),
    ]}
    empty={NO_PARTS}
  />
)

/** Lists the lines of other statements that a line is made from. */
const Sources = ({ visit, rows }: { visit: Visit; rows: readonly SourcePart[] }) => (
  <Table
    caption="Lines that make it up"
    rows={rows}
    columns={[
      column('Line', ({ line_id, affiliate_id, period, rule }: SourcePart) => (
        <To visit={visit} at={['lines', line_id]} query={{ affiliate_id, period }}>
          {affiliate_id}, {rule}, {period}
        </To>
      )),
      ...fields<SourcePart>(visit, 'plan', 'scope', 'amount', 'currency'),
    ]}
  />
)

const Records = ({ visit, rows }: { visit: Visit; rows: readonly PartRecord[] }) => (
  <>
    <p class="quick">
      <To visit={visit} at={['lines', visit.params.line ?? '']} query={hintOf(visit)}>
        All customers of the line
      </To>
      <To visit={visit} at={['customers', visit.query.customer_id ?? '']}>
        Customer {visit.query.customer_id}
      </To>
    </p>
    <Table
      caption={`Records of ${visit.query.customer_id} that the line counts`}
      rows={rows}
      columns={[
        ...fields<PartRecord>(visit, 'id', 'resource', 'type', 'day'),
        column('As sent', ({ amounts, currency }: PartRecord) => (
          <Members of={{ ...amounts, currency }} />
        )),
        ...fields<PartRecord>(visit, 'base', 'units', 'delivery_id'),
      ]}
      empty={NO_PARTS}
    />
  </>
)

/** Whether records or other lines are behind what is explained. */
const hasParts = (explained: Explained) =>
  'of' in explained ? explained.now !== null : explained.steps.length > 0

type Part = CustomerPart | SourcePart

const isSource = (part: Part): part is SourcePart => 'line_id' in part
const isCustomer = (part: Part): part is CustomerPart => 'customer_id' in part

/** Reads and renders what is behind a line: its customers, or the records of one of them. */
async function partsOf(visit: Visit, at: readonly string[]) {
  const { customer_id, ...query } = visit.query
  const path = (...parts: string[]) => apiPath(visit.account, ...at, 'parts', ...parts)
  if (customer_id) {
    const { data, meta } = await visit.api.get<List<PartRecord>>(path(customer_id, 'facts'), query)
    return (
      <>
        <Records visit={visit} rows={data} />
        <Pager visit={visit} meta={meta} />
      </>
    )
  }
  const { data, meta } = await visit.api.get<List<Part>>(path(), query)
  return (
    <>
      {data.some(isSource) ? (
        <Sources visit={visit} rows={data.filter(isSource)} />
      ) : (
        <Customers visit={visit} rows={data.filter(isCustomer)} />
      )}
      <Pager visit={visit} meta={meta} />
    </>
  )
}

/** Why a line pays what it pays, down to its records and their deliveries. */
export const linePage: Page = {
  path: '/accounts/:account/lines/:line',
  section: 'Statements',
  query: ['affiliate_id', 'period', 'customer_id', 'cursor'],
  async render(visit) {
    const at = ['lines', visit.params.line ?? '']
    const path = apiPath(visit.account, ...at, 'explain')
    const explained = await visit.api.get<Explained>(path, hintOf(visit))
    const parts = hasParts(explained) ? await partsOf(visit, at) : NO_PARTS
    const { amount } = 'of' in explained ? explained : explained.line
    const body = (
      <>
        <Head visit={visit} of={explained} />
        <ol class="sentences">
          {sentencesOf(explained).map((sentence) => (
            <li>{sentence}</li>
          ))}
        </ol>
        {'of' in explained ? (
          <Causes visit={visit} causes={explained.causes} />
        ) : (
          <Steps of={explained} />
        )}
        {parts}
      </>
    )
    return { title: `Why ${amount} ${explained.currency}`, body }
  },
}
