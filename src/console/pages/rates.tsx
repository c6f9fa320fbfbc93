import { add, type Decimal, decimal, plainText, ZERO } from '../../commission/engine/decimal.ts'
import { apiPath, dayBefore, type Page, type Visit } from '../page.ts'
import {
  Amount,
  count,
  Data,
  Day,
  EmptyState,
  type List,
  periodWords,
  Table,
} from '../parts/data.tsx'
import { AccountLink, column } from '../parts/fields.tsx'
import { Field, Filters, Refusals } from '../parts/forms.tsx'
import { PostForm } from '../parts/payout-forms.tsx'
import { REST_WORDS } from '../parts/report-words.ts'

/** What a draft holds back, as the administration API shows it. */
interface Hold {
  readonly reason: string
  readonly currency: string | null
  readonly count: number
  readonly sum: string
}

interface Draft {
  readonly affiliate_id: string
  readonly period: string
  readonly holds: readonly Hold[]
}

interface Rates {
  readonly day: string
  readonly last_day: string | null
  readonly rates: readonly {
    readonly currency: string
    readonly rate: string
    readonly day: string
  }[]
}

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
function waitingIn(drafts: readonly Draft[]): Waiting[] {
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

const WaitingTable = ({ visit, drafts }: { visit: Visit; drafts: List<Draft> }) => (
  <section>
    <h2>What waits for a rate</h2>
    <Table
      caption="Amounts in drafts that are not paid until their rate is there"
      rows={waitingIn(drafts.data)}
      columns={[
        column('Currency', ({ currency }: Waiting) => <Data text={currency} />),
        column(
          'Money',
          ({ sum, currency }: Waiting) => <Amount value={plainText(sum)} currency={currency} />,
          true,
        ),
        column('Amounts', ({ amounts }: Waiting) => count(amounts), true),
        column('Affiliates', ({ affiliates }: Waiting) => count(affiliates.size), true),
        column('Since', ({ since }: Waiting) => (
          <AccountLink
            visit={visit}
            at={['statements']}
            query={{ period: since, status: 'draft' }}
            children={periodWords(since)}
          />
        )),
        column('Why', ({ reason }: Waiting) => REST_WORDS[reason] ?? 'not converted'),
      ]}
      isCards
      empty={<EmptyState title="Nothing waits for a rate." />}
    />
    {drafts.meta.next_cursor && (
      <p class="note">Only the first {DRAFTS} drafts are counted. More may wait.</p>
    )}
  </section>
)

const Upload = ({ visit }: { visit: Visit }) => (
  <section>
    <h2>Add rates</h2>
    <PostForm visit={visit} id="change-upload" hasFile>
      <Refused visit={visit} />
      <p>
        Download the file <em>Euro foreign exchange reference rates</em> of the European Central
        Bank, and upload it as it is: the ZIP or the CSV in it. Then compute the periods that wait
        again.
      </p>
      <div class="field">
        <label for="upload-file">File of the European Central Bank</label>
        <input id="upload-file" name="file" type="file" accept=".csv,.zip,text/csv" required />
      </div>
      <Field
        visit={visit}
        change="upload"
        name="correct"
        label="A rate that is already there with another value"
        options={[
          ['', 'Refuse the file and say which'],
          ['true', 'Replace it; the former rate is kept beside it'],
        ]}
      />
      <button type="submit" name="change" value="upload">
        Add the rates
      </button>
    </PostForm>
  </section>
)

/** Renders why a file was refused: each error with the row of the file, which begins with its titles. */
function Refused({ visit: { refused } }: { visit: Visit }) {
  if (refused?.change !== 'upload') return null
  return (
    <Refusals
      detail={refused.detail}
      errors={refused.errors}
      about={({ pointer = '' }) => {
        const [, row, currency] = /^\/rows\/(\d+)(?:\/(\w+))?/.exec(pointer) ?? []
        if (row === undefined) return null
        return (
          <strong>
            Row {count(Number(row) + 2)}
            {currency && `, ${currency}`}:
          </strong>
        )
      }}
    />
  )
}

const Known = ({ visit, known }: { visit: Visit; known: Rates }) => (
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
    <Filters
      visit={{ ...visit, query: { day: known.day } }}
      fields={[{ name: 'day', label: 'Day', type: 'date' }]}
    />
    <Table
      caption="What one euro is, by the rate that applies to the day"
      rows={known.rates}
      columns={[
        column('Currency', ({ currency }: Rates['rates'][number]) => currency),
        column('Rate', ({ rate }: Rates['rates'][number]) => <Amount value={rate} />, true),
        column('Published', ({ day }: Rates['rates'][number]) => <Day day={day} />),
      ]}
      empty={<EmptyState title="No rate applies to this day yet." />}
    />
  </section>
)

/** The exchange rates: what waits for them, their import, and those of a day. */
export const ratesPage: Page = {
  path: '/accounts/:account/rates',
  section: 'Rates',
  query: ['day'],
  changes: {
    upload: {
      done: (answer) => {
        const { created, corrected } = answer as { created: number; corrected: number }
        const replaced = corrected > 0 ? ` and ${count(corrected)} replaced` : ''
        return `${count(created)} rates were added${replaced}. Compute the periods that wait again.`
      },
      request: (values) => ({
        method: 'PUT',
        path: '/fx-rates',
        query: { correct: values('correct') },
        csv: values('file'),
      }),
    },
  },
  async render(visit) {
    const { api, account, query } = visit
    const day = query.day ?? dayBefore(visit.now, 0)
    const [drafts, known] = await Promise.all([
      api.get<List<Draft>>(apiPath(account, 'statements'), { status: 'draft', per_page: DRAFTS }),
      api.get<Rates>('/fx-rates', { day }),
    ])
    const body = (
      <>
        <WaitingTable visit={visit} drafts={drafts} />
        <Upload visit={visit} />
        <Known visit={visit} known={known} />
      </>
    )
    return { title: 'Rates', body }
  },
}
