import { counted } from '../../commission/engine/reasons.ts'
import { refused } from '../../pages/csv-columns.ts'
import { pick } from '../../pages/form.ts'
import { type Page, useVisit, type Visit, withQuery } from '../../pages/page.ts'
import { Amount, Badge, Data, EmptyState, NOTHING, Pager, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { PAYOUT_LIMITS } from '../../payouts/model.ts'
import {
  applyPayoutAnswer,
  getPayoutAnswer,
  listPayoutAnswers,
  previewPayoutAnswer,
} from '../../payouts/operations/answers.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'

type Answer = AnswerOf<typeof getPayoutAnswer>

/** What an upload leads to: a preview, or the columns of a CSV that are to be chosen. */
type Uploaded = Pick<Answer, 'hash'> | { readonly headings: readonly string[] }

const COLUMNS = ['date_column', 'amount_column', 'currency_column'] as const

const changes: NonNullable<Page['changes']> = {
  upload: {
    done: (answer) =>
      'headings' in (answer as Uploaded)
        ? 'The columns of this CSV are not known. Choose them, and the file once more: they are remembered.'
        : 'The file is read. Nothing is booked yet.',
    next(answer, { path }) {
      const read = answer as Uploaded
      return withQuery(
        path,
        'hash' in read ? { hash: read.hash } : { headings: read.headings.join('\t') },
      )
    },
    async perform(values, { api, account }): Promise<Uploaded> {
      const { file } = values
      if (!file) throw refused('Choose a file.')
      const chosen = pick(values, 'payer', ...COLUMNS)
      try {
        return await api.call(previewPayoutAnswer, { account, file, ...chosen })
      } catch (error) {
        const headings = error instanceof ApiError && error.details.headings
        if (!headings || headings.length === 0 || values('date_column')) throw error
        return { headings }
      }
    },
  },
  book: {
    done: 'The answer is booked.',
    perform: (values, { api, account }) =>
      api.call(applyPayoutAnswer, { account, hash: values('hash') }),
  },
}

/** Returns the fields of the file: its payer if there are several, and the columns of a CSV that is not known. */
async function uploadFields({ api, account, query }: Visit): Promise<Input[]> {
  const { data: payers } = await api.call(PAYER.list, { account })
  const headings = query.headings?.split('\t') ?? []
  const options = [['', ''], ...headings.map((one) => [one, one] as const)] as const
  const columnField = (name: string, label: string, hint?: string): Input => ({
    ...{ name, label, options, hint },
    required: hint === undefined,
  })
  return [
    {
      ...{ name: 'file', type: 'file', label: 'File of the bank', required: true },
      attributes: { accept: '.xml,.csv,.txt,text/csv,text/plain,text/xml,application/xml' },
      hint: 'camt.053, camt.054, pain.002 or CSV, also of Wise, Revolut, Mercury and PayPal. At most 10 MiB.',
    },
    ...(payers.length > 1
      ? [
          {
            ...{ name: 'payer', hint: 'Only needed if the file does not name its account.' },
            options: [['', ''], ...payers.map(({ payer }) => [payer, payer] as const)] as const,
          },
        ]
      : []),
    ...(headings.length > 0
      ? [
          columnField('date_column', 'The booking day is in the column'),
          columnField('amount_column', 'The amount is in the column'),
          columnField(
            'currency_column',
            'The currency is in the column',
            'Empty: all amounts are in the currency of the account.',
          ),
        ]
      : []),
  ]
}

type Batch = Answer['batches'][number]

const sumOf = (
  answer: Pick<Answer, 'batches'>,
  name: 'paid' | 'returned' | 'accepted' | 'rejected',
) => answer.batches.reduce((sum, batch) => sum + batch[name], 0)

/** Says what an answer books: `2 payments, 1 return`. */
function bookedWords(answer: Pick<Answer, 'batches'>): string {
  const parts = [
    ...(['payment', 'return'] as const).map((noun) => [
      sumOf(answer, noun === 'payment' ? 'paid' : 'returned'),
      noun,
    ]),
    [sumOf(answer, 'rejected'), 'rejection'],
    [sumOf(answer, 'accepted'), 'acceptance'],
  ] as const
  const words = parts.flatMap(([n, noun]) =>
    Number(n) > 0 ? [counted(Number(n), String(noun))] : [],
  )
  return words.length > 0 ? words.join(', ') : 'nothing'
}

const isNew = (answer: Answer) =>
  answer.batches.some((row) => row.paid + row.returned + row.rejected + row.accepted > 0)

const amountCell = (count: number, amount: string, currency: string) =>
  count === 0 ? (
    NOTHING
  ) : (
    <>
      {count} for <Amount value={amount} currency={currency} />
    </>
  )

/** Renders what a file says: what is booked of it, by batch, what a person should look at, and the rest. */
function Shown({ answer }: { answer: Answer }) {
  const { format, rows, unchanged, unmatched, applied_at, applied_by } = answer
  return (
    <>
      <p>
        The file is {format} with {counted(rows, 'row')}.{' '}
        {applied_at !== null && (
          <>
            <Actor actor={applied_by ?? ''} /> booked it at <Time at={applied_at} />.
          </>
        )}
        {unchanged > 0 && ` ${counted(unchanged, 'transfer')} of it had been booked before.`}
      </p>
      <Table
        caption={applied_at === null ? 'What will be booked' : 'What was booked'}
        rows={answer.batches}
        columns={{
          Batch: ({ batch }: Batch) => <AccountLink at={['batches', batch]}>{batch}</AccountLink>,
          Paid: { number: (row: Batch) => amountCell(row.paid, row.paid_amount, row.currency) },
          'Came back': {
            number: (row: Batch) => amountCell(row.returned, row.returned_amount, row.currency),
          },
          Rejected: { number: ({ rejected }: Batch) => rejected || NOTHING },
          Accepted: { number: ({ accepted }: Batch) => accepted || NOTHING },
        }}
        empty={<EmptyState title="Nothing of it is new." />}
      />
      {answer.notices.length > 0 && (
        <Table
          caption="Look at these"
          rows={answer.notices}
          columns={{
            Affiliate: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
            Amount: 'amount',
            What: ({ what, detail }) => (
              <>
                <Badge tone={what === 'held' || what === 'checked' ? 'warn' : 'bad'}>
                  {WHAT[what]}
                </Badge>{' '}
                <Data text={detail ?? ''} />
              </>
            ),
            Reference: 'transfer',
          }}
        />
      )}
      {unmatched > 0 && (
        <Table
          caption={
            unmatched > answer.unmatched_rows.length
              ? `Not booked: ${counted(unmatched, 'row')}, of which the first ${answer.unmatched_rows.length} are listed`
              : `Not booked: ${counted(unmatched, 'row')}`
          }
          rows={answer.unmatched_rows}
          columns={{
            Row: ({ row }) => `Row ${row}`,
            Why: { prose: ({ detail }) => <Data text={detail} /> },
          }}
        />
      )}
    </>
  )
}

const WHAT = {
  returned: 'Came back',
  rejected: 'Rejected',
  checked: 'Another name',
  held: 'Held by a case, but paid',
} as const

/** Renders the button that books a preview, and what it does. */
const BookForm = ({ answer }: { answer: Answer }) =>
  answer.applied_at === null && (answer.batches.length > 0 || answer.notices.length > 0) ? (
    <ChangeForm
      change="book"
      submit={isNew(answer) ? `Book ${bookedWords(answer)}` : 'Keep what it says of names'}
      needs="approver"
    >
      <input type="hidden" name="hash" value={answer.hash} />
    </ChangeForm>
  ) : null

/** The latest answers. */
function Latest(
  { rows }: { rows: AnswerOf<typeof listPayoutAnswers>['data'] },
  { path } = useVisit(),
) {
  return (
    <Table
      caption="The latest answers"
      rows={rows}
      columns={{
        Read: ({ hash, created_at }) => (
          <a href={withQuery(path, { hash })}>
            <Time at={created_at} />
          </a>
        ),
        File: 'format',
        'What it books': { prose: (row) => bookedWords(row) },
        'Not booked': { number: ({ unmatched }) => unmatched },
        Booked: ({ applied_at }) => (applied_at === null ? 'Not yet' : <Time at={applied_at} />),
      }}
      empty={<EmptyState title="No answers yet." />}
    />
  )
}

/** Reads the file with which a bank answers, shows what it means, and books it. */
export const answerPage: Page = {
  path: '/accounts/:account/answers',
  section: 'Payouts',
  query: ['hash', 'headings', 'cursor'],
  changes,
  fileBytes: PAYOUT_LIMITS.answerBytes,
  async render(visit) {
    const { api, account, query, path } = visit
    const { hash, cursor } = query
    const title = 'The bank’s answer'
    if (hash) {
      const answer = await api.call(getPayoutAnswer, { account, hash })
      return {
        title,
        body: (
          <>
            <Shown answer={answer} />
            <BookForm answer={answer} />
            <p class="quick">
              <a href={path}>Read another file</a>
            </p>
          </>
        ),
      }
    }
    const [fields, { data, meta }] = await Promise.all([
      uploadFields(visit),
      api.call(listPayoutAnswers, { account, cursor }),
    ])
    return {
      title,
      body: (
        <>
          <p>
            Read the file with which your bank answers a batch. You see what it means before
            anything is booked: transfers are found by their references.
          </p>
          <ChangeForm change="upload" submit="Read the file" fields={fields} />
          <Latest rows={data} />
          {data.length > 0 && <Pager meta={meta} />}
        </>
      ),
    }
  },
}
