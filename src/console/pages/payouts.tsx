import type { Child } from 'hono/jsx'
import { getAccount } from '../../admin/accounts.ts'
import { importPayouts, listPayouts } from '../../admin/payouts.ts'
import type { ImportedPayments } from '../../commission/books/payments.ts'
import { readCsv, writeCsv } from '../../commission/csv.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { ApiError } from '../../errors.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { cellOf } from '../csv-columns.ts'
import {
  accountPath,
  dayBefore,
  type Page,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../page.ts'
import { SEVERITY_TONES } from '../parts/cases.tsx'
import { Amount, Badge, Data, Day, EmptyState, Name, Pager, visible } from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import { CSV_FILE, Field, Filters, type Input } from '../parts/forms.tsx'
import { AffiliateLink } from '../parts/names.tsx'
import { canPay, PostForm, RowRefusal, sumsText, TickTable } from '../parts/payout-forms.tsx'
import type { Cell } from '../parts/table.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { TakenBackText } from '../parts/taken-back.tsx'
import {
  type COLUMNS,
  MAX_TICKS,
  type PaymentRow,
  readPaymentFile,
  readPayments,
  readTicks,
  requireTicks,
  tickValue,
} from '../payment-rows.ts'

/** What has to be paid as the list of the administration API shows it, or a payment. */
type Listed = AnswerOf<typeof listPayouts>['data'][number]

/** A row of the page: what has to be paid on a due day, or a payment. */
type Payout = Omit<Listed, 'due_days'>

/** Returns a row for each due day. Only those of which something is held name its cases. */
const rowsByDay = (payouts: readonly Listed[]): Payout[] =>
  payouts.flatMap(({ due_days = [{}], ...payout }) =>
    due_days.map((day, i) => {
      const row = { ...payout, ...day }
      const { statements_held = 0, held_by = [], taken_back = [] } = row
      const isHeld = statements_held > 0
      return {
        ...row,
        held_by: isHeld ? held_by : [],
        taken_back: i === 0 ? taken_back : [],
      }
    }),
  )

/** The most affiliates and currencies, or payments, that a page lists. */
const MAX_PAYEES = 200

const isHeld = ({ held_by = [] }: Payout): boolean => held_by.length > 0

/** Whether there is something to pay: a case can hold all of it. */
const isPayable = ({ statements }: Payout): boolean => statements > 0

const isPaid = ({ query }: Visit) => query.status === 'paid'

const STATUS: Input = { name: 'status', type: 'hidden' }
const AFFILIATE: Input = { name: 'affiliate_id', label: 'Affiliate' }
const DUE_DAY: readonly Input[] = [{ name: 'payable_on', label: 'Due by', type: 'date' }]
const PAID_DAYS: readonly Input[] = [
  { name: 'from', label: 'Paid from', type: 'date' },
  { name: 'to', label: 'Paid until', type: 'date' },
]

const hasFilter = ({ query: { status: _, cursor: __, format: ___, ...filters } }: Visit): boolean =>
  Object.values(filters).some(Boolean)

/** Returns the payments as they are recorded, each with its own reference. */
function paidRows(rows: readonly PaymentRow[], reference: string, paid_on: string) {
  const isOfPayee = (a: PaymentRow) => (b: PaymentRow) =>
    a.affiliate_id === b.affiliate_id && a.currency === b.currency
  const own = (row: PaymentRow) => {
    if (rows.length === 1) return reference
    const isOfOneDay = rows.filter(isOfPayee(row)).length === 1
    return [
      reference,
      row.affiliate_id,
      row.currency,
      ...(isOfOneDay ? [] : [row.payable_on]),
    ].join(' ')
  }
  return rows.map((row) => ({ ...row, paid_on, ...(reference && { reference: own(row) }) }))
}

/** Says what became of payments and of payments that came back. */
function resultText(answer: unknown): string {
  const { paid, returned, unchanged, statements } = answer as ImportedPayments
  const sentences = [
    paid > 0 && `${counted(paid, 'payment')} recorded.`,
    returned > 0 && `${counted(returned, 'return')} recorded.`,
    paid > 0 && returned === 0 && `${counted(statements, 'statement')} paid.`,
    returned > 0 && paid === 0 && `${counted(statements, 'statement')} payable again.`,
    unchanged > 0 &&
      `${counted(unchanged, 'row')} had been recorded before, by you or somebody else: make sure that no money is sent twice.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

/**
 * Checks that fields of a form are filled in.
 *
 * @throws ApiError `validation_failed` with what to do beside each that is empty.
 */
function requireFilled(values: Values, sentences: Readonly<Record<string, string>>): void {
  const errors = Object.entries(sentences).flatMap(([name, message]) =>
    values(name).trim() === '' ? [{ pointer: `/${name}`, message }] : [],
  )
  if (errors.length === 0) return
  throw new ApiError('validation_failed', { detail: 'Nothing was recorded.', errors })
}

const changes: NonNullable<Page['changes']> = {
  pay: {
    done: resultText,
    perform(values, { api, account }) {
      const ticked = requireTicks(values)
      requireFilled(values, { paid_on: 'Choose the day of the payment.' })
      const payments = paidRows(ticked, values('reference').trim(), values('paid_on'))
      return api.call(importPayouts, { account, payments })
    },
  },
  upload: {
    done: resultText,
    perform: (values, { api, account }) =>
      api.call(importPayouts, { account, payments: readPayments(values) }),
  },
  return: {
    done: resultText,
    perform(values, { api, account }) {
      const ticked = requireTicks(values)
      requireFilled(values, {
        returned_on: 'Choose the day of the return.',
        reason: 'Write the reason of the return, such as “Account closed”.',
      })
      const [returned_on, reason] = [values('returned_on'), values('reason')]
      const payments = ticked.map((row) => ({ paid_on: '', ...row, returned_on, reason }))
      return api.call(importPayouts, { account, payments })
    },
  },
}

/** Returns the CSV of the ticked rows as they are now. Refuses if one of them is no longer due as it was. */
const downloadTicked: NonNullable<Page['downloads']>[string] = async (values, visit) => {
  const ticked = requireTicks(values).map((row) => tickValue(row))
  const { payable_on } = visit.query
  const { api, account } = visit
  const response = await api.file(listPayouts, { account, payable_on }, 'text/csv')
  const [header = [], ...rows] = readCsv(await response.text()).rows ?? []
  const cell = (row: readonly string[], name: string) => row[header.indexOf(name)] ?? ''
  const byTick = new Map(
    rows.map((row) => {
      const [affiliate_id, currency] = [cell(row, 'affiliate_id'), cell(row, 'currency')]
      const [amount, reference] = [cell(row, 'amount'), cell(row, 'reference')]
      const payable_on = cell(row, 'payable_on')
      return [tickValue({ affiliate_id, currency, amount, reference, payable_on }), row]
    }),
  )
  const gone = ticked.flatMap((tick, i) => (byTick.has(tick) ? [] : [i]))
  if (gone.length > 0) {
    throw new ApiError('conflict', {
      detail: 'Some of the ticked payouts have changed since this page was opened.',
      errors: gone.map((i) => ({
        pointer: `/${i}`,
        message: 'It was paid meanwhile, or its amount has changed. The list below is current.',
      })),
    })
  }
  const found = ticked.map((tick) => byTick.get(tick) ?? [])
  return { csv: writeCsv([header, ...found]), name: ['payouts', visit.account] }
}

const statementsCell = (status: string): Cell<Payout> => ({
  number: ({ affiliate_id, statements, statements_held = 0 }) => (
    <AccountLink at={['statements']} query={{ affiliate_id, status }}>
      {statements + statements_held}
    </AccountLink>
  ),
})

/** The payouts of a page. */
interface ShownPayouts {
  readonly rows: readonly Payout[]
  /** How many persons must decide what is held. */
  readonly persons: number
}

/** Whether its affiliate has an open case that a person should decide first. Cases of low severity are hints. */
const hasOpenCase = ({ open_cases = [] }: Payout): boolean =>
  open_cases.some(({ severity }) => severity !== 'low')

const isReturned = ({ returned = [] }: Payout): boolean => returned.length > 0

/** Whether a person should look before it is paid, so that it is not ticked. */
const isDoubtful = (row: Payout): boolean =>
  hasOpenCase(row) || isReturned(row) || row.status === 'suspended'

/** Returns the ticks of a form that was refused, or null if none was. */
function ticksOf({ refused }: Visit, ...changes: readonly string[]): ReadonlySet<string> | null {
  if (!refused || !changes.includes(refused.change)) return null
  return new Set(readTicks(refused.values).map((row) => tickValue(row)))
}

/** Renders what is said about a refused form. */
const Refused = ({ changes }: { changes: readonly string[] }, { refused } = useVisit()) => {
  if (!refused || !changes.includes(refused.change)) return null
  return <RowRefusal refused={refused} rows={readTicks(refused.values)} />
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
function Due({ rows, persons }: ShownPayouts, visit = useVisit()) {
  const today = dayBefore(visit.today, 0)
  const kept = ticksOf(visit, 'pay', 'download')
  const isTicked = (row: Payout) =>
    isPayable(row) &&
    (kept ? kept.has(tickValue(row)) : (row.payable_on ?? '') <= today && !isDoubtful(row))
  if (rows.length === 0) {
    return (
      <>
        <Refused changes={['pay', 'download']} />
        <EmptyState title={hasFilter(visit) ? 'Nothing to pay matches.' : 'Nothing to pay.'}>
          <p>
            Approved statements are listed here once something is payable.{' '}
            <AccountLink at={['statements']} children="Approve statements" />
          </p>
        </EmptyState>
      </>
    )
  }
  const held = rows.filter(isHeld)
  const affiliates = new Set(rows.filter(hasOpenCase).map(({ affiliate_id }) => affiliate_id)).size
  return (
    <PostForm id="change-pay">
      <Refused changes={['pay', 'download']} />
      {held.length !== 0 && (
        <p class="notice">
          The fraud review holds {counted(held.length, 'payout')} for{' '}
          {sumsText(
            held.map(({ amount_held = '0', currency }) => ({ amount: amount_held, currency })),
          )}
          . What is held cannot be ticked, and the files leave it out. It can be paid once no case
          holds it. Statements are paid as a whole: a rule that holds a part, such as 50 %, holds
          the latest ones that reach it.
          {persons > 1
            ? ' Two persons must decide the case before.'
            : canPay(visit) &&
              ' Until then you can pay a single statement with a reason: open it from its number.'}
        </p>
      )}
      {affiliates !== 0 && (
        <p class="notice">
          {counted(affiliates, 'affiliate')} {affiliates === 1 ? 'has' : 'have'} an open case of
          high or medium severity that holds no payout. Look at the case before you tick{' '}
          {affiliates === 1 ? 'its payout' : 'their payouts'}.
        </p>
      )}
      {rows.some(({ taken_back = [] }) => taken_back.length > 0) && (
        <p class="notice">
          Customers were refused after their commission was approved. It stays payable until the
          statement that takes it back is approved: approve that one before you pay.
        </p>
      )}
      <TickTable
        caption={
          rows.some(isDoubtful)
            ? 'What has to be paid. Ticked: what is due today, except what came back, and affiliates with such a case or suspended.'
            : 'What has to be paid. Ticked: what is due today.'
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
                      <Badge tone={SEVERITY_TONES[severity]}>Open case</Badge> <Name text={name} />
                    </a>
                  </small>
                ))}
                {row.taken_back?.map((one) => (
                  <small class="line">
                    <TakenBackText found={one} currency={row.currency} />
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
        <button type="submit" name="change" value="download">
          Download the ticked payouts
        </button>
        {canPay(visit) && <a href="#mark-as-paid">Mark as paid</a>}
      </TickedBar>
      {canPay(visit) && (
        <fieldset id="mark-as-paid">
          <legend>Paid already?</legend>
          <Field
            change="pay"
            name="reference"
            hint="Empty: each keeps the reference of the list. For several payouts, the affiliate and the currency are added to it, and the due day if there are several of one affiliate."
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

/** Renders the form that records the file that the bank has answered. */
function Import(_: object, visit = useVisit()) {
  if (!canPay(visit)) return <p class="note">Only the role approver can record payments.</p>
  const refused = visit.refused?.change === 'upload' ? visit.refused : null
  return (
    <>
      <h2 id="upload">Upload the bank’s answer</h2>
      <PostForm id="change-upload" hasFile>
        <input type="hidden" name="change" value="upload" />
        {refused && <RowRefusal refused={refused} rows={sentRows(refused.values)} />}
        {refused && <input type="hidden" name="csv" value={readPaymentFile(refused.values).text} />}
        <Field
          change="upload"
          {...CSV_FILE}
          hint="The file that you downloaded, with the day of each payment, and with references of the bank if it gave some. All rows are recorded, or none. For a payment that came back, take the file of paid payouts, and fill in the day and the reason of the return."
        />
        <Field
          change="upload"
          name="day"
          type="date"
          label="Day of the payment"
          hint="For rows without one."
        />
        <button type="submit">Record the payments</button>
      </PostForm>
    </>
  )
}

/** Returns the rows of the file that was refused, as far as they can be read. */
function sentRows(values: (name: string) => string): Partial<PaymentRow>[] {
  const file = readPaymentFile(values)
  return file.rows.map((cells) => {
    const cell = (name: keyof typeof COLUMNS) => cellOf(file, cells, name)
    return {
      affiliate_id: cell('affiliate_id'),
      amount: cell('amount'),
      currency: cell('currency').toUpperCase(),
    }
  })
}

const isCameBack = ({ returned_on }: Payout) => returned_on !== undefined && returned_on !== null

/** What has to be paid, and what was. */
export const payoutsPage: Page = {
  path: '/accounts/:account/payouts',
  section: 'Payouts',
  query: ['status', 'affiliate_id', 'payable_on', 'from', 'to', 'returned', 'cursor', 'format'],
  changes,
  downloads: { download: downloadTicked },
  file: ({ api, account, query: { format, cursor: _, ...query } }) =>
    format === 'csv' ? api.file(listPayouts, { account, ...query }, 'text/csv') : null,
  async render(visit) {
    const { format: _, ...query } = visit.query
    const { account } = visit
    const read = (more: Visit['query']) =>
      visit.api.call(listPayouts, { account, ...query, per_page: MAX_PAYEES, ...more })
    const [{ data, meta }, returned, { approvals }] = await Promise.all([
      read({}),
      isPaid(visit) ? null : read({ returned: 'true', cursor: undefined }),
      visit.api.call(getAccount, { account: visit.account }),
    ])
    // What came back stands first on the first page, and on no other.
    const first = query.cursor ? [] : (returned?.data ?? [])
    const rows = rowsByDay([...first, ...data.filter((row) => !isReturned(row))])
    const all = withQuery(visit.path, { ...query, cursor: undefined, format: 'csv' })
    const isTicked = (row: Payout) => (ticksOf(visit, 'return') ?? new Set()).has(tickValue(row))
    const body = (
      <>
        <Tabs
          label="Payouts"
          here={isPaid(visit) ? 'Paid' : 'To pay'}
          tabs={[
            ['To pay', visit.path],
            ['Paid', withQuery(visit.path, { status: 'paid' })],
          ]}
        />
        <Filters fields={[STATUS, AFFILIATE, ...(isPaid(visit) ? PAID_DAYS : DUE_DAY)]} />
        {(visit.query.cursor || meta.next_cursor) && (
          <p class="notice">
            There is more than this page lists: its notes, sums and ticks are of this page only.
          </p>
        )}
        {isPaid(visit) ? (
          rows.length === 0 ? (
            <>
              <Refused changes={['return']} />
              <EmptyState title={hasFilter(visit) ? 'No payment matches.' : 'No payments yet.'} />
            </>
          ) : (
            <PostForm id="change-return">
              <Refused changes={['return']} />
              <TickTable
                caption="Payments, the latest first. Tick those that came back."
                rows={rows.map((row) => ({ ...row, canTick: canPay(visit) && !row.returned_on }))}
                columns={{
                  Affiliate: 'affiliate_id',
                  Amount: 'amount',
                  Paid: 'paid_on',
                  Reference: 'reference',
                  Statements: { number: ({ statements }) => statements },
                  'Came back': rows.some(isCameBack) && 'returned_on',
                  Reason: rows.some(isCameBack) && 'reason',
                }}
                isTicked={isTicked}
                verb="Returned:"
              />
              {canPay(visit) && (
                <TickedBar rows={rows.filter(isTicked)}>
                  <a href="#came-back">Record what came back</a>
                </TickedBar>
              )}
              {canPay(visit) && (
                <fieldset id="came-back">
                  <legend>Came back?</legend>
                  <Field
                    change="return"
                    name="returned_on"
                    label="Day of the return"
                    type="date"
                    value={dayBefore(visit.today, 0)}
                  />
                  <Field
                    change="return"
                    name="reason"
                    hint="The statement shows it, such as “Account closed”."
                  />
                  <button type="submit" name="change" value="return">
                    Record that the ticked payments came back
                  </button>
                  <p class="note">
                    They are payable again at once. What was earned stays as it is.
                  </p>
                </fieldset>
              )}
            </PostForm>
          )
        ) : (
          <Due rows={rows} persons={approvals} />
        )}
        {(isPaid(visit) || visit.query.cursor || meta.next_cursor) && <Pager meta={meta} />}
        {data.length > 0 && (
          <p class="quick">
            <a href={all}>Download all as CSV</a>
          </p>
        )}
        <Import />
      </>
    )
    return { title: 'Payouts', body }
  },
}
