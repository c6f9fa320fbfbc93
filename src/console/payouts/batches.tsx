import type { Page } from '../../pages/base/page.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Badge, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type Columns, Table } from '../../pages/parts/table.tsx'
import { listBatches } from '../../payouts/operations/batches.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from '../affiliates/audit-words.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

type Batch = AnswerOf<typeof listBatches>['data'][number]

/** What members call the states of batches and transfers, and what a bank only compared. */
const STATES = {
  checked: ['warn', 'Name checked'],
  prepared: ['warn', 'Prepared'],
  created: ['warn', 'Confirmed'],
  exported: ['warn', 'Exported'],
  accepted: ['warn', 'Accepted by the bank'],
  paid: ['good', 'Paid'],
  returned: ['bad', 'Came back'],
  rejected: ['bad', 'Refused by the bank'],
  cancelled: ['quiet', 'Cancelled'],
  partial: ['bad', 'Partly paid'],
} as const

/** Renders the state of a batch or of a transfer. */
export const BatchState = ({ state }: { state: keyof typeof STATES }) => (
  <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
)

/** Returns a state in the words of a sentence. */
export const stateWords = (state: keyof typeof STATES): string => STATES[state][1].toLowerCase()

/** Returns how many transfers have each state: `12 paid, 1 came back`. */
export const statesText = (states: Batch['states']): string =>
  Object.entries(states)
    .map(([state, n]) => `${n} ${stateWords(state as keyof typeof STATES)}`)
    .join(', ')

/** Whether some of its transfers are neither paid nor ended. */
export const isUnderWay = ({ states }: Pick<Batch, 'states'>): boolean =>
  (states.created ?? states.exported ?? states.accepted) !== undefined

const COLUMNS: Columns<Batch> = {
  Batch: ({ id }) => <AccountLink at={['batches', id]}>{id}</AccountLink>,
  State: ({ state }) => <BatchState state={state} />,
  On: 'execute_on',
  By: ({ method }) => methodWords(method),
  From: 'payer',
  Transfers: ({ states }) => statesText(states),
  Total: 'total',
  'Prepared by': ({ authors }) => authors.map(actorTitle).join(', '),
}

/** The batches of an account, the latest first. */
export const batchesPage: Page = {
  path: '/accounts/:account/batches',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['cursor'],
  async render({ api, account, query }) {
    const { data, meta } = await api.call(listBatches, { account, ...query })
    const body = (
      <>
        <PayoutTabs here="Batches" />
        <Table
          caption="Batches, the latest first"
          rows={data}
          columns={COLUMNS}
          empty={
            <EmptyState title="No batches yet.">
              <p>
                Tick what you pay in <AccountLink at={['payouts']} children="To pay" />, and prepare
                a batch of it.
              </p>
            </EmptyState>
          }
        />
        {data.length > 0 && <Pager meta={meta} />}
      </>
    )
    return { title: 'Batches', body }
  },
}
