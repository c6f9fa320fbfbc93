import { dropEventDefinition, listEventDefinitions } from '../../admin/events.ts'
import {
  getKycLabels,
  getSalesLabels,
  getStatusMap,
  listUnmappedStatuses,
  putKycLabels,
  putSalesLabels,
  putStatusMap,
} from '../../admin/status-map.ts'
import { STATUSES } from '../../db/directory/status-maps.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { nullIfConflict } from '../api-errors.ts'
import { type Page, type Visit, withQuery } from '../page.ts'
import { Data, EmptyState, isolated, Table } from '../parts/data.tsx'
import {
  type Definition,
  DefinitionForm,
  definitionChange,
  productsOf,
} from '../parts/definition-form.tsx'
import { DEFINITION_WORDS } from '../parts/field-words.ts'
import { column, fields } from '../parts/fields.tsx'
import { ConfirmForm } from '../parts/forms.tsx'
import { MappingForm, mappingChange } from '../parts/mapping-form.tsx'
import { AccountTabs } from '../parts/tabs.tsx'

type Choices = Readonly<Record<string, string>>

const KYC = 'kyc_status_id'
const SALES = 'sales_status_id'
const LABELS = [
  [KYC, 'KYC labels', 'KYC statuses'],
  [SALES, 'Sales labels', 'sales statuses'],
] as const

const GRANULARITY: Choices = DEFINITION_WORDS.granularity.choices
const EVENT_ID: Choices = DEFINITION_WORDS.eventid.choices

type Words = AnswerOf<typeof getStatusMap> &
  AnswerOf<typeof getKycLabels> &
  AnswerOf<typeof getSalesLabels>

const Vocabulary = (props: { visit: Visit; words: Words; unmapped: readonly string[] }) => {
  const { visit, words, unmapped } = props
  return (
    <>
      <h2>Transaction statuses</h2>
      <p>
        Choose what each status of the partner means. A transaction whose status has no meaning
        earns nothing. The four meanings are statuses, too, and need no entry.
      </p>
      {unmapped.length > 0 && (
        <p class="notice bad">
          {unmapped.length === 1
            ? 'A status of recent transactions has no meaning.'
            : `${unmapped.length} statuses of recent transactions have no meaning.`}
        </p>
      )}
      <MappingForm
        visit={visit}
        change="statuses"
        submit="Save the statuses"
        mapping={words.status}
        unmapped={unmapped}
        meanings={STATUSES}
      />
      {LABELS.map(([field, name, sent]) => (
        <>
          <h2>{name}</h2>
          <p>
            What the {sent} that the partner sends are called, for display only. Conditions of plans
            compare what was sent.
          </p>
          <MappingForm
            visit={visit}
            change={field}
            submit={`Save the ${name}`}
            mapping={words[field]}
            unmapped={[]}
            meanings={[]}
          />
        </>
      ))}
    </>
  )
}

const Definitions = ({ visit, rows }: { visit: Visit; rows: readonly Definition[] }) => {
  const one = rows.find(({ eventname }) => eventname === visit.query.event)
  return (
    <>
      <h2>Event definitions</h2>
      <p>How each event of the brand is read: what identifies it, and which members are numbers.</p>
      <Table
        caption="Event definitions"
        rows={rows}
        columns={[
          {
            title: 'Event',
            cell: ({ eventname }) => (
              <a href={withQuery(visit.path, { event: eventname })}>
                <Data text={eventname} />
              </a>
            ),
          },
          column(
            'What a record is',
            ({ granularity }: Definition) => GRANULARITY[granularity] ?? granularity,
          ),
          column('Event id', ({ eventid }: Definition) => EVENT_ID[eventid] ?? eventid),
          column('KPIs', ({ kpis }: Definition) => <Data text={kpis.join(', ')} />),
          ...fields<Definition>(visit, 'currency'),
          {
            title: 'Product lines',
            cell: ({ product }) => <Data text={productsOf(product).replaceAll('\n', ', ')} />,
          },
        ]}
        empty={
          <EmptyState title="No event is defined yet.">
            <p>Define the events that the brand sends, such as a daily total for each player.</p>
          </EmptyState>
        }
      />
      <h2>{one ? `Change ${isolated(one.eventname)}` : 'Define an event'}</h2>
      <DefinitionForm visit={visit} one={one} />
      {one && (
        <ConfirmForm
          visit={visit}
          change="drop"
          submit="Delete the definition"
          name={one.eventname}
        >
          <p>The event is then read without a definition.</p>
        </ConfirmForm>
      )}
    </>
  )
}

/** What the words and events of an account mean. */
export const mappingsPage: Page = {
  path: '/accounts/:account/mappings',
  section: 'Account',
  query: ['event'],
  changes: {
    statuses: mappingChange(({ api, account }, status) =>
      api.call(putStatusMap, { account, status }),
    ),
    [KYC]: mappingChange(({ api, account }, words) =>
      api.call(putKycLabels, { account, [KYC]: words }),
    ),
    [SALES]: mappingChange(({ api, account }, words) =>
      api.call(putSalesLabels, { account, [SALES]: words }),
    ),
    define: definitionChange,
    drop: {
      done: 'The definition is deleted.',
      confirm: ({ query }) => query.event ?? '',
      next: (_, { path }) => path,
      perform: (_, { api, account, query: { event = '' } }) =>
        api.call(dropEventDefinition, { account, eventname: event }),
    },
  },
  async render(visit) {
    const { api, account } = visit
    const [definitions, unmapped, ...words] = await Promise.all([
      api.call(listEventDefinitions, { account }).catch(nullIfConflict),
      api.call(listUnmappedStatuses, { account }),
      api.call(getStatusMap, { account }),
      api.call(getKycLabels, { account }),
      api.call(getSalesLabels, { account }),
    ])
    const body = (
      <>
        <AccountTabs visit={visit} here="Mappings" />
        {definitions ? (
          <Definitions visit={visit} rows={definitions.data} />
        ) : (
          <Vocabulary
            visit={visit}
            words={Object.assign({}, ...words)}
            unmapped={unmapped.data.map(({ status }) => status)}
          />
        )}
      </>
    )
    return { title: 'Mappings', body }
  },
}
