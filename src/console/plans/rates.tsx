import { getFxRates, importFxRates } from '../../commission/rates/routes.ts'
import { counted } from '../../commission/words/english.ts'
import { dayBefore, type Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Amount, count, Day, EmptyState } from '../../pages/parts/data.tsx'
import { CORRECT } from '../../pages/parts/field-words.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters } from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'

type Rates = AnswerOf<typeof getFxRates>

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

/** The exchange rates: their import, and those of a day. */
export const ratesPage: Page = {
  path: '/accounts/:account/rates',
  shows: 'public',
  section: 'Rates',
  query: ['day'],
  changes: {
    upload: calling(importFxRates, addedText, (values) => ({ csv: values('file') })),
  },
  async render(visit) {
    const { api, query } = visit
    const day = query.day ?? dayBefore(visit.today, 0)
    const known = await api.call(getFxRates, { day })
    const body = (
      <>
        <p class="quick">
          <AccountLink at={['unearned']} query={{ reason: 'no_rate', list: 'records' }}>
            What waits for a rate
          </AccountLink>
        </p>
        <h2>Add rates</h2>
        <ChangeForm
          change="upload"
          submit="Add the rates"
          fields={[
            {
              name: 'file',
              label: 'File of rates',
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
          <p>
            For a currency that the bank does not publish, upload a CSV of your own: the columns{' '}
            <em>Date</em> and the code of the currency, such as <em>AED</em>, and a row for each day
            with what one euro is, such as <em>2026-10-05,4.2901</em>. A rate applies to its day and
            to the seven days after it.
          </p>
        </ChangeForm>
        <Known known={known} />
      </>
    )
    return { title: 'Rates', body }
  },
}
