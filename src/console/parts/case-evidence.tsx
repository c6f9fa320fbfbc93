import type { Child } from 'hono/jsx'
import { counted } from '../../commission/engine/reasons.ts'
import { DAY_MS, HOUR_MS } from '../../durations.ts'
import type { PresentedEvidence } from '../../fraud/case-evidence.ts'
import type { Visit } from '../page.ts'
import { CustomerLink } from './customers.tsx'
import { Badge, Data, Day, type List, Pager, periodWords, Table } from './data.tsx'
import { AccountLink, column } from './fields.tsx'
import { Amounts, nounOf } from './record-fields.tsx'
import { RecordLink } from './record-link.tsx'

// The records behind a case, down to their deliveries.

const NONE = <span class="quiet">–</span>

/** The values that are shown of each resource, and the fields whose labels and formats they have. */
const SHOWN: Readonly<Record<PresentedEvidence['resource'], Readonly<Record<string, string>>>> = {
  customers: { country_code: 'country_code' },
  transactions: { amount_currency: 'amount_currency' },
  'trading-activity': {
    lots_traded: 'lots_traded',
    pnl: 'pnl',
    drawdown: 'drawdown',
    max_drawdown: 'max_drawdown',
    spread_cost: 'spread_cost',
    commission: 'commission',
  },
  activities: { amount: 'Value' },
  statements: { total: 'amount_currency' },
}

/** Writes how long after the click a customer signed up; null if no click is known. */
function afterClick({ signup_date, clicked_at }: Readonly<Record<string, unknown>>): string | null {
  if (!signup_date || !clicked_at) return null
  const passed = Date.parse(String(signup_date)) - Date.parse(String(clicked_at))
  const [unit, one] = UNITS.find(([, length]) => passed >= 2 * length) ?? ['second', SECOND_MS]
  return `${counted(Math.max(0, Math.floor(passed / one)), unit)} after the click`
}

const SECOND_MS = 1000

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60 * SECOND_MS],
] as const

/** Renders the main values of a record. */
function Values({ resource, values, archived }: PresentedEvidence) {
  if (values === null)
    return <span class="quiet">{archived ? 'Archived' : 'No longer stored'}</span>
  const after = afterClick(values)
  const { currency, status } = values
  const shown = Object.entries(SHOWN[resource]).flatMap(([name, field]) => {
    const value = values[name] ?? null
    return value === null ? [] : [[field, String(value)] as const]
  })
  const isOpen = resource === 'transactions' && status && status !== 'approved'
  return (
    <>
      <Amounts
        amounts={Object.fromEntries(shown)}
        currency={typeof currency === 'string' ? currency : null}
      />{' '}
      {after !== null && <span class="figure">{after}</span>}
      {isOpen && (
        <Badge tone="quiet">
          <Data text={status} />
        </Badge>
      )}
    </>
  )
}

/** Renders what a record is, as a link to its page. */
export function RecordName({
  visit,
  record,
}: {
  visit: Visit
  record: Omit<PresentedEvidence, 'delivery_id' | 'archived'>
}): Child {
  const { resource, id, day, customer_id, values } = record
  if (resource === 'statements') {
    return (
      <AccountLink visit={visit} at={['statements', id]}>
        Statement {values?.period && <>of {periodWords(String(values.period))}</>}
      </AccountLink>
    )
  }
  if (resource === 'customers') return 'Signup'
  return (
    <>
      <Data text={nounOf(resource, values ?? {})} />{' '}
      <RecordLink
        account={visit.account}
        record={{ resource, id, day, customer_id: customer_id ?? '' }}
      />
    </>
  )
}

/** Renders a page of the records of a case. */
export const Evidence = ({ visit, found }: { visit: Visit; found: List<PresentedEvidence> }) => (
  <>
    <Table
      caption="Records, by day"
      rows={found.data}
      columns={[
        column('Record', (record: PresentedEvidence) => (
          <RecordName visit={visit} record={record} />
        )),
        column('Day', ({ day }: PresentedEvidence) => <Day day={day} />),
        column('Customer', ({ customer_id }: PresentedEvidence) =>
          customer_id === null ? NONE : <CustomerLink account={visit.account} id={customer_id} />,
        ),
        column('Values', Values),
        column('Delivery', ({ delivery_id }: PresentedEvidence) =>
          delivery_id === null ? (
            NONE
          ) : (
            <AccountLink visit={visit} at={['deliveries', delivery_id]} children="Delivery" />
          ),
        ),
      ]}
      empty={<p class="note">The records of this case are no longer stored.</p>}
    />
    <Pager visit={visit} meta={found.meta} />
  </>
)
