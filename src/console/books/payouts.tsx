import type { Child } from 'hono/jsx'
import { importPayouts, listPayouts } from '../../books/operations/payouts.ts'
import { counted } from '../../commission/words/english.ts'
import {
  accountPath,
  dayBefore,
  type Page,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../../pages/base/page.ts'
import {
  Amount,
  Badge,
  Data,
  Day,
  dayWords,
  EmptyState,
  Pager,
  visible,
} from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Field, Filters, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { type Cell, Table } from '../../pages/parts/table.tsx'
import {
  MAX_TICKS,
  type PaymentRow,
  readTicks,
  requireTicks,
  tickValue,
} from '../../pages/payment-rows.ts'
import { listBatches } from '../../payouts/operations/batches.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { SEVERITY_TONES } from '../fraud/case-parts.tsx'
import { BatchesUnderWay } from '../payouts/batches.tsx'
import { PayoutTabs } from '../payouts/payout-tabs.tsx'
import { PrepareBatch, prepareChange, readPayers } from '../payouts/prepare-batch.tsx'
import { canPay, PostForm, sumsText, TickTable } from './payout-forms.tsx'

/** What has to be paid, or a payment. */
type Payout = AnswerOf<typeof listPayouts>['data'][number]

/** The most affiliates and currencies, or payments, that a page lists. */
const MAX_PAYEES = 200

const isHeld = ({ held_by = [] }: Payout): boolean => held_by.length > 0

/** Whether there is something to pay: a case can hold all of it. */
const isPayable = ({ statements }: Payout): boolean => statements > 0

const isPaid = ({ query }: Visit) => query.status === 'paid'

const STATUS: Input = { name: 'status', type: 'hidden' }
const AFFILIATE: Input = { name: 'affiliate_id', label: 'Affiliate' }
const DUE_DAY = { name: 'payable_on', label: 'Due by', type: 'date' } as const
const PAID_DAYS: readonly Input[] = [
  { name: 'from', label: 'Paid from', type: 'date' },
  { name: 'to', label: 'Paid until', type: 'date' },
]

const hasFilter = ({ query: { status: _, cursor: __, format: ___, ...filters } }: Visit): boolean =>
  Object.values(filters).some(Boolean)

/** Returns the day by which the listed payouts are due: today, unless another one is chosen. */
const dueBy = ({ query, today }: Visit): string => query.payable_on ?? dayBefore(today, 0)

/** Returns what the list of the page asks of the API. */
function filterOf(visit: Visit) {
  const { format: _, ...query } = visit.query
  const { account } = visit
  return isPaid(visit) ? { account, ...query } : { account, ...query, payable_on: dueBy(visit) }
}

/** Returns the payments as they are recorded, each with its own reference. */
const paidRows = (rows: readonly PaymentRow[], reference: string, paid_on: string) =>
  rows.map((row) => ({
    ...row,
    paid_on,
    ...(reference && {
      reference: rows.length === 1 ? reference : `${reference} ${row.affiliate_id} ${row.currency}`,
    }),
  }))

/** Says what became of payments. */
function resultText(answer: unknown): string {
  const { paid, unchanged, statements } = answer as AnswerOf<typeof importPayouts>
  const sentences = [
    paid > 0 && `${counted(paid, 'payment')} recorded. ${counted(statements, 'statement')} paid.`,
    unchanged > 0 &&
      `${counted(unchanged, 'row')} had been recorded before, by you or somebody else: make sure that no money is sent twice.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

/** Returns a day of a form. Throws `validation_failed` if it is empty. */
function requireDay(values: Values, name: string, message: string): string {
  if (values(name)) return values(name)
  const errors = [{ pointer: `/${name}`, message }]
  throw new ApiError('validation_failed', { detail: 'Nothing was recorded.', errors })
}

const changes: NonNullable<Page['changes']> = {
  pay: {
    done: resultText,
    perform(values, { api, account }) {
      const ticked = requireTicks(values)
      const paid_on = requireDay(values, 'paid_on', 'Choose the day of the payment.')
      const payments = paidRows(ticked, values('reference').trim(), paid_on)
      return api.call(importPayouts, { account, payments })
    },
  },
  prepare: prepareChange,
}

const statementsCell = (status: string): Cell<Payout> => ({
  number: ({ affiliate_id, statements, statements_held = 0 }) => (
    <AccountLink at={['statements']} query={{ affiliate_id, status }}>
      {statements + statements_held}
    </AccountLink>
  ),
})

/** Whether its affiliate has an open case that a person should decide first. Cases of low severity are hints. */
const hasOpenCase = ({ open_cases = [] }: Payout): boolean =>
  open_cases.some(({ severity }) => severity !== 'low')

const isReturned = ({ returned = [] }: Payout): boolean => returned.length > 0

/** Whether a person should look before it is paid, so that it is not ticked. */
const isDoubtful = (row: Payout): boolean =>
  hasOpenCase(row) || isReturned(row) || row.status === 'suspended'

/** Returns the ticks of a form that was refused, or null if none was. */
function ticksOf({ refused }: Visit): ReadonlySet<string> | null {
  if (refused?.change !== 'pay') return null
  return new Set(readTicks(refused.values).map((row) => tickValue(row)))
}

/**
 * Renders how many rows are ticked, their sums, and what can be done with them. It stays in sight below a long list.
 * A script keeps the sums up to date.
 */
const TickedBar = ({ rows, children }: { rows: readonly Payout[]; children?: Child }) => (
  <div class="ticked-bar">
    <p class="ticked">
      Ticked: <output data-sum>{`${rows.length} for ${sumsText(rows)}`}</output>
    </p>
    {children}
  </div>
)

/** Renders what has to be paid, and the forms that download and pay what is ticked. */
function Due({ rows }: { readonly rows: readonly Payout[] }, visit = useVisit()) {
  const today = dayBefore(visit.today, 0)
  const kept = ticksOf(visit)
  const isTicked = (row: Payout) =>
    isPayable(row) &&
    (kept ? kept.has(tickValue(row)) : (row.payable_on ?? '') <= today && !isDoubtful(row))
  if (rows.length === 0) {
    return (
      <EmptyState title={hasFilter(visit) ? 'Nothing to pay matches.' : 'Nothing to pay.'}>
        <p>
          Approved statements are listed here from the day on that they are payable. Choose a later
          day to see what follows. <AccountLink at={['statements']} children="Approve statements" />
        </p>
      </EmptyState>
    )
  }
  const held = rows.filter(isHeld)
  const affiliates = new Set(rows.filter(hasOpenCase).map(({ affiliate_id }) => affiliate_id)).size
  return (
    <PostForm id="change-pay">
      {held.length !== 0 && (
        <p class="notice">
          The fraud review holds {counted(held.length, 'payout')} for{' '}
          {sumsText(
            held.map(({ amount_held = '0', currency }) => ({ amount: amount_held, currency })),
          )}
          . What is held cannot be ticked, and the files leave it out. It can be paid once no case
          holds it.
        </p>
      )}
      {affiliates !== 0 && (
        <p class="notice">
          {counted(affiliates, 'affiliate')} {affiliates === 1 ? 'has' : 'have'} an open case of
          high or medium severity that holds no payout. Look at the case before you tick{' '}
          {affiliates === 1 ? 'its payout' : 'their payouts'}.
        </p>
      )}
      <TickTable
        caption={
          rows.some(isDoubtful)
            ? `What has to be paid by ${dayWords(dueBy(visit))}. Ticked: what is due today, except what came back, and affiliates with such a case or suspended.`
            : `What has to be paid by ${dayWords(dueBy(visit))}. Ticked: what is due today.`
        }
        rows={rows.map((row, i) => ({ ...row, canTick: isPayable(row) && i < MAX_TICKS }))}
        columns={{
          Affiliate: (row) => {
            const { affiliate_id, held_by: cases = [] } = row
            const [first] = cases
            const isOne = cases.length === 1
            return (
              <>
                <AffiliateLink id={affiliate_id} />{' '}
                {first !== undefined && (
                  <AccountLink
                    at={isOne ? ['cases', first] : ['cases']}
                    query={isOne ? {} : { affiliate_id, status: 'all' }}
                  >
                    <Badge tone="bad">
                      {isOne ? 'Held by a case' : `Held by ${cases.length} cases`}
                    </Badge>
                  </AccountLink>
                )}{' '}
                {row.status === 'suspended' && <Badge tone="bad">Suspended</Badge>}
                {row.returned?.map(({ returned_on, reason }) => (
                  <small class="line">
                    <Badge tone="bad">Came back</Badge> <Day day={returned_on} />:{' '}
                    <Data text={reason} />
                  </small>
                ))}
                {row.open_cases?.map(({ case_id, name, severity, sentence }) => (
                  <small class="line">
                    <a
                      href={accountPath(visit.account, 'cases', case_id)}
                      title={visible(sentence)}
                    >
                      <Badge tone={SEVERITY_TONES[severity]}>Open case</Badge> <Data text={name} />
                    </a>
                  </small>
                ))}
              </>
            )
          },
          Amount: {
            number: (row) => (
              <>
                <Amount value={row.amount} currency={row.currency} />
                {isHeld(row) && (
                  <small class="line">
                    <Amount value={row.amount_held ?? '0'} currency={row.currency} /> held
                  </small>
                )}
              </>
            ),
          },
          Due: 'payable_on',
          Statements: statementsCell('approved'),
          Reference: 'reference',
        }}
        isTicked={isTicked}
        verb="Pay"
      />
      <TickedBar rows={rows.filter(isTicked)}>
        {canPay(visit) && <a href="#mark-as-paid">Mark as paid</a>}
      </TickedBar>
      {canPay(visit) && (
        <fieldset id="mark-as-paid">
          <legend>Paid already?</legend>
          <Field
            change="pay"
            name="reference"
            hint="Empty: each keeps the reference of the list. For several payouts, the affiliate and the currency are added to it."
          />
          <Field change="pay" name="paid_on" label="Day of the payment" type="date" value={today} />
          <button type="submit" name="change" value="pay" class="plain">
            Mark the ticked payouts as paid
          </button>
        </fieldset>
      )}
    </PostForm>
  )
}

const isCameBack = ({ returned_on }: Payout) => returned_on !== undefined && returned_on !== null

/** What has to be paid, and what was. */
export const payoutsPage: Page = {
  path: '/accounts/:account/payouts',
  section: 'Payouts',
  query: ['status', 'affiliate_id', 'payable_on', 'from', 'to', 'cursor', 'format'],
  changes,
  file: (visit) =>
    visit.query.format === 'csv'
      ? visit.api.file(listPayouts, { ...filterOf(visit), cursor: undefined }, 'text/csv')
      : null,
  async render(visit) {
    const filter = filterOf(visit)
    const { account, ...query } = filter
    const [{ data: rows, meta }, due] = await Promise.all([
      visit.api.call(listPayouts, { ...filter, per_page: MAX_PAYEES }),
      isPaid(visit)
        ? null
        : Promise.all([readPayers(visit), visit.api.call(listBatches, { account })]),
    ])
    const all = withQuery(visit.path, { ...query, cursor: undefined, format: 'csv' })
    const body = (
      <>
        <PayoutTabs here={isPaid(visit) ? 'Paid' : 'To pay'} />
        {due && (
          <>
            <PrepareBatch payers={due[0]} method={due[1].data[0]?.method} />
            <BatchesUnderWay batches={due[1].data} />
          </>
        )}
        <Filters
          fields={[
            STATUS,
            AFFILIATE,
            ...(isPaid(visit) ? PAID_DAYS : [{ ...DUE_DAY, value: dueBy(visit) }]),
          ]}
        />
        {(visit.query.cursor || meta.next_cursor) && (
          <p class="notice">
            There is more than this page lists: its notes, sums and ticks are of this page only.
          </p>
        )}
        {isPaid(visit) ? (
          <Table
            caption="Payments, the latest first. One that came back is recorded at one of its statements."
            rows={rows}
            columns={{
              Affiliate: 'affiliate_id',
              Amount: 'amount',
              Paid: 'paid_on',
              Reference: 'reference',
              Statements: statementsCell('paid'),
              'Came back': rows.some(isCameBack) && 'returned_on',
              Reason: rows.some(isCameBack) && 'reason',
            }}
            empty={
              <EmptyState title={hasFilter(visit) ? 'No payment matches.' : 'No payments yet.'} />
            }
          />
        ) : (
          <Due rows={rows} />
        )}
        {(isPaid(visit) || visit.query.cursor || meta.next_cursor) && <Pager meta={meta} />}
        <p class="quick">
          <AccountLink at={['answers']} children="Upload the bank’s answer" />
          {rows.length > 0 && <a href={all}>Download all as CSV</a>}
        </p>
      </>
    )
    return { title: 'Payouts', body }
  },
}
