import { counted } from '../../commission/words/english.ts'
import {
  accountPath,
  dayBefore,
  type Page,
  useVisit,
  type Values,
  type Visit,
} from '../../pages/base/page.ts'
import { refused } from '../../pages/csv-columns.ts'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Data, dayWords, EmptyState, visible } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Field, Filters, type Option } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { BY_HAND, type DoubtCode, METHODS, STOPPING } from '../../payouts/model.ts'
import { getBatch, prepareBatch, setBatchRows } from '../../payouts/operations/batches.ts'
import { listPayable } from '../../payouts/operations/payable.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { sumsText } from '../books/sums.ts'
import { LookAt, PaidStatements, type PayableRow, Waiting } from './payable-words.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

type Batch = AnswerOf<typeof getBatch>

/** The rows that a page lists and that have a tick box. */
const MAX_ROWS = 1000

/** Returns the name of a tick box by its position. */
const tickName = (position: number) => `tick${position}`

/** Returns the doubts without whose waiver nothing is paid. */
const stoppingOf = <D extends { code: DoubtCode }>({ doubts }: { doubts: readonly D[] }): D[] =>
  doubts.filter(({ code }) => STOPPING.includes(code))

/** Returns the value of a tick box: the row, and the doubts that whoever ticks it has seen. */
const tickValue = (row: PayableRow): string =>
  JSON.stringify([row.id, ...new Set(stoppingOf(row).map(({ code }) => code))])

/** Returns the rows that a form has ticked. */
const readTicks = (values: Values) =>
  Array.from({ length: MAX_ROWS }, (_, i) => values(tickName(i))).flatMap((text) => {
    if (!text) return []
    const [id = '', ...waive] = JSON.parse(text) as string[]
    return [{ id, waive: waive as DoubtCode[] }]
  })

/** Returns the rows that a form has ticked, at least one, and why they are paid by hand. Throws `validation_failed`. */
function requireRows(values: Values) {
  const rows = readTicks(values)
  if (rows.length === 0) throw refused('Tick at least one row.')
  const reason = values('method') === 'manual' ? values('reason').trim() : ''
  return rows.map((row) => ({ ...row, ...(reason && { reason }) }))
}

const toBatch = (answer: unknown, { account }: Visit) =>
  accountPath(account, 'batches', (answer as Batch).id)

const changes: NonNullable<Page['changes']> = {
  prepare: {
    done: 'The batch is prepared. Nothing is paid until it is confirmed.',
    next: toBatch,
    perform: (values, { api, account }) =>
      api.call(prepareBatch, {
        account,
        ...(values('payer') && { payer: values('payer') }),
        method: values('method') as 'sepa',
        execute_on: values('execute_on'),
        rows: requireRows(values),
      }),
  },
  set: {
    done: 'The batch is changed. Nothing is paid until it is confirmed.',
    next: toBatch,
    perform: (values, { api, account, query: { batch = '' } }) =>
      api.call(setBatchRows, { account, batch, rows: requireRows(values) }),
  },
}

/** Returns the payers from which a batch can pay. */
async function readPayers({ api, account }: Visit): Promise<Option[]> {
  if (!api.may(PAYER.list)) return []
  const { data } = await api.call(PAYER.list, { account })
  return data.map(({ payer, details }) => {
    const { name, iban, currency } = Object(details)
    return [payer, visible([name, iban, currency].filter(Boolean).join(', '))]
  })
}

/** Whether a row can be ticked: what stands in its way can only be that it is paid by hand. */
const canTick = ({ reasons }: PayableRow): boolean =>
  reasons.every((reason) => BY_HAND.includes(reason))

/** Renders what can be paid, and how much waits for what. */
function Sums({ rows }: { rows: readonly PayableRow[] }) {
  const free = rows.filter(({ ticked }) => ticked)
  return (
    <>
      <p class="lead">
        <strong>{free.length > 0 ? sumsText(free) : 'Nothing'}</strong> can be paid
        {free.length > 0 && ` to ${counted(free.length, 'payee')}`}.
      </p>
      <Waiting rows={rows} />
    </>
  )
}

interface FormProps {
  readonly rows: readonly PayableRow[]
  /** The batch that is changed; absent if one is prepared. */
  readonly batch: Batch | null
  readonly payers: readonly Option[]
  readonly day: string
}

/** Returns the ids of the rows that are ticked: as they were sent, as the batch has them, or as the list proposes. */
function tickedIds({ rows, batch }: FormProps, { refused: sent }: Visit): ReadonlySet<string> {
  if (sent) return new Set(readTicks(sent.values).map(({ id }) => id))
  // A doubt that is new is looked at, and ticked, by a person.
  const chosen = batch && [
    ...batch.transfers,
    ...batch.left_out.filter((row) => stoppingOf(row).every((one) => one.waived_by)),
  ]
  const own = chosen
    ? chosen.map(({ affiliate_id, currency }) => `${affiliate_id}:${currency}`)
    : rows.filter(({ ticked }) => ticked).map(({ id }) => id)
  return new Set(own)
}

/** Returns the method by which most of the rows are paid. */
function usualMethod(rows: readonly PayableRow[]): string {
  const [[method = 'sepa'] = []] = [...Map.groupBy(rows, ({ method }) => method ?? 'manual')].sort(
    ([, a], [, b]) => b.length - a.length,
  )
  return method
}

/** Renders from where, how and when a batch pays. */
function BatchFields({ payers, rows, day }: FormProps) {
  const methods = METHODS.map((one) => [one, methodWords(one)] as const)
  const from: Option[] = [...payers, ['', 'No account: it is paid by hand']]
  return (
    <>
      <Field change="prepare" name="payer" label="From" options={from} value={from[0]?.[0]} />
      <Field
        change="prepare"
        name="method"
        label="By"
        options={methods}
        value={payers.length === 0 ? 'manual' : usualMethod(rows.filter(({ ticked }) => ticked))}
      />
      <Field change="prepare" name="execute_on" label="On" type="date" value={day} required />
      <details>
        <summary>Paid by hand?</summary>
        <Field
          change="prepare"
          name="reason"
          label="Why by hand"
          hint="For whoever has no bank details, or others than the batch pays to. The batch keeps it."
        />
      </details>
    </>
  )
}

/** Renders the list, and the form that makes a batch of what is ticked. A script keeps the sums up to date. */
function List(props: FormProps, visit = useVisit()) {
  const { batch, rows } = props
  const ticked = tickedIds(props, visit)
  const isTicked = (row: PayableRow) => canTick(row) && ticked.has(row.id)
  const mayChange = visit.api.may(prepareBatch)
  return (
    <form method="post" class="change payments" id="change-prepare" data-ticks>
      <input type="hidden" name="csrf" value={visit.csrf} />
      {batch && <input type="hidden" name="method" value={batch.method} />}
      <Table
        caption={`What has to be paid by ${dayWords(props.day)}`}
        rows={rows}
        columns={{
          Affiliate: 'affiliate_id',
          Amount: 'amount',
          For: PaidStatements,
          To: ({ method, account }) => (
            <>
              {method && methodWords(method)} <Data text={account ?? ''} />
            </>
          ),
          'Look at': { prose: LookAt },
        }}
        tick={(row, position) =>
          mayChange &&
          canTick(row) && (
            <input
              type="checkbox"
              name={tickName(position)}
              value={tickValue(row)}
              checked={isTicked(row)}
              data-amount={row.amount}
              data-currency={row.currency}
              data-alone={stoppingOf(row).length > 0 || undefined}
              aria-label={`Pay ${visible(row.affiliate_id)}, ${row.amount} ${row.currency}`}
            />
          )
        }
      />
      {mayChange && (
        <>
          <div class="ticked-bar">
            <p class="ticked">
              Ticked:{' '}
              <output
                data-sum
              >{`${rows.filter(isTicked).length} for ${sumsText(rows.filter(isTicked))}`}</output>
            </p>
            <button type="submit" name="change" value={batch ? 'set' : 'prepare'}>
              {batch ? 'Change the batch' : 'Prepare a batch'}
            </button>
          </div>
          {!batch && <BatchFields {...props} />}
        </>
      )}
    </form>
  )
}

/** What has to be paid. What is ticked is the batch. */
export const toPayPage: Page = {
  path: '/accounts/:account/payouts',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['on', 'batch'],
  changes,
  async render(visit) {
    const { api, account, query } = visit
    const batch = query.batch ? await api.call(getBatch, { account, batch: query.batch }) : null
    const day = batch?.execute_on ?? query.on ?? dayBefore(visit.today, 0)
    const [{ data: all }, payers] = await Promise.all([
      api.call(listPayable, { account, on: day }),
      readPayers(visit),
    ])
    const rows = all.slice(0, MAX_ROWS)
    const body = (
      <>
        <PayoutTabs here="To pay" />
        {batch ? (
          <p class="notice">
            You change the batch <AccountLink at={['batches', batch.id]} children={batch.id} />:
            tick what it pays.
          </p>
        ) : (
          <Filters fields={[{ name: 'on', label: 'Due by', type: 'date', value: day }]} />
        )}
        {rows.length === 0 ? (
          <EmptyState title="Nothing to pay.">
            <p>
              Approved statements are listed here from the day on that they are payable. Choose a
              later day to see what follows.{' '}
              <AccountLink at={['statements']} children="Approve statements" />
            </p>
          </EmptyState>
        ) : (
          <>
            <Sums rows={all} />
            {all.length > MAX_ROWS && (
              <p class="notice">
                The first {MAX_ROWS.toLocaleString('en')} of {all.length.toLocaleString('en')} are
                listed. Prepare a batch of these, then of the others.
              </p>
            )}
            <List
              rows={rows}
              batch={batch}
              payers={payers}
              day={day < dayBefore(visit.today, 0) ? dayBefore(visit.today, 0) : day}
            />
          </>
        )}
        {api.may(PAYER.list) && (
          <p class="quick">
            <AccountLink at={['answers']} children="Upload the bank’s answer" />
            {payers.length === 0 && (
              <AccountLink at={['payers']} children="Add an account to pay from" />
            )}
          </p>
        )}
      </>
    )
    return { title: 'To pay', body }
  },
}
