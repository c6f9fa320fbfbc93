import { counted } from '../../commission/engine/reasons.ts'
import { refused } from '../../pages/csv-columns.ts'
import { pick } from '../../pages/form.ts'
import { type Page, type Visit, withQuery } from '../../pages/page.ts'
import { Badge, Data, EmptyState, Time } from '../../pages/parts/data.tsx'
import { ChangeForm, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { PAYOUT_LIMITS } from '../../payouts/model.ts'
import {
  applyPayoutAnswer,
  getPayoutAnswer,
  previewPayoutAnswer,
} from '../../payouts/operations/answers.ts'
import { PAYER } from '../../payouts/operations/payees.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { PayoutTabs } from './payout-tabs.tsx'

type Answer = AnswerOf<typeof getPayoutAnswer>

const changes: NonNullable<Page['changes']> = {
  upload: {
    done: 'The file is read.',
    next: (answer, { path }) => withQuery(path, { hash: (answer as Answer).hash }),
    perform(values, { api, account }) {
      const { file } = values
      if (!file) throw refused('Choose a file.')
      return api.call(previewPayoutAnswer, { account, file, ...pick(values, 'payer') })
    },
  },
  book: {
    done: 'The answer is booked.',
    perform: (values, { api, account }) =>
      api.call(applyPayoutAnswer, { account, hash: values('hash') }),
  },
}

/** Returns the fields of the file, and of its payer if there are several. */
async function uploadFields({ api, account }: Visit): Promise<Input[]> {
  const { data } = await api.call(PAYER.list, { account })
  const payers = ['', ...data.map(({ payer }) => payer)]
  const file: Input = {
    ...{ name: 'file', type: 'file', label: 'File of the bank', required: true },
    attributes: { accept: '.xml,.csv,.txt' },
    hint: 'camt.053, camt.054, pain.002 or CSV, also of Wise, Revolut, Mercury and PayPal. At most 10 MiB.',
  }
  const payer: Input = {
    ...{ name: 'payer', options: payers.map((one) => [one, one] as const) },
    hint: 'Needed if the file does not name its account.',
  }
  return data.length > 1 ? [file, payer] : [file]
}

/** What a transfer becomes, in words, and the noun of what is booked. */
const WORDS = {
  paid: ['Paid', 'payment'],
  returned: ['Came back', 'return'],
  rejected: ['Rejected', 'rejection'],
  accepted: ['Accepted', 'acceptance'],
  checked: ['Another name', 'name'],
  held: ['Paid, but held by a case', ''],
} as const

/** Says what an answer books: `2 payments, 1 return`. */
function bookedWords({ booked }: Pick<Answer, 'booked'>): string {
  const sums = Map.groupBy(booked, ({ becomes }) => becomes)
  const words = [...sums].map(([becomes, own]) =>
    counted(
      own.reduce((all, { count }) => all + count, 0),
      WORDS[becomes][1],
    ),
  )
  return words.join(', ') || 'nothing'
}

/** Renders what a file says: what is booked of it, what a person should look at, and the rest. */
function Shown({ answer }: { answer: Answer }) {
  const { format, rows, booked, notices, unchanged, unmatched, applied_at } = answer
  return (
    <>
      <p>
        The file is {format} with {counted(rows, 'row')}.{' '}
        {applied_at !== null && (
          <>
            It was booked at <Time at={applied_at} />.
          </>
        )}
        {unchanged > 0 && ` ${counted(unchanged, 'transfer')} of it had been booked before.`}
      </p>
      <Table
        caption={applied_at === null ? 'What will be booked' : 'What was booked'}
        rows={booked}
        columns={{
          What: ({ becomes }) => WORDS[becomes][0],
          Transfers: { number: ({ count }) => count },
          Amount: 'amount',
        }}
        empty={<EmptyState title="Nothing." />}
      />
      {notices.length > 0 && (
        <Table
          caption="Look at these"
          rows={notices}
          columns={{
            Affiliate: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
            Amount: 'amount',
            What: ({ what, detail }) => (
              <>
                <Badge tone="bad">{WORDS[what][0]}</Badge> <Data text={detail ?? ''} />
              </>
            ),
            Reference: 'transfer',
          }}
        />
      )}
      {unmatched > 0 && (
        <Table
          caption={`Not booked: ${counted(unmatched, 'row')}${unmatched > 100 ? ', of which the first 100 are listed' : ''}.`}
          rows={answer.unmatched_rows}
          columns={{
            Row: ({ row }) => `Row ${row}`,
            Why: { prose: ({ detail }) => <Data text={detail} /> },
          }}
        />
      )}
      {applied_at === null && booked.length > 0 && (
        <ChangeForm change="book" submit={`Book ${bookedWords(answer)}`} needs="approver">
          <input type="hidden" name="hash" value={answer.hash} />
        </ChangeForm>
      )}
    </>
  )
}

/** Reads the file with which a bank answers, shows what it means, and books it. */
export const answerPage: Page = {
  path: '/accounts/:account/answers',
  section: 'Payouts',
  query: ['hash'],
  changes,
  fileBytes: PAYOUT_LIMITS.answerBytes,
  async render(visit) {
    const { api, account, query, path } = visit
    const { hash } = query
    const [answer, fields] = await Promise.all([
      hash ? api.call(getPayoutAnswer, { account, hash }) : null,
      uploadFields(visit),
    ])
    const body = (
      <>
        <PayoutTabs here="Answers" />
        {answer ? (
          <Shown answer={answer} />
        ) : (
          <p>
            Read the file with which your bank answers a batch. You see what it means before
            anything is booked: transfers are found by their references.
          </p>
        )}
        {answer?.applied_at === null ? (
          <p class="quick">
            <a href={path}>Read another file</a>
          </p>
        ) : (
          <ChangeForm
            change="upload"
            submit={answer ? 'Read another file' : 'Read the file'}
            fields={fields}
          />
        )}
      </>
    )
    return { title: 'The bank’s answer', body }
  },
}
