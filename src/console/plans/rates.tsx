import { MAX_RATE_AGE } from '../../commission/engine/convert.ts'
import { add, type Decimal, decimal, plainText, ZERO } from '../../commission/engine/decimal.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { getFxRates, importFxRates } from '../../commission/rates/routes.ts'
import { listStatements } from '../../commission/statements/operations.ts'
import { calling } from '../../pages/calling.ts'
import { refused } from '../../pages/csv-columns.ts'
import { dayBefore, type Page, useVisit, type Values, withQuery } from '../../pages/page.ts'
import {
  Amount,
  count,
  Data,
  Day,
  EmptyState,
  type List,
  periodWords,
} from '../../pages/parts/data.tsx'
import { CORRECT } from '../../pages/parts/field-words.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters } from '../../pages/parts/forms.tsx'
import type { Statement } from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { readAmount } from '../../pages/typed.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'

type Rates = AnswerOf<typeof getFxRates>

/** What waits for the rate of one currency. */
interface Waiting {
  readonly currency: string
  readonly reason: string
  readonly amounts: number
  readonly sum: Decimal
  readonly since: string
  readonly affiliates: ReadonlySet<string>
}

/** The number of drafts that are read. */
const DRAFTS = 100

/** Adds up what drafts hold back for want of a rate, by currency. */
function waitingIn(drafts: readonly Statement[]): Waiting[] {
  const sums = new Map<string, Waiting>()
  for (const { affiliate_id, period, holds } of drafts) {
    for (const { reason, currency, count: amounts, sum } of holds) {
      if (currency === null) continue
      const before = sums.get(currency)
      const since = before && before.since < period ? before.since : period
      sums.set(currency, {
        currency,
        reason,
        amounts: (before?.amounts ?? 0) + amounts,
        sum: add(before?.sum ?? ZERO, decimal(sum)),
        since,
        affiliates: new Set([...(before?.affiliates ?? []), affiliate_id]),
      })
    }
  }
  return [...sums.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1))
}

/** Renders why amounts wait, and where a rate is added. */
const Why = ({ one: { currency, reason, since } }: { one: Waiting }, visit = useVisit()) => (
  <>
    {reason === 'fx_pending' ? 'The rate is not published yet.' : 'There is no rate.'}{' '}
    {reason === 'fx_missing' && (
      <>
        If the European Central Bank does not publish {currency},{' '}
        <a href={`${withQuery(visit.path, { currency })}#change-one`}>add the rate</a> of the day of
        each record, or of one of the {MAX_RATE_AGE} days before. Then compute the period again.{' '}
      </>
    )}
    <AccountLink at={['unearned']} query={{ period: since, reason: 'no_rate', list: 'records' }}>
      Show the records and their days
    </AccountLink>
  </>
)

const WaitingTable = ({
  drafts,
  waiting,
}: {
  drafts: List<Statement>
  waiting: readonly Waiting[]
}) => (
  <section>
    <h2>What waits for a rate</h2>
    <Table
      caption="Amounts in drafts that are not paid until their rate is there"
      rows={waiting}
      columns={{
        Currency: ({ currency }) => <Data text={currency} />,
        Money: {
          number: ({ sum, currency }) => <Amount value={plainText(sum)} currency={currency} />,
        },
        Amounts: { number: ({ amounts }) => count(amounts) },
        Affiliates: { number: ({ affiliates }) => count(affiliates.size) },
        Since: ({ since }) => (
          <AccountLink
            at={['statements']}
            query={{ period: since, status: 'draft' }}
            children={periodWords(since)}
          />
        ),
        'Why, and what to do': { prose: (one) => <Why one={one} /> },
      }}
      empty={<EmptyState title="Nothing waits for a rate." />}
    />
    {drafts.meta.next_cursor && (
      <p class="note">Only the first {DRAFTS} drafts are counted. More may wait.</p>
    )}
  </section>
)

/** Returns the file of one rate, which has digits after its point, as the files of the European Central Bank do. */
function oneRate(values: Values): string {
  const rate = readAmount(values('rate'), 4, 'a rate. Write it as 4.2901')
  if ('problem' in rate)
    throw refused('Nothing was stored.', [{ pointer: '/rate', message: rate.problem }])
  return `Date,${values('currency').trim().toUpperCase()}\n${values('day')},${rate.value}\n`
}

const Known = ({ known }: { known: Rates }) => (
  <section>
    <h2>Rates of a day</h2>
    <p>
      {known.last_day ? (
        <>
          The latest rates are of <Day day={known.last_day} />.
        </>
      ) : (
        'There are no rates yet.'
      )}
    </p>
    <Filters fields={[{ name: 'day', label: 'Day', type: 'date', value: known.day }]} />
    <Table
      caption="What one euro is, by the rate that applies to the day"
      rows={known.rates}
      columns={{
        Currency: ({ currency }) => currency,
        Rate: { number: ({ rate }) => <Amount value={rate} /> },
        Published: 'day',
      }}
      empty={<EmptyState title="No rate applies to this day yet." />}
    />
  </section>
)

/** Says what an import did. */
function addedText(answer: unknown): string {
  const { created, corrected } = answer as AnswerOf<typeof importFxRates>
  const replaced = corrected > 0 ? ` and ${count(corrected)} replaced` : ''
  const added = `${counted(created, 'rate')} ${created === 1 ? 'was' : 'were'} added`
  return `${added}${replaced}. Compute the periods that wait again.`
}

/** The exchange rates: what waits for them, their import, and those of a day. */
export const ratesPage: Page = {
  path: '/accounts/:account/rates',
  section: 'Rates',
  query: ['day', 'currency', 'rate_day'],
  changes: {
    upload: calling(importFxRates, addedText, (values) => ({ csv: values('file') })),
    one: calling(importFxRates, addedText, (values) => ({ csv: oneRate(values) })),
  },
  async render(visit) {
    const { api, account, query } = visit
    const day = query.day ?? dayBefore(visit.today, 0)
    const [drafts, known] = await Promise.all([
      api.call(listStatements, { account, status: 'draft', per_page: DRAFTS }),
      api.call(getFxRates, { day }),
    ])
    const waiting = waitingIn(drafts.data)
    const missing = waiting.find(({ reason }) => reason === 'fx_missing')?.currency
    const chosen = /^[A-Z]{3}$/.test(query.currency ?? '') ? query.currency : undefined
    const body = (
      <>
        <WaitingTable drafts={drafts} waiting={waiting} />
        <h2>Add rates</h2>
        <ChangeForm
          change="upload"
          submit="Add the rates"
          fields={[
            {
              name: 'file',
              label: 'File of the European Central Bank',
              type: 'file',
              required: true,
              attributes: { accept: '.csv,text/csv' },
            },
            CORRECT,
          ]}
        >
          <p>
            Download the file <em>Euro foreign exchange reference rates</em> of the European Central
            Bank, unpack it, and upload the CSV in it. Then compute the periods that wait again.
          </p>
        </ChangeForm>
        <h2>Add one rate</h2>
        <ChangeForm
          change="one"
          submit="Add the rate"
          fields={[
            {
              name: 'currency',
              value: chosen ?? missing,
              hint: 'Its code of three letters, such as AED.',
            },
            { name: 'day', type: 'date', required: true, value: query.rate_day },
            { name: 'rate', required: true, hint: 'What one euro is, such as 4.2901.' },
            CORRECT,
          ]}
        >
          <p>
            For a currency that the European Central Bank does not publish. A rate applies to its
            day and to the seven days after it: choose the day of the record, or one of the seven
            days before.
          </p>
        </ChangeForm>
        <Known known={known} />
      </>
    )
    return { title: 'Rates', body }
  },
}
