import type { PartRecord } from '../../commission/why/explain-line.ts'
import type { SourcePart } from '../../commission/why/line-parts.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { Amount, type List, Pager, Table, Time } from '../parts/data.tsx'
import { Causes, type Explained, Head, Steps, sentencesOf } from '../parts/explanation.tsx'
import { Sums, To } from '../parts/money.tsx'

/** What a customer adds to a line. */
interface CustomerPart {
  readonly customer_id: string
  readonly records: number
  readonly base: string | null
  readonly units: string | null
}

type Part = CustomerPart | SourcePart

const isSource = (part: Part): part is SourcePart => 'line_id' in part

/** The query that finds a line which no stored statement has. */
const hintOf = ({ query: { affiliate_id, period } }: Visit) => ({ affiliate_id, period })

const quantity = (one: { readonly base: string | null; readonly units: string | null }) => {
  const value = one.base ?? one.units
  return value === null ? '–' : <Amount value={value} />
}

const Parts = ({ visit, parts }: { visit: Visit; parts: List<Part> }) => (
  <>
    <Table
      caption={
        parts.data.some(isSource) ? 'Lines that it is made of' : 'Customers that it is made of'
      }
      rows={parts.data}
      columns={[
        {
          title: 'Of',
          of: (part) =>
            isSource(part) ? (
              <To
                visit={visit}
                at={['lines', part.line_id]}
                query={{ affiliate_id: part.affiliate_id, period: part.period }}
              >
                {part.affiliate_id}, {part.rule}, {part.period}
              </To>
            ) : (
              <To
                visit={visit}
                at={['lines', visit.params.line ?? '']}
                query={{ ...hintOf(visit), customer_id: part.customer_id }}
                children={part.customer_id}
              />
            ),
        },
        { title: 'Records', isNumeric: true, of: (part) => (isSource(part) ? '–' : part.records) },
        {
          title: 'Adds',
          isNumeric: true,
          of: (part) =>
            isSource(part) ? (
              <Amount value={part.amount} currency={part.currency} />
            ) : (
              quantity(part)
            ),
        },
      ]}
      empty={<p class="note">No record is behind this line.</p>}
    />
    <Pager visit={visit} meta={parts.meta} />
  </>
)

const Records = ({ visit, records }: { visit: Visit; records: List<PartRecord> }) => (
  <>
    <h2>
      Records of{' '}
      <To
        visit={visit}
        at={['customers', visit.query.customer_id ?? '']}
        children={visit.query.customer_id}
      />
    </h2>
    <Table
      caption="Records that the line counts"
      rows={records.data}
      columns={[
        { title: 'Record', of: ({ id }) => id },
        { title: 'Kind', of: ({ resource, type }) => (type ? `${resource}, ${type}` : resource) },
        { title: 'Day', of: ({ day, at }) => (at ? <Time at={at} /> : day) },
        {
          title: 'As sent',
          of: ({ amounts, currency }) => <Sums of={amounts} currency={currency} />,
        },
        { title: 'Adds', isNumeric: true, of: quantity },
        {
          title: 'Delivery',
          of: ({ delivery_id: id }) =>
            id && <To visit={visit} at={['deliveries', id]} children={id} />,
        },
      ]}
    />
    <Pager visit={visit} meta={records.meta} />
    <p>
      <To
        visit={visit}
        at={['lines', visit.params.line ?? '']}
        query={hintOf(visit)}
        children="All customers of the line"
      />
    </p>
  </>
)

/** Whether records are behind what is explained. */
const hasParts = (explained: Explained) =>
  'of' in explained ? explained.now !== null : explained.steps.length > 0

/** Why a line pays what it pays, down to its records and their deliveries. */
export const linePage: Page = {
  path: '/accounts/:account/lines/:line',
  section: 'Statements',
  query: ['affiliate_id', 'period', 'customer_id', 'cursor'],
  async render(visit) {
    const { api, account, query } = visit
    const at = (...parts: string[]) => apiPath(account, 'lines', visit.params.line ?? '', ...parts)
    const hint = hintOf(visit)
    const explained = await api.get<Explained>(at('explain'), hint)
    const { customer_id, cursor } = query
    const paged = { ...hint, cursor }
    const isOne = hasParts(explained) && customer_id
    const records = isOne
      ? await api.get<List<PartRecord>>(at('parts', customer_id, 'facts'), paged)
      : null
    const parts =
      hasParts(explained) && !isOne ? await api.get<List<Part>>(at('parts'), paged) : null
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
        {records && <Records visit={visit} records={records} />}
        {parts && <Parts visit={visit} parts={parts} />}
      </>
    )
    return { title: `Why ${amount} ${explained.currency}`, body }
  },
}
